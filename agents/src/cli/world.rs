//! Owns the command `diorama world`.

mod generate;
mod import;
mod paraphrase;
mod scaffold;
mod test;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use diorama_seeds::check;
use diorama_seeds::doc::{DomainDoc, WorldDoc};
use diorama_seeds::materialise::Source;
use diorama_seeds::world::{self, Severity};
use serde_json::json;

use self::generate::GenerateWorlds;
use self::import::Import;
use self::paraphrase::Paraphrase;
use self::scaffold::Scaffold;
use self::test::Test;
use super::error::CliError;
use super::files::read_file;
use super::inputs::{located, read_world, texts_of};
use super::{CommandEnd, Streams};
use crate::catalog;
use crate::worlds::inspect::deepened;

/// List, show, check, test, scaffold, import, generate, paraphrase and build worlds.
#[derive(Debug, Args)]
pub struct WorldCommand {
    /// The subcommand.
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the worlds of the catalog with the number of their APIs and scenarios.
    List,
    /// Check world files: print each error with file, line and a fix. Exits with 3 when there is one.
    Check {
        /// World files to check.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Show a world's resources and APIs.
    Show {
        /// World file, or the name of a world in the catalog.
        #[arg(value_name = "FILE|NAME")]
        world: PathBuf,
    },
    /// Print a materialised world: all records written out.
    Build {
        /// World file, or the name of a world in the catalog.
        #[arg(value_name = "FILE|NAME")]
        world: PathBuf,
        /// Seed of the generated records.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Play a world's scenarios and print how many tries become rows, and why the others do not.
    Test(Test),
    /// Print scenarios for a world of one domain, written by rule, as a start for a person or a model.
    Scaffold(Scaffold),
    /// Write worlds with a chat model: domains, resources, records, APIs and rules.
    Generate(Box<GenerateWorlds>),
    /// Write more wordings for a world's scenarios with a chat model.
    Paraphrase(Box<Paraphrase>),
    /// Import an OpenAPI document as a world file, or a folder of documents as a folder of world files.
    Import(Import),
}

impl WorldCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        match self.command {
            Action::List => list(streams),
            Action::Check { files } => check(&files, streams),
            Action::Show { world } => {
                let doc = read_world(&world)?;
                let compiled = world::compile(&doc).map_err(|report| located(&world, report))?;
                let text = world::show(&compiled);
                streams.print(&doc, || text)?;
                Ok(CommandEnd::Met)
            }
            Action::Build { world, seed } => {
                let made = Source::new(read_world(&world)?).and_then(|source| source.materialise(seed));
                let made = made.map_err(|report| located(&world, report))?;
                writeln!(streams.out, "{}", made.canonical)?;
                Ok(CommandEnd::Met)
            }
            Action::Test(command) => command.run(streams),
            Action::Scaffold(command) => command.run(streams),
            Action::Generate(command) => command.run(streams),
            Action::Paraphrase(command) => command.run(streams),
            Action::Import(command) => command.run(streams),
        }
    }
}

fn list(streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
    let worlds = catalog::worlds()?;
    let of = |doc: &WorldDoc| {
        let head = doc.domain.as_ref().or_else(|| doc.domains.first().map(|domain| &domain.domain));
        let title = head.and_then(|head| head.title.clone()).unwrap_or_default();
        let sum = |own: usize, of: fn(&DomainDoc) -> usize| own + doc.domains.iter().map(of).sum::<usize>();
        let resources = sum(doc.resources.len(), |domain| domain.resources.len());
        let apis = sum(doc.apis.len(), |domain| domain.apis.len());
        let scenarios = sum(doc.scenarios.len(), |domain| domain.scenarios.len());
        json!({"name": doc.name, "title": title, "resources": resources, "apis": apis, "scenarios": scenarios})
    };
    let data: Vec<_> = worlds.iter().map(of).collect();
    streams.print(&data, || {
        let line = |world: &serde_json::Value| {
            let [name, title] = ["name", "title"].map(|key| world[key].as_str().unwrap_or_default());
            format!("{name:<24} {title:<40} {:>3} APIs, {:>3} scenarios\n", world["apis"], world["scenarios"])
        };
        data.iter().map(line).collect()
    })?;
    Ok(CommandEnd::Met)
}

fn check(files: &[PathBuf], streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
    let mut all = Vec::new();
    let mut text = String::new();
    let mut errors = 0;
    for file in files {
        let source = read_file(file)?;
        let name = file.display().to_string();
        let mut report = check::examine(&name, &source);
        if report.errors() == 0 {
            let doc = read_world(file)?;
            let compiled = world::compile(&doc)?;
            if compiled.apis.iter().any(|api| api.contract.is_some()) {
                text.push_str(&world::fidelity(&compiled));
            }
            report = deepened(report, &texts_of(file)?, &doc)?;
        }
        errors += report.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        for finding in &report.findings {
            all.push(json!({
                "file": finding.file.as_deref().unwrap_or(&report.name), "line": finding.line, "column": finding.column, "path": finding.path,
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
    Ok(if none { CommandEnd::Met } else { CommandEnd::NotMet })
}
