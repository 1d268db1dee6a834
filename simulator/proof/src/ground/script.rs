//! Turns a candidate's conversation into a script, and checks that the user simulator gives the candidate's
//! answers.

use diorama_engine::{Body, Origin};
use diorama_seeds::model::Parameter;
use diorama_seeds::schema::Type;
use diorama_seeds::script::{Goal, GoalEnd, ReplyFact, Script, When, WithheldDetail};
use diorama_seeds::task::{ArgumentSource, Evidence, GoldCall};
use diorama_user::Scene;
use diorama_user::conversation::{Conversation, FinishData};

use super::seen::VisiblePart;
use super::text::folded;
use crate::candidate::{Candidate, CandidateGoal, Opening};
use crate::grounded::GroundedGoal;
use crate::reason::{Code, Reason};

/// Returns the script of a candidate, without the calls that its user wants.
pub(crate) fn of(
    candidate: &Candidate,
    gold: &[GoldCall],
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) -> Script {
    let mut script = Script { patience: candidate.patience, ..Script::default() };
    let mut turn = 0;
    for (number, goal) in candidate.goals.iter().enumerate() {
        let first_turn = turn;
        turn += 1 + goal.turns.iter().filter(|turn| turn.user.is_some()).count();
        let when = goal.when.as_ref().and_then(|opening| match condition(number, opening, seen) {
            Ok(when) => Some(when),
            Err(what) => {
                faults.push(Reason::of_goal(Code::NotOpened, number).with("what", what));
                None
            }
        });
        let mut lines = Vec::new();
        for (at, said) in goal.turns.iter().enumerate() {
            // A consent that a policy requires is no line: the user's wanted calls answer that question.
            let confirms = at
                .checked_sub(1)
                .and_then(|before| goal.turns.get(before))
                .is_some_and(|turn| turn.confirms > 0);
            let Some(said) = said.user.as_deref().filter(|_| !confirms) else { continue };
            if goal.given_by(said).next().is_none() && !goal.pleas.iter().any(|plea| plea == said) {
                lines.push(said.to_owned());
            }
        }
        script.goals.push(Goal {
            user: goal.user.clone(),
            when,
            withheld: withheld(goal, first_turn, gold, seen),
            lines,
            pleas: goal.pleas.clone(),
            wants: Vec::new(),
        });
    }
    script
}

/// Returns the withheld details of a goal, each with the names of the parameters that it fills.
fn withheld(
    goal: &CandidateGoal,
    first_turn: usize,
    gold: &[GoldCall],
    seen: &VisiblePart<'_>,
) -> Vec<WithheldDetail> {
    let world = seen.context.base.world();
    let mut found: Vec<WithheldDetail> = Vec::new();
    for (about, say) in &goal.withheld {
        let mut words: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            if !text.is_empty() && !words.iter().any(|known| known == text) && text != about {
                words.push(text.to_owned());
            }
        };
        for call in gold {
            let Some(id) = world.api_named(&call.api) else { continue };
            let api = world.api(id);
            for (name, source) in &call.sources {
                let Some(parameter) = api.parameter_named(name).map(|id| &api.parameters[id.index()]) else {
                    continue;
                };
                let same_name = folded(name) == folded(about) || folded(&parameter.label) == folded(about);
                if same_name || is_said_by(source, say, first_turn, seen) {
                    names_of(parameter, world).for_each(|text| add(&text));
                }
            }
        }
        // The assistant's question here is an example of a question for the detail.
        for pair in goal.turns.windows(2) {
            let [asked, answered] = pair else { continue };
            if answered.user.as_deref() == Some(say)
                && let Some(question) = &asked.say
            {
                add(question);
            }
        }
        let mut questions = goal.questions.get(about).cloned().unwrap_or_default();
        questions.retain(|question| !words.contains(question));
        found.push(WithheldDetail { about: about.clone(), words, questions, say: say.clone() });
    }
    found
}

/// Returns true if an argument comes from the words of a detail.
fn is_said_by(source: &ArgumentSource, say: &str, first_turn: usize, seen: &VisiblePart<'_>) -> bool {
    match source {
        ArgumentSource::User { turn, start, end, .. } => {
            let Some(prose) = seen.turns.get(*turn as usize) else { return false };
            let words = prose.source().get(*start as usize..*end as usize).unwrap_or_default();
            *turn as usize > first_turn && !words.is_empty() && say.contains(words)
        }
        ArgumentSource::Arithmetic { of, .. } => {
            of.iter().any(|part| is_said_by(part, say, first_turn, seen))
        }
        _ => false,
    }
}

/// Returns the names of a parameter: its label, its description, its record's noun, and the question word for
/// its kind.
pub fn names_of(
    parameter: &Parameter,
    world: &diorama_seeds::model::World,
) -> impl Iterator<Item = String> + use<> {
    let spaced = parameter.name.replace('_', " ");
    let of_record = diorama_seeds::schema::refers_to(&parameter.schema.kind)
        .or_else(|| {
            let (resource, field) = parameter.field?;
            (world.resource(resource).display == Some(field)).then_some(resource)
        })
        .map(|resource| world.resource(resource).label.to_string());
    let asking = match parameter.schema.kind {
        Type::Date | Type::Time | Type::DateTime => Some("when".to_owned()),
        _ => None,
    };
    [
        Some(parameter.label.to_string()),
        Some(spaced),
        of_record,
        Some(parameter.description.to_string()),
        asking,
    ]
    .into_iter()
    .flatten()
}

