//! Runs of `diorama eval`: on threads for embedded agents, many at once for those that wait for a model.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use diorama_llm::Place;
use diorama_output::row::Dialogue;
use rayon::prelude::*;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::name::Contender;
use crate::cli::error::CliError;
use crate::cli::{Done, Streams, terminal};
use crate::episode::{Task, Worlds};
use crate::evaluation::batch::{self, Episode, Setup};
use crate::evaluation::cells::Cells;
use crate::evaluation::environment::{Answers, Budget};
use crate::evaluation::judge::{Judge, Judged};
use crate::evaluation::measures::{Tally, class_name};

/// What every episode of a run has in common.
pub(super) struct Plan {
    pub(super) contender: Contender,
    pub(super) name: String,
    pub(super) model: Option<String>,
    pub(super) answers: Answers,
    pub(super) budget: Budget,
    pub(super) trials: u32,
    pub(super) seed: u64,
    /// Whether a solved task is what is remarkable.
    pub(super) adversary: bool,
    pub(super) show: bool,
    pub(super) keep: bool,
}

/// What came of one row.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    cells: Cells,
    shown: Option<String>,
    unfinished: Option<String>,
    lines: Vec<u8>,
}

/// What came of a run so far, row by row in order.
pub(super) struct Outcomes<'a> {
    tasks: &'a Path,
    file: Option<BufWriter<File>>,
    pub(super) tally: Tally,
    pub(super) cells: Cells,
    pub(super) shown: Vec<String>,
    pub(super) first_unfinished: Option<String>,
}

impl<'a> Outcomes<'a> {
    pub(super) fn new(tasks: &'a Path, out: Option<&Path>) -> Result<Self, CliError> {
        let file = out.map(|folder| {
            std::fs::create_dir_all(folder)?;
            File::create(folder.join("episodes.jsonl")).map(BufWriter::new)
        });
        Ok(Self {
            tasks,
            file: file.transpose()?,
            tally: Tally::default(),
            cells: Cells::default(),
            shown: Vec::new(),
            first_unfinished: None,
        })
    }

    fn add(&mut self, outcome: Outcome) -> Result<(), CliError> {
        self.tally.merge(&outcome.tally);
        self.cells.merge(&outcome.cells);
        self.shown.extend(outcome.shown);
        self.first_unfinished = self.first_unfinished.take().or(outcome.unfinished);
        if let Some(file) = &mut self.file {
            file.write_all(&outcome.lines)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CliError> {
        self.file.as_mut().map_or(Ok(()), |file| file.flush().map_err(CliError::Output))
    }
}

/// Runs rows on threads.
pub(super) fn on_threads(
    plan: &Plan,
    rows: &[Dialogue],
    threads: usize,
    outcomes: &mut Outcomes<'_>,
) -> Result<(), CliError> {
    let worlds = Worlds::of(outcomes.tasks);
    let bar = terminal::bar(rows.len() as u64, "tasks");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| CliError::Worker)?;
    // The first row that cannot be used ends the run; results come in the order of the rows.
    let all: Vec<Outcome> = pool.install(|| {
        let one = |row: &Dialogue| {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            let outcome = runtime.block_on(row_of(plan, row, &worlds));
            bar.inc(1);
            outcome
        };
        rows.par_iter().map(one).collect::<Result<_, CliError>>()
    })?;
    bar.finish_and_clear();
    for outcome in all {
        outcomes.add(outcome)?;
    }
    outcomes.flush()
}

/// Runs rows at once, as many as asked for, and adds them in their order.
pub(super) fn at_once(
    plan: Plan,
    rows: Vec<Dialogue>,
    concurrency: NonZeroUsize,
    outcomes: &mut Outcomes<'_>,
) -> Result<(), CliError> {
    let bar = terminal::bar(rows.len() as u64, "tasks");
    let plan = Arc::new(plan);
    let worlds = Arc::new(Worlds::of(outcomes.tasks));
    let permits = Arc::new(Semaphore::new(concurrency.get()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut episodes = JoinSet::new();
        for (number, row) in rows.into_iter().enumerate() {
            let (plan, worlds, permits) = (Arc::clone(&plan), Arc::clone(&worlds), Arc::clone(&permits));
            episodes.spawn(async move {
                // It is closed by nobody.
                let _permit = permits.acquire_owned().await.ok();
                (number, row_of(&plan, &row, &worlds).await)
            });
        }
        let (mut waiting, mut next) = (BTreeMap::new(), 0);
        while let Some(joined) = episodes.join_next().await {
            let (number, outcome) = joined.map_err(|_| CliError::Worker)?;
            waiting.insert(number, outcome?);
            while let Some(outcome) = waiting.remove(&next) {
                outcomes.add(outcome)?;
                outcomes.flush()?;
                next += 1;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    })
}

/// Runs the trials of one row.
async fn row_of(plan: &Plan, row: &Dialogue, worlds: &Worlds) -> Result<Outcome, CliError> {
    let judge = Judge::new(Task::of(row)?, worlds.get(&row.world_id)?)?;
    let slot = hashed(&[row.id.as_bytes(), row.world_hash.as_bytes()]);
    let (mut outcome, mut trials) = (Outcome::default(), Vec::new());
    for trial in 0..plan.trials {
        let seed = hashed(&[
            row.id.as_bytes(),
            row.world_hash.as_bytes(),
            &plan.seed.to_le_bytes(),
            &trial.to_le_bytes(),
        ]);
        let place = Place { stage: String::new(), slot, attempt: trial };
        let agent = plan.contender.agent(judge.insider(seed), place);
        let setup = Setup {
            task: row.id.clone(),
            trial,
            seed,
            answers: plan.answers,
            budget: plan.budget,
            agent: plan.name.clone(),
            model: plan.model.clone(),
        };
        let (episode, judged) = batch::run(agent.as_ref(), &judge, setup).await?;
        outcome.cells.add(row, &episode);
        if plan.keep {
            outcome.write(&episode)?;
        }
        if episode.is_unfinished() {
            outcome.unfinished = episode.stopped.map(|error| error.to_string());
        } else {
            trials.push(judged);
        }
    }
    if !trials.is_empty() {
        outcome.tally.add(&judge, row.ability, &trials);
    }
    let remarkable = trials.iter().find(|judged| judged.grade.success == plan.adversary);
    outcome.shown = remarkable.filter(|_| plan.show).map(|judged| told(row, judged));
    Ok(outcome)
}

impl Outcome {
    fn write(&mut self, episode: &Episode) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.lines, episode).map_err(|error| CliError::Output(error.into()))?;
        self.lines.push(b'\n');
        Ok(())
    }
}

/// A number from texts: seeds that are never those of a row, and slots that do not depend on which rows are run.
fn hashed(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().unwrap_or_default())
}

