//! `diorama eval`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use diorama_output::manifest::Manifest;
use diorama_output::row::Dialogue;
use diorama_output::rows::RowFile;

use super::error::CliError;
use super::{Done, Streams, terminal};
use crate::episode::{Task, Worlds};
use crate::evaluation::adversaries::{AlwaysAsk, AlwaysRefuse, DumpAll, NoOp, Repeat, WriteUndo};
use crate::evaluation::environment::{Answers, Budget};
use crate::evaluation::guesses::Guess;
use crate::evaluation::judge::{Judge, Judged};
use crate::evaluation::measures::{Results, Tally, class_name};
use crate::evaluation::oracle::Oracle;
use crate::evaluation::{self, Insiders};
use rayon::prelude::*;

/// Run an agent through the tasks of a dataset and grade it.
///
/// Each trial runs in a live session on a seed of its own, so generated keys and tokens differ from those of the
/// reference solution. `oracle` drives the reference solution; the other agents without a model are adversaries that must
/// not succeed.
#[derive(Debug, Args)]
pub struct Eval {
    /// The agent.
    #[arg(long, value_enum)]
    pub agent: AgentName,
    /// Folder of the dataset that holds the tasks.
    #[arg(long, value_name = "DIR")]
    pub tasks: PathBuf,
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
    /// Threads; as many as the machine has cores when left out.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Exit with 3 when the success is below this share.
    #[arg(long, value_name = "SHARE")]
    pub min_success: Option<f64>,
    /// Exit with 3 when the success is above this share (for adversaries).
    #[arg(long, value_name = "SHARE")]
    pub max_success: Option<f64>,
    /// List the tasks that were (adversaries) or were not (others) solved, up to so many.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub show: usize,
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

/// The agents that need no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentName {
    /// The reference solution, bound to live replies.
    Oracle,
    /// Does nothing.
    Noop,
    /// Refuses everything.
    AlwaysRefuse,
    /// Asks back, whatever is said.
    AlwaysAsk,
    /// Calls every read and answers with every value.
    DumpAll,
    /// Solves, and makes and undoes a change nobody asked for.
    WriteUndo,
    /// Says the request back.
    Repeat,
    /// Makes the right calls, and tells the first six values of the replies.
    GuessValues,
    /// Makes the right calls, and tells three values joined by "or".
    GuessAlternatives,
    /// Makes the right calls, and tells the last reply as it is.
    GuessJson,
    /// Makes the right calls, and says that there is one.
    GuessOne,
    /// Makes the right calls, and says "One, both."
    GuessBoth,
    /// Makes the right calls, and refuses for every reason at once.
    GuessRefusal,
    /// Makes the right calls, and says "Done."
    GuessDone,
    /// Makes a search, and says something that fits everything.
    GuessBlind,
}

impl AgentName {
    fn agent(self) -> Box<dyn Insiders> {
        match self {
            Self::Oracle => Box::new(Oracle),
            Self::Noop => Box::new(NoOp),
            Self::AlwaysRefuse => Box::new(AlwaysRefuse),
            Self::AlwaysAsk => Box::new(AlwaysAsk),
            Self::DumpAll => Box::new(DumpAll),
            Self::WriteUndo => Box::new(WriteUndo),
            Self::Repeat => Box::new(Repeat),
            Self::GuessValues => Box::new(Guess::Values),
            Self::GuessAlternatives => Box::new(Guess::Alternatives),
            Self::GuessJson => Box::new(Guess::Json),
            Self::GuessOne => Box::new(Guess::One),
            Self::GuessBoth => Box::new(Guess::Both),
            Self::GuessRefusal => Box::new(Guess::Refusal),
            Self::GuessDone => Box::new(Guess::Done),
            Self::GuessBlind => Box::new(Guess::Blind),
        }
    }
}

