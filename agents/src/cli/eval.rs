//! `diorama eval`

pub(crate) mod model;
pub(crate) mod name;
mod report;
mod run;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use diorama_output::manifest::Manifest;
use diorama_output::row::Dialogue;
use diorama_output::rows::RowFile;

pub use self::model::ModelArgs;
use self::name::{AgentName, Contender, Part};
use self::report::Report;
use self::run::{Outcomes, Plan};
use super::error::CliError;
use super::{Done, Streams};
use crate::evaluation::environment::{Answers, Budget};

/// Run an agent through the tasks of a dataset and grade it.
///
/// Each trial runs in a live session on a seed of its own, so generated keys and tokens differ from those of the
/// reference solution. Agents of the papers ask a model behind any OpenAI-compatible server (`--base-url`, `--model`); the
/// embedded ones need none, and say so in every report. With `--out`, each episode is kept step by step, and `--regrade` grades
/// a kept run again without asking a model.
#[derive(Debug, Args)]
pub struct Eval {
    /// The agent.
    #[arg(long, value_enum, required_unless_present = "regrade")]
    pub agent: Option<AgentName>,
    /// Folder of the dataset that holds the tasks.
    #[arg(long, value_name = "DIR")]
    pub tasks: PathBuf,
    /// Leave a part of `restgpt` out.
    #[arg(long, value_enum, value_name = "PART")]
    pub without: Option<Part>,
    /// Only rows of this split.
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,
    /// At most so many tasks.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Trials of each task, for pass^k.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub trials: u32,
    /// How stages end: with `finish`, or with a message that is read.
    #[arg(long, value_enum, default_value_t = AnswersName::Structured)]
    pub answers: AnswersName,
    /// Seed of the sessions.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Threads for agents without a model; as many as the machine has cores when left out.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Folder for `episodes.jsonl`, one episode a line, and `report.json`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Grade the episodes of this file again, and list the verdicts that changed; no agent runs and no model is asked.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "out"])]
    pub regrade: Option<PathBuf>,
    /// Exit with 3 when the success is below this share.
    #[arg(long, value_name = "SHARE")]
    pub min_success: Option<f64>,
    /// Exit with 3 when the success is above this share (for adversaries).
    #[arg(long, value_name = "SHARE")]
    pub max_success: Option<f64>,
    /// List the tasks that were (adversaries) or were not (others) solved, up to so many.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub show: usize,
    /// Calls that an episode may make.
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_calls: Option<u32>,
    /// Calls and messages together.
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_steps: Option<u32>,
    /// Tokens of the model, sent and received.
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_episode_tokens: Option<u64>,
    /// Seconds.
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_seconds: Option<u64>,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// How stages end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswersName {
    /// With `finish`, whose facts are compared by type; prose is not read.
    Structured,
    /// With a message, which is read.
    Prose,
}

impl From<AnswersName> for Answers {
    fn from(name: AnswersName) -> Self {
        match name {
            AnswersName::Structured => Self::Structured,
            AnswersName::Prose => Self::Prose,
        }
    }
}

impl Eval {
    /// Runs the command.
    ///
    /// # Errors
    /// When the dataset cannot be read, or the model cannot be asked.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let rows = self.rows()?;
        if rows.is_empty() {
            let split = self.split.as_deref().unwrap_or("any split");
            return Err(CliError::Empty(format!(
                "{} has no rows of {split}; a dataset of one archetype has training rows only",
                self.tasks.display()
            )));
        }
        if let Some(file) = &self.regrade {
            return run::regrade(file, &self.tasks, &rows, streams);
        }
        // clap asks for it where nothing is graded again.
        let Some(agent) = self.agent else { return Err(CliError::Usage("--agent: found none".into())) };
        if self.without.is_some() && agent != AgentName::RestGpt {
            return Err(CliError::Usage("--without: found another agent, expected restgpt".into()));
        }
        let connected = agent.asks_model().then(|| self.model.connect()).transpose()?;
        let contender = match (&connected, agent.embedded()) {
            (Some(connected), _) => {
                let without = self.without.unwrap_or(Part::Nothing);
                Contender::Model(agent, without, connected.model.clone(), connected.sampling.clone())
            }
            (None, Some(embedded)) => embedded,
            (None, None) => return Err(CliError::Usage("--agent: found none".into())),
        };
        let plan = Plan {
            contender,
            name: agent.text(),
            model: connected.as_ref().map(|connected| connected.name.clone()),
            answers: self.answers.into(),
            budget: self.budget(agent),
            trials: self.trials.max(1),
            seed: self.seed,
            adversary: agent.is_adversary(),
            show: self.show > 0,
            keep: self.out.is_some(),
        };
        let mut outcomes = Outcomes::new(&self.tasks, self.out.as_deref())?;
        if agent.asks_model() {
            run::at_once(plan, rows, self.model.concurrency, &mut outcomes)?;
        } else {
            run::on_threads(&plan, &rows, self.threads.unwrap_or(0), &mut outcomes)?;
        }
        for text in outcomes.shown.iter().take(self.show) {
            let _ = writeln!(streams.err, "{text}\n");
        }
        let books = connected.as_ref().map(|connected| connected.ledger.books());
        let model = connected.as_ref().map(|connected| &*connected.name);
        let report = Report::new(&agent.text(), model, &outcomes, books);
        if let Some(folder) = &self.out {
            let text = serde_json::to_vec_pretty(&report).map_err(|error| CliError::Output(error.into()))?;
            std::fs::write(folder.join("report.json"), text)?;
        }
        streams.print(&report, || report.table())?;
        if let Some(why) = &outcomes.first_unfinished {
            super::terminal::note(streams, &format!("some episodes came to no end; the first: {why}"));
        }
        let success = report.results.success;
        let low = self.min_success.is_some_and(|share| success < share);
        let high = self.max_success.is_some_and(|share| success > share);
        Ok(if low || high { Done::NotMet } else { Done::Met })
    }

    /// The budget of an episode: for agents that ask a model, one that a loop does not make expensive.
    fn budget(&self, agent: AgentName) -> Budget {
        let usual = if agent.asks_model() {
            Budget { steps: 60, calls: 40, tokens: 200_000, ..Budget::USUAL }
        } else {
            Budget::USUAL
        };
        Budget {
            steps: self.max_steps.unwrap_or(usual.steps),
            calls: self.max_calls.unwrap_or(usual.calls),
            tokens: self.max_episode_tokens.unwrap_or(usual.tokens),
            time_ms: self.max_seconds.map_or(usual.time_ms, |seconds| seconds.saturating_mul(1000)),
        }
    }

    fn rows(&self) -> Result<Vec<Dialogue>, CliError> {
        let manifest = Manifest::read(&self.tasks)?;
        let split = self.split.as_deref().map(str::parse::<diorama_output::row::Split>).transpose();
        let split = split.map_err(|error| CliError::Usage(error.to_string()))?;
        let mut rows = Vec::new();
        for name in manifest.files.keys().filter(|name| name.ends_with(".parquet")) {
            for row in RowFile::open(&self.tasks.join(name))?.read()? {
                let row = row?;
                if split.is_none_or(|split| split == row.split) {
                    rows.push(row);
                }
                if self.limit.is_some_and(|limit| rows.len() >= limit) {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }
}
