//! `diorama benchmark`

mod api_bank;
mod reverse_chain;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use diorama_baselines::Agent;
use diorama_llm::RequestOrigin;
use serde::Serialize;

use super::at_once::at_once;
use super::error::CliError;
use super::eval::model::ModelArgs;
use super::eval::name::{AgentName, Contender, Part};
use super::{Done, Streams, terminal};

/// Run agents on benchmarks that others made, read from a folder.
///
/// This program holds no part of a benchmark: its folder is given, and read as its authors published it. Figures of
/// scripted agents, which ask no model, say nothing of any model and do not stand beside published ones.
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
    pub(super) agent: Arc<Contender>,
    /// The name of the model that it asks.
    pub(super) model: Option<String>,
    pub(super) name: String,
    concurrency: NonZeroUsize,
}

impl Ready {
    /// Has it work on tasks, several at a time, beside a bar.
    pub(super) fn work<T, R, F, W>(&self, tasks: Vec<T>, unit: &str, work: W) -> Result<Vec<R>, CliError>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
        W: Fn(Box<dyn Agent>, T) -> F + Send + Sync + 'static,
    {
        let bar = terminal::bar(tasks.len() as u64, unit);
        let (agent, moved) = (Arc::clone(&self.agent), bar.clone());
        let done = at_once(tasks, self.concurrency, move |number, task| {
            let origin = RequestOrigin { step: String::new(), row: number as u64, attempt: 0 };
            let (working, bar) = (work(agent.agent(None, origin), task), moved.clone());
            async move {
                let result = working.await;
                bar.inc(1);
                Ok(result)
            }
        })?;
        bar.finish_and_clear();
        Ok(done)
    }
}

/// The agent of a name; none of those that are built from a task of ours.
pub(super) fn ready(name: AgentName, model: &ModelArgs) -> Result<Ready, CliError> {
    let connected = name.asks_model().then(|| model.connect()).transpose()?;
    let agent = name.contender(connected.as_ref(), Part::Nothing);
    let agent = agent.filter(|agent| !matches!(agent, Contender::Scripted(policy) if policy.needs_task()));
    let Some(agent) = agent else {
        return Err(CliError::Usage(format!(
            "--agent: found {}, which is built from the tasks of `eval`; expected an agent that asks a model, or `random`",
            name.text()
        )));
    };
    let concurrency = model.concurrency;
    let model = connected.map(|connected| connected.name);
    Ok(Ready { agent: Arc::new(agent), model, name: name.text(), concurrency })
}

/// Writes what came of tasks into a folder, one JSON object a line.
pub(super) fn write_lines(folder: &Path, name: &str, tasks: &[impl Serialize]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)?;
    let lines: Result<Vec<String>, _> = tasks.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| CliError::Output(error.into()))?.join("\n");
    Ok(std::fs::write(folder.join(format!("{name}.jsonl")), lines + "\n")?)
}
