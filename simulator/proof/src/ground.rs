//! Grounds a candidate: derives every argument and every statement again from the visible text and replies.
//!
//! It runs the calls in a session and reads the words with the extractor of typed mentions. A source is a
//! span in a user's turn, a path in an earlier reply, a documented default, the clock, or a listed
//! derivation. Anything without a source is reported.

mod argument;
mod choice;
mod claims;
mod consent;
mod declined;
mod derived;
pub(crate) mod order;
mod script;
pub(crate) mod seen;
pub(crate) mod text;

use std::ops::Range;

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::tools::{SearchVersion, TOOL_SEARCHER};
use diorama_seeds::model::ApiId;
use diorama_seeds::task::{GoldCall, RefusalClass};

use self::seen::VisiblePart;
use crate::candidate::{Candidate, CandidateError};
use crate::checks;
use crate::context::WorldContext;
use crate::grounded::{GroundedCandidate, GroundedGoal};
use crate::measures::Measures;
use crate::reason::{Code, Reason};
use crate::survey::reads;

pub use self::script::names_of;

/// Runs a candidate and derives the source of everything in it.
///
/// # Errors
/// Returns [`CandidateError`] when it cannot run at all. Values without a source are in [`GroundedCandidate::faults`].
pub fn ground(context: WorldContext<'_>, candidate: Candidate) -> Result<GroundedCandidate, CandidateError> {
    ground_with(context, candidate, None)
}

/// Does the same as [`ground`], with another search for tools than the world's.
///
/// # Errors
/// Returns the errors of [`ground`].
pub fn ground_with(
    context: WorldContext<'_>,
    candidate: Candidate,
    search: Option<SearchVersion>,
) -> Result<GroundedCandidate, CandidateError> {
    candidate.check()?;
    let world = context.base.world();
    let visible = visible(context, candidate.tools.as_deref())?;
    let clock = match &candidate.clock {
        Some(text) => world.zone.parse_instant(text).ok_or_else(|| CandidateError::Clock(text.clone()))?,
        None => world.clock,
    };
    let outages = candidate.outages.clone();
    if let Some(unknown) = outages.iter().find(|outage| world.api_named(&outage.api).is_none()) {
        return Err(CandidateError::Outage(unknown.api.clone()));
    }
    let visible_at_start = Some(visible.clone());
    let options = SessionOptions {
        seed: candidate.seed,
        clock: Some(clock),
        visible: visible_at_start,
        search,
        outages,
    };
    let mut session = Session::new(context.base.clone(), options);
    let initial = session.state().clone();
    let system =
        candidate.system.clone().unwrap_or_else(|| text::system_message(world, clock, visible.is_empty()));
    let reading = Clock::at(clock, &world.zone);
    let mut seen = VisiblePart {
        context,
        now: clock,
        system: Prose::read(&system, &reading),
        clock: reading,
        turns: Vec::new(),
        calls_before: Vec::new(),
        entries: Vec::new(),
        measures: Measures::from_tools(context.base, context.vocabulary, &visible),
    };
    let policies = declined::told_policies(world, &system);
    let mut run = Walk { policies, ..Walk::default() };
    for (number, goal) in candidate.goals.iter().enumerate() {
        run.goal(number, goal, &mut session, &mut seen)?;
    }
    let Walk { mut gold, messages, consents, goals, mut faults, unsourced, policies } = run;
    let all_user_turns: Vec<String> = seen.turns.iter().map(|turn| turn.source().to_owned()).collect();
    argument::settle(&unsourced, &mut gold, &goals, &seen, &initial, &mut faults);
    if context.stop.is_set() {
        return Err(CandidateError::Stopped);
    }
    let confirms = world.asks_confirmation(&policies);
    let mut script = script::of(&candidate, &gold, &seen, &mut faults);
    consent::add_wants(&mut script, &goals, &gold, &seen);
    script::replay(&candidate, &script, &seen, &goals, &mut faults);
    let mut checks =
        checks::build(context, &seen.measures, &session, &goals, &gold, &seen.entries, &seen.turns);
    checks.policy = policies;
    checks.confirms = confirms;
    claims::report_unstated(&checks, &goals, &session.diff(), &seen, &mut faults);
    Ok(GroundedCandidate {
        search: initial.search(),
        last: session.state().clone(),
        entries: seen.entries,
        user_turns: all_user_turns,
        seed: candidate.seed,
        candidate,
        system,
        visible,
        clock,
        initial,
        gold,
        messages,
        consents,
        goals,
        script,
        checks,
        faults,
    })
}

/// Returns the APIs that are visible at the start: the named ones, all without a list, none with
/// `ToolSearcher` alone.
fn visible(context: WorldContext<'_>, tools: Option<&[String]>) -> Result<Vec<ApiId>, CandidateError> {
    let Some(tools) = tools else { return Ok(context.apis().collect()) };
    let named = tools
        .iter()
        .filter(|name| *name != TOOL_SEARCHER)
        .map(|name| context.base.world().api_named(name).ok_or_else(|| CandidateError::Tool(name.clone())));
    named.collect()
}