/// What grading again has shown.
#[derive(Debug, Default, Serialize)]
struct Regraded {
    episodes: u64,
    success_before: u64,
    success: u64,
    changed: Vec<Changed>,
}

/// A verdict that is another now.
#[derive(Debug, Serialize)]
struct Changed {
    task: String,
    trial: u32,
    before: bool,
    now: bool,
    grader_before: String,
    grader: String,
    errors: Vec<String>,
}

/// Grades the episodes of a file again.
pub(super) fn regrade(
    file: &Path,
    tasks: &Path,
    rows: &[Dialogue],
    streams: &mut Streams<'_>,
) -> Result<Done, CliError> {
    let read = |source| CliError::Read { path: file.to_owned(), source };
    let by_id: HashMap<&str, &Dialogue> = rows.iter().map(|row| (&*row.id, row)).collect();
    let worlds = Worlds::of(tasks);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut found = Regraded::default();
    for (number, line) in BufReader::new(File::open(file).map_err(read)?).lines().enumerate() {
        let line = line.map_err(read)?;
        let wrong =
            |what: String| CliError::Empty(format!("{}, line {}: {what}", file.display(), number + 1));
        let stored: Episode = serde_json::from_str(&line)
            .map_err(|error| wrong(format!("{error}; expected an episode as `eval --out` writes it")))?;
        let row = by_id
            .get(&*stored.task)
            .ok_or_else(|| wrong(format!("found the task {}, expected one of --tasks", stored.task)))?;
        let judge = Judge::new(Task::of(row)?, worlds.get(&row.world_id)?)?;
        let (now, judged) = runtime.block_on(batch::regrade(&stored, &judge))?;
        found.episodes += 1;
        found.success_before += u64::from(stored.grade.success);
        found.success += u64::from(now.grade.success);
        if now.grade.success != stored.grade.success {
            let errors = judged.grade.errors.iter();
            found.changed.push(Changed {
                task: stored.task,
                trial: stored.trial,
                before: stored.grade.success,
                now: now.grade.success,
                grader_before: stored.grade.version,
                grader: now.grade.version,
                errors: errors
                    .map(|error| format!("{}: {}", class_name(error.class), error.message))
                    .collect(),
            });
        }
    }
    streams.print(&found, || {
        let mut text = format!(
            "{} episodes: {} solved before, {} now, {} verdicts changed\n",
            found.episodes,
            found.success_before,
            found.success,
            found.changed.len()
        );
        for changed in &found.changed {
            let word = |solved: bool| if solved { "solved" } else { "failed" };
            text.push_str(&format!(
                "  {} trial {}: {} by {}, {} by {}; {}\n",
                changed.task,
                changed.trial,
                word(changed.before),
                changed.grader_before,
                word(changed.now),
                changed.grader,
                changed.errors.join("; ")
            ));
        }
        text
    })?;
    Ok(Done::Met)
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
