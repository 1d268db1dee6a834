//! Owns the types of those JSON columns that no other crate defines.

use std::collections::BTreeMap;

use diorama_seeds::script::{Goal, Script};
use diorama_seeds::task::{DifficultyCounts, Outage, Outcome};
use serde::{Deserialize, Serialize};

/// Column `episode`: the setup and the events of an episode, sufficient for a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The clock at the start, RFC 3339.
    pub clock: String,
    /// The time zone.
    pub zone: String,
    /// The session's seed.
    pub session_seed: u64,
    /// Key of the signed-in user at the start, if any.
    pub identity: Option<String>,
    /// The outages that the first calls of APIs meet, once each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Version of the tool search.
    pub search: String,
    /// Names of the APIs that are visible at the start.
    pub visible: Vec<String>,
    /// The outcome of the last goal.
    pub outcome: Outcome,
    /// The events of the episode, in order.
    pub events: Vec<Event>,
    /// BLAKE3 hash of the system message, in hexadecimal. The row has no other proof that the message is
    /// unchanged. Rows of `generate/1` have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_hash: Option<String>,
    /// BLAKE3 hash of the other messages' roles, contents and reasoning, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue_hash: Option<String>,
}

/// An event of an episode. Turns, messages and calls are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The user's turn with this number.
    User(u32),
    /// The reference call with this number.
    Call(u32),
    /// The assistant's message with this number.
    Say(u32),
    /// The previous message asks the user to confirm this number of the next calls.
    Confirm(u32),
    /// The open goal has ended with this outcome.
    End(Outcome),
}

/// Column `user_facts`: the script of the conversation. Rows of the first format have a list of later turns
/// instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserFacts {
    /// The user's goals in order, with the information withheld until the assistant asks.
    Script(Script),
    /// The turns that answer the assistant's questions.
    Turns(Vec<LaterTurn>),
}

/// A later turn of a row of the first format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterTurn {
    /// Number of the turn.
    pub turn: u32,
    /// Its text.
    pub text: String,
}

/// Column `provenance`: the origin of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The backend that wrote the text.
    pub backend: String,
    /// The model, if one was used.
    pub model: Option<String>,
    /// Hash of the prompts, if there were any.
    pub prompt_hash: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// Index of the row in the run, from 0.
    pub row: u64,
    /// Number of the attempt that passed, from 0.
    pub attempt: u32,
    /// The generator's version.
    pub version: String,
    /// The authors of the text, by role: `user` and `assistant`. A value names the agent or method. Empty if no model
    /// wrote any text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub authors: BTreeMap<String, String>,
    /// The counts of the proof that make the task hard. Rows from before the column `difficulty` have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<DifficultyCounts>,
}

impl UserFacts {
    /// Returns the script. A row of the first format has one goal, whose later turns answer one message each.
    pub fn script(self, opening: &str) -> Script {
        match self {
            Self::Script(script) => script,
            Self::Turns(turns) => {
                let lines = turns.into_iter().map(|turn| turn.text).collect();
                Script {
                    goals: vec![Goal { user: opening.to_owned(), lines, ..Goal::default() }],
                    patience: None,
                }
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
