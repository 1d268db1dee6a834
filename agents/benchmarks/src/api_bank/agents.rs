//! Agents on API-Bank's dialogues: teacher-forced on what was recorded, as in the paper, and free-running; and on the scenarios of level 3.

use std::collections::VecDeque;
use std::sync::Arc;

use diorama_baselines::environment::{Answer, ConversationEntry, EnvironmentError, Reply, View};
use diorama_baselines::rouge::rouge_l;
use diorama_engine::session::Session;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::Call;
use diorama_simulator::http::openapi::reply_schema;
use serde_json::{Value as Json, json};

use super::dialogue::{Dialogue, Gold, TOKENS, Turn};
use super::released;
use super::scenario::Scenario;
use super::world::BankWorld;
use crate::environment::{BenchmarkEnvironment, Counterpart, told_all};
use crate::summary::{Measure, Outcome, Summary};
use crate::task::Benchmark;

/// API-Bank: its world, in which agents work on its dialogues.
pub struct ApiBank {
    /// The world.
    pub world: BankWorld,
}

/// A part of the benchmark that an agent works on.
#[derive(Clone)]
pub enum Task {
    /// All of a dialogue up to a gold call, which the agent has to make.
    Call(Arc<Dialogue>, usize),
    /// All of a dialogue up to a recorded response after gold calls, which the agent has to say.
    Response(Arc<Dialogue>, usize),
    /// The user's turns of a dialogue, one after the other, in a live session.
    Free(Arc<Dialogue>),
    /// A scenario of level 3, in a live session.
    Scenario(Arc<Scenario>),
}

impl Task {
    /// Returns the parts of a dialogue that an agent is measured on.
    pub fn all(dialogue: &Arc<Dialogue>) -> impl Iterator<Item = Self> {
        let calls = dialogue.calls().map(|(turn, _)| Self::Call(Arc::clone(dialogue), turn));
        let responses = dialogue.turns.windows(2).enumerate().filter_map(|(at, pair)| match pair {
            [Turn::Call(_), Turn::Assistant(_)] => Some(Self::Response(Arc::clone(dialogue), at + 1)),
            _ => None,
        });
        calls.chain(responses).chain([Self::Free(Arc::clone(dialogue))])
    }

    fn name(&self) -> String {
        match self {
            Self::Call(dialogue, turn) | Self::Response(dialogue, turn) => {
                format!("{} turn {turn}", dialogue.id)
            }
            Self::Free(dialogue) => format!("{} free", dialogue.id),
            Self::Scenario(scenario) => scenario.id.clone(),
        }
    }

    fn level(&self) -> u8 {
        match self {
            Self::Call(dialogue, _) | Self::Response(dialogue, _) | Self::Free(dialogue) => dialogue.level,
            Self::Scenario(_) => 3,
        }
    }
}

impl Benchmark for ApiBank {
    type Case = Task;
    type Counterpart = Recorded;

