//! Owns the command `diorama world paraphrase`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_llm::UsageReport;
use diorama_seeds::world;
use serde_json::json;

use super::generate::describe_steps;
use crate::authoring::asking::Stop;
use crate::authoring::funnel::Funnel;
use crate::authoring::paraphrase::paraphrase;
use crate::cli::error::CliError;
use crate::cli::eval::ModelArgs;
use crate::cli::inputs::read_world;
use crate::cli::{CommandEnd, Streams, terminal};

/// Write more wordings for a world's scenarios with a chat model.
///
/// Each wording is played alone, in five worlds; it is kept where four of them become rows. Save the file as NAME.words.yaml beside
/// NAME.yaml: whatever reads the world adds its wordings to those of the scenarios. Exits with 3 when no wording is kept.
#[derive(Debug, Args)]
pub(super) struct Paraphrase {
    /// World file with scenarios (in it, or beside it in NAME.scenarios.yaml), or the name of a world in the catalog.
    #[arg(value_name = "FILE|NAME")]
    world: PathBuf,
    /// File to write the wordings to. It must not exist.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Wordings to ask for per line.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=12))]
    count: u8,
    /// Name of the only scenario to use [default: all].
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// How the model is asked.
    #[command(flatten)]
    model: ModelArgs,
}

impl Paraphrase {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        if self.out.exists() {
            let path = self.out.display();
            return Err(CliError::Usage(format!("--out: found {path}, expected the name of a new file")));
        }
        let mut doc = read_world(&self.world)?;
        let names: Vec<String> = doc.scenarios.iter().map(|scenario| scenario.name.clone()).collect();
        doc.scenarios.retain(|one| self.scenario.is_empty() || self.scenario.contains(&one.name));
        if doc.scenarios.is_empty() {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CliError::Usage(format!("found no scenario to word anew; the world has {known}")));
        }
        let connected = self.model.connect()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (model, sampling) = (connected.model.clone(), connected.sampling.clone());
        let (words, made) =
            runtime.block_on(paraphrase(model, sampling, Arc::new(doc), usize::from(self.count)));
        if !words.words.is_empty() {
            let text = world::beside_to_yaml(&self.out.display().to_string(), &words)?;
            std::fs::write(&self.out, format!("# Wordings by {}.\n{text}", connected.name))?;
        }
        let usage_report = connected.budget.report();
        let dropped: Vec<_> = made
            .steps
            .iter()
            .filter(|step| step.step == "wordings_dropped")
            .map(|step| &step.output)
            .collect();
        let data =
            json!({ "words": words, "funnel": made.funnel, "dropped": dropped, "usage": usage_report });
        streams.print(&data, || self.text(&made.funnel, &usage_report))?;
        match made.stopped {
            Some(Stop::Spent(why)) => {
                terminal::note(streams, &format!("{why}; the wordings so far are kept"))
            }
            Some(stop) => return Err(CliError::Empty(stop.to_string())),
            None => {}
        }
        Ok(if words.words.is_empty() { CommandEnd::NotMet } else { CommandEnd::Met })
    }

    fn text(&self, funnel: &Funnel, usage_report: &UsageReport) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{:>8}  wordings written", funnel.wordings_written);
        for (why, count) in &funnel.wordings_dropped {
            let _ = writeln!(out, "{count:>8}  dropped: {why}");
        }
        let _ = writeln!(out, "{:>8}  wordings kept", funnel.wordings_kept);
        out.push_str(&describe_steps(funnel, usage_report));
        let _ = writeln!(out, "{}", self.out.display());
        out
    }
}
