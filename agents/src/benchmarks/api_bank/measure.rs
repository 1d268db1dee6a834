//! Agents on API-Bank's dialogues: teacher-forced on what was recorded, as in the paper, and free-running.

use std::collections::BTreeMap;

use diorama_baselines::Agent;
use diorama_baselines::environment::{Answer, Budget, ConversationEntry, EnvironmentError, Reply, View};
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::http::openapi::reply_schema;
use diorama_simulator::session::Session;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::world::BankWorld;
use super::{Dialogue, Gold, Turn};
use crate::benchmarks::environment::{BenchmarkEnvironment, Counterpart};
use crate::benchmarks::{who, without_end};
use crate::evaluation::measures::rouge_l;
use crate::evaluation::shares::{Rate, Share};

/// The part of a dialogue that an agent is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All up to a gold call, which it has to make.
    Call(usize),
    /// All up to a recorded response after gold calls, which it has to say.
    Response(usize),
    /// The user's turns, one after the other, in a live session.
    Free,
}

/// A mode without its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// A gold call.
    Call,
    /// A response.
    Response,
    /// A whole dialogue.
    Free,
}

/// The outcome of one.
#[derive(Clone, Debug, Serialize)]
pub struct Episode {
    /// The dialogue.
    pub dialogue: String,
    /// Its level.
    pub level: u8,
    /// The setting.
    pub mode: ModeName,
    /// The turn, where it is one.
    pub turn: Option<usize>,
    /// The measures; none where the model or its server failed.
    pub measured: Option<Measured>,
    /// Tokens of the model.
    pub tokens: u64,
}

/// The measures of a setting.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// A call.
    Call {
        /// The call that was made.
        call: Option<Call>,
        /// The paper's class of error, where it is not equivalent to the gold call.
        error: Option<String>,
        /// Our class of it.
        ours: Option<String>,
    },
    /// A response.
    Response {
        /// The message; empty where a call was made instead.
        said: String,
        /// ROUGE-L against what was recorded.
        rouge_l: f64,
    },
    /// A whole dialogue.
    Free {
        /// Gold calls.
        gold: u64,
        /// Those of them for which an equivalent call was made.
        matched: u64,
        /// Calls made.
        calls: u64,
        /// True where the databases end as they do after the gold calls; none where those change nothing.
        same_state: Option<bool>,
    },
}

/// An agent's results.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The agent.
    pub agent: String,
    /// The model, where it asks one.
    pub model: Option<String>,
    /// Teacher-forced accuracy of calls, by level and over all.
    pub call_accuracy: BTreeMap<String, Rate>,
    /// Teacher-forced mean ROUGE-L of responses given the gold calls, by level and over all.
    pub rouge_l: BTreeMap<String, f64>,
    /// The paper's classes of errors of teacher-forced calls.
    pub errors: BTreeMap<String, u64>,
    /// Our classes of the same.
    pub errors_ours: BTreeMap<String, u64>,
    /// Free-running: gold calls for which an equivalent call was made.
    pub free_call_accuracy: Rate,
    /// Free-running: of the dialogues whose gold calls change something, those whose databases end as they do after these.
    pub free_same_state: Rate,
    /// Tasks that came to no end for want of a model.
    pub unfinished: usize,
    /// Tokens of the model.
    pub tokens: u64,
}

/// Has an agent work on a part of a dialogue.
pub async fn run(
    agent: &dyn Agent,
    world: &BankWorld,
    dialogue: &Dialogue,
    mode: Mode,
    budget: Budget,
) -> Episode {
    let (name, turn) = match mode {
        Mode::Call(turn) => (ModeName::Call, Some(turn)),
        Mode::Response(turn) => (ModeName::Response, Some(turn)),
        Mode::Free => (ModeName::Free, None),
    };
    let mut users = dialogue.turns.iter().filter_map(|turn| match turn {
        Turn::User(words) => Some(words.clone()),
        _ => None,
    });
    let conversation = match turn {
        Some(turn) => dialogue.turns.iter().take(turn).map(said).collect(),
        None => users.next().map(ConversationEntry::User).into_iter().collect(),
    };
    let counterpart = Recorded {
        world: world.clone(),
        session: world.session(),
        users: users.rev().collect(),
        one: turn.is_some(),
        first: None,
        words: None,
        calls: Vec::new(),
    };
    let view = View { system: system(world), conversation, tools: tools(world, dialogue, turn), over: false };
    let mut environment = BenchmarkEnvironment::new(view, counterpart, budget);
    let stopped = agent.act(&mut environment).await.err();
    let failed = stopped.is_some_and(|error| error.is_outage());
    let done = &environment.counterpart;
    let measured = match (mode, turn.and_then(|turn| dialogue.turns.get(turn))) {
        (Mode::Call(_), Some(Turn::Call(gold))) => {
            let classes = classes(world, gold, done.first.as_ref(), environment.malformed > 0);
            let (error, ours) =
                classes.map_or((None, None), |(error, ours)| (Some(error.to_owned()), Some(ours.to_owned())));
            Measured::Call { call: done.first.clone(), error, ours }
        }
        (Mode::Response(_), Some(Turn::Assistant(recorded))) => {
            let said = done.words.clone().unwrap_or_default();
            Measured::Response { rouge_l: rouge_l(&said, recorded), said }
        }
        _ => free(world, dialogue, done),
    };
    Episode {
        dialogue: dialogue.id.clone(),
        level: dialogue.level,
        mode: name,
        turn,
        measured: (!failed).then_some(measured),
        tokens: environment.tokens,
    }
}

