//! Owns the record of a row's steps: the lines of the files under `steps`.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Record of a step of an attempt: a line of the files under `steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepLine {
    /// Index of the row.
    pub row_index: u64,
    /// Number of the attempt, from 0.
    pub attempt: u32,
    /// Name of the step: `query`, `query_rewrite`, `duplicate`, `caller`, a gate, `tester`, `row`.
    pub step: String,
    /// Result of the step.
    pub went: StepOutcome,
    /// Name of the reason, if the step lost an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Description of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Output of the step.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub made: Json,
}

/// Returns the file name of a batch in the folder of steps.
pub fn batch_file(batch: u64) -> String {
    format!("batch-{batch:06}.jsonl")
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The output passed.
    Passed,
    /// The output was wrong and went back to the model once.
    Repaired,
    /// The output was rejected. The record keeps it as a sample.
    LineLost,
    /// The row continues with another solution.
    FellBack,
    /// The attempt ended at this step.
    Dropped,
}
