//! The record of the steps of a row, line by line, as the files under `steps` have it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The record of a step of an attempt: a line of the files under `steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepLine {
    /// The row.
    pub row_index: u64,
    /// The attempt.
    pub attempt: u32,
    /// The step: `query`, `query_rewrite`, `duplicate`, `caller`, a gate, `tester`, `row`.
    pub step: String,
    /// How it went.
    pub went: Went,
    /// Why, by name, where something was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// What was made.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub made: Json,
}

/// The file of a batch, below the folder of steps.
pub fn batch_file(batch: u64) -> String {
    format!("batch-{batch:06}.jsonl")
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Went {
    /// It made something that stands.
    Passed,
    /// What was made was wrong and goes back once.
    Repaired,
    /// A line stays as it was.
    LineLost,
    /// Another way was taken.
    FellBack,
    /// The attempt ends here.
    Dropped,
}
