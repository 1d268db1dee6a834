//! Owns the command `diorama task check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use diorama_engine::Base;
use diorama_proof::candidate::Candidate;
use diorama_proof::verdict::{Verdicts, check};
use diorama_proof::{Stop, Survey, Vocabulary, WorldContext};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::Source;
use diorama_simulator::http::check::{NoCandidate, Prover};
use serde_json::{Value as Json, json};

use crate::cli::error::CliError;
use crate::cli::files::read_file;
use crate::cli::inputs::{InputWorlds, Inputs};
use crate::cli::{CommandEnd, Streams};
use crate::worlds::error::PipelineError;

/// Check candidates: print the verdict of each gate with its reason.
///
/// A candidate is a conversation with its calls and what its author claims of it, as JSON (`diorama schema candidate`),
/// whoever wrote it. It names a world of the catalog, or of --world and --openapi, whose records are made with --seed as
/// `diorama serve` makes them. Exits with 3 when a gate fails.
#[derive(Debug, Args)]
pub struct Check {
    /// Candidate files, one candidate each.
    #[arg(value_name = "CANDIDATE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Where worlds come from; the catalog when left out.
    #[command(flatten)]
    pub inputs: Inputs,
    /// Seed of the generated records.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
}

/// World with its data for the gates.
struct World {
    name: String,
    base: Arc<Base>,
    vocabulary: Vocabulary,
    survey: Survey,
}

/// Checker of candidates, for the server.
pub struct Gates;

impl Prover for Gates {
    fn check(&self, base: &Arc<Base>, candidate: &[u8], gone: &AtomicBool) -> Result<Json, NoCandidate> {
        let wrong = |error: &dyn std::fmt::Display| NoCandidate(error.to_string());
        let candidate = Candidate::read(candidate).map_err(|error| wrong(&error))?;
        let (vocabulary, survey) = (Vocabulary::new(base), Survey::new(base.world()));
        let context =
            WorldContext { base, vocabulary: &vocabulary, survey: &survey, stop: Stop::on_flag(gone) };
        let verdicts = check(context, candidate);
        let verdicts = verdicts.map_err(|error| wrong(&error))?;
        serde_json::to_value(verdicts).map_err(|error| wrong(&error))
    }
}

impl World {
    fn new(made: diorama_seeds::model::World) -> Result<Self, CliError> {
        let base = Base::new(made).map_err(PipelineError::from)?;
        let vocabulary = Vocabulary::new(&base);
        let (name, survey) = (base.world().name.to_string(), Survey::new(base.world()));
        Ok(Self { name, base, vocabulary, survey })
    }

    fn check(&self, candidate: Candidate, file: &Path) -> Result<Verdicts, CliError> {
        let Self { base, vocabulary, survey, .. } = self;
        let context = WorldContext { base, vocabulary, survey, stop: Stop::NEVER };
        check(context, candidate).map_err(|error| make_file_error(file, &error))
    }
}

fn make_file_error(file: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::Candidate { file: file.to_owned(), what: error.to_string() }
}

impl Check {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let InputWorlds { mut docs, files, .. } = self.inputs.read_or_catalog(streams)?;
        let names: Vec<String> = docs.iter().map(|doc| doc.name.clone()).collect();
        let mut worlds: Vec<World> = Vec::new();
        let (mut all, mut text, mut passes) = (Vec::new(), String::new(), true);
        for file in &self.files {
            let candidate =
                Candidate::read(&read_file(file)?).map_err(|error| make_file_error(file, &error))?;
            let name = self.world_of(&candidate, &docs, &worlds, file)?;
            if let Some(at) = docs.iter().position(|doc| doc.name == name) {
                let made = Source::new(docs.swap_remove(at)).and_then(|source| source.materialise(self.seed));
                let made = made.map_err(|report| InputWorlds::located(&names, &files, report))?;
                worlds.push(World::new(made.world)?);
            }
            let Some(world) = worlds.iter().find(|world| world.name == name) else {
                return Err(make_file_error(file, &format!("the world `{name}` is not there")));
            };
            let verdicts = world.check(candidate, file)?;
            passes &= verdicts.passes;
            text.push_str(&format_verdicts(file, &verdicts));
            all.push(json!({"file": file.display().to_string(), "passes": verdicts.passes, "gates": verdicts.gates}));
        }
        streams.print(&json!({"passes": passes, "candidates": all}), || text)?;
        Ok(if passes { CommandEnd::Met } else { CommandEnd::NotMet })
    }

    /// Returns the world of a candidate: the one that it names, or the only one.
    fn world_of(
        &self,
        candidate: &Candidate,
        docs: &[WorldDoc],
        worlds: &[World],
        file: &Path,
    ) -> Result<String, CliError> {
        let known: Vec<&str> =
            docs.iter().map(|doc| &*doc.name).chain(worlds.iter().map(|world| &*world.name)).collect();
        match (&candidate.world, known.as_slice()) {
            (Some(name), _) if known.contains(&&**name) => Ok(name.clone()),
            (None, [only]) => Ok((*only).to_owned()),
            (found, _) => {
                let found = found.as_ref().map_or_else(|| "nothing".to_owned(), |name| format!("`{name}`"));
                Err(make_file_error(
                    file,
                    &format!("world: found {found}, expected one of {}", known.join(", ")),
                ))
            }
        }
    }
}

/// Formats the verdicts on a candidate, one line per gate.
fn format_verdicts(file: &Path, verdicts: &Verdicts) -> String {
    let mut text =
        format!("{}: {}\n", file.display(), if verdicts.passes { "passes" } else { "does not pass" });
    for gate in &verdicts.gates {
        let verdict = match gate.passes {
            Some(true) => "passes",
            Some(false) => "fails",
            None => "not judged",
        };
        text.push_str(&format!("  {:<13} {verdict}\n", gate.gate.name()));
        for finding in &gate.findings {
            text.push_str(&format!("      {}\n", finding.message));
        }
    }
    text
}
