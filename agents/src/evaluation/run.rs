//! Owns the runs over the tasks of a dataset: on threads for scripted agents, concurrently for those that
//! wait for a model or a server.
//!
//! It has concurrency and resumption. [`batch::run_in`] runs one episode; the command line shows the results.

use std::num::NonZeroUsize;
use std::sync::Arc;

use diorama_llm::RequestOrigin;
use diorama_output::row::Dialogue;
use rayon::prelude::*;

use super::at_once::at_once;
use super::batch::{self, Arena, Episode, Setup};
use super::contender::Contender;
use super::environment::Budget;
use super::judge::{Judge, JudgedEpisode};
use super::measures::{EpisodeMeasures, class_name};
use super::run_error::RunError;
use super::stored::{Key, RunFolder};
use crate::episode::{Task, Worlds};

/// Setup that all episodes of a run share.
pub struct Plan {
    /// Agent under test.
    pub contender: Contender,
    /// Name of the agent.
    pub name: String,
    /// Model that the agent asks.
    pub model: Option<String>,
    /// Limits of an episode.
    pub budget: Budget,
    /// Trials of each task, at least 1.
    pub trials: u32,
    /// Seed of the sessions.
    pub seed: u64,
    /// True if the run shows solved tasks instead of failed ones.
    pub adversary: bool,
    /// True if the run shows any episodes.
    pub show: bool,
    /// Place and conditions of each episode: one, or one without faults and then one with them.
    pub arenas: Vec<Arena>,
    /// Folder for the episodes.
    pub folder: Option<RunFolder>,
}

/// Receives the outcome of each row.
pub type Progress = dyn Fn(&Outcome) + Send + Sync;

/// Outcome of one row, or of all rows so far.
#[derive(Default)]
pub struct Outcome {
    /// Measured episodes.
    pub episodes: Vec<EpisodeMeasures>,
    /// The same episodes without faults, if the run injects faults.
    pub without: Vec<EpisodeMeasures>,
    /// Descriptions of notable episodes, a few lines each.
    pub shown: Vec<String>,
    /// Reason for which the first unfinished episode is unfinished.
    pub first_unfinished: Option<String>,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.episodes.extend(other.episodes);
        self.without.extend(other.without);
        self.shown.extend(other.shown);
        self.first_unfinished = self.first_unfinished.take().or(other.first_unfinished);
    }

    /// Returns the episodes that show something about the agent.
    pub fn counted(episodes: &[EpisodeMeasures]) -> impl Iterator<Item = &EpisodeMeasures> {
        episodes.iter().filter(|episode| episode.counts())
    }
}

/// Runs rows: at most `concurrency` at a time if episodes wait for a model or a server, else on `threads` (0:
/// one per core). Episodes in the run's folder are not repeated.
///
/// # Errors
/// Returns an error if a row cannot be used, or if episodes cannot be stored.
pub fn run(
    plan: Plan,
    worlds: Worlds,
    rows: Vec<Dialogue>,
    (concurrency, threads): (NonZeroUsize, usize),
    progress: Box<Progress>,
) -> Result<Outcome, RunError> {
    let waits = plan.model.is_some() || plan.arenas.iter().any(Arena::waits);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let running = Arc::new(Running { worlds, progress, plan });
    let outcomes = if waits {
        let moved = Arc::clone(&running);
        at_once(rows, concurrency, move |_, row| {
            let running = Arc::clone(&moved);
            async move { running.row(&row).await }
        })?
    } else {
        running.run_on_threads(&rows, threads)?
    };
    let plan = &running.plan;
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

/// A run in progress.
struct Running {
    plan: Plan,
    worlds: Worlds,
    progress: Box<Progress>,
}

impl Running {
    /// Runs rows on threads. Results are in the order of the rows, and the first unusable row ends the run.
    fn run_on_threads(&self, rows: &[Dialogue], threads: usize) -> Result<Vec<Outcome>, RunError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let one =
            |row: &Dialogue| tokio::runtime::Builder::new_current_thread().build()?.block_on(self.row(row));
        pool.map_err(|_| RunError::Worker)?.install(|| rows.par_iter().map(one).collect())
    }

    /// Runs one row and reports its outcome.
    async fn row(&self, row: &Dialogue) -> Result<Outcome, RunError> {
        let outcome = run_row(&self.plan, row, &self.worlds).await?;
        (self.progress)(&outcome);
        Ok(outcome)
    }
}

/// Runs the trials of one row.
async fn run_row(plan: &Plan, row: &Dialogue, worlds: &Worlds) -> Result<Outcome, RunError> {
    let judge = Judge::new(Task::of(row)?, worlds.get(&row.world_id)?)?;
    let (mut outcome, mut trials) = (Outcome::default(), Vec::new());
    for trial in 0..plan.trials {
        for arena in &plan.arenas {
            let (episode, judged) = run_episode(plan, row, &judge, trial, arena).await?;
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
    outcome.shown.extend(remarkable.filter(|_| plan.show).map(|judged| describe(row, judged)));
    Ok(outcome)
}

/// Returns one episode from the folder, or runs it and stores it.
async fn run_episode(
    plan: &Plan,
    row: &Dialogue,
    judge: &Judge,
    trial: u32,
    arena: &Arena,
) -> Result<(Episode, JudgedEpisode), RunError> {
    let key = Key { task: row.id.clone(), trial, faulty: !arena.faults.rules().is_empty() };
    if let Some(stored) = plan.folder.as_ref().map(|folder| folder.get(&key)).transpose()?.flatten() {
        let (_, mut judged) = batch::regrade(&stored, judge).await?;
        judged.grade = stored.grade.clone();
        return Ok((stored, judged));
    }
    let (id, hash) = (row.id.as_bytes(), row.world_hash.as_bytes());
    let seed = hash_parts(&[id, hash, &plan.seed.to_le_bytes(), &trial.to_le_bytes()]);
    // Recordings of a model's replies keep episodes under faults apart from those without.
    let step = if key.faulty { "faults/" } else { "" };
    let origin = RequestOrigin { step: step.to_owned(), row: hash_parts(&[id, hash]), attempt: trial };
    let agent = plan.contender.agent(judge.privileged(seed), origin);
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

/// Hashes texts to a number. It gives seeds that no row uses, and positions that do not depend on the rows of
/// the run.
fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().unwrap_or_default())
}

/// Describes an episode in a few lines.
fn describe(row: &Dialogue, judged: &JudgedEpisode) -> String {
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