/// Returns the condition of a goal for the script, or the part of it that does not hold in this conversation.
fn condition(number: usize, opening: &Opening, seen: &VisiblePart<'_>) -> Result<When, String> {
    let ended = match opening.outcome {
        Some(outcome) => {
            let before = number.checked_sub(1).ok_or("the first goal follows none")?;
            let goal = opening.goal.unwrap_or(before as u32);
            Some(GoalEnd { goal, outcome })
        }
        None => None,
    };
    let Some(call) = opening.call else { return Ok(When { ended, shown: None }) };
    let entry = seen.entries.get(call).ok_or_else(|| format!("call {call} is not made"))?;
    let world = seen.context.base.world();
    let api = entry.call.api.clone();
    let fact = match &opening.path {
        None if !entry.reply.is_success() => {
            let (status, arguments) = (entry.reply.status, serde_json::Map::new());
            ReplyFact { place: Evidence::Refused { api, status, arguments }, value: None }
        }
        None if entry.reply.body.is_empty_result() => {
            ReplyFact { place: Evidence::Empty { api, arguments: serde_json::Map::new() }, value: None }
        }
        None => return Err(format!("call {call} was neither refused nor came back empty; name a path")),
        Some(path) => match entry.reply.body.at(path) {
            Some(Body::Leaf(value, Origin::Field { resource, key, field })) => {
                let described = world.resource(*resource);
                let place = Evidence::Leaf {
                    resource: described.qualified.to_string(),
                    key: key.to_text(&world.zone),
                    field: described.field(*field).name.to_string(),
                    value: None,
                };
                ReplyFact { place, value: Some(value.to_json(&world.zone)) }
            }
            Some(Body::Leaf(value, _)) => {
                let (path, text) = (path.clone(), value.to_text(&world.zone));
                let arguments = serde_json::Map::new();
                ReplyFact { place: Evidence::Computed { api, path, value: text, arguments }, value: None }
            }
            Some(Body::List(items)) if items.is_empty() => {
                ReplyFact { place: Evidence::Empty { api, arguments: serde_json::Map::new() }, value: None }
            }
            _ => return Err(format!("call {call} shows no single value at `{path}`")),
        },
    };
    Ok(When { ended, shown: Some(fact) })
}

/// Plays the assistant's messages to the script's user, and reports answers that differ from the candidate's.
pub(crate) fn replay(
    candidate: &Candidate,
    script: &Script,
    seen: &VisiblePart<'_>,
    goals: &[GroundedGoal],
    faults: &mut Vec<Reason>,
) {
    let mut conversation = Conversation::default();
    for (number, (goal, grounded)) in candidate.goals.iter().zip(goals).enumerate() {
        let mut calls = grounded.calls.start;
        for (at, turn) in goal.turns.iter().enumerate() {
            calls += turn.calls.len();
            let asks = turn.calls.is_empty() && turn.confirms == 0;
            let Some(said) = turn.say.as_deref().filter(|_| asks) else { continue };
            let answered = goal.turns.get(at + 1).and_then(|next| next.user.as_deref());
            let last = at + 1 == goal.turns.len();
            if answered.is_none() && !last {
                continue;
            }
            let given = if last {
                FinishData {
                    outcome: Some(grounded.outcome),
                    reason: grounded.refusal.first().copied(),
                    ..FinishData::default()
                }
            } else {
                FinishData::default()
            };
            let log = seen.entries.get(..calls).unwrap_or(&seen.entries);
            let clock = log.last().map_or(seen.now, |entry| entry.clock);
            let scene = Scene { log, base: seen.context.base, clock };
            let mut exchange = conversation.hear(script, said, given.clone(), scene);
            // The end that refuses comes again after each plea that the candidate leaves out.
            while last && exchange.keeps_open() && !exchange.progress.over {
                conversation.push(exchange);
                exchange = conversation.hear(script, said, given.clone(), scene);
            }
            let expected =
                if last { candidate.goals.get(number + 1).map(|next| &*next.user) } else { answered };
            match (exchange.answer.as_deref(), expected) {
                (Some(would), Some(says)) if would == says => {}
                (None, None) => {}
                (None, Some(_)) if last => {
                    let what = "the condition does not hold in this conversation".to_owned();
                    faults.push(Reason::of_goal(Code::NotOpened, number + 1).with("what", what));
                    return;
                }
                (would, says) => {
                    let reason = Reason::of_goal(Code::UserAnswersOtherwise, number)
                        .with("asked", said)
                        .with("would", would.unwrap_or_default())
                        .with("says", says.unwrap_or_default());
                    faults.push(reason);
                    return;
                }
            }
            conversation.push(exchange);
        }
    }
}
