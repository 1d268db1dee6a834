//! `diorama benchmark api-bank`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_seeds::world::canonical_json;
use serde::Serialize;

use super::{ready, write_lines};
use crate::benchmarks::api_bank::{
    BankWorld, Dialogue, Mode, Replays, Results, dialogues, modes, replay, run,
};
use crate::cli::error::CliError;
use crate::cli::eval::model::ModelArgs;
use crate::cli::eval::name::AgentName;
use crate::cli::{Done, Streams, terminal};
use crate::evaluation::environment::Budget;

/// API-Bank's recorded dialogues, replayed and measured call by call.
///
/// The gold calls are made in a world with the benchmark's databases, and held against what was recorded of them. Agents are
/// measured on each gold call and response of the recorded dialogue (teacher-forced, as in the paper), and in a live session with
/// the user's recorded turns (free-running).
#[derive(Debug, Args)]
pub struct ApiBankCommand {
    /// The benchmark's folder, with `databases/` and `dialogues/level-1` and `level-2`.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The agents; without one, the gold calls are replayed alone.
    #[arg(long, value_name = "NAME", value_enum)]
    pub agent: Vec<AgentName>,
    /// The first so many dialogues only.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Write what came of each task into this folder, one JSON object a line.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the world with its records to this file, and do nothing else.
    #[arg(long, value_name = "FILE")]
    pub write_world: Option<PathBuf>,
    /// Exit with 3 when a smaller share of the gold calls gives what was recorded.
    #[arg(long, value_name = "SHARE")]
    pub min_share: Option<f64>,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// What the command prints.
#[derive(Debug, Serialize)]
struct Report {
    gold: Replays,
    agents: Vec<Results>,
}

impl ApiBankCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let mut dialogues = dialogues(&self.data)?;
        let world = BankWorld::read(&self.data, &dialogues)?;
        if let Some(file) = &self.write_world {
            std::fs::write(file, canonical_json(&world.doc, world.base.world()))?;
            terminal::note(streams, &format!("the world is in {}", file.display()));
            return Ok(Done::Met);
        }
        dialogues.truncate(self.limit.unwrap_or(usize::MAX));
        let gold = replay(&world, &dialogues);
        let dialogues: Vec<Arc<Dialogue>> = dialogues.into_iter().map(Arc::new).collect();
        let mut agents = Vec::new();
        for name in &self.agent {
            agents.push(self.measured(*name, &world, &dialogues)?);
        }
        let share = gold.anew.share.min(gold.in_order.share);
        let report = Report { gold, agents };
        streams.print(&report, || {
            report.agents.iter().fold(report.gold.table(), |text, agent| text + &agent.table())
        })?;
        Ok(if self.min_share.is_some_and(|least| share < least) { Done::NotMet } else { Done::Met })
    }

    fn measured(
        &self,
        name: AgentName,
        world: &BankWorld,
        dialogues: &[Arc<Dialogue>],
    ) -> Result<Results, CliError> {
        let ready = ready(name, &self.model)?;
        let tasks: Vec<(Arc<Dialogue>, Mode)> = dialogues
            .iter()
            .flat_map(|dialogue| modes(dialogue).map(move |mode| (Arc::clone(dialogue), mode)))
            .collect();
        let world = world.clone();
        let episodes = ready.work(tasks, "tasks", move |agent, (dialogue, mode)| {
            let world = world.clone();
            async move { run(agent.as_ref(), &world, &dialogue, mode, Budget::WITH_MODEL).await }
        })?;
        if let Some(folder) = &self.out {
            write_lines(folder, &ready.name, &episodes)?;
        }
        Ok(Results::of(ready.name, ready.model, &episodes))
    }
}
