//! `diorama benchmark api-bank`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_llm::Place;
use diorama_seeds::world::canonical_json;
use serde::Serialize;

use super::{BUDGET, ready};
use crate::benchmarks::api_bank::{
    BankWorld, Dialogue, Episode, Mode, Replays, Results, dialogues, modes, replay, run,
};
use crate::benchmarks::run::at_once;
use crate::cli::error::CliError;
use crate::cli::eval::model::ModelArgs;
use crate::cli::eval::name::AgentName;
use crate::cli::{Done, Streams, terminal};

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
        let bar = terminal::bar(tasks.len() as u64, "tasks");
        let (contender, world, moved) = (Arc::clone(&ready.contender), world.clone(), bar.clone());
        let episodes: Vec<Option<Episode>> =
            at_once(tasks, self.model.concurrency, move |number, (dialogue, mode)| {
                let (contender, world, bar) = (Arc::clone(&contender), world.clone(), moved.clone());
                async move {
                    let place = Place { stage: String::new(), slot: number as u64, attempt: 0 };
                    let agent = contender.without_task(place)?;
                    let episode = run(agent.as_ref(), &world, &dialogue, mode, BUDGET).await;
                    bar.inc(1);
                    Some(episode)
                }
            })?
            .ok_or(CliError::Worker)?;
        bar.finish_and_clear();
        let episodes: Vec<Episode> = episodes.into_iter().flatten().collect();
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)?;
            let lines: Result<Vec<String>, _> = episodes.iter().map(serde_json::to_string).collect();
            let lines = lines.map_err(|error| CliError::Output(error.into()))?.join("\n");
            std::fs::write(folder.join(format!("{}.jsonl", ready.name)), lines + "\n")?;
        }
        Ok(Results::of(ready.name.clone(), ready.model(), &episodes))
    }
}
