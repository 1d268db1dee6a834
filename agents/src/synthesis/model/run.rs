//! All rows of a run at once: conversations wait for the model together, and rows are written in the order of their indexes.
//!
//! Which rows are in flight depends on the machine; what is written does not. Near-duplicates inside a batch are found in row
//! order when all its rows are done, and tried again after the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use diorama_output::dataset::{BatchRows, DatasetError, DatasetWriter, FileWriter};
use diorama_output::plan::{Batch, FilePlan};
use diorama_output::stats::duplicates::similar;
use diorama_proof::Candidate;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use super::asking::{Asker, Lost};
use super::judge::{self, Calibration, Damage, Labelled};
use super::plan::{self, Plan};
use super::row::{RowJob, RowOutcome, make_row, opening};
use super::run_context::RunContext;
use super::steps::StepLine;
use crate::synthesis::error::PipelineError;
use crate::synthesis::world::BatchWorld;

/// Conversations in a row without a reply after which the server is taken to be gone.
const SILENT: u32 = 20;
/// Batches that may be open, for each that the conversations in flight would fill: what waits for a slow row is few megabytes,
/// and a thousand conversations that wait for one are time lost.
const AHEAD: usize = 4;

/// Why a run ends before its time, with nothing to be kept beside what is on disk.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A world cannot be made.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A file cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The record of the steps cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Steps {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The model cannot be asked.
    #[error("{0}; what was answered so far is kept, and --resume goes on from there")]
    Model(String),
    /// A task ended before its time.
    #[error("a conversation ended before its time")]
    Worker,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that are settled.
    pub settled: u64,
    /// Of them, those with a row.
    pub rows: u64,
    /// Conversations in flight.
    pub in_flight: usize,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Why it stopped before all rows were tried, where it did.
    pub stopped: Option<String>,
    /// Rows that came to no end for want of a reply.
    pub unfinished: u64,
    /// Rows that this run wrote.
    pub rows: u64,
}

/// The finished rows of a batch.
struct BatchDone {
    rows: BatchRows,
    lines: Vec<StepLine>,
    world: Option<Arc<BatchWorld>>,
    /// Why rows that were tried again came to no end.
    lost: Vec<Lost>,
}

/// A batch whose rows are in flight.
struct Open {
    world: Arc<OnceCell<Arc<BatchWorld>>>,
    left: usize,
    outcomes: Vec<RowOutcome>,
}

enum Done {
    Slot(usize, Box<Result<RowOutcome, RunError>>),
    Batch(usize, Box<BatchDone>),
}

/// Makes all pending files of a dataset, with at most `concurrency` conversations in flight. Under `steps` goes what
/// happened, a file for each batch.
///
/// # Errors
/// When worlds, files or the model fail; finished files and recorded replies stay.
pub async fn run(
    run_context: &Arc<RunContext>,
    writer: &DatasetWriter,
    concurrency: usize,
    steps: Option<&Path>,
    mut progress: impl FnMut(Progress),
) -> Result<Ended, RunError> {
    let files = writer.pending();
    let batches: Vec<Batch> = files.iter().flat_map(|file| file.batches.clone()).collect();
    let mut flow = Flow {
        run_context,
        concurrency: concurrency.max(1),
        row_indexes: batches
            .iter()
            .enumerate()
            .flat_map(|(at, batch)| batch.row_indexes.clone().map(move |row_index| (at, row_index)))
            .collect(),
        started: 0,
        batches: &batches,
        open: BTreeMap::new(),
        ready: BTreeMap::new(),
        tasks: JoinSet::new(),
        silent: 0,
        fatal: None,
        unheard: None,
        ended: Ended::default(),
    };
    let mut out = Out {
        writer,
        files: files.into(),
        file: None,
        steps,
        batches: &batches,
        next: 0,
        settled: 0,
        rows: 0,
    };
    loop {
        flow.start(out.next);
        let Some(done) = flow.tasks.join_next().await else { break };
        flow.take(done.map_err(|_| RunError::Worker)?)?;
        while let Some(done) = flow.ready.remove(&out.next) {
            out.write(done)?;
        }
        let waiting = flow.open.values().map(|open| open.outcomes.len() as u64).sum::<u64>();
        progress(Progress { settled: out.settled + waiting, rows: out.rows, in_flight: flow.tasks.len() });
    }
    if let Some(what) = flow.fatal {
        return Err(RunError::Model(what));
    }
    // A run that got nothing for want of replies is no smaller dataset.
    if let (0, Some(what)) = (out.rows + flow.rows(), flow.unheard) {
        return Err(RunError::Model(what));
    }
    // What was never started has no rows, and the dataset is whole without it.
    for (at, batch) in batches.iter().enumerate().skip(out.next) {
        out.write(flow.ready.remove(&at).unwrap_or_else(|| BatchDone::empty(batch)))?;
    }
    Ok(Ended { rows: out.rows, ..flow.ended })
}

