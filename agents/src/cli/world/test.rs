//! Owns the command `diorama world test`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::cli::error::CliError;
use crate::cli::inputs::{located, read_world};
use crate::cli::{CommandEnd, Streams};
use crate::scenarios::rehearse::{TryFailure, conversation, rehearse};
use crate::scenarios::{Joins, Shares};
use crate::worlds::make::make_world;
use crate::worlds::world::{BatchWorld, WorldTemplate};

/// Play a world's scenarios and print how many tries become rows, and why the others do not.
///
/// Each try is made in a world with other records. Exits with 3 when a scenario never becomes a row.
#[derive(Debug, Args)]
pub(super) struct Test {
    /// World file with scenarios (in it, or beside it in NAME.scenarios.yaml), or the name of a world in the catalog.
    #[arg(value_name = "FILE|NAME")]
    world: PathBuf,
    /// Name of the only scenario to use [default: all].
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// Tries per scenario.
    #[arg(long, default_value_t = 10)]
    tries: u64,
    /// Maximum conversations to print per scenario.
    #[arg(long, default_value_t = 0, value_name = "K")]
    show: usize,
    /// Play tasks in which the agent must search for the APIs.
    #[arg(long)]
    retrieve: bool,
    /// Play each scenario as the second request of a conversation, opened by its `later` wordings.
    #[arg(long)]
    later: bool,
    /// Seed of the generated records and of the choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Results of a scenario.
#[derive(Debug, Default, Serialize)]
struct ScenarioResult {
    scenario: String,
    tries: u64,
    passed: u64,
    /// Reasons for lost tries, with their number and one example.
    lost: BTreeMap<String, (u64, String)>,
    #[serde(skip)]
    shown: Vec<String>,
}

impl Test {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let doc = read_world(&self.world)?;
        let world_template = WorldTemplate::new(&doc, self.seed ^ 0x5eed, &Shares::new(), &Ability::ALL)
            .map_err(|report| located(&self.world, report))?;
        let wanted =
            |scenario: &Scenario| self.scenario.is_empty() || self.scenario.contains(&scenario.doc.name);
        let scenarios: Vec<_> = world_template
            .scenario_set
            .scenarios()
            .iter()
            .filter(|scenario| wanted(scenario))
            .cloned()
            .collect();
        if scenarios.is_empty() {
            let known: Vec<&str> =
                world_template.scenario_set.scenarios().iter().map(|scenario| &*scenario.doc.name).collect();
            return Err(CliError::Usage(format!(
                "found no scenario to play; the world has {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        }
        let mut all: Vec<ScenarioResult> = scenarios
            .iter()
            .map(|scenario| ScenarioResult {
                scenario: scenario.doc.name.clone(),
                ..ScenarioResult::default()
            })
            .collect();
        for number in 0..self.tries {
            let world = make_world(&world_template, self.seed.wrapping_add(number))?;
            for (position, scenario) in scenarios.iter().enumerate() {
                let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(number * 10_007 + position as u64);
                self.try_one(&world, scenario, seed, &mut all[position]);
            }
        }
        let never = all.iter().any(|fared| fared.passed == 0);
        streams.print(&all, || report(&all))?;
        Ok(if never { CommandEnd::NotMet } else { CommandEnd::Met })
    }

    fn try_one(&self, world: &BatchWorld, scenario: &Scenario, seed: u64, fared: &mut ScenarioResult) {
        let ability = if self.retrieve { Ability::PlanRetrieveCall } else { Ability::Call };
        fared.tries += 1;
        let (mut first, mut later) = (scenario, Vec::new());
        if self.later {
            let set = &world.world_template.scenario_set;
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let joins = if world.base.world().domains.len() > 1 { Joins::Domains } else { Joins::OneDomain };
            let Some(before) = set.other_matters(scenario, (ability, joins), &mut rng).first().copied()
            else {
                return fared.lose("scenario", "no other matter of the same user".to_owned());
            };
            later.push(vec![scenario]);
            first = before;
        }
        match rehearse(world, (first, &later), ability, seed) {
            Ok((candidate, grounded)) => {
                fared.passed += 1;
                if fared.shown.len() < self.show {
                    fared.shown.push(conversation(&candidate, Some((&grounded, world))));
                }
            }
            Err(TryFailure::Unplayed(reason)) => fared.lose(reason.name(), reason.to_string()),
            Err(TryFailure::Rejected { candidate, rejected }) => {
                let text = format!("{rejected}\n{}", conversation(&candidate, None));
                let class = text.split(':').next().unwrap_or_default().to_owned();
                fared.lose(&class, text);
            }
        }
    }
}

impl ScenarioResult {
    fn lose(&mut self, class: &str, example: String) {
        self.lost.entry(class.to_owned()).or_insert((0, example)).0 += 1;
    }
}

fn report(all: &[ScenarioResult]) -> String {
    let mut out = String::new();
    for fared in all {
        let _ = writeln!(out, "{}: {} of {}", fared.scenario, fared.passed, fared.tries);
        for (class, (count, example)) in &fared.lost {
            let _ = writeln!(out, "  {count} x {class}: {}", example.replace('\n', "\n      "));
        }
        for text in &fared.shown {
            let _ = writeln!(out, "\n{text}");
        }
    }
    let (tries, passed) =
        all.iter().fold((0, 0), |(tries, passed), one| (tries + one.tries, passed + one.passed));
    let _ = writeln!(out, "{passed} of {tries} tries became rows");
    out
}