impl Eval {
    /// Runs the command.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let rows = self.rows()?;
        if rows.is_empty() {
            let split = self.split.as_deref().unwrap_or("any split");
            return Err(CliError::Empty(format!(
                "{} has no rows of {split}; a dataset of one archetype has training rows only",
                self.tasks.display()
            )));
        }
        let agent = self.agent.agent();
        let worlds = Worlds::of(&self.tasks);
        let bar = terminal::bar(rows.len() as u64, "tasks");
        let threads = self.threads.unwrap_or(0);
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| CliError::Worker)?;
        // The first row that cannot be used ends the run; results come in the order of the rows.
        let judged: Vec<(Tally, Option<String>)> = pool.install(|| {
            rows.par_iter()
                .map(|row| {
                    let judged = self.one(agent.as_ref(), row, &worlds);
                    bar.inc(1);
                    judged
                })
                .collect::<Result<_, CliError>>()
        })?;
        bar.finish_and_clear();
        let mut total = Tally::default();
        let mut shown = 0;
        for (tally, text) in &judged {
            total.merge(tally);
            if let Some(text) = text.as_ref().filter(|_| shown < self.show) {
                shown += 1;
                let _ = writeln!(streams.err, "{text}\n");
            }
        }
        let results = total.results();
        streams.print(&results, || table(agent.name(), &results))?;
        let low = self.min_success.is_some_and(|share| results.success < share);
        let high = self.max_success.is_some_and(|share| results.success > share);
        Ok(if low || high { Done::NotMet } else { Done::Met })
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

    fn one(
        &self,
        agent: &dyn Insiders,
        row: &Dialogue,
        worlds: &Worlds,
    ) -> Result<(Tally, Option<String>), CliError> {
        let world = worlds.get(&row.world_id)?;
        let judge = Judge::new(Task::of(row)?, world)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut trials = Vec::new();
        for trial in 0..self.trials.max(1) {
            let seed = self.session_seed(row, trial);
            let acting = agent.agent(judge.insider(seed));
            let judged = evaluation::run(acting.as_ref(), &judge, seed, self.answers.into(), Budget::USUAL);
            trials.push(runtime.block_on(judged)?);
        }
        let mut tally = Tally::default();
        tally.add(&judge, row.ability, &trials);
        let adversary = self.agent != AgentName::Oracle;
        let remarkable = trials.iter().find(|judged| judged.grade.success == adversary);
        let shown = remarkable.filter(|_| self.show > 0).map(|judged| told(row, judged));
        Ok((tally, shown))
    }

    /// A seed that is never the one the row was made with.
    fn session_seed(&self, row: &Dialogue, trial: u32) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(row.id.as_bytes());
        hasher.update(row.world_hash.as_bytes());
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(&trial.to_le_bytes());
        u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().unwrap_or_default())
    }
}

/// An episode in a few lines.
fn told(row: &Dialogue, judged: &Judged) -> String {
    let errors =
        judged.grade.errors.iter().map(|error| format!("{}: {}", class_name(error.class), error.message));
    let calls = judged.log.iter().map(|entry| {
        let arguments = serde_json::Value::Object(entry.call.arguments.clone());
        format!("{}({arguments}) -> {}", entry.call.api, entry.reply.status)
    });
    let answers = judged.answers.join(" | ");
    let answer: String = answers.chars().take(600).collect();
    format!(
        "{}\n  asked: {}\n  calls: {}\n  answer: {answer}\n  errors: {}",
        row.id,
        row.query,
        calls.collect::<Vec<_>>().join("; "),
        errors.collect::<Vec<_>>().join("; ")
    )
}

fn table(name: &str, results: &Results) -> String {
    let mut text = format!(
        "{name}: {} tasks\n  success         {:.4}\n  correct path    {:.4}\n  Δ length        {:.3}\n  call accuracy   {:.4}\n  ROUGE-L         {:.4}\n",
        results.tasks,
        results.success,
        results.correct_path,
        results.delta_len,
        results.call_accuracy,
        results.rouge_l
    );
    if let Some(recall) = results.recall_at_5 {
        text.push_str(&format!("  recall@5        {recall:.4}\n"));
    }
    for (k, share) in &results.pass_k {
        text.push_str(&format!("  pass^{k}          {share:.4}\n"));
    }
    text.push_str(&format!("  without refusals {:.4}\n", results.success_without_refusals));
    for (ability, share) in &results.success_by_ability {
        text.push_str(&format!("  {ability:<18} {share:.4}\n"));
    }
    for (class, count) in &results.errors {
        text.push_str(&format!("  {count:>8} {class}\n"));
    }
    text
}
