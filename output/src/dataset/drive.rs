//! All pending files over several threads, in bounded memory.
//!
//! Workers take units in order and make their rows; the calling thread puts them in slot order and writes them. A
//! worker only starts a unit that is at most [`AHEAD`] units per thread ahead of the first unwritten one, so a slow
//! unit cannot make finished ones pile up.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{DatasetError, DatasetWriter, FileWriter, UnitRows};
use crate::funnel::Funnel;
use crate::plan::{FilePlan, Unit};

/// Units that a thread may be ahead of the writer.
const AHEAD: usize = 4;

/// What has been written so far, for a progress bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Slots that are settled: rows written and slots exhausted, in this run.
    pub slots: u64,
    /// Slots of all pending files.
    pub slots_in_all: u64,
    /// The sum of the units' funnels so far, as the caller gave them.
    pub funnel: Funnel,
}

/// Why driving ended early.
#[derive(Debug, thiserror::Error)]
pub enum DriveError<E> {
    /// A unit could not be made.
    #[error(transparent)]
    Unit(E),
    /// A file could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A thread that makes units ended before its time.
    #[error("a thread ended before its units were made")]
    Worker,
}

impl DatasetWriter {
    /// Makes all pending files. `make` gives the rows of a unit from the unit alone, on any of `threads` threads;
    /// `progress` is called on the calling thread after each unit.
    ///
    /// # Errors
    /// The first error of `make` or of a file. Files finished before it stay, and a run that resumes keeps them.
    pub fn drive<E: Send>(
        &self,
        threads: usize,
        make: impl Fn(&Unit) -> Result<UnitRows, E> + Sync,
        mut progress: impl FnMut(&Progress),
    ) -> Result<(), DriveError<E>> {
        let files = self.pending();
        let units: Vec<&Unit> = files.iter().flat_map(|file| &file.units).collect();
        let threads = threads.clamp(1, units.len().max(1));
        let gate = Gate::new(threads * AHEAD);
        let (sender, receiver) = sync_channel(threads);
        thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, gate, make, units) = (sender.clone(), &gate, &make, &units);
                scope.spawn(move || work(gate, units, make, &sender));
            }
            drop(sender);
            let result = self.collect(&files, &gate, &receiver, &mut progress);
            // Whatever happened, nobody may wait any longer: neither at the gate nor for room in the channel.
            gate.close();
            drop(receiver);
            result
        })
    }

    fn collect<E>(
        &self,
        files: &[&FilePlan],
        gate: &Gate,
        receiver: &Receiver<Result<(usize, UnitRows), E>>,
        report: &mut impl FnMut(&Progress),
    ) -> Result<(), DriveError<E>> {
        let mut progress =
            Progress { slots_in_all: files.iter().map(|file| file.slots()).sum(), ..Progress::default() };
        // A unit of a later file can arrive before the last one of an earlier file.
        let mut early: Vec<(usize, UnitRows)> = Vec::new();
        let mut first = 0;
        for file in files {
            let mut writer = self.start_file(file)?;
            let end = first + file.units.len();
            let (now, later) = early.into_iter().partition(|(position, _)| *position < end);
            early = later;
            for (_, rows) in now {
                submit(&mut writer, rows, &mut progress)?;
            }
            while !writer.is_full() {
                gate.written(first + writer.units_written());
                let (position, rows) =
                    receiver.recv().map_err(|_| DriveError::Worker)?.map_err(DriveError::Unit)?;
                if position < end {
                    submit(&mut writer, rows, &mut progress)?;
                    report(&progress);
                } else {
                    early.push((position, rows));
                }
            }
            gate.written(end);
            writer.finish()?;
            first = end;
        }
        Ok(())
    }
}

fn submit(writer: &mut FileWriter<'_>, rows: UnitRows, progress: &mut Progress) -> Result<(), DatasetError> {
    progress.funnel.add(&rows.funnel);
    progress.slots += writer.slots_of(rows.unit);
    writer.submit(rows)
}

fn work<E>(
    gate: &Gate,
    units: &[&Unit],
    make: &impl Fn(&Unit) -> Result<UnitRows, E>,
    sender: &SyncSender<Result<(usize, UnitRows), E>>,
) {
    // A panic in `make` must not leave the others waiting for a unit that never comes.
    let guard = CloseOnPanic(gate);
    while let Some(position) = gate.take(units.len()) {
        let Some(unit) = units.get(position) else { break };
        let made = make(unit).map(|rows| (position, rows));
        let failed = made.is_err();
        if sender.send(made).is_err() || failed {
            gate.close();
            break;
        }
    }
    drop(guard);
}

/// Hands out units in order, none too far ahead of the first unwritten one.
struct Gate {
    ahead: usize,
    state: Mutex<GateState>,
    moved: Condvar,
}

#[derive(Default)]
struct GateState {
    next: usize,
    written: usize,
    closed: bool,
}

struct CloseOnPanic<'a>(&'a Gate);

impl Gate {
    fn new(ahead: usize) -> Self {
        Self { ahead, state: Mutex::default(), moved: Condvar::new() }
    }

    /// The next unit to make, when its turn has come; nothing when there are no more.
    fn take(&self, units: usize) -> Option<usize> {
        let mut state = self.state();
        loop {
            if state.closed || state.next >= units {
                return None;
            }
            if state.next < state.written.saturating_add(self.ahead) {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn written(&self, units: usize) {
        self.state().written = units;
        self.moved.notify_all();
    }

    fn close(&self) {
        self.state().closed = true;
        self.moved.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}