/// What is in flight.
struct Flow<'a> {
    run_context: &'a Arc<RunContext>,
    concurrency: usize,
    row_indexes: Vec<(usize, u64)>,
    started: usize,
    batches: &'a [Batch],
    open: BTreeMap<usize, Open>,
    ready: BTreeMap<usize, BatchDone>,
    tasks: JoinSet<Done>,
    silent: u32,
    fatal: Option<String>,
    /// Why the first row that came to no end did not.
    unheard: Option<String>,
    ended: Ended,
}

impl Flow<'_> {
    /// Starts conversations as long as there is room for them.
    fn start(&mut self, written: usize) {
        let rows_per_batch =
            self.batches.first().map_or(1, |batch| batch.row_indexes.end - batch.row_indexes.start).max(1)
                as usize;
        let window = written + AHEAD * (self.concurrency.div_ceil(rows_per_batch) + 1);
        while self.tasks.len() < self.concurrency && !self.run_context.stopping.load(Relaxed) {
            let Some((at, number)) =
                self.row_indexes.get(self.started).copied().filter(|(at, _)| *at < window)
            else {
                return;
            };
            self.started += 1;
            let batch = self.batches[at].clone();
            let open = self.open.entry(at).or_insert_with(|| Open {
                world: Arc::default(),
                left: (batch.row_indexes.end - batch.row_indexes.start) as usize,
                outcomes: Vec::new(),
            });
            let (run_context, world) = (Arc::clone(self.run_context), Arc::clone(&open.world));
            // The set of tasks is this one's own, and is awaited to its end.
            self.tasks.spawn(async move {
                let job = RowJob { row_index: number, split: batch.split, from: 0, known: Arc::default() };
                let outcome = match world_of(&run_context, &world, &batch).await {
                    Ok(world) => Ok(make_row(run_context, world, job).await),
                    Err(error) => Err(error),
                };
                Done::Slot(at, Box::new(outcome))
            });
        }
        if self.run_context.stopping.load(Relaxed)
            && self.ended.stopped.is_none()
            && self.started < self.row_indexes.len()
        {
            self.ended.stopped = Some("it was told to stop".to_owned());
        }
    }

    fn take(&mut self, done: Done) -> Result<(), RunError> {
        match done {
            Done::Batch(at, done) => {
                done.lost.iter().for_each(|lost| self.hear(Some(lost)));
                self.ready.insert(at, *done);
            }
            Done::Slot(at, outcome) => {
                let outcome = (*outcome)?;
                self.hear(outcome.unfinished.as_ref());
                if let Some(open) = self.open.get_mut(&at) {
                    open.left -= 1;
                    open.outcomes.push(outcome);
                }
            }
        }
        // A batch is settled when its last row is, or when no more of them will be started.
        let stopping = self.run_context.stopping.load(Relaxed);
        let in_flight = |at: &usize, open: &Open| {
            let started = self.row_indexes[..self.started].iter().filter(|(of, _)| of == at).count();
            started - open.outcomes.len()
        };
        let settled: Vec<usize> = self
            .open
            .iter()
            .filter(|(at, open)| open.left == 0 || (stopping && in_flight(at, open) == 0))
            .map(|(at, _)| *at)
            .collect();
        for at in settled {
            let Some(open) = self.open.remove(&at) else { continue };
            let (run_context, batch) = (Arc::clone(self.run_context), self.batches[at].clone());
            self.tasks
                .spawn(async move { Done::Batch(at, Box::new(settle(&run_context, &batch, open).await)) });
        }
        Ok(())
    }

    /// Rows of batches that are settled and not written yet.
    fn rows(&self) -> u64 {
        self.ready.values().map(|done| done.rows.rows.len() as u64).sum()
    }

    /// Decides whether the run goes on after a row that came to no end.
    fn hear(&mut self, unfinished: Option<&Lost>) {
        let Some(lost) = unfinished else {
            self.silent = 0;
            return;
        };
        self.ended.unfinished += 1;
        self.unheard.get_or_insert_with(|| lost.what().to_owned());
        match lost {
            Lost::Spent(what) => {
                self.ended.stopped.get_or_insert_with(|| what.clone());
            }
            Lost::Missing(_) => return,
            Lost::Silent(what) => {
                self.silent += 1;
                if self.silent < SILENT {
                    return;
                }
                self.fatal.get_or_insert_with(|| what.clone());
            }
            Lost::Fatal(what) => {
                self.fatal.get_or_insert_with(|| what.clone());
            }
        }
        self.run_context.stopping.store(true, Relaxed);
    }
}

