//! Agents on API-Bank's dialogues: teacher-forced on what was recorded, as in the paper, and free-running.

use std::sync::Arc;

use diorama_baselines::environment::{Answer, EnvironmentError, Reply, Said, View};
use diorama_baselines::rouge::rouge_l;
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::http::openapi::reply_schema;
use diorama_simulator::session::Session;
use serde_json::{Value as Json, json};

use super::dialogue::{Dialogue, Gold, TOKENS, Turn};
use super::world::BankWorld;
use crate::environment::{BenchmarkEnvironment, Counterpart};
use crate::summary::{Measure, Outcome};
use crate::task::Benchmark;

/// API-Bank: its world, in which agents work on its dialogues.
pub struct ApiBank {
    /// The world.
    pub world: BankWorld,
}

/// A part of a dialogue that an agent works on.
#[derive(Clone)]
pub struct Task {
    dialogue: Arc<Dialogue>,
    mode: Mode,
}

/// The part of a dialogue that an agent is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// All up to a gold call, which it has to make.
    Call(usize),
    /// All up to a recorded response after gold calls, which it has to say.
    Response(usize),
    /// The user's turns, one after the other, in a live session.
    Free,
}

impl Task {
    /// Returns the parts of a dialogue that an agent is measured on.
    pub fn all(dialogue: &Arc<Dialogue>) -> impl Iterator<Item = Self> {
        let calls = dialogue.calls().map(|(turn, _)| Mode::Call(turn));
        let responses = dialogue.turns.windows(2).enumerate().filter_map(|(at, pair)| match pair {
            [Turn::Call(gold), Turn::Assistant(_)] if gold.api != TOOL_SEARCHER => {
                Some(Mode::Response(at + 1))
            }
            _ => None,
        });
        let modes = calls.chain(responses).chain([Mode::Free]);
        modes.map(|mode| Self { dialogue: Arc::clone(dialogue), mode })
    }

    const fn turn(&self) -> Option<usize> {
        match self.mode {
            Mode::Call(turn) | Mode::Response(turn) => Some(turn),
            Mode::Free => None,
        }
    }
}

impl Benchmark for ApiBank {
    type Case = Task;
    type Counterpart = Recorded;

    const MEASURES: &'static [Measure] = &[
        ("call", "teacher-forced calls"),
        ("rouge_l", "teacher-forced responses, ROUGE-L"),
        ("free_call", "free-running calls"),
        ("free_same_state", "free-running dialogues, same databases"),
    ];

    fn open(&self, task: &Task) -> (View, Recorded) {
        let (world, dialogue, turn) = (&self.world, &task.dialogue, task.turn());
        let mut users = dialogue.turns.iter().filter_map(|turn| match turn {
            Turn::User(words) => Some(words.clone()),
            _ => None,
        });
        let conversation = match turn {
            Some(turn) => dialogue.turns.iter().take(turn).map(said).collect(),
            None => users.next().map(Said::User).into_iter().collect(),
        };
        let counterpart = Recorded {
            world: world.clone(),
            session: world.session(),
            users: users.rev().collect(),
            is_single: turn.is_some(),
            first: None,
            words: None,
            calls: Vec::new(),
        };
        let view =
            View { system: system(world), conversation, tools: tools(world, dialogue, turn), over: false };
        (view, counterpart)
    }

    fn measure(&self, task: &Task, done: &BenchmarkEnvironment<Recorded>) -> Outcome {
        let (world, dialogue, recorded) = (&self.world, &task.dialogue, &done.counterpart);
        let turn = task.turn();
        let mut outcome = Outcome::new(match turn {
            Some(turn) => format!("{} turn {turn}", dialogue.id),
            None => format!("{} free", dialogue.id),
        });
        outcome.groups.push(("level", dialogue.level.to_string()));
        match turn.and_then(|turn| dialogue.turns.get(turn)) {
            Some(Turn::Call(gold)) => {
                let call = recorded.first.as_ref();
                let classes = classes(world, gold, call, done.malformed > 0);
                outcome.detail("call", call.map(|call| json!(call)));
                outcome.share("call", classes.is_none());
                if let Some((error, ours)) = classes {
                    outcome.errors.insert("error", error.to_owned());
                    outcome.errors.insert("error_ours", ours.to_owned());
                }
            }
            Some(Turn::Assistant(recorded_words)) => {
                let said = recorded.words.clone().unwrap_or_default();
                outcome.numbers.insert("rouge_l", rouge_l(&said, recorded_words));
                outcome.detail("said", said);
            }
            _ => free(&mut outcome, world, dialogue, recorded),
        }
        outcome
    }
}

fn system(world: &BankWorld) -> String {
    let today = world.doc.clock.split('T').next().unwrap_or_default();
    format!(
        "You help a user by calling functions. It is {today}. Make one call at a time, with what the user has told you, and tell the user what came of it."
    )
}

fn said(turn: &Turn) -> Said {
    match turn {
        Turn::User(words) => Said::User(words.clone()),
        Turn::Assistant(words) => Said::Agent(words.clone()),
        // Agents read a conversation that they were not in: what was called is told in words.
        Turn::Call(gold) => {
            let arguments = Json::Object(gold.arguments.clone());
            let gave = gold.exception.clone().unwrap_or_else(|| gold.output.to_string());
            Said::Agent(format!("(I called {} with {arguments}. It gave: {gave})", gold.api))
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

/// Answers an agent: with the live world, and the user's recorded turns.
pub struct Recorded {
    world: BankWorld,
    session: Session,
    /// The user's turns that are left, the next one last.
    users: Vec<String>,
    /// The first call or word is all that is asked for.
    is_single: bool,
    first: Option<Call>,
    words: Option<String>,
    calls: Vec<Call>,
}

impl Counterpart for Recorded {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.calls.push(call.clone());
        if self.is_single {
            self.first.get_or_insert_with(|| call.clone());
            return Err(EnvironmentError::Over);
        }
        let entry = self.session.call(call);
        Ok(Reply { status: entry.reply.status, body: self.world.body(&entry) })
    }

    fn say(&mut self, words: &str) -> Answer {
        self.words.get_or_insert_with(|| words.to_owned());
        let next = if self.is_single { None } else { self.users.pop() };
        Answer { over: next.is_none(), words: next }
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let world = self.world.base.world();
        Some(reply_schema(world, world.api(world.api_named(api)?)))
    }
}
