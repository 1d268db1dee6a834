//! Owns the report on a run with a model: yield and losses of each step with samples, agreement of the
//! judge, and cost.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use diorama_llm::UsageReport;
use diorama_output::funnel::ModelUse;
use serde::Serialize;
use serde_json::Value as Json;

use super::judge::Verdict;
use super::steps::{StepLine, StepOutcome, batch_file};

/// Maximum number of samples of a reason.
const SAMPLES: usize = 3;

/// Report on a run with a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Yield of each step, by name.
    pub steps: BTreeMap<String, StepYield>,
    /// Number of rows by the authors of user and assistant.
    pub authors: BTreeMap<String, u64>,
    /// Counts of the judge's votes.
    pub judged: JudgeVotes,
    /// Diversity of the rows.
    pub diversity: Option<Diversity>,
    /// Cost of the rows.
    pub cost: Cost,
}

/// Yield of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepYield {
    /// Attempts that passed the step.
    pub passed: u64,
    /// Outputs that went back to the model once.
    pub repaired: u64,
    /// Attempts that continued with another solution.
    pub fell_back: u64,
    /// Attempts that ended at the step.
    pub dropped: u64,
    /// Passed attempts divided by all attempts, in `0..=1`.
    pub share: f64,
    /// Reasons for lost or repaired outputs, by name.
    pub reasons: BTreeMap<String, Reasons>,
}

/// Count of a reason, with samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reasons {
    /// Number of outputs.
    pub count: u64,
    /// First outputs, in the order of batches.
    pub samples: Vec<Sample>,
}

/// Sample of a lost or repaired output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Index of the row.
    pub row_index: u64,
    /// Description of the problem.
    pub what: String,
    /// The output itself.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub made: Json,
}

/// Counts of the judge's votes on rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeVotes {
    /// Rows with votes.
    pub rows: u64,
    /// Rows on which all votes agree.
    pub unanimous: u64,
    /// Rows that the judge dropped.
    pub dropped: u64,
    /// Votes that could not be parsed.
    pub malformed_votes: u64,
}

/// Diversity of the rows, as `stats` measures it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of `stats`")]
pub struct Diversity {
    pub distinct_2: f64,
    pub distinct_first3: f64,
    pub duplicate_rate: f64,
}

/// Cost of the rows, in tokens and money.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Replies and tokens of the rows and their attempts, by step.
    pub steps: BTreeMap<String, ModelUse>,
    /// Tokens for each kept row.
    pub tokens_per_row: f64,
    /// Money for each kept row, in the currency of the prices.
    pub cost_per_row: f64,
    /// Requests and costs of this run, including retries and lost calls.
    pub usage_report: UsageReport,
}

impl Quality {
    /// Counts the steps of batches from their files under `folder`. Files of other batches belong to
    /// another run.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn read(folder: &Path, batches: impl IntoIterator<Item = u64>) -> std::io::Result<Self> {
        let mut quality = Self::default();
        for batch in batches {
            let file = match std::fs::File::open(folder.join(batch_file(batch))) {
                Ok(file) => file,
                // Another shard made this batch, or no run has.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for line in BufReader::new(file).lines() {
                // A stopped process may leave an unfinished line.
                if let Ok(line) = serde_json::from_str::<StepLine>(&line?) {
                    quality.count(&line);
                }
            }
        }
        for step in quality.steps.values_mut() {
            let all = step.passed + step.dropped + step.fell_back;
            step.share = if all > 0 { step.passed as f64 / all as f64 } else { 0.0 };
        }
        Ok(quality)
    }

    fn count(&mut self, line: &StepLine) {
        if line.step == super::judge::STEP {
            self.count_votes(line);
        }
        if line.step == "row" {
            let author = |role: &str| line.made["authors"][role].as_str().unwrap_or("scenarios").to_owned();
            *self
                .authors
                .entry(format!("user: {}; assistant: {}", author("user"), author("assistant")))
                .or_default() += 1;
        }
        let step = self.steps.entry(line.step.clone()).or_default();
        match line.went {
            StepOutcome::Passed => step.passed += 1,
            StepOutcome::Repaired => step.repaired += 1,
            StepOutcome::FellBack => step.fell_back += 1,
            StepOutcome::Dropped => step.dropped += 1,
            StepOutcome::LineLost => {}
        }
        if let Some(reason) = &line.reason {
            let reasons = step.reasons.entry(reason.clone()).or_default();
            reasons.count += 1;
            if reasons.samples.len() < SAMPLES {
                let what = line.what.clone().unwrap_or_default();
                reasons.samples.push(Sample { row_index: line.row_index, what, made: line.made.clone() });
            }
        }
    }

    fn count_votes(&mut self, line: &StepLine) {
        if line.went == StepOutcome::Dropped {
            self.judged.dropped += 1;
            return;
        }
        let verdict = line.made.get("verdict").unwrap_or(&line.made);
        if let Ok(verdict) = serde_json::from_value::<Verdict>(verdict.clone()) {
            self.judged.rows += 1;
            self.judged.unanimous += u64::from(verdict.is_unanimous());
            self.judged.malformed_votes += u64::from(verdict.malformed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Quality::read(folder.path(), 0..2).unwrap(), Quality::default());
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(Quality::read(&file, 0..2).is_err(), "a file is no folder of steps");
    }

    #[test]
    fn files_of_another_run_in_the_same_folder_count_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let line = |went| StepLine {
            row_index: 0,
            attempt: 0,
            step: "query".to_owned(),
            went,
            reason: None,
            what: None,
            made: Json::Null,
        };
        for (batch, went) in [(0, StepOutcome::Passed), (7, StepOutcome::Dropped)] {
            let text = serde_json::to_string(&line(went)).unwrap() + "\n";
            std::fs::write(folder.path().join(batch_file(batch)), text).unwrap();
        }
        let quality = Quality::read(folder.path(), 0..2).unwrap();
        assert_eq!((quality.steps["query"].passed, quality.steps["query"].dropped), (1, 0));
    }
}
