//! Owns the command `diorama bench`.

mod api_bank;
mod restbench;
mod reverse_chain;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use diorama_benchmarks::summary::Summary;
use diorama_benchmarks::task::{Benchmark, attempt};
use diorama_llm::RequestOrigin;

use super::error::CliError;
use super::eval::model::ModelArgs;
use super::eval::name::{AgentName, ModelAgent, VariantArgs};
use super::{CommandEnd, Streams, terminal};
use crate::evaluation::at_once::at_once;
use crate::evaluation::environment::Budget;

/// Measure agents and searches on benchmarks that others made.
///
/// This program holds no part of a benchmark: its files are given, and read as their authors published them.
#[derive(Debug, Args)]
pub struct Bench {
    /// Benchmark.
    #[command(subcommand)]
    pub which: Which,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub enum Which {
    /// Execute the gold paths of RestBench's queries, or measure agents on the queries.
    #[command(name = "restbench")]
    RestBench(Box<restbench::RestBenchCommand>),
    /// Replay API-Bank's recorded dialogues, and measure agents call by call.
    ApiBank(Box<api_bank::ApiBankCommand>),
    /// Measure the plans of agents on Reverse Chain's compositional tasks.
    ReverseChain(Box<reverse_chain::ReverseChainCommand>),
    /// Measure how well APIs are found.
    Search(Box<search::SearchCommand>),
}

impl Bench {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        match self.which {
            Which::RestBench(command) => command.run(streams),
            Which::ApiBank(command) => command.run(streams),
            Which::ReverseChain(command) => command.run(streams),
            Which::Search(command) => command.run(streams),
        }
    }
}

/// Agents on a benchmark.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Agents to run. Repeatable.
    #[arg(long, value_name = "NAME", value_enum)]
    pub agent: Vec<ModelAgent>,
    /// Maximum cases, from the first on [default: all].
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Maximum seconds per case [default: 600].
    #[arg(long, value_name = "S", requires = "agent")]
    pub max_seconds: Option<u64>,
    /// Folder for the outcome of each case, one JSON object per line.
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub out: Option<PathBuf>,
    /// Variant of the agents.
    #[command(flatten)]
    pub variant: VariantArgs,
    /// Model of agents that ask one.
    #[command(flatten)]
    pub model: ModelArgs,
}

impl AgentArgs {
    /// Runs each agent on the cases of a benchmark, several at a time, with a progress bar.
    fn run<B>(
        &self,
        benchmark: &Arc<B>,
        cases: &[B::Case],
        setting: Option<(&'static str, String)>,
    ) -> Result<Vec<Summary>, CliError>
    where
        B: Benchmark + 'static,
        B::Case: Clone + 'static,
    {
        let run = |name: &ModelAgent| {
            let mut summary = self.run_one(*name, benchmark, cases)?;
            summary.setting.extend(setting.clone());
            if let Some(folder) = &self.out {
                let parts = std::iter::once(&summary.agent).chain(summary.setting.values());
                let file = parts.map(String::as_str).collect::<Vec<_>>().join("-");
                std::fs::create_dir_all(folder)?;
                let lines: Result<Vec<String>, _> =
                    summary.outcomes.iter().map(serde_json::to_string).collect();
                let lines = lines.map_err(|error| CliError::Output(error.into()))?.join("\n");
                std::fs::write(folder.join(file + ".jsonl"), lines + "\n")?;
            }
            Ok(summary)
        };
        self.variant.check(self.agent.iter().copied().map(AgentName::Model))?;
        self.agent.iter().map(run).collect()
    }

    fn run_one<B>(&self, name: ModelAgent, benchmark: &Arc<B>, cases: &[B::Case]) -> Result<Summary, CliError>
    where
        B: Benchmark + 'static,
        B::Case: Clone + 'static,
    {
        let connected = self.model.connect()?;
        let agent = name.contender(&connected, self.variant);
        let budget = Budget::WITH_MODEL.with_seconds(self.max_seconds);
        let bar = terminal::bar(cases.len() as u64, "cases");
        let (agent, benchmark, moved) = (Arc::new(agent), Arc::clone(benchmark), bar.clone());
        let outcomes = at_once(cases.to_vec(), self.model.concurrency, move |number, case| {
            let origin = RequestOrigin { step: String::new(), row: number as u64, attempt: 0 };
            let (agent, benchmark, bar) = (agent.agent(origin), Arc::clone(&benchmark), moved.clone());
            async move {
                let outcome = attempt(&*benchmark, &case, agent.as_ref(), budget).await;
                bar.inc(1);
                Ok(outcome)
            }
        })?;
        bar.finish_and_clear();
        let part = self.variant.without().map(|part| format!(" without {part}")).unwrap_or_default();
        let agent = AgentName::Model(name).text() + &part;
        Ok(Summary::of(&agent, Some(&connected.name), B::MEASURES, outcomes))
    }
}

/// Returns the tables of summaries.
fn tables<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> String {
    summaries.into_iter().map(Summary::table).collect()
}
