//! The report on a run with a model: what each step made and lost, why, with samples, and how far the judge is to be believed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use diorama_llm::UsageReport;
use diorama_output::funnel::ModelUse;
use serde::Serialize;
use serde_json::Value as Json;

use super::judge::Verdict;
use super::steps::{StepLine, Went, batch_file};

/// Samples kept of each reason.
const SAMPLES: usize = 3;

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Steps by name, with what they took in and gave.
    pub steps: BTreeMap<String, StepYield>,
    /// Rows by who wrote what.
    pub authors: BTreeMap<String, u64>,
    /// Rows judged, and how far the votes agree.
    pub judged: Judged,
    /// How varied the rows are.
    pub diversity: Option<Diversity>,
    /// What the rows cost.
    pub cost: Cost,
}

/// The yield of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepYield {
    /// Attempts that came to it and left it well.
    pub passed: u64,
    /// Of its outputs, those that went back once.
    pub repaired: u64,
    /// Attempts that another way was taken for.
    pub fell_back: u64,
    /// Attempts that ended here.
    pub dropped: u64,
    /// Passed over all that ended here one way or another.
    pub share: f64,
    /// Why outputs were lost, repaired or not.
    pub reasons: BTreeMap<String, Reasons>,
}

/// How often something was found wrong, with samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reasons {
    /// How often.
    pub count: u64,
    /// The first of them.
    pub samples: Vec<Sample>,
}

/// A sample of something lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The row.
    pub row_index: u64,
    /// What was found, in full.
    pub what: String,
    /// What had been made.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub made: Json,
}

/// The judge's votes on rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judged {
    /// Rows that were voted on.
    pub rows: u64,
    /// Of them, those on which all votes agree.
    pub unanimous: u64,
    /// Rows that were dropped.
    pub dropped: u64,
    /// Votes that could not be read.
    pub malformed_votes: u64,
}

/// How varied the rows are, as `stats` measures it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of `stats`")]
pub struct Diversity {
    pub distinct_2: f64,
    pub distinct_first3: f64,
    pub duplicate_rate: f64,
}

/// Tokens and money.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Replies and tokens that went into the rows and the attempts at them, by step.
    pub steps: BTreeMap<String, ModelUse>,
    /// The same for each kept row.
    pub tokens_per_row: f64,
    /// Money for each kept row, in the currency of the prices.
    pub cost_per_row: f64,
    /// What this run asked and spent, retries and lost calls included.
    pub usage_report: UsageReport,
}

impl Quality {
    /// Reads what happened in batches from their files under `steps`. Files of other batches are of another run.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(folder: &Path, batches: impl IntoIterator<Item = u64>) -> std::io::Result<Self> {
        let mut quality = Self::default();
        for batch in batches {
            let file = match std::fs::File::open(folder.join(batch_file(batch))) {
                Ok(file) => file,
                // Another shard, or nothing, made this batch.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for line in BufReader::new(file).lines() {
                // A line that a killed run left unfinished says nothing.
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
            Went::Passed => step.passed += 1,
            Went::Repaired => step.repaired += 1,
            Went::FellBack => step.fell_back += 1,
            Went::Dropped => step.dropped += 1,
            Went::LineLost => {}
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
        if line.went == Went::Dropped {
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
        for (batch, went) in [(0, Went::Passed), (7, Went::Dropped)] {
            let text = serde_json::to_string(&line(went)).unwrap() + "\n";
            std::fs::write(folder.path().join(batch_file(batch)), text).unwrap();
        }
        let quality = Quality::read(folder.path(), 0..2).unwrap();
        assert_eq!((quality.steps["query"].passed, quality.steps["query"].dropped), (1, 0));
    }
}
