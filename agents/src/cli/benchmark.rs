//! `diorama benchmark`

mod api_bank;
mod reverse_chain;

use std::sync::Arc;

use clap::{Args, Subcommand};

use super::error::CliError;
use super::eval::model::{Connected, ModelArgs};
use super::eval::name::{AgentName, Contender, Part};
use super::{Done, Streams};
use crate::evaluation::environment::Budget;

/// Run agents on benchmarks that others made, read from a folder.
///
/// Nothing of a benchmark is part of this program: its folder is given, and read as its authors published it. Figures of
/// embedded agents, which ask no model, say nothing of any model and do not stand beside published ones.
#[derive(Debug, Args)]
pub struct Benchmark {
    /// Which one.
    #[command(subcommand)]
    pub which: Which,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub enum Which {
    /// API-Bank's recorded dialogues, replayed and measured call by call.
    ApiBank(api_bank::ApiBankCommand),
    /// Reverse Chain's compositional tasks: plans held against labels, no call executed.
    ReverseChain(reverse_chain::ReverseChainCommand),
}

impl Benchmark {
    /// Runs the command.
    ///
    /// # Errors
    /// When the material cannot be read, or the model cannot be asked.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        match self.which {
            Which::ApiBank(command) => command.run(streams),
            Which::ReverseChain(command) => command.run(streams),
        }
    }
}

/// An agent that is ready to work.
pub(super) struct Ready {
    pub(super) contender: Arc<Contender>,
    pub(super) connected: Option<Connected>,
    pub(super) name: String,
}

impl Ready {
    /// The name of the model that it asks.
    pub(super) fn model(&self) -> Option<String> {
        self.connected.as_ref().map(|connected| connected.name.clone())
    }
}

/// The agent of a name; none of those that are built from a task of ours.
pub(super) fn ready(name: AgentName, model: &ModelArgs) -> Result<Ready, CliError> {
    let connected = name.asks_model().then(|| model.connect()).transpose()?;
    let contender = match (&connected, name.embedded()) {
        (Some(connected), _) => {
            Contender::Model(name, Part::Nothing, connected.model.clone(), connected.sampling.clone())
        }
        (None, Some(embedded @ Contender::Embedded(_))) => embedded,
        _ => {
            return Err(CliError::Usage(format!(
                "--agent: found {}, which is built from the tasks of `eval`; expected `heuristic` or an agent that asks a model",
                name.text()
            )));
        }
    };
    Ok(Ready { contender: Arc::new(contender), connected, name: name.text() })
}

/// What an agent may use up on one task of a benchmark.
pub(super) const BUDGET: Budget = Budget { steps: 60, calls: 40, tokens: 200_000, ..Budget::USUAL };
