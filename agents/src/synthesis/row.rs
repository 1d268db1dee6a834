//! A tested task as a row of a dataset.

use diorama_output::row::{Dialogue, Message, Role, Split, ToolCall};
use diorama_seeds::task::{Ability, ArgumentSource, GoldCall, Outcome};
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::caller::Solution;
use super::draft::{AnswerPart, Draft};
use super::tester::GateReport;
use super::world::UnitWorld;

/// How an episode is set up and what happens in it: enough to run it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The clock at the start, RFC 3339.
    pub clock: String,
    /// The zone.
    pub zone: String,
    /// The session's seed.
    pub session_seed: u64,
    /// Key of a user who is signed in from the start; none offline.
    pub identity: Option<String>,
    /// Faults that the simulator is asked for; none offline.
    pub faults: Vec<Json>,
    /// Version of the search for tools.
    pub search: String,
    /// Names of the APIs that are visible at the start.
    pub visible: Vec<String>,
    /// How the episode ends.
    pub outcome: Outcome,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// Something that happens in an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The user's turn of this number.
    User(u32),
    /// The reference call of this number.
    Call(u32),
}

/// What a user says when asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserFact {
    /// The turn that says it.
    pub turn: u32,
    /// In these words.
    pub text: String,
}

/// The reference answer: parts over the reference calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoldAnswer {
    /// The parts.
    pub parts: Vec<AnswerPart>,
}

/// Where a row comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Who did the language work.
    pub backend: String,
    /// The model, where there was one.
    pub model: Option<String>,
    /// Hash of the prompts, where there were any.
    pub prompt_hash: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// The slot.
    pub slot: u64,
    /// The attempt, from 0, that passed.
    pub attempt: u32,
    /// The generator's version.
    pub version: String,
}

/// Puts a row together.
#[must_use]
pub fn row(
    world: &UnitWorld,
    draft: &Draft,
    solution: &Solution,
    gates: &GateReport,
    split: Split,
    provenance: &Provenance,
) -> Dialogue {
    let model = world.base.world();
    let depth = depth(&solution.gold);
    let home = draft.steps.last().map_or(0, |step| model.api(step.api).domain.index());
    let domain = &model.domains[home];
    let mut tools: Vec<&Json> =
        solution.visible.iter().filter_map(|api| world.base.tool_schema(*api)).map(AsRef::as_ref).collect();
    if draft.ability != Ability::Call {
        tools.insert(0, world.base.tool_searcher_schema());
    }
    let episode = Episode {
        clock: diorama_seeds::value::Value::DateTime(model.clock).to_text(&model.zone),
        zone: model.zone.name().to_owned(),
        session_seed: solution.session_seed,
        identity: None,
        faults: Vec::new(),
        search: world.base.search().name().to_owned(),
        visible: solution.visible.iter().map(|api| model.api(*api).name.to_string()).collect(),
        outcome: draft.outcome,
        events: events(draft, &solution.gold),
    };
    let facts: Vec<UserFact> = draft
        .turns
        .iter()
        .enumerate()
        .skip(1)
        .map(|(turn, said)| UserFact { turn: turn as u32, text: said.text.clone() })
        .collect();
    Dialogue {
        id: format!("{}-{:08}", split, provenance.slot),
        split,
        ability: draft.ability,
        depth,
        rc_level: (depth >= 2).then(|| (depth - 1).min(3)),
        phenomena: draft.phenomena.iter().map(|name| (*name).to_owned()).collect(),
        world_id: world.id.clone(),
        world_hash: world.hash.clone(),
        archetype: domain.archetype.to_string(),
        domain: domain.name.to_string(),
        query: draft.turns.first().map(|turn| turn.text.clone()).unwrap_or_default(),
        tools: text(&tools),
        messages: messages(draft, solution, world),
        episode: text(&episode),
        gold_calls: text(&solution.gold),
        gold_plan: Some(nested(&solution.gold)),
        gold_answer: text(&GoldAnswer { parts: solution.answer_parts.clone() }),
        checks: text(&solution.checks),
        user_facts: text(&facts),
        initial_state_hash: solution.initial.digest().to_string(),
        final_state_hash: solution.last.digest().to_string(),
        gates: text(gates),
        license: world.family.license.clone(),
        provenance: text(provenance),
    }
}

