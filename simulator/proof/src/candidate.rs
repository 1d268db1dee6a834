//! Defines candidates: proposed tasks with proposed solutions, unproven.
//!
//! A candidate is the conversation as messages and calls, goal by goal, with its author's claims. The author
//! claims the outcome, and each stated fact by its path in a reply. The generator, a language model or a
//! person may write one.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use diorama_seeds::answer::{AskClaim, End, FactClaim, Opening};
use diorama_seeds::task::{Call, Outage, Outcome};

/// The version of the format.
pub const CANDIDATE_VERSION: u32 = 1;
/// The greatest number of goals of a candidate.
pub const MAX_GOALS: usize = 50;
/// The greatest number of turns of all its goals.
pub const MAX_TURNS: usize = 500;
/// The greatest number of calls of all its turns: the gates replay them for each mutant of each call.
pub const MAX_CALLS: usize = 200;
/// The greatest number of outages.
pub const MAX_OUTAGES: usize = 8;
/// The greatest number of claimed facts, and of fields that are asked for in vain.
pub const MAX_FACTS: usize = 200;
/// The greatest size of all its messages, in bytes.
pub const MAX_SAID_BYTES: usize = 200_000;

/// A proposed task with a proposed solution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The format: 1.
    pub candidate: u32,
    /// The world's name; may be left out where it is clear which world is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// The clock at the start, `YYYY-MM-DDTHH:MM` in the world's zone; the world's own when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The seed of the session, which new keys and tokens follow from.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// The system message; a plain one with the date, the time and the zone when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The tools visible at the start; all of the world when left out. With `ToolSearcher` alone the others are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The faults that the first calls of APIs meet, once each. The default is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Needless questions after which the user leaves; they stay when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u32>,
    /// The conversation, goal by goal.
    pub goals: Vec<CandidateGoal>,
}

/// One thing that the user wants, and how it went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateGoal {
    /// When it opens; always, once the goal before it has ended, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Opening>,
    /// The user's message that opens it.
    pub user: String,
    /// The details that the user tells only when asked: the name and the words of each.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub withheld: IndexMap<String, String>,
    /// Other ways to ask for what is withheld, by its name. The user understands questions that are like them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub questions: IndexMap<String, Vec<String>>,
    /// The user's messages after refusals, one after each refusal while the goal is open. The turns have as many of
    /// them as there are refusals before the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pleas: Vec<String>,
    /// The turns, in order. The last one ends the goal.
    pub turns: Vec<Turn>,
}

/// One turn: a message of the assistant (words, calls, or both), or one of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The user's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The assistant's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// With `say`: how many of the next calls of the goal the words ask the user to confirm, who answers with a yes.
    #[serde(default, skip_serializing_if = "asks_nothing")]
    pub confirms: usize,
    /// The assistant's calls. Several calls of one message are independent of each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CandidateCall>,
    /// The assistant's reasoning before it spoke, as a model gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// On the last turn of a goal: how it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<End>,
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateCall {
    /// The API's name.
    pub api: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Json>,
    /// True for an avoidable error: the API refuses the arguments as not of its schema (400). Nobody is to learn from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mistake: bool,
    /// True for a read that only makes sure: the solution does without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub care: bool,
}

/// The reason why a document is no candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CandidateError {
    /// It is no JSON, or a member of it is invalid.
    #[error("{place}: {what}")]
    Form {
        /// The path of the member.
        place: String,
        /// The fault, as a clause.
        what: String,
    },
    /// It has another version.
    #[error("candidate: found version {0}, expected {CANDIDATE_VERSION}")]
    Version(u32),
    /// A member of it has no meaning.
    #[error("goals[{goal}]: {what}")]
    Goal {
        /// The index of the goal.
        goal: usize,
        /// The fault and the expectation, as a clause.
        what: &'static str,
    },
    /// It has no goals.
    #[error("goals: found none, expected at least one")]
    Empty,
    /// Its clock is no date and time.
    #[error("clock: found `{0}`, expected a date and time such as 2026-03-02T09:00")]
    Clock(String),
    /// It exceeds a limit of the gates.
    #[error("{what}: found {found}, expected at most {most} in a candidate; make several candidates of it")]
    TooLarge {
        /// The name of the bounded thing.
        what: &'static str,
        /// The number found.
        found: usize,
        /// The greatest number allowed.
        most: usize,
    },
    /// The client has left.
    #[error("the check was stopped")]
    Stopped,
    /// It names a tool that the world lacks.
    #[error("tools: found `{0}`, expected the name of an API of the world, or ToolSearcher")]
    Tool(String),
    /// It names an outage of an API that the world lacks.
    #[error("outages: found `{0}`, expected the name of an API of the world")]
    Outage(String),
}

/// Returns the JSON Schema of a [`Candidate`].
#[must_use]
pub fn json_schema() -> Json {
    schemars::schema_for!(Candidate).to_value()
}

