//! Owns the command `diorama eval regrade`, which grades a stored run with the current grader.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use diorama_output::row::Dialogue;
use diorama_output::storage::Location;
use serde::Serialize;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::rows::RowsArgs;
use crate::cli::{CommandEnd, Streams};
use crate::episode::{Task, Worlds};
use crate::evaluation::batch::{self, Episode};
use crate::evaluation::judge::Judge;
use crate::evaluation::measures::class_name;

/// Result of regrading.
#[derive(Debug, Default, Serialize)]
struct RegradeReport {
    episodes: u64,
    success_before: u64,
    success: u64,
    changed: Vec<VerdictChange>,
}

/// A verdict that changed.
#[derive(Debug, Serialize)]
struct VerdictChange {
    task: String,
    trial: u32,
    before: bool,
    now: bool,
    grader_before: String,
    grader: String,
    errors: Vec<String>,
}

/// Grade kept episodes again and list the verdicts that changed. Runs no agent and asks no model.
#[derive(Debug, Args)]
pub(super) struct Regrade {
    /// Episodes to grade: `episodes.jsonl` of a run that `--out` kept.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Dataset that holds the tasks: a folder or a URL (s3://, gs://, az://).
    #[arg(long, value_name = "LOCATION")]
    tasks: Location,
}

impl Regrade {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let folder = open_dataset(&self.tasks)?;
        let rows = RowsArgs::default().read(&folder)?;
        regrade(&self.file, Worlds::new(folder), &rows, streams)
    }
}

fn regrade(
    file: &Path,
    worlds: Worlds,
    rows: &[Dialogue],
    streams: &mut Streams<'_>,
) -> Result<CommandEnd, CliError> {
    let read = |source| CliError::Read { path: file.to_owned(), source };
    let by_id: HashMap<&str, &Dialogue> = rows.iter().map(|row| (&*row.id, row)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut found = RegradeReport::default();
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
            found.changed.push(VerdictChange {
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
    Ok(CommandEnd::Met)
}
