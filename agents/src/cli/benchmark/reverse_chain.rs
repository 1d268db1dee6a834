//! `diorama benchmark reverse-chain`

use std::path::PathBuf;

use clap::Args;

use super::{ready, write_lines};
use crate::benchmarks::reverse_chain::{Candidates, Material, Summary, agreement, attempt};
use crate::cli::error::CliError;
use crate::cli::eval::model::ModelArgs;
use crate::cli::eval::name::AgentName;
use crate::cli::{Done, Streams};
use crate::evaluation::environment::Budget;

/// Reverse Chain's compositional tasks: plans held against labels, no call executed.
///
/// What an agent calls is answered by stand-ins, and a call that is given one of them is a call inside a call. A plan matches
/// its label when structure and APIs are the same and every value means the same.
#[derive(Debug, Args)]
pub struct ReverseChainCommand {
    /// A JSON list of {APIs, Query, Label, Index}, or a folder of such files.
    #[arg(long, value_name = "FILE|DIR", required_unless_present = "pairs")]
    pub data: Option<PathBuf>,
    /// The agents.
    #[arg(long, value_name = "NAME", value_enum, required_unless_present = "pairs")]
    pub agent: Vec<AgentName>,
    /// APIs to choose from: `gold` (those of the label, as in the paper), a number in all, or `all`.
    #[arg(long, value_name = "N", default_value = "gold", value_delimiter = ',')]
    pub candidates: Vec<Candidates>,
    /// Which other APIs stand beside those of the label.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The first so many instances only.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Write what came of each instance into this folder, one JSON object a line.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Measure the matcher instead: pairs that a person has judged, a JSON object {label, plan, right} a line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "agent"])]
    pub pairs: Option<PathBuf>,
    /// Exit with 3 when a share is below this one.
    #[arg(long, value_name = "SHARE")]
    pub min_share: Option<f64>,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

impl ReverseChainCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
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
            return Ok(if low(rate.share) { Done::NotMet } else { Done::Met });
        }
        // clap asks for it where there are no pairs.
        let Some(data) = &self.data else { return Err(CliError::Usage("--data: found none".into())) };
        let mut material = Material::read(data)?;
        material.instances.truncate(self.limit.unwrap_or(usize::MAX));
        let mut summaries = Vec::new();
        for name in &self.agent {
            for candidates in &self.candidates {
                summaries.push(self.measured(*name, *candidates, &material)?);
            }
        }
        if let Some(folder) = &self.out {
            for summary in &summaries {
                let name = format!("{}-{}", summary.agent, summary.candidates);
                write_lines(folder, &name, &summary.outcomes)?;
            }
        }
        streams.print(&summaries, || summaries.iter().map(Summary::table).collect())?;
        Ok(if summaries.iter().any(|summary| low(summary.accuracy.share)) { Done::NotMet } else { Done::Met })
    }

    fn measured(
        &self,
        name: AgentName,
        candidates: Candidates,
        material: &Material,
    ) -> Result<Summary, CliError> {
        let ready = ready(name, &self.model)?;
        let tasks: Vec<_> = material
            .instances
            .iter()
            .map(|instance| (instance.clone(), material.candidates(instance, candidates, self.seed)))
            .collect();
        let outcomes = ready.work(tasks, "instances", |agent, (instance, apis)| async move {
            attempt(agent.as_ref(), &instance, apis, Budget::WITH_MODEL).await
        })?;
        Ok(Summary::of(ready.name, ready.model, candidates, outcomes))
    }
}