impl Candidate {
    /// Parses a candidate.
    ///
    /// # Errors
    /// Returns [`CandidateError`] if the text does not have the form.
    pub fn read(text: &[u8]) -> Result<Self, CandidateError> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        let candidate: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let place = error.path().to_string();
            let place = if place == "." { "the candidate".to_owned() } else { place };
            CandidateError::Form { place, what: error.inner().to_string() }
        })?;
        reader.end().map_err(|error| CandidateError::Form {
            place: "the candidate".to_owned(),
            what: format!("found more than one JSON value: {error}"),
        })?;
        candidate.check()?;
        Ok(candidate)
    }

    /// Checks the conditions that the types leave open.
    ///
    /// # Errors
    /// Returns [`CandidateError`] with the first member that has no meaning.
    pub fn check(&self) -> Result<(), CandidateError> {
        if self.candidate != CANDIDATE_VERSION {
            return Err(CandidateError::Version(self.candidate));
        }
        if self.goals.is_empty() {
            return Err(CandidateError::Empty);
        }
        self.check_size()?;
        for (goal, found) in self.goals.iter().enumerate() {
            let wrong = |what| Err(CandidateError::Goal { goal, what });
            let Some((last, before)) = found.turns.split_last() else {
                return wrong("found no turns, expected at least one that ends the goal");
            };
            if last.ends.is_none() {
                return wrong("the last turn has no `ends`, expected the outcome of the goal");
            }
            if before.iter().any(|turn| turn.ends.is_some()) {
                return wrong("a turn before the last has `ends`, expected it on the last alone");
            }
            let declines = last.ends.as_ref().is_some_and(|end| end.declines.is_some());
            if declines && found.end().outcome != Outcome::Refused {
                return wrong("`declines` stands beside the outcome done, expected refused");
            }
            if last.say.is_none() || !last.calls.is_empty() {
                return wrong("the last turn must be the assistant's words, without calls");
            }
            for (at, turn) in found.turns.iter().enumerate().filter(|(_, turn)| turn.confirms > 0) {
                let later = found.turns.get(at + 1..).unwrap_or_default();
                let is_answered = later.first().is_some_and(|next| next.user.is_some());
                let calls: usize = later.iter().map(|turn| turn.calls.len()).sum();
                if turn.say.is_none() || !turn.calls.is_empty() || !is_answered || turn.confirms > calls {
                    return wrong(
                        "`confirms` stands on no question that the user answers, or counts more calls than follow in the goal",
                    );
                }
            }
            for turn in &found.turns {
                let assistant = turn.say.is_some() || !turn.calls.is_empty();
                if turn.user.is_some() == assistant {
                    return wrong("a turn must be the user's (`user`) or the assistant's (`say`, `calls`)");
                }
            }
            let opening = found.when.as_ref();
            if opening.is_some_and(|when| when.goal.is_some_and(|earlier| earlier as usize >= goal)) {
                return wrong("`when` names a goal that is not an earlier one");
            }
            if opening.is_some_and(|when| when.path.is_some() && when.call.is_none()) {
                return wrong("`when` has a path without the call that it is a place of");
            }
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), CandidateError> {
        let turns = || self.goals.iter().flat_map(|goal| &goal.turns);
        let claims = turns().filter_map(|turn| turn.ends.as_ref());
        let of_turns = turns().flat_map(|turn| [&turn.user, &turn.say]).flatten();
        let held =
            self.goals.iter().flat_map(|goal| goal.withheld.iter().flat_map(|(about, say)| [about, say]));
        let questions = self.goals.iter().flat_map(|goal| goal.questions.values().flatten());
        let pleas = self.goals.iter().flat_map(|goal| &goal.pleas);
        let openings = self.goals.iter().map(|goal| &goal.user);
        let said = openings.chain(of_turns).chain(held).chain(questions).chain(pleas).chain(&self.system);
        for (what, found, most) in [
            ("outages", self.outages.len(), MAX_OUTAGES),
            ("goals", self.goals.len(), MAX_GOALS),
            ("turns", turns().count(), MAX_TURNS),
            ("calls", self.calls().count(), MAX_CALLS),
            ("facts", claims.map(|ends| ends.facts.len() + ends.asks.len()).sum(), MAX_FACTS),
            ("bytes of what is said", said.map(String::len).sum(), MAX_SAID_BYTES),
        ] {
            if found > most {
                return Err(CandidateError::TooLarge { what, found, most });
            }
        }
        Ok(())
    }

    /// Returns all calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CandidateCall> {
        self.goals.iter().flat_map(|goal| &goal.turns).flat_map(|turn| &turn.calls)
    }
}

impl CandidateGoal {
    /// Returns its end; `done` without facts where [`Candidate::check`] was not called.
    #[must_use]
    pub fn end(&self) -> End {
        let last = self.turns.last().and_then(|turn| turn.ends.clone());
        last.unwrap_or(End {
            outcome: Outcome::Done,
            reason: Vec::new(),
            facts: Vec::new(),
            asks: Vec::new(),
            declines: None,
        })
    }

    /// Returns the withheld details that a message of the user gives, by position.
    pub fn given_by(&self, said: &str) -> impl Iterator<Item = usize> {
        let details = self.withheld.values().enumerate();
        details.filter(move |(_, say)| said.contains(say.trim_end_matches(['.', '!']))).map(|(at, _)| at)
    }

    /// Returns its last message.
    #[must_use]
    pub fn last_words(&self) -> &str {
        self.turns.last().and_then(|turn| turn.say.as_deref()).unwrap_or_default()
    }
}

impl From<&CandidateCall> for Call {
    fn from(call: &CandidateCall) -> Self {
        Self { api: call.api.clone(), arguments: call.arguments.clone() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn asks_nothing(calls: &usize) -> bool {
    *calls == 0
}

const fn is_zero(seed: &u64) -> bool {
    *seed == 0
}
