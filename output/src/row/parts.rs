//! The contents of those JSON columns of a row that no other crate defines.

use std::collections::BTreeMap;

use diorama_seeds::script::{Goal, Script};
use diorama_seeds::task::{DifficultyCounts, Outage, Outcome};
use serde::{Deserialize, Serialize};

/// Column `episode`: how an episode is set up and what happens in it, enough to run it again.
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
    /// What the first calls of APIs meet, once each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Version of the search for tools.
    pub search: String,
    /// Names of the APIs that are visible at the start.
    pub visible: Vec<String>,
    /// How the last goal ends.
    pub outcome: Outcome,
    /// The events of the episode, in order.
    pub events: Vec<Event>,
    /// BLAKE3 of the system message, in hexadecimal: nothing else in the row shows whether it is as it was proven. Rows of
    /// `generate/1` have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_hash: Option<String>,
    /// BLAKE3 of the other messages' roles, contents and reasoning, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue_hash: Option<String>,
}

/// Something that happens in an episode. Turns, words and calls count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The user's turn of this number.
    User(u32),
    /// The reference call of this number.
    Call(u32),
    /// The assistant's words of this number.
    Say(u32),
    /// The words before it ask the user to confirm so many of the next calls.
    Confirm(u32),
    /// The open goal has ended, and how.
    End(Outcome),
}

/// Column `user_facts`: the script of the conversation. Rows of the first format had a list of the later turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserFacts {
    /// The user's goals in order, and the information withheld until the assistant asks.
    Script(Script),
    /// Turns that answer the assistant's question.
    Turns(Vec<LaterTurn>),
}

/// A later turn of a row of the first format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterTurn {
    /// The turn that says it.
    pub turn: u32,
    /// In these words.
    pub text: String,
}

/// Column `provenance`: where a row comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The backend that did the language work.
    pub backend: String,
    /// The model, where there was one.
    pub model: Option<String>,
    /// Hash of the prompts, where there were any.
    pub prompt_hash: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// The index of the row in the run, from 0.
    pub row: u64,
    /// The attempt, from 0, that passed.
    pub attempt: u32,
    /// The generator's version.
    pub version: String,
    /// The authors of the text, by role: `user` and `assistant`. A value names the agent or method. Empty if no model
    /// wrote any text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub authors: BTreeMap<String, String>,
    /// What makes the task hard, counted in its proof; rows before the column `difficulty` have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<DifficultyCounts>,
}

impl UserFacts {
    /// The script. Of a row of the first format: one goal, whose later turns answer one message each.
    pub fn script(self, opening: &str) -> Script {
        match self {
            Self::Script(script) => script,
            Self::Turns(turns) => {
                let lines = turns.into_iter().map(|turn| turn.text).collect();
                Script { goals: vec![Goal { user: opening.to_owned(), lines, ..Goal::default() }] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_first_format_say_their_later_turns_one_by_one() {
        let old: UserFacts = serde_json::from_str(r#"[{"turn": 1, "text": "PIN 3015"}]"#).unwrap();
        let script = old.script("I want to sign in.");
        assert_eq!(script.opening(), "I want to sign in.");
        assert_eq!(script.goals[0].lines, ["PIN 3015"]);
        let none: UserFacts = serde_json::from_str("[]").unwrap();
        assert!(none.script("Hi.").goals[0].lines.is_empty());
        let text = serde_json::to_string(&UserFacts::Script(script.clone())).unwrap();
        assert_eq!(serde_json::from_str::<UserFacts>(&text).unwrap(), UserFacts::Script(script));
    }
}
