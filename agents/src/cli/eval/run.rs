//! Runs of `diorama eval`: on threads for scripted agents, many at once for those that wait for a model or a server.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use diorama_llm::{RequestOrigin, RunBudget};
use diorama_output::row::Dialogue;
use indicatif::{HumanCount, ProgressBar};
use rayon::prelude::*;

use super::name::Contender;
use crate::cli::at_once::at_once;
use crate::cli::error::CliError;
use crate::cli::terminal;
use crate::episode::{Task, Worlds};
use crate::evaluation::batch::{self, Arena, Episode, Setup};
use crate::evaluation::environment::Budget;
use crate::evaluation::judge::{Judge, Judged};
use crate::evaluation::measures::{EpisodeMeasures, class_name};
use crate::evaluation::results::success_rate;
use crate::evaluation::stored::{Key, RunFolder};

/// The setup that every episode of a run has in common.
pub(super) struct Plan {
    pub(super) contender: Contender,
    pub(super) name: String,
    pub(super) model: Option<String>,
    pub(super) budget: Budget,
    pub(super) trials: u32,
    pub(super) seed: u64,
    /// Solved tasks are shown, not failed ones.
    pub(super) adversary: bool,
    pub(super) show: bool,
    /// Where each episode takes place: once, or without faults and then under them.
    pub(super) arenas: Vec<Arena>,
    /// Where episodes are written down.
    pub(super) folder: Option<RunFolder>,
    /// The spending of the model.
    pub(super) run_budget: Option<Arc<RunBudget>>,
}

/// The outcome of rows: of one, or of all so far.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) episodes: Vec<EpisodeMeasures>,
    /// The same episodes without faults, where they were switched on.
    pub(super) without: Vec<EpisodeMeasures>,
    pub(super) shown: Vec<String>,
    pub(super) first_unfinished: Option<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.episodes.extend(other.episodes);
        self.without.extend(other.without);
        self.shown.extend(other.shown);
        self.first_unfinished = self.first_unfinished.take().or(other.first_unfinished);
    }

    /// The episodes that say something of the agent.
    pub(super) fn counted(episodes: &[EpisodeMeasures]) -> impl Iterator<Item = &EpisodeMeasures> {
        episodes.iter().filter(|episode| episode.counts())
    }
}

/// The bar of a run: tasks, the share that is solved, and what the model has taken.
struct Progress {
    bar: ProgressBar,
    run_budget: Option<Arc<RunBudget>>,
    solved: AtomicU64,
    all: AtomicU64,
}

impl Progress {
    fn new(plan: &Plan, rows: usize) -> Self {
        let (solved, all) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bar: terminal::bar(rows as u64, "tasks"), run_budget: plan.run_budget.clone(), solved, all }
    }

    fn add(&self, outcome: &Outcome) {
        let rate = success_rate(Outcome::counted(&outcome.episodes));
        let solved = self.solved.fetch_add(rate.solved, Ordering::Relaxed) + rate.solved;
        let all = self.all.fetch_add(rate.of, Ordering::Relaxed) + rate.of;
        let mut text = format!("{:.1} % solved", 100.0 * solved as f64 / all.max(1) as f64);
        if let Some(usage_report) = self.run_budget.as_ref().map(|budget| budget.report()) {
            text.push_str(&format!(", {} tokens", HumanCount(usage_report.total.usage.total())));
            if usage_report.cost > 0.0 {
                text.push_str(&format!(", cost {:.4}", usage_report.cost));
            }
        }
        self.bar.set_message(text);
        self.bar.inc(1);
    }
}

/// Runs rows: at once where a model or a server is waited for, else on threads.
pub(super) fn run(
    plan: Plan,
    worlds: Worlds,
    rows: Vec<Dialogue>,
    concurrency: NonZeroUsize,
    threads: usize,
) -> Result<Outcome, CliError> {
    let waits = plan.model.is_some() || plan.arenas.iter().any(Arena::waits);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let running = Arc::new(Running { worlds, progress: Progress::new(&plan, rows.len()), plan });
    let outcomes = if waits {
        let moved = Arc::clone(&running);
        at_once(rows, concurrency, move |_, row| {
            let running = Arc::clone(&moved);
            async move { running.row(&row).await }
        })?
    } else {
        running.on_threads(&rows, threads)?
    };
    let Running { plan, progress, .. } = &*running;
    progress.bar.finish_and_clear();
    let mut outcome = Outcome::default();
    outcomes.into_iter().for_each(|one| outcome.add(one));
    if let Some(folder) = &plan.folder {
        let faulty = |arena: &Arena| !arena.faults.rules().is_empty();
        let keys = ids.iter().flat_map(|task| (0..plan.trials).map(move |trial| (task, trial)));
        let keys = keys.flat_map(|(task, trial)| {
            let key = move |arena| Key { task: task.clone(), trial, faulty: faulty(arena) };
            plan.arenas.iter().map(key)
        });
        folder.finish(keys)?;
    }
    Ok(outcome)
}