/// The state of a candidate's run.
#[derive(Default)]
struct Walk {
    gold: Vec<GoldCall>,
    messages: Vec<Range<usize>>,
    consents: Vec<Range<usize>>,
    goals: Vec<GroundedGoal>,
    faults: Vec<Reason>,
    /// Arguments without a visible source, which may still be a choice: call and name.
    unsourced: Vec<choice::UnsourcedArgument>,
    /// The domains whose policy the system message tells.
    policies: Vec<String>,
}

impl Walk {
    fn goal(
        &mut self,
        number: usize,
        goal: &crate::candidate::CandidateGoal,
        session: &mut Session,
        seen: &mut VisiblePart<'_>,
    ) -> Result<(), CandidateError> {
        let first = self.gold.len();
        let mut questions = Vec::new();
        let last = Prose::read(goal.last_words(), &seen.clock);
        seen.hear(&goal.user);
        for turn in &goal.turns {
            if seen.context.stop.is_set() {
                return Err(CandidateError::Stopped);
            }
            if let Some(text) = &turn.user {
                seen.hear(text);
            }
            if let Some(said) = &turn.say {
                let other = (said != last.source()).then(|| Prose::read(said, &seen.clock));
                seen.check_stated(number, other.as_ref().unwrap_or(&last), &mut self.faults);
            }
            let of_message = self.gold.len();
            if turn.confirms > 0 {
                questions
                    .push((of_message..of_message + turn.confirms, turn.say.as_deref().unwrap_or_default()));
            }
            let mut made = Vec::new();
            for call in &turn.calls {
                let index = of_message + made.len();
                let id = seen.context.base.world().api_named(&call.api);
                let callable = match id {
                    Some(id) => session.is_visible(id),
                    None => call.api == TOOL_SEARCHER,
                };
                if !callable {
                    self.faults.push(Reason::of_call(Code::UnknownTool, index).with("api", &*call.api));
                }
                // The sources of a mistake's arguments are recorded, but missing ones are no fault.
                let (mut faults, mut unsourced) = (Vec::new(), Vec::new());
                let sources = argument::sources(index, call, id, seen, &mut faults, &mut unsourced);
                if !call.mistake {
                    self.faults.append(&mut faults);
                    self.unsourced.append(&mut unsourced);
                }
                let turn = seen.turns.len().saturating_sub(1) as u32;
                self.gold.push(GoldCall {
                    api: call.api.clone(),
                    source_api: id.and_then(|id| {
                        seen.context.base.world().api(id).source_api.as_deref().map(str::to_owned)
                    }),
                    arguments: call.arguments.clone(),
                    sources,
                    turn,
                    mistake: call.mistake,
                    care: call.care,
                });
                if call.care && !id.is_some_and(|id| reads(seen.context.base.world().api(id))) {
                    self.faults.push(Reason::of_call(Code::CareChanges, index).with("api", &*call.api));
                }
                let entry = session.call(&call.into());
                if call.mistake && entry.reply.status != 400 {
                    let status = entry.reply.status;
                    let reason = Reason::of_call(Code::NoMistake, index);
                    self.faults.push(reason.with("api", &*call.api).with("status", status));
                }
                made.push(entry);
            }
            if !made.is_empty() {
                self.messages.push(of_message..self.gold.len());
            }
            // Calls of one message do not see each other's replies.
            made.into_iter().for_each(|entry| seen.add(entry));
        }
        let end = goal.end();
        let calls = first..self.gold.len();
        for (asked, words) in questions {
            consent::check(number, goal, (asked.clone(), words), seen, &mut self.faults);
            self.consents.push(asked);
        }
        let declined = declined::check(number, &end, (session, &self.policies), seen, &mut self.faults);
        let (refusal, refused_by) = match &end.declines {
            Some(_) => (vec![RefusalClass::Forbidden], None),
            None => claims::read_refusal(number, &end, &calls, seen, &mut self.faults),
        };
        let asked = claims::read_facts(number, &end, &last, seen, &mut self.faults);
        claims::report_unclaimed(number, &asked, &last, seen, &mut self.faults);
        claims::report_repeated(&calls, seen, &mut self.faults);
        let asks = claims::read_asks(number, &end, seen, &mut self.faults);
        claims::check_done(number, &end, &calls, &last, seen, &mut self.faults);
        self.goals.push(GroundedGoal {
            calls,
            user_turns: seen.turns.len(),
            outcome: end.outcome,
            refusal,
            refused_by,
            declined,
            asked,
            asks,
            answer: goal.last_words().to_owned(),
        });
        Ok(())
    }
}
