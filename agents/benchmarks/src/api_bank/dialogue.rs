//! Owns the recorded dialogues of API-Bank.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::material::{BenchmarkError, files_of, parse_lines, stem_of};

/// A recorded dialogue.
#[derive(Clone, Debug)]
pub struct Dialogue {
    /// The file's name without its ending.
    pub id: String,
    /// Level 1 (the APIs are known) or 2 (they have to be searched for).
    pub level: u8,
    /// Messages and calls, in order.
    pub turns: Vec<Turn>,
}

/// A turn of a dialogue.
#[derive(Clone, Debug)]
pub enum Turn {
    /// A message of the user.
    User(String),
    /// A message of the assistant.
    Assistant(String),
    /// A gold call.
    Call(Gold),
}

/// A gold call with its recorded result.
#[derive(Clone, Debug)]
pub struct Gold {
    /// The API.
    pub api: String,
    /// Its arguments, as parsed by the benchmark's system.
    pub arguments: Map<String, Json>,
    /// Its recorded reply.
    pub output: Json,
    /// Its recorded error, if it failed.
    pub exception: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    role: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    api_name: String,
    #[serde(default)]
    param_dict: Map<String, Json>,
    #[serde(default)]
    result: Json,
}

/// Reads the recorded dialogues of a folder: `dialogues/level-1` and `dialogues/level-2`, a JSON object a line.
///
/// # Errors
/// Returns an error if a file cannot be read or a line is of another form.
pub fn dialogues(folder: &Path) -> Result<Vec<Dialogue>, BenchmarkError> {
    if !folder.join("dialogues").is_dir() {
        let expected = "found no folder `dialogues`, expected API-Bank's with databases/ and dialogues/level-1 and level-2";
        return Err(BenchmarkError::form(folder, expected));
    }
    let mut found = Vec::new();
    for level in [1, 2] {
        for file in files_of(&folder.join("dialogues").join(format!("level-{level}")), &[".jsonl"])? {
            let expected = "{role: User, AI or API, ..}";
            let turns: Result<Vec<Turn>, String> =
                parse_lines::<Line>(&file, expected)?.into_iter().map(Line::turn).collect();
            let turns = turns.map_err(|role| {
                BenchmarkError::form(&file, format!("found the role {role}, expected User, AI or API"))
            })?;
            found.push(Dialogue { id: stem_of(&file), level, turns });
        }
    }
    Ok(found)
}

impl Line {
    fn turn(self) -> Result<Turn, String> {
        match &*self.role {
            "User" => Ok(Turn::User(self.text)),
            "AI" => Ok(Turn::Assistant(self.text)),
            "API" => {
                // The result has parsed lists, which the call has as text.
                let input = self.result.get("input").and_then(Json::as_object).cloned();
                let exception = self.result.get("exception").and_then(Json::as_str).map(str::to_owned);
                Ok(Turn::Call(Gold {
                    api: self.api_name,
                    arguments: input.unwrap_or(self.param_dict),
                    output: self.result.get("output").cloned().unwrap_or_default(),
                    exception,
                }))
            }
            _ => Err(self.role),
        }
    }
}

impl Dialogue {
    /// Returns its gold calls with their positions.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &Gold)> {
        self.turns.iter().enumerate().filter_map(|(at, turn)| match turn {
            Turn::Call(gold) => Some((at, gold)),
            _ => None,
        })
    }
}

impl Gold {
    /// Returns the call in the form of our world.
    #[must_use]
    pub fn call(&self) -> diorama_seeds::task::Call {
        diorama_seeds::task::Call { api: self.api.clone(), arguments: self.arguments.clone() }
    }

    /// Returns the APIs that a recorded search shows.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &str> {
        let items = self.output.as_array().map_or_else(|| std::slice::from_ref(&self.output), Vec::as_slice);
        items.iter().filter_map(|item| item.get("name")?.as_str())
    }

    /// Returns the API that a recorded search found. It is the last one; the API that issues tokens may
    /// precede it.
    #[must_use]
    pub fn found(&self) -> Option<&str> {
        self.shown().next_back()
    }
}
