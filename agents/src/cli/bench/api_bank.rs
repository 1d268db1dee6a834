//! Owns the command `diorama bench api-bank`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_benchmarks::api_bank::{ApiBank, BankWorld, Task, ceiling, dialogues, replay, scenarios};
use diorama_benchmarks::summary::Summary;
use diorama_seeds::world::canonical_json;
use serde::Serialize;

use super::{AgentArgs, tables};
use crate::cli::error::CliError;
use crate::cli::{CommandEnd, Streams, terminal};

/// Replay API-Bank's recorded dialogues, and measure agents call by call.
///
/// The gold calls are made in a world with the benchmark's databases, and held against what was recorded of them. Agents are
/// measured on each gold call and response of the recorded dialogues (teacher-forced, as in the paper), and in a live session
/// with the user's recorded turns (free-running) or with what the user of a level-3 scenario knows. Calls and responses are
/// measured by our rules and by those of the evaluator that was released with the benchmark.
#[derive(Debug, Args)]
pub struct ApiBankCommand {
    /// Folder of the benchmark, with `databases/`, `dialogues/level-1` and `level-2`, and `level-3/`.
    #[arg(value_name = "DIR")]
    pub data: PathBuf,
    /// Agents; without one, the gold calls are replayed alone.
    #[command(flatten)]
    pub agents: AgentArgs,
    /// Write the world with its records to this file, then exit.
    #[arg(long, value_name = "FILE")]
    pub write_world: Option<PathBuf>,
    /// Minimum share of gold calls that give the recorded reply, from 0 to 1. Exits with 3 below it.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    pub min_share: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    gold: Summary,
    ceiling: Summary,
    agents: Vec<Summary>,
}

impl ApiBankCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let mut dialogues = dialogues(&self.data)?;
        let mut scenarios = scenarios(&self.data)?;
        let world = BankWorld::read(&self.data, &dialogues, &scenarios)?;
        if let Some(file) = &self.write_world {
            std::fs::write(file, canonical_json(&world.doc, world.base.world()))?;
            terminal::note(streams, &format!("the world is in {}", file.display()));
            return Ok(CommandEnd::Met);
        }
        let limit = self.agents.limit.unwrap_or(usize::MAX);
        dialogues.truncate(limit);
        scenarios.truncate(limit);
        let gold = replay(&world, &dialogues);
        let ceiling = ceiling(&world, &dialogues, &scenarios);
        let dialogues: Vec<_> = dialogues.into_iter().map(Arc::new).collect();
        let scenarios = scenarios.into_iter().map(|scenario| Task::Scenario(Arc::new(scenario)));
        let tasks: Vec<Task> = dialogues.iter().flat_map(Task::all).chain(scenarios).collect();
        let agents = self.agents.run(&Arc::new(ApiBank { world }), &tasks, None)?;
        let report = Report { gold, ceiling, agents };
        streams
            .print(&report, || tables([&report.gold, &report.ceiling].into_iter().chain(&report.agents)))?;
        let share = report.gold.rate("anew").share.min(report.gold.rate("in_order").share);
        Ok(if self.min_share.is_some_and(|least| share < least) {
            CommandEnd::NotMet
        } else {
            CommandEnd::Met
        })
    }
}