/// The world of a batch, made by the first of its rows that needs it.
async fn world_of(
    run_context: &Arc<RunContext>,
    cell: &OnceCell<Arc<BatchWorld>>,
    batch: &Batch,
) -> Result<Arc<BatchWorld>, RunError> {
    let make = || async {
        let batch = batch.clone();
        let made = run_context
            .compute(move |run_context| run_context.agents.domain.world(&run_context.recipe, &batch))
            .await;
        made.map_err(|_| RunError::Worker)?.map_err(RunError::Pipeline)
    };
    cell.get_or_try_init(make).await.cloned()
}

/// Finds near-duplicates among the rows of a batch, in row order, and tries their rows again, all at once, until none is left.
async fn settle(run_context: &Arc<RunContext>, batch: &Batch, open: Open) -> BatchDone {
    let Open { world, mut outcomes, .. } = open;
    let world = world.get().cloned();
    outcomes.retain(|outcome| outcome.unfinished.is_none());
    outcomes.sort_by_key(|outcome| outcome.row_index);
    let mut done = BatchDone::empty(batch);
    let mut known: Vec<Box<[u64]>> = Vec::new();
    let mut new: Vec<usize> = (0..outcomes.len()).collect();
    loop {
        // Those that were tried last give way to all that stand already.
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
        let Some(world) = world.as_ref().filter(|_| !repeats.is_empty()) else { break };
        let kept = Arc::new(known.clone());
        let mut tries = JoinSet::new();
        for at in &repeats {
            let RowOutcome { row_index: number, attempt, .. } = outcomes[*at];
            let job =
                RowJob { row_index: number, split: batch.split, from: attempt + 1, known: Arc::clone(&kept) };
            let (at, again) = (*at, make_row(Arc::clone(run_context), Arc::clone(world), job));
            tries.spawn(async move { (at, again.await) });
        }
        let mut again = tries.join_all().await;
        again.sort_by_key(|(at, _)| *at);
        for (at, again) in again {
            match again.unfinished {
                Some(lost) => done.lost.push(lost),
                None => outcomes[at].go_on(again),
            }
        }
        new = repeats;
    }
    for outcome in outcomes {
        done.rows.funnel.add(&outcome.funnel);
        done.lines.extend(outcome.lines);
        done.rows.rows.extend(outcome.row);
    }
    done.world = world.filter(|_| !done.rows.rows.is_empty());
    done
}

impl BatchDone {
    fn empty(batch: &Batch) -> Self {
        let rows = BatchRows { batch: batch.index, ..BatchRows::default() };
        Self { rows, lines: Vec::new(), world: None, lost: Vec::new() }
    }
}

/// Where rows go, batch by batch in order.
struct Out<'a> {
    writer: &'a DatasetWriter,
    files: std::collections::VecDeque<&'a FilePlan>,
    file: Option<(FileWriter<'a>, usize)>,
    steps: Option<&'a Path>,
    batches: &'a [Batch],
    next: usize,
    settled: u64,
    rows: u64,
}

