//! `diorama world`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use diorama_seeds::materialise::Source;
use diorama_seeds::world::{self, Severity};
use serde_json::json;

use super::author::WriteCommand;
use super::error::CliError;
use super::inputs::{read_file, read_world};
use super::openapi::ImportArgs;
use super::rehearse::RehearseCommand;
use super::{Done, Streams};
use crate::synthesis::inspect::deepened;

/// Check, show and materialise worlds.
#[derive(Debug, Args)]
pub struct WorldCommand {
    /// What to do.
    #[command(subcommand)]
    pub command: Action,
}

/// What to do with a world.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Say what is wrong with world files, with file, line and a fix; exits with 3 when something is.
    Check {
        /// World files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Show a world's resources and APIs.
    Show {
        /// World file, or the name of a world of the catalog.
        #[arg(value_name = "FILE|NAME")]
        world: PathBuf,
    },
    /// Print a world with all its records written out.
    Materialise {
        /// World file, or the name of a world of the catalog.
        #[arg(value_name = "FILE|NAME")]
        world: PathBuf,
        /// Seed of the records.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Play a world's scenarios: how many tries become rows, and why the others don't.
    Rehearse(RehearseCommand),
    /// Have a chat model write worlds: domains, resources, records, APIs and rules.
    Write(Box<WriteCommand>),
    /// Make a world file from an OpenAPI document.
    ImportOpenapi {
        /// The document.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The world file to write; stdout when left out.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// How it is imported.
        #[command(flatten)]
        import: ImportArgs,
    },
}

impl WorldCommand {
    /// Runs the command.
    ///
    /// # Errors
    /// When a file cannot be read or written, or is wrong.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        match self.command {
            Action::Check { files } => check(&files, streams),
            Action::Show { world } => {
                let doc = read_world(&world)?;
                let compiled = world::compile(&doc)?;
                let text = world::show(&compiled);
                streams.print(&doc, || text)?;
                Ok(Done::Met)
            }
            Action::Materialise { world, seed } => {
                let made = Source::new(read_world(&world)?)?.materialise(seed)?;
                writeln!(streams.out, "{}", made.canonical)?;
                Ok(Done::Met)
            }
            Action::Rehearse(command) => command.run(streams),
            Action::Write(command) => command.run(streams),
            Action::ImportOpenapi { file, out, import } => import_openapi(&import, &file, out, streams),
        }
    }
}

fn check(files: &[PathBuf], streams: &mut Streams<'_>) -> Result<Done, CliError> {
    let mut all = Vec::new();
    let mut text = String::new();
    let mut errors = 0;
    for file in files {
        let source = read_file(file)?;
        let name = file.display().to_string();
        let mut report = world::examine(&name, &source);
        if report.errors() == 0 {
            let doc = read_world(file)?;
            let compiled = world::compile(&doc)?;
            if compiled.apis.iter().any(|api| api.contract.is_some()) {
                text.push_str(&world::fidelity(&compiled));
            }
            report = deepened(report, &source, &doc)?;
        }
        errors += report.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        for finding in &report.findings {
            all.push(json!({
                "file": report.name, "line": finding.line, "column": finding.column, "path": finding.path,
                "severity": finding.severity, "message": finding.message, "fix": finding.fix,
            }));
        }
        if report.findings.is_empty() {
            text.push_str(&format!("{}: nothing to mend\n", file.display()));
        } else {
            text.push_str(&format!("{report}\n"));
        }
    }
    let none = all.is_empty();
    streams.print(&json!({ "files": files.len(), "errors": errors, "findings": all }), || text)?;
    Ok(if none { Done::Met } else { Done::NotMet })
}

fn import_openapi(
    import: &ImportArgs,
    file: &std::path::Path,
    out: Option<PathBuf>,
    streams: &mut Streams<'_>,
) -> Result<Done, CliError> {
    let doc = import.import(file, streams)?;
    let text = world::to_yaml(&doc)?;
    match out {
        None => write!(streams.out, "{text}")?,
        Some(path) => {
            diorama_output::disk::write(&path, text.as_bytes())
                .map_err(diorama_output::dataset::DatasetError::from)?;
        }
    }
    Ok(Done::Met)
}
