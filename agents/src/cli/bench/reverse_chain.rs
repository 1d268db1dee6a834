//! Owns the command `diorama bench reverse-chain`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_baselines::Execution;
use diorama_benchmarks::reverse_chain::{Candidates, Material, Plans, agreement};

use super::{AgentArgs, tables};
use crate::cli::error::CliError;
use crate::cli::{CommandEnd, Streams};

/// Measure the plans of agents on Reverse Chain's compositional tasks.
///
/// No call is executed. Agents that write a plan of nested calls are measured by it. What others call is answered by stand-ins, and
/// a call that is given one of them is a call inside a call. A plan matches its label when structure and APIs are the same and
/// every value means the same.
#[derive(Debug, Args)]
// This is the temperature of the paper's experiments.
#[command(mut_arg("temperature", |temperature| temperature.default_value("0.1")))]
pub struct ReverseChainCommand {
    /// JSON list of {APIs, Query, Label, Index}, or one of them on each line; or a folder of such files.
    #[arg(value_name = "FILE|DIR", required_unless_present = "pairs", requires = "agent")]
    pub data: Option<PathBuf>,
    /// Agents to run. Repeatable.
    #[command(flatten)]
    pub agents: AgentArgs,
    /// APIs to choose from: `gold` (those of the label, as in the paper), a number in all, or `all`.
    #[arg(long, value_name = "N", default_value = "gold", value_delimiter = ',')]
    pub candidates: Vec<Candidates>,
    /// Seed of the choice of the other APIs.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The way in which `reverse-chain` and the agents that write a plan of nested calls carry it out.
    #[arg(long, value_enum, default_value_t = Execution::Plan)]
    pub execution: Execution,
    /// Measure the matcher on pairs that a person has judged: one JSON object {label, plan, right} per line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "agent"])]
    pub pairs: Option<PathBuf>,
    /// Minimum share of correct plans, from 0 to 1. Exits with 3 below it.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    pub min_share: Option<f64>,
}

impl ReverseChainCommand {
    pub(super) fn run(mut self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let done = |is_low: bool| Ok(if is_low { CommandEnd::NotMet } else { CommandEnd::Met });
        let low = |share: f64| self.min_share.is_some_and(|least| share < least);
        if let Some(pairs) = &self.pairs {
            let found = agreement(pairs)?;
            let rate = found.agreement;
            streams.print(&found, || {
                let mut text = format!("the matcher and people agree on {rate}\n");
                for (label, plan, right) in &found.disagreements {
                    text.push_str(&format!("  people say {right}: {label} | {plan}\n"));
                }
                text
            })?;
            return done(low(rate.share));
        }
        // clap requires the argument unless there are pairs.
        let Some(data) = &self.data else { return Err(CliError::Usage("FILE|DIR: found none".into())) };
        self.agents.variant.execution = Some(self.execution);
        let material = Arc::new(Material::read(data)?);
        let count = self.agents.limit.unwrap_or(usize::MAX).min(material.instances.len());
        let cases = material.instances.get(..count).unwrap_or_default();
        let mut summaries = Vec::new();
        for candidates in &self.candidates {
            let plans = Plans { material: Arc::clone(&material), candidates: *candidates, seed: self.seed };
            let setting = ("candidates", candidates.to_string());
            summaries.extend(self.agents.run(&Arc::new(plans), cases, Some(setting))?);
        }
        streams.print(&summaries, || tables(&summaries))?;
        done(summaries.iter().any(|summary| low(summary.rate("label_match").share)))
    }
}