/// A run under way.
struct Running {
    plan: Plan,
    worlds: Worlds,
    progress: Progress,
}

impl Running {
    /// Runs rows on threads. The first row that cannot be used ends the run; results come in the order of the rows.
    fn on_threads(&self, rows: &[Dialogue], threads: usize) -> Result<Vec<Outcome>, CliError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let one =
            |row: &Dialogue| tokio::runtime::Builder::new_current_thread().build()?.block_on(self.row(row));
        pool.map_err(|_| CliError::Worker)?.install(|| rows.par_iter().map(one).collect())
    }

    /// Runs one row.
    async fn row(&self, row: &Dialogue) -> Result<Outcome, CliError> {
        let outcome = row_of(&self.plan, row, &self.worlds).await?;
        self.progress.add(&outcome);
        Ok(outcome)
    }
}

/// Runs the trials of one row.
async fn row_of(plan: &Plan, row: &Dialogue, worlds: &Worlds) -> Result<Outcome, CliError> {
    let judge = Judge::new(Task::of(row)?, worlds.get(&row.world_id)?)?;
    let (mut outcome, mut trials) = (Outcome::default(), Vec::new());
    for trial in 0..plan.trials {
        for arena in &plan.arenas {
            let (episode, judged) = episode_of(plan, row, &judge, trial, arena).await?;
            if let Some(error) = episode.stopped.as_ref().filter(|error| error.is_outage()) {
                outcome.first_unfinished.get_or_insert_with(|| error.to_string());
            }
            let measured = EpisodeMeasures::of(row, &judge, &episode, &judged);
            if arena.faults.rules().is_empty() && plan.arenas.len() > 1 {
                outcome.without.push(measured);
                continue;
            }
            outcome.episodes.push(measured);
            if episode.counts() {
                trials.push(judged);
            }
        }
    }
    let remarkable = trials.iter().find(|judged| judged.grade.success == plan.adversary);
    outcome.shown.extend(remarkable.filter(|_| plan.show).map(|judged| told(row, judged)));
    Ok(outcome)
}

/// One episode: as it is stored, or run now and written down.
async fn episode_of(
    plan: &Plan,
    row: &Dialogue,
    judge: &Judge,
    trial: u32,
    arena: &Arena,
) -> Result<(Episode, Judged), CliError> {
    let key = Key { task: row.id.clone(), trial, faulty: !arena.faults.rules().is_empty() };
    if let Some(stored) = plan.folder.as_ref().map(|folder| folder.get(&key)).transpose()?.flatten() {
        let (_, mut judged) = batch::regrade(&stored, judge).await?;
        judged.grade = stored.grade.clone();
        return Ok((stored, judged));
    }
    let (id, hash) = (row.id.as_bytes(), row.world_hash.as_bytes());
    let seed = hashed(&[id, hash, &plan.seed.to_le_bytes(), &trial.to_le_bytes()]);
    // Recorded replies of a model under faults stand apart from those without.
    let step = if key.faulty { "faults/" } else { "" };
    let origin = RequestOrigin { step: step.to_owned(), row: hashed(&[id, hash]), attempt: trial };
    let agent = plan.contender.agent(Some(judge.privileged(seed)), origin);
    let setup = Setup {
        task: row.id.clone(),
        trial,
        seed,
        budget: plan.budget,
        agent: plan.name.clone(),
        model: plan.model.clone(),
    };
    let (episode, judged) = batch::run_in(arena, agent.as_ref(), judge, setup).await?;
    plan.folder.as_ref().map_or(Ok(()), |folder| folder.add(&episode))?;
    Ok((episode, judged))
}

/// A number from texts: seeds that are never those of a row, and slots that do not depend on which rows are run.
fn hashed(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().unwrap_or_default())
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
