//! Agents on API-Bank's dialogues, teacher-forced on the recordings as in the paper, or free-running; and on
//! the scenarios of level 3.

use std::collections::VecDeque;
use std::sync::Arc;

use diorama_baselines::environment::{Answer, ConversationEntry, EnvironmentError, Reply, View};
use diorama_baselines::rouge::rouge_l;
use diorama_engine::session::Session;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::Call;
use diorama_simulator::http::openapi::reply_schema;
use serde_json::{Value as Json, json};

use super::dialogue::{Dialogue, Gold, Turn};
use super::measure::{
    CALL, CALL_ANY_HIT, CALL_RELEASED, CALL_TOTAL, REFUSED, SCENARIO_CALL, SCENARIO_CALL_TOTAL, called,
    carried_out, free,
};
use super::released;
use super::scenario::Scenario;
use super::world::BankWorld;
use crate::environment::{BenchmarkEnvironment, Counterpart, told_all};
use crate::summary::{Measure, Outcome};
use crate::task::Benchmark;

/// API-Bank with the world in which agents work on its dialogues.
pub struct ApiBank {
    /// The world.
    pub world: BankWorld,
}

/// A task for an agent.
#[derive(Clone)]
pub enum Task {
    /// A dialogue up to a gold call, which the agent has to make.
    Call(Arc<Dialogue>, usize),
    /// A dialogue up to a recorded response after gold calls, which the agent has to give.
    Response(Arc<Dialogue>, usize),
    /// The user's turns of a dialogue in sequence, in a live session.
    Free(Arc<Dialogue>),
    /// A scenario of level 3, in a live session.
    Scenario(Arc<Scenario>),
}

impl Task {
    /// Returns the tasks of a dialogue.
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
    type Counterpart = LiveEnvironment;

    const MEASURES: &'static [Measure] = &[
        CALL,
        CALL_TOTAL,
        REFUSED,
        CALL_ANY_HIT,
        CALL_RELEASED,
        ("rouge_l", "responses, ROUGE-L (ours)"),
        ("rouge_l_released", "responses, ROUGE-L (as the released evaluator's)"),
        ("free_call", "free-running calls"),
        ("free_same_state", "free-running dialogues, same databases"),
        SCENARIO_CALL,
        SCENARIO_CALL_TOTAL,
        ("scenario", "scenarios, all calls in order"),
        ("scenario_total", "the same, calls that our world refuses with them"),
    ];

    fn open(&self, task: &Task) -> (View, LiveEnvironment) {
        let world = &self.world;
        let turns = |dialogue: &Dialogue, turn: usize| dialogue.turns.iter().take(turn).map(said).collect();
        let mut system = system(world, CALLING);
        let (conversation, user, tools) = match task {
            Task::Call(dialogue, turn) => {
                (turns(dialogue, *turn), User::Silent, tools(world, dialogue, Some(*turn)))
            }
            // The agent gives the response without tools. The instructions describe the APIs (figure 5).
            Task::Response(dialogue, turn) => {
                system = self::system(world, RESPONDING);
                for tool in tools(world, dialogue, Some(*turn)) {
                    system.push_str(&format!("\n{}", tool["function"]));
                }
                (turns(dialogue, *turn), User::Silent, Vec::new())
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
        let counterpart = LiveEnvironment { world: world.clone(), session, user, words: None, calls };
        (View { system, conversation, tools, over: false }, counterpart)
    }

    fn measure(&self, task: &Task, done: &BenchmarkEnvironment<LiveEnvironment>) -> Outcome {
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
                    // The paper measures only responses to API replies, not to searches.
                    if !is_search {
                        outcome.numbers.insert("rouge_l", rouge_l(&words, &wanted));
                    }
                }
                outcome.detail("said", words);
            }
            Task::Free(dialogue) => free(&mut outcome, world, dialogue, &recorded.calls, &recorded.session),
            Task::Scenario(scenario) => {
                let is_found = |api: &str| done.view.has_tool(api);
                carried_out(&mut outcome, world, scenario, &recorded.calls, &is_found);
            }
        }
        outcome
    }
}

/// The instructions of tasks that require calls.
const CALLING: &str = "You help a user by calling functions. Make one call at a time, with what the user has told you, and tell the user what came of it.";
/// The instructions of tasks that require a response, before the descriptions of APIs.
const RESPONDING: &str = "You help a user. From the conversation so far and the API requests in it, write what you say to the user next. API descriptions:";

fn system(world: &BankWorld, instructions: &str) -> String {
    let today = world.doc.clock.split('T').next().unwrap_or_default();
    format!("It is {today}. {instructions}")
}

fn said(turn: &Turn) -> ConversationEntry {
    match turn {
        Turn::User(words) => ConversationEntry::User(words.clone()),
        Turn::Assistant(words) => ConversationEntry::Agent(words.clone()),
        Turn::Call(gold) => {
            let reply = match &gold.exception {
                Some(exception) => Reply { status: 400, body: json!({ "exception": exception }) },
                None => Reply { status: 200, body: gold.output.clone() },
            };
            ConversationEntry::Call(gold.call(), reply)
        }
    }
}

/// Returns the visible tools. Level 1 has the APIs of the dialogue. Level 2 has those that recorded searches
/// have shown so far. It has the search until the first one, and whenever one is required.
fn tools(world: &BankWorld, dialogue: &Dialogue, turn: Option<usize>) -> Vec<Json> {
    let until = turn.unwrap_or(if dialogue.level == 1 { usize::MAX } else { 0 });
    let golds: Vec<(usize, &Gold)> = dialogue.calls().collect();
    let mut names: Vec<&str> = Vec::new();
    if dialogue.level == 1 {
        names.extend(golds.iter().map(|(_, gold)| &*gold.api));
    } else {
        for (_, gold) in golds.iter().filter(|(at, gold)| *at < until && gold.api == TOOL_SEARCHER) {
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

/// The user of a task.
enum User {
    /// Never answers. The first call or message completes the task.
    Silent,
    /// Sends the remaining turns of a recording.
    Recorded(VecDeque<String>),
    /// Sends all known facts after the first message, and then states that this was all.
    Knows(Option<String>),
}

/// Answers an agent with the live world and the user.
pub struct LiveEnvironment {
    world: BankWorld,
    session: Session,
    user: User,
    /// The agent's first message.
    words: Option<String>,
    calls: Vec<Call>,
}

impl Counterpart for LiveEnvironment {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.calls.push(call.clone());
        if matches!(self.user, User::Silent) {
            return Err(EnvironmentError::Over);
        }
        let entry = self.session.call(call);
        let status = entry.reply.status;
        let is_search = call.api == TOOL_SEARCHER && status < 400;
        let body = if is_search { self.world.search_reply(call) } else { self.world.body(&entry) };
        Ok(Reply { status, body })
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
        Answer { over: next.is_none(), words: next, ..Answer::default() }
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let world = self.world.base.world();
        Some(reply_schema(world, world.api(world.api_named(api)?)))
    }
}
