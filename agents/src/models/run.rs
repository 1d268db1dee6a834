//! Owns the loop over all rows of a run: conversations wait for the model concurrently, and files have
//! rows by index.
//!
//! The machine decides which rows are in flight, but never what the files contain. A batch removes
//! near-duplicates in row order after all its rows are made, and tries those rows again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diorama_output::dataset::{BatchRows, DatasetError, DatasetWriter, DriveError};
use diorama_output::plan::Batch;
use diorama_output::stats::duplicates::similar;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::ask::NoReply;
use super::row::{RowJob, RowOutcome, make_row, opening};
use super::run_context::RunContext;
use super::steps::{StepLine, batch_file};
use crate::rows::attempt::count_mutants;
use crate::rows::source::{RowSource, write_rows};
use crate::worlds::domain::make_batch_world;
use crate::worlds::error::PipelineError;
use crate::worlds::world::BatchWorld;

/// Consecutive conversations without a reply after which the run takes the server as unreachable.
const SILENT: u32 = 20;
/// Open batches beside those that the conversations in flight fill, because some rows of a batch are
/// slow.
const AHEAD: usize = 4;

/// Reasons for which a run ends early. Only files that are already on disk stay.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A world cannot be made.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A file cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The records of the steps cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Steps {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The model cannot be asked.
    #[error("{0}; what was answered so far is kept, and --resume goes on from there")]
    Model(String),
    /// The user interrupted the run.
    #[error("interrupted; what was answered so far is kept, and --resume goes on from there")]
    Interrupted,
    /// The task of a conversation panicked.
    #[error("a conversation ended before its time")]
    Worker,
}

impl From<DriveError<Self>> for RunError {
    fn from(error: DriveError<Self>) -> Self {
        match error {
            DriveError::Batch(error) => error,
            DriveError::Dataset(error) => error.into(),
            DriveError::Threads(_) | DriveError::Worker => Self::Worker,
        }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows with an outcome.
    pub settled: u64,
    /// Rows that are written.
    pub rows: u64,
    /// Conversations in flight.
    pub in_flight: usize,
}

/// End of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// Reason for which the run stopped before it tried all rows.
    pub stopped: Option<String>,
    /// Rows that are unfinished because the model gave no reply.
    pub unfinished: u64,
    /// Rows that this run wrote.
    pub rows: u64,
}

/// Makes all pending files of a dataset, with at most `concurrency` conversations in flight on a runtime
/// of several threads. The calling thread waits. If `steps` is set, the run writes the records of the steps
/// there, one file per batch.
///
/// # Errors
/// Returns an error if worlds, files or the model fail. Finished files and recorded replies stay.
pub fn run(
    run_context: &Arc<RunContext>,
    runtime: &Handle,
    writer: &DatasetWriter,
    concurrency: usize,
    steps: Option<&Path>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<RunEnd, RunError> {
    let concurrency = concurrency.max(1);
    let batches: Vec<Batch> = writer.pending().iter().flat_map(|file| file.batches.clone()).collect();
    let Some(first) = batches.first() else { return Ok(RunEnd::default()) };
    let rows_per_batch = (first.row_indexes.end - first.row_indexes.start).max(1) as usize;
    let rows = ModelRows {
        run_context,
        runtime,
        at_once: Arc::new(Semaphore::new(concurrency)),
        concurrency,
        first: first.index,
        steps,
        progress,
        settled: AtomicU64::new(0),
        heard: Mutex::default(),
    };
    write_rows(&rows, writer, concurrency.div_ceil(rows_per_batch) + AHEAD, |_| {})?;
    let heard = rows.heard();
    match &heard.unheard {
        // Without any row for want of replies, the run has failed; it is not a smaller dataset.
        Some(what) if heard.ended.rows == 0 => Err(RunError::Model(what.clone())),
        _ => Ok(heard.ended.clone()),
    }
}

/// Source of rows that are made with a model.
struct ModelRows<'a> {
    run_context: &'a Arc<RunContext>,
    runtime: &'a Handle,
    /// Permits for conversations in flight.
    at_once: Arc<Semaphore>,
    concurrency: usize,
    /// Index of the first batch of this run.
    first: u64,
    steps: Option<&'a Path>,
    progress: &'a (dyn Fn(Progress) + Sync),
    settled: AtomicU64,
    heard: Mutex<ServerHealth>,
}