    const MEASURES: &'static [Measure] = &[
        CALL,
        CALL_RELEASED,
        ("rouge_l", "responses, ROUGE-L (ours)"),
        ("rouge_l_released", "responses, ROUGE-L (as the released evaluator's)"),
        ("free_call", "free-running calls"),
        ("free_same_state", "free-running dialogues, same databases"),
        SCENARIO_CALL,
        ("scenario", "scenarios, all calls"),
    ];

    fn open(&self, task: &Task) -> (View, Recorded) {
        let world = &self.world;
        let turns = |dialogue: &Dialogue, turn: usize| dialogue.turns.iter().take(turn).map(said).collect();
        let (conversation, user, tools) = match task {
            Task::Call(dialogue, turn) | Task::Response(dialogue, turn) => {
                (turns(dialogue, *turn), User::Silent, tools(world, dialogue, Some(*turn)))
            }
            Task::Free(dialogue) => {
                let users = dialogue.turns.iter().filter_map(|turn| match turn {
                    Turn::User(words) => Some(words.clone()),
                    _ => None,
                });
                let mut users: VecDeque<String> = users.collect();
                let opening = users.pop_front().map(ConversationEntry::User);
                (opening.into_iter().collect(), User::Recorded(users), tools(world, dialogue, None))
            }
            Task::Scenario(scenario) => {
                let opening = vec![ConversationEntry::User(scenario.opening.clone())];
                let search = vec![world.base.tool_searcher_schema().clone()];
                (opening, User::Knows(Some(scenario.withheld.clone())), search)
            }
        };
        let session = world.session();
        let calls = Vec::new();
        let counterpart = Recorded { world: world.clone(), session, user, words: None, calls };
        (View { system: system(world), conversation, tools, over: false }, counterpart)
    }

    fn measure(&self, task: &Task, done: &BenchmarkEnvironment<Recorded>) -> Outcome {
        let (world, recorded) = (&self.world, &done.counterpart);
        let mut outcome = Outcome::new(task.name());
        outcome.groups.push(("level", task.level().to_string()));
        let turn = |dialogue: &Arc<Dialogue>, turn: usize| dialogue.turns.get(turn).cloned();
        match task {
            Task::Call(dialogue, at) => {
                if let Some(Turn::Call(gold)) = turn(dialogue, *at) {
                    called(&mut outcome, world, &gold, recorded.calls.first(), done.malformed > 0);
                }
            }
            Task::Response(dialogue, at) => {
                let words = recorded.words.clone().unwrap_or_default();
                if let Some(Turn::Assistant(wanted)) = turn(dialogue, *at) {
                    outcome.numbers.insert("rouge_l_released", released::rouge_l(&words, &wanted));
                    let is_search = matches!(
                        at.checked_sub(1).and_then(|before| turn(dialogue, before)),
                        Some(Turn::Call(gold)) if gold.api == TOOL_SEARCHER
                    );
                    // The paper measures responses to the replies of APIs.
                    if !is_search {
                        outcome.numbers.insert("rouge_l", rouge_l(&words, &wanted));
                    }
                }
                outcome.detail("said", words);
            }
            Task::Free(dialogue) => free(&mut outcome, world, dialogue, recorded),
            Task::Scenario(scenario) => carried_out(&mut outcome, world, scenario, &recorded.calls),
        }
        outcome
    }
}

/// Measures the call that was made in place of a gold call, by our rules and by those of the released evaluator. By ours, a gold
/// call that the world refuses is left out.
fn called(outcome: &mut Outcome, world: &BankWorld, gold: &Gold, call: Option<&Call>, malformed: bool) {
    outcome.share("call_released", call.is_some_and(|call| released::is_right(world, call, gold)));
    outcome.detail("call", call.map(|call| json!(call)));
    if let Some(refusal) = world.effect(&gold.call()).refusal() {
        outcome.detail("left_out", vec![format!("{}: {refusal}", gold.api)]);
        return;
    }
    let classes = classes(world, gold, call, malformed);
    outcome.share("call", classes.is_none());
    if let Some((error, ours)) = classes {
        outcome.errors.insert("error", error.to_owned());
        outcome.errors.insert("error_ours", ours.to_owned());
    }
}

/// Measures the calls that were made in place of a scenario's, each after those before it. Calls that the world refuses are left
/// out.
fn carried_out(outcome: &mut Outcome, world: &BankWorld, scenario: &Scenario, calls: &[Call]) {
    let mut open: Vec<&Call> = calls.iter().collect();
    outcome.detail("calls", json!(calls));
    let (mut matched, mut scored, mut left_out) = (0, 0, Vec::new());
    for (at, wanted) in scenario.calls.iter().enumerate() {
        let before = scenario.calls.get(..at).unwrap_or_default();
        let effect = world.effect_after(before, wanted);
        if let Some(refusal) = effect.refusal() {
            left_out.push(format!("{}: {refusal}", wanted.api));
            continue;
        }
        scored += 1;
        let is_same = |call: &&Call| {
            call.api == wanted.api && (*call == wanted || world.effect_after(before, call) == effect)
        };
        if let Some(position) = open.iter().position(is_same) {
            open.remove(position);
            matched += 1;
        }
    }
    outcome.detail("left_out", left_out);
    outcome.part("scenario_call", matched, scored);
    outcome.share("scenario", matched == scored);
}