/// The parts of a dialogue that an agent is measured on.
pub fn modes(dialogue: &Dialogue) -> impl Iterator<Item = Mode> {
    let calls = dialogue.calls().map(|(turn, _)| Mode::Call(turn));
    let responses = dialogue.turns.windows(2).enumerate().filter_map(|(at, pair)| match pair {
        [Turn::Call(gold), Turn::Assistant(_)] if gold.api != TOOL_SEARCHER => Some(Mode::Response(at + 1)),
        _ => None,
    });
    calls.chain(responses).chain([Mode::Free])
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
            names.push(super::world::TOKENS);
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

fn free(world: &BankWorld, dialogue: &Dialogue, done: &Recorded) -> Measured {
    let golds: Vec<&Gold> =
        dialogue.calls().map(|(_, gold)| gold).filter(|gold| gold.api != TOOL_SEARCHER).collect();
    let mut open: Vec<&Call> = done.calls.iter().filter(|call| call.api != TOOL_SEARCHER).collect();
    let calls = open.len() as u64;
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
    let changes = reference.digest() != world.session().digest();
    let same_state = changes.then(|| reference.digest() == done.session.digest());
    Measured::Free { gold: golds.len() as u64, matched, calls, same_state }
}

/// The other side of an agent: the live world, and the user's recorded turns.
struct Recorded {
    world: BankWorld,
    session: Session,
    /// The user's turns that are left, the next one last.
    users: Vec<String>,
    /// The first call or word is all that is asked for.
    one: bool,
    first: Option<Call>,
    words: Option<String>,
    calls: Vec<Call>,
}

impl Counterpart for Recorded {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.calls.push(call.clone());
        if self.one {
            self.first.get_or_insert_with(|| call.clone());
            return Err(EnvironmentError::Over);
        }
        let entry = self.session.call(call);
        Ok(Reply { status: entry.reply.status, body: self.world.body(&entry) })
    }

    fn say(&mut self, words: &str) -> Answer {
        self.words.get_or_insert_with(|| words.to_owned());
        let next = if self.one { None } else { self.users.pop() };
        Answer { over: next.is_none(), words: next }
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let world = self.world.base.world();
        Some(reply_schema(world, world.api(world.api_named(api)?)))
    }
}

impl Results {
    /// Adds episodes up.
    #[must_use]
    pub fn of(agent: String, model: Option<String>, episodes: &[Episode]) -> Self {
        let mut calls: BTreeMap<String, Share> = BTreeMap::new();
        let mut rouge: BTreeMap<String, (f64, u64)> = BTreeMap::new();
        let (mut errors, mut errors_ours) = (BTreeMap::new(), BTreeMap::new());
        let (mut free, mut same) = (Share::default(), Share::default());
        for episode in episodes {
            let names = [format!("level {}", episode.level), "all".to_owned()];
            match &episode.measured {
                Some(Measured::Call { error, ours, .. }) => {
                    for name in names {
                        calls.entry(name).or_default().add(error.is_none());
                    }
                    for (class, into) in [(error, &mut errors), (ours, &mut errors_ours)] {
                        if let Some(class) = class {
                            *into.entry(class.clone()).or_default() += 1;
                        }
                    }
                }
                Some(Measured::Response { rouge_l, .. }) => {
                    for name in names {
                        let sum = rouge.entry(name).or_default();
                        *sum = (sum.0 + rouge_l, sum.1 + 1);
                    }
                }
                Some(Measured::Free { gold, matched, same_state, .. }) => {
                    free.merge(&Share { of: *matched, all: *gold });
                    same_state.iter().for_each(|good| same.add(*good));
                }
                None => {}
            }
        }
        Self {
            agent,
            model,
            call_accuracy: calls.into_iter().map(|(name, share)| (name, share.into())).collect(),
            rouge_l: rouge
                .into_iter()
                .map(|(name, (sum, count))| (name, sum / count.max(1) as f64))
                .collect(),
            errors,
            errors_ours,
            free_call_accuracy: free.into(),
            free_same_state: same.into(),
            unfinished: episodes.iter().filter(|episode| episode.measured.is_none()).count(),
            tokens: episodes.iter().map(|episode| episode.tokens).sum(),
        }
    }

    /// A table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = who(&self.agent, self.model.as_deref()) + "\n";
        for (name, rate) in &self.call_accuracy {
            text.push_str(&rate.line(&format!("teacher-forced calls, {name}"), 40));
        }
        for (name, rouge) in &self.rouge_l {
            text.push_str(&format!("  teacher-forced responses, {name}: ROUGE-L {rouge:.3}\n"));
        }
        for (class, count) in &self.errors {
            text.push_str(&format!("    {class}: {count}\n"));
        }
        text.push_str(&self.free_call_accuracy.line("free-running calls", 40));
        text.push_str(&self.free_same_state.line("free-running dialogues, same databases", 40));
        text + &without_end(self.unfinished)
    }
}
