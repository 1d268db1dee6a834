//! Owns the command `diorama eval compare`, which compares two stored runs.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::Value as Json;

use super::report::{difference, rate};
use crate::cli::error::CliError;
use crate::cli::{CommandEnd, Streams};
use crate::evaluation::page::{ReportFile, by_cell, page};
use crate::evaluation::paired::{Difference, solved};
use crate::evaluation::shares::Rate;

/// Comparison of two runs.
#[derive(Debug, Serialize)]
struct ComparisonReport {
    runs: Vec<Json>,
    /// The second run compared with the first, on the episodes that both have.
    paired: Option<Difference>,
    /// Note on scripted agents beside agents with a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// Compare two runs that `eval --out` kept; nothing is run.
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// Folders of the runs.
    #[arg(value_names = ["RUN", "RUN"], num_args = 2, required = true)]
    runs: Vec<PathBuf>,
    /// Write the comparison with its plots to this HTML file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Compare {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        compare(&self.runs, self.html.as_deref(), streams)
    }
}

fn compare(
    folders: &[PathBuf],
    html: Option<&Path>,
    streams: &mut Streams<'_>,
) -> Result<CommandEnd, CliError> {
    let runs = folders.iter().map(|folder| read(folder)).collect::<Result<Vec<Json>, _>>()?;
    let shown = runs.iter().zip(folders).map(|(run, folder)| {
        ReportFile::read(run.clone()).map_err(|error| make_run_error(folder, &error.to_string()))
    });
    let shown = shown.collect::<Result<Vec<ReportFile>, _>>()?;
    let of = |folder: &PathBuf| {
        solved(folder).map_err(|source| CliError::Read { path: folder.join("episodes.jsonl"), source })
    };
    let all = folders.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let paired = match all.as_slice() {
        [first, second] => {
            let pair = |(key, solved): (&(String, u32), &bool)| Some((*solved, *second.get(key)?));
            Difference::of(first.iter().filter_map(|one| Some((&*one.0.0, pair(one)?))))
        }
        _ => None,
    };
    let compared = ComparisonReport { runs, paired, note: ReportFile::note(&shown) };
    if let Some(file) = html {
        std::fs::write(file, page(&shown, compared.paired.as_ref())?)?;
    }
    streams.print(&compared, || table(&shown, &compared))?;
    Ok(CommandEnd::Met)
}

fn read(folder: &Path) -> Result<Json, CliError> {
    let path = folder.join("report.json");
    let text = std::fs::read(&path).map_err(|source| CliError::Read { path: path.clone(), source })?;
    serde_json::from_slice(&text).map_err(|error| make_run_error(folder, &error.to_string()))
}

fn make_run_error(folder: &Path, what: &str) -> CliError {
    let file = folder.join("report.json");
    CliError::Empty(format!("{}: {what}; expected a report as `eval --out` writes it", file.display()))
}

fn table(runs: &[ReportFile], compared: &ComparisonReport) -> String {
    let mut text = String::new();
    for (letter, run) in ('A'..).zip(runs) {
        text.push_str(&format!("{letter}: {}\n   {}\n", run.label(), rate(&run.success_rate)));
    }
    if let Some(note) = compared.note {
        text.push_str(&format!("note: {note}\n"));
    }
    match &compared.paired {
        Some(paired) => text.push_str(&format!("B - A: {}\n", difference(paired))),
        None => text.push_str("B - A: the runs have no episode in common\n"),
    }
    for dimension in ["ability", "difficulty", "depth", "tag", "pool"] {
        text.push_str(&format!("  by {dimension}\n"));
        for (name, rates) in by_cell(runs, dimension) {
            let share = |rate: &Option<Rate>| match rate {
                Some(rate) => format!("{:.4} of {:<6}", rate.share, rate.of),
                None => format!("{:<16}", "-"),
            };
            let shares: Vec<String> = rates.iter().map(share).collect();
            text.push_str(&format!("    {name:<28} {}\n", shares.join("  ")));
        }
    }
    text
}