const CALL: Measure = ("call", "calls (our rules)");
const CALL_RELEASED: Measure = ("call_released", "calls (the released evaluator's rules)");
const SCENARIO_CALL: Measure = ("scenario_call", "scenarios, calls");

/// Measures the recorded calls, sent verbatim: what no agent can exceed.
#[must_use]
pub fn ceiling<'a>(
    world: &BankWorld,
    dialogues: impl IntoIterator<Item = &'a Dialogue>,
    scenarios: &[Scenario],
) -> Summary {
    const MEASURES: &[Measure] = &[CALL, CALL_RELEASED, SCENARIO_CALL];
    let new = |case: String, level: u8| {
        let groups = vec![("level", level.to_string())];
        Outcome { groups, ..Outcome::new(case) }
    };
    let mut outcomes = Vec::new();
    for dialogue in dialogues {
        for (turn, gold) in dialogue.calls() {
            let mut outcome = new(format!("{} turn {turn}", dialogue.id), dialogue.level);
            called(&mut outcome, world, gold, Some(&gold.call()), false);
            outcomes.push(outcome);
        }
    }
    for scenario in scenarios {
        let mut outcome = new(scenario.id.clone(), 3);
        carried_out(&mut outcome, world, scenario, &scenario.calls);
        outcomes.push(outcome);
    }
    for outcome in &mut outcomes {
        let left_out = outcome.details.get("left_out").and_then(Json::as_array);
        let left_out = left_out.into_iter().flatten().filter_map(Json::as_str);
        let notes: Vec<String> = left_out.map(|reason| format!("left out: {reason}")).collect();
        outcome.notes.extend(notes);
    }
    Summary::of("recorded calls, sent verbatim", None, MEASURES, outcomes)
}

fn system(world: &BankWorld) -> String {
    let today = world.doc.clock.split('T').next().unwrap_or_default();
    format!(
        "You help a user by calling functions. It is {today}. Make one call at a time, with what the user has told you, and tell the user what came of it."
    )
}

fn said(turn: &Turn) -> ConversationEntry {
    match turn {
        Turn::User(words) => ConversationEntry::User(words.clone()),
        Turn::Assistant(words) => ConversationEntry::Agent(words.clone()),
        // Agents read a conversation that they were not in: what was called is told in words.
        Turn::Call(gold) => {
            let arguments = Json::Object(gold.arguments.clone());
            let gave = gold.exception.clone().unwrap_or_else(|| gold.output.to_string());
            ConversationEntry::Agent(format!("(I called {} with {arguments}. It gave: {gave})", gold.api))
        }
    }
}

/// The visible tools. On level 1, the APIs of the dialogue. On level 2, those that recorded searches have shown so far, and the
/// search as long as there was none, or where one is asked for.
fn tools(world: &BankWorld, dialogue: &Dialogue, turn: Option<usize>) -> Vec<Json> {
    let until = turn.unwrap_or(if dialogue.level == 1 { usize::MAX } else { 0 });
    let golds: Vec<(usize, &Gold)> = dialogue.calls().collect();
    let mut names: Vec<&str> = Vec::new();
    if dialogue.level == 1 {
        names.extend(golds.iter().map(|(_, gold)| &*gold.api));
    } else {
        for (_, gold) in golds.iter().filter(|(at, gold)| *at < until && gold.api == TOOL_SEARCHER) {
            names.push(TOKENS);
            names.extend(gold.shown());
        }
    }
    let searches =
        turn.is_some_and(|turn| golds.iter().any(|(at, gold)| *at == turn && gold.api == TOOL_SEARCHER));
    let mut shown = Vec::new();
    if dialogue.level == 2 && (names.is_empty() || searches) {
        shown.push(world.base.tool_searcher_schema().clone());
    }
    for name in names {
        let api = world.base.world().api_named(name);
        let tool = api.and_then(|api| world.base.tool_schema(api)).map(|tool| (**tool).clone());
        shown.extend(tool.filter(|tool| !shown.contains(tool)));
    }
    shown
}