fn text<T: Serialize>(value: &T) -> String {
    // Every type here is made of strings, numbers and lists: writing it as JSON cannot fail.
    serde_json::to_string(value).unwrap_or_else(|_| json!(null).to_string())
}

fn events(draft: &Draft, gold: &[GoldCall]) -> Vec<Event> {
    let mut events = Vec::new();
    for turn in 0..draft.turns.len() as u32 {
        events.push(Event::User(turn));
        events
            .extend((0..gold.len() as u32).filter(|call| gold[*call as usize].turn == turn).map(Event::Call));
    }
    events
}

fn messages(draft: &Draft, solution: &Solution, world: &UnitWorld) -> Vec<Message> {
    let zone = &world.base.world().zone;
    let mut messages = vec![Message::new(Role::System, solution.system.clone())];
    for (turn, said) in draft.turns.iter().enumerate() {
        messages.push(Message::new(Role::User, said.text.clone()));
        if let (Some(question), true) = (&draft.question, turn + 1 < draft.turns.len()) {
            messages.push(Message::new(Role::Assistant, question.clone()));
        }
    }
    for (index, (gold, entry)) in solution.gold.iter().zip(&solution.entries).enumerate() {
        let arguments = serde_json::to_string(&gold.arguments).unwrap_or_else(|_| "{}".to_owned());
        let call = ToolCall::new(format!("call_{index}"), gold.api.clone(), arguments);
        let reply = Message::reply(&call, entry.reply.to_json(zone));
        messages.push(Message::calling(vec![call]));
        messages.push(reply);
    }
    messages.push(Message::new(Role::Assistant, solution.answer.clone()));
    messages
}

/// Calls nested through their arguments: 1 for a call whose arguments come from the user alone.
#[must_use]
pub fn depth(gold: &[GoldCall]) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(gold.len());
    for call in gold {
        let from = |index: &u32| depths.get(*index as usize).copied().unwrap_or(0);
        let below = call.sources.values().map(|source| match source {
            ArgumentSource::Reply { call, .. } => from(call),
            ArgumentSource::Replies { places } => {
                places.iter().map(|(call, _)| from(call)).max().unwrap_or(0)
            }
            _ => 0,
        });
        depths.push(if call.api == TOOL_SEARCHER { 0 } else { below.max().unwrap_or(0) + 1 });
    }
    depths.into_iter().max().unwrap_or(0)
}

/// The reference calls as Reverse Chain's nested label: each call whose reply no other call takes, with its
/// arguments, in which other calls stand where their replies are taken. Several labels are separated by `; `.
#[must_use]
pub fn nested(gold: &[GoldCall]) -> String {
    let taken: Vec<u32> = gold
        .iter()
        .flat_map(|call| call.sources.values())
        .flat_map(|source| match source {
            ArgumentSource::Reply { call, .. } => vec![*call],
            ArgumentSource::Replies { places } => places.iter().map(|(call, _)| *call).collect(),
            _ => Vec::new(),
        })
        .collect();
    let roots = (0..gold.len())
        .filter(|index| gold[*index].api != TOOL_SEARCHER && !taken.contains(&(*index as u32)));
    roots.map(|index| label(gold, index)).collect::<Vec<_>>().join("; ")
}

/// A reply is only taken by later calls, so this ends.
fn label(gold: &[GoldCall], index: usize) -> String {
    let inner = |call: u32| {
        if (call as usize) < index { label(gold, call as usize) } else { "?".to_owned() }
    };
    let call = &gold[index];
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|(name, value)| {
            let shown = match call.sources.get(name) {
                Some(ArgumentSource::Reply { call, .. }) => inner(*call),
                Some(ArgumentSource::Replies { places }) => {
                    let labels: Vec<String> = places.iter().map(|(call, _)| inner(*call)).collect();
                    format!("[{}]", labels.join(", "))
                }
                _ => match value {
                    Json::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
                    other => other.to_string(),
                },
            };
            format!("{name}={shown}")
        })
        .collect();
    format!("{}({})", call.api, arguments.join(", "))
}