impl Out<'_> {
    fn write(&mut self, mut done: BatchDone) -> Result<(), RunError> {
        if self.file.is_none() {
            let Some(plan) = self.files.pop_front() else { return Err(RunError::Worker) };
            self.file = Some((self.writer.start_file(plan)?, plan.batches.len()));
        }
        if let Some(world) = &done.world {
            done.rows.worlds.insert(world.id.clone(), Arc::clone(&world.canonical));
        }
        let batch = &self.batches[self.next];
        if let Some(folder) = self.steps {
            write_lines(folder, batch.index, &done.lines)?;
        }
        self.settled += batch.row_indexes.end - batch.row_indexes.start;
        self.rows += done.rows.rows.len() as u64;
        self.next += 1;
        let Some((file, left)) = &mut self.file else { return Err(RunError::Worker) };
        file.submit(done.rows)?;
        *left -= 1;
        if *left == 0
            && let Some((file, _)) = self.file.take()
        {
            file.finish()?;
        }
        Ok(())
    }
}

/// Writes what happened in a batch: one JSON object a line.
fn write_lines(folder: &Path, batch: u64, lines: &[StepLine]) -> Result<(), RunError> {
    let path = folder.join(format!("batch-{batch:06}.jsonl"));
    let mut text = Vec::new();
    for line in lines {
        // Strings, numbers and lists: writing them as JSON cannot fail.
        if serde_json::to_writer(&mut text, line).is_ok() {
            text.push(b'\n');
        }
    }
    std::fs::write(&path, text).map_err(|source| RunError::Steps { path, source })
}

/// Tries the judge on conversations of known worth: good ones that people wrote, and each of them with some damage.
///
/// # Errors
/// When a world cannot be made, or the model gives no reply.
pub async fn calibrate(
    run_context: &Arc<RunContext>,
    batch: &Batch,
    conversations: u32,
) -> Result<Calibration, RunError> {
    let cell = OnceCell::new();
    let world = world_of(run_context, &cell, batch).await?;
    let pairs = (conversations / 2).max(1);
    let mut plans: Vec<Plan> = Vec::new();
    for number in 0..=pairs {
        let world = Arc::clone(&world);
        let place = (u64::MAX / 2 + u64::from(number), 0);
        let made = run_context
            .compute(move |run_context| plan::plan(&run_context.recipe, &run_context.agents, &world, place));
        plans.extend(made.await.map_err(|_| RunError::Worker)?);
    }
    let mut tasks = JoinSet::new();
    for (number, pair) in plans.windows(2).enumerate() {
        let (good, other) = (pair[0].grounded.candidate.clone(), pair[1].grounded.candidate.clone());
        let damage = Damage::ALL[number % Damage::ALL.len()];
        let bad = damage.of(&good, &other);
        for (at, candidate, damage) in [(0, good, None), (1, bad, Some(damage))] {
            let (run_context, world) = (Arc::clone(run_context), Arc::clone(&world));
            let number = 2 * number as u32 + at;
            tasks.spawn(
                async move { (number, labelled(&run_context, &world, number, candidate, damage).await) },
            );
        }
    }
    let mut all: Vec<(u32, Result<Option<Labelled>, Lost>)> = tasks.join_all().await;
    all.sort_by_key(|(number, _)| *number);
    let mut judged = Vec::new();
    for (_, one) in all {
        match one {
            Ok(one) => judged.extend(one),
            Err(Lost::Spent(_)) => break,
            Err(lost) => return Err(RunError::Model(lost.what().to_owned())),
        }
    }
    Ok(Calibration::of(&judged))
}

async fn labelled(
    run_context: &Arc<RunContext>,
    world: &Arc<BatchWorld>,
    number: u32,
    candidate: Candidate,
    damage: Option<Damage>,
) -> Result<Option<Labelled>, Lost> {
    let of_world = Arc::clone(world);
    let made = run_context.compute(move |run_context| {
        let mut rng = run_context.recipe.stream("calibration", u64::from(number));
        let drops = run_context.agents.tester.test(&of_world, candidate.clone(), &mut rng).is_err();
        (drops, diorama_proof::ground(of_world.context(), candidate).ok())
    });
    let (gates_drop, Some(grounded)) = made.await? else { return Ok(None) };
    let settings = &run_context.settings;
    let asker = Asker::new(
        run_context.model.clone(),
        run_context.prompts.clone(),
        settings.sampling.clone(),
        u64::from(number),
    );
    // Its votes are numbered apart from those on rows.
    let verdict =
        judge::judge(&asker, u32::MAX / judge::MOST_VOTES - 1, settings.votes, &grounded, world.base.world())
            .await?;
    Ok(Some(Labelled { damage, gates_drop, verdict }))
}