/// The paper's class of an error and ours; none where the call is equivalent to the gold call.
fn classes(
    world: &BankWorld,
    gold: &Gold,
    call: Option<&Call>,
    malformed: bool,
) -> Option<(&'static str, &'static str)> {
    let Some(call) = call else {
        return Some(if malformed {
            ("False API Call Format", "malformed")
        } else {
            ("No API Call", "no_call")
        });
    };
    if world.is_equivalent(call, gold) {
        return None;
    }
    let model = world.base.world();
    if call.api != gold.api {
        let known = call.api == TOOL_SEARCHER || model.api_named(&call.api).is_some();
        return Some(("API Hallucination", if known { "wrong_api" } else { "unknown_api" }));
    }
    let Some(api) = model.api_named(&call.api).map(|api| model.api(api)) else {
        return Some(("Different Effect", "wrong_argument"));
    };
    let missing = gold.arguments.keys().any(|name| {
        let declared = api.parameters.iter().any(|parameter| *parameter.name == **name);
        declared && !call.arguments.contains_key(name)
    });
    if missing {
        return Some(("Miss Input Parameters", "missing_argument"));
    }
    let effect = world.effect(call);
    Some(match effect.status {
        400 | 422 => ("Invalid Input Parameters", "refused_argument"),
        status if status >= 400 => ("Has Exception", "wrong_argument"),
        // The paper has no name for a call that succeeds and does something else.
        _ => ("Different Effect", "wrong_argument"),
    })
}

fn free(outcome: &mut Outcome, world: &BankWorld, dialogue: &Dialogue, done: &Recorded) {
    let golds: Vec<&Gold> =
        dialogue.calls().map(|(_, gold)| gold).filter(|gold| gold.api != TOOL_SEARCHER).collect();
    let mut open: Vec<&Call> = done.calls.iter().filter(|call| call.api != TOOL_SEARCHER).collect();
    outcome.detail("calls", open.len());
    let mut matched = 0;
    let mut reference = world.session();
    for gold in &golds {
        let own = gold.call();
        reference.call(&own);
        if let Some(at) = open.iter().position(|call| **call == own || world.is_equivalent(call, gold)) {
            open.remove(at);
            matched += 1;
        }
    }
    outcome.part("free_call", matched, golds.len() as u64);
    if reference.digest() != world.session().digest() {
        outcome.share("free_same_state", reference.digest() == done.session.digest());
    }
}

/// The user of a task.
enum User {
    /// Hears nothing: the first call or message is all that is asked for.
    Silent,
    /// Says the turns that are left of a recording.
    Recorded(VecDeque<String>),
    /// Says all that they know at the first message, and then that this was all.
    Knows(Option<String>),
}

/// Answers an agent: with the live world, and the user.
pub struct Recorded {
    world: BankWorld,
    session: Session,
    user: User,
    /// The agent's first message.
    words: Option<String>,
    calls: Vec<Call>,
}

impl Counterpart for Recorded {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.calls.push(call.clone());
        if matches!(self.user, User::Silent) {
            return Err(EnvironmentError::Over);
        }
        let entry = self.session.call(call);
        Ok(Reply { status: entry.reply.status, body: self.world.body(&entry) })
    }

    fn say(&mut self, words: &str) -> Answer {
        self.words.get_or_insert_with(|| words.to_owned());
        let next = match &mut self.user {
            User::Silent => None,
            User::Recorded(turns) => turns.pop_front(),
            User::Knows(known) => match known.take() {
                None => return told_all(words),
                known => known,
            },
        };
        Answer { over: next.is_none(), words: next }
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let world = self.world.base.world();
        Some(reply_schema(world, world.api(world.api_named(api)?)))
    }
}