/// Replies and failures of the model's server so far.
#[derive(Default)]
struct ServerHealth {
    silent: u32,
    fatal: Option<String>,
    /// Reason for which the first unfinished row is unfinished.
    unheard: Option<String>,
    ended: RunEnd,
}

impl RowSource for ModelRows<'_> {
    type Error = RunError;

    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, RunError> {
        self.runtime.block_on(async {
            tokio::select! {
                made = self.make(batch) => made,
                () = self.run_context.wait_for_abort() => Err(RunError::Interrupted),
            }
        })
    }
}

impl ModelRows<'_> {
    async fn make(&self, batch: &Batch) -> Result<BatchRows, RunError> {
        let mut made = BatchRows { batch: batch.index, ..BatchRows::default() };
        let mut lines = Vec::new();
        // A skipped batch has no rows, and the dataset is complete without it.
        if self.is_stopping() {
            self.skip();
        } else {
            let of_batch = batch.clone();
            let world =
                self.run_context.compute(move |context| make_batch_world(&context.recipe, &of_batch)).await;
            let world = world.map_err(|_| RunError::Worker)??;
            let outcomes = self.first_tries(batch, &world).await?;
            for outcome in self.settle(batch, &world, outcomes).await? {
                made.funnel.add(&outcome.funnel);
                if let Some(report) = &outcome.report {
                    count_mutants(&mut made.funnel, report);
                }
                lines.extend(outcome.lines);
                made.rows.extend(outcome.row);
            }
            made.worlds.insert(world.id.clone(), Arc::clone(&world.canonical));
        }
        {
            let mut heard = self.heard();
            heard.ended.rows += made.rows.len() as u64;
            // If the budget is spent, other batches may have rows. `run` checks for none at the end.
            let is_first = batch.index == self.first && heard.ended.stopped.is_none();
            let has_none = is_first && made.rows.is_empty();
            if let Some(what) = heard.fatal.as_ref().or(heard.unheard.as_ref().filter(|_| has_none)) {
                return Err(RunError::Model(what.clone()));
            }
        }
        if let Some(folder) = self.steps {
            write_lines(folder, batch.index, &lines)?;
        }
        Ok(made)
    }

    /// Returns the outcomes of a batch's first attempts, in row order, without unfinished rows.
    async fn first_tries(&self, batch: &Batch, world: &Arc<BatchWorld>) -> Result<Vec<RowOutcome>, RunError> {
        let mut tries = JoinSet::new();
        for row_index in batch.row_indexes.clone() {
            let job = RowJob { row_index, batch: batch.clone(), from: 0, known: Arc::default() };
            let (at_once, row) = (Arc::clone(&self.at_once), self.row(world, job));
            let run_context = Arc::clone(self.run_context);
            tries.spawn(async move {
                // No code closes the semaphore, so the error cannot occur.
                let _room = at_once.acquire().await;
                if run_context.stopping.load(Relaxed) { None } else { Some(row.await) }
            });
        }
        let mut outcomes = Vec::new();
        while let Some(outcome) = tries.join_next().await {
            match outcome.map_err(|_| RunError::Worker)? {
                Some(outcome) => {
                    self.hear(outcome.unfinished.as_ref());
                    self.settled.fetch_add(1, Relaxed);
                    outcomes.push(outcome);
                }
                None => self.skip(),
            }
            self.report();
        }
        outcomes.retain(|outcome: &RowOutcome| outcome.unfinished.is_none());
        outcomes.sort_by_key(|outcome| outcome.row_index);
        Ok(outcomes)
    }

    fn row(
        &self,
        world: &Arc<BatchWorld>,
        job: RowJob,
    ) -> impl Future<Output = RowOutcome> + Send + 'static + use<> {
        make_row(Arc::clone(self.run_context), Arc::clone(world), job)
    }

    /// Finds near-duplicates among the rows of a batch, in row order. It tries their rows again
    /// concurrently, until none remains.
    async fn settle(
        &self,
        batch: &Batch,
        world: &Arc<BatchWorld>,
        mut outcomes: Vec<RowOutcome>,
    ) -> Result<Vec<RowOutcome>, RunError> {
        let mut known: Vec<Box<[u64]>> = Vec::new();
        let mut new: Vec<usize> = (0..outcomes.len()).collect();
        while !new.is_empty() {
            // Rows of the last round give way to all rows that were kept before.
            let mut repeats = Vec::new();
            for at in new {
                let Some(first) = outcomes[at].row.as_ref().map(opening) else { continue };
                if known.iter().any(|other| similar(other, &first)) {
                    outcomes[at].drop_repeated();
                    repeats.push(at);
                } else {
                    known.push(first);
                }
            }
            let kept = Arc::new(known.clone());
            let mut tries = JoinSet::new();
            for at in &repeats {
                let RowOutcome { row_index, attempt, .. } = outcomes[*at];
                let (batch, known) = (batch.clone(), Arc::clone(&kept));
                let again = self.row(world, RowJob { row_index, batch, from: attempt + 1, known });
                let (at, at_once) = (*at, Arc::clone(&self.at_once));
                tries.spawn(async move {
                    let _room = at_once.acquire().await;
                    (at, again.await)
                });
            }
            while let Some(again) = tries.join_next().await {
                let (at, again) = again.map_err(|_| RunError::Worker)?;
                match &again.unfinished {
                    Some(lost) => self.hear(Some(lost)),
                    None => outcomes[at].go_on(again),
                }
            }
            new = repeats;
        }
        Ok(outcomes)
    }

    fn is_stopping(&self) -> bool {
        self.run_context.stopping.load(Relaxed)
    }

    /// Records that the run skipped rows because it was told to stop.
    fn skip(&self) {
        self.heard().ended.stopped.get_or_insert_with(|| "it was told to stop".to_owned());
    }

    /// Decides whether the run continues after the outcome of a row.
    fn hear(&self, unfinished: Option<&NoReply>) {
        let mut heard = self.heard();
        let Some(lost) = unfinished else {
            heard.silent = 0;
            return;
        };
        heard.ended.unfinished += 1;
        heard.unheard.get_or_insert_with(|| lost.what().to_owned());
        match lost {
            NoReply::Spent(what) => {
                heard.ended.stopped.get_or_insert_with(|| what.clone());
            }
            NoReply::Missing(_) => return,
            NoReply::Silent(what) => {
                heard.silent += 1;
                if heard.silent < SILENT {
                    return;
                }
                heard.fatal.get_or_insert_with(|| what.clone());
            }
            NoReply::Fatal(what) => {
                heard.fatal.get_or_insert_with(|| what.clone());
            }
        }
        self.run_context.stopping.store(true, Relaxed);
    }

    fn report(&self) {
        let (settled, rows) = (self.settled.load(Relaxed), self.heard().ended.rows);
        let in_flight = self.concurrency - self.at_once.available_permits();
        (self.progress)(Progress { settled, rows, in_flight });
    }

    fn heard(&self) -> MutexGuard<'_, ServerHealth> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the steps of a batch, one JSON object per line.
fn write_lines(folder: &Path, batch: u64, lines: &[StepLine]) -> Result<(), RunError> {
    let path = folder.join(batch_file(batch));
    let mut text = Vec::new();
    for line in lines {
        // The line has strings, numbers and lists only, so that writing it as JSON cannot fail.
        if serde_json::to_writer(&mut text, line).is_ok() {
            text.push(b'\n');
        }
    }
    std::fs::write(&path, text).map_err(|source| RunError::Steps { path, source })
}
