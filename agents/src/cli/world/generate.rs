//! Owns the command `diorama world generate`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use diorama_llm::UsageReport;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::authoring::asking::Stop;
use crate::authoring::domain::Domain;
use crate::authoring::funnel::Funnel;
use crate::authoring::{AuthoringRun, Settings, author};
use crate::catalog;
use crate::cli::error::CliError;
use crate::cli::eval::ModelArgs;
use crate::cli::inputs::BESIDE;
use crate::cli::{CommandEnd, Streams, terminal};

/// Write worlds with a chat model: domains, resources, records, APIs and rules.
///
/// Writes one world file for each, which `generate --world DIR` takes like any other, and what came of every step under
/// DIR/steps. From --max-reply-tokens 8000 on a world is written in one reply, below that in several. Everything is checked and called
/// before it is written. Exits with 3 when fewer worlds come out than asked for.
#[derive(Debug, Args)]
pub(super) struct GenerateWorlds {
    /// Folder for the worlds. It must be new or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Number of worlds to write.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Field that the worlds are about, in a few words, such as "harbour pilots" [default: the model chooses].
    #[arg(long, value_name = "TEXT")]
    topic: Option<String>,
    /// Scenarios to ask for of each world: plots of up to three requests, six at a time, and then the words of each. Plots of which fewer
    /// than 8 of 10 tries become rows go back up to three times, and are dropped then.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=60))]
    scenarios: u8,
    /// Seed of the choices that the model does not make.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Licence of the worlds, as an SPDX expression.
    #[arg(long, value_name = "SPDX", default_value = "LicenseRef-Model-Output")]
    license: String,
    /// How the model is asked.
    #[command(flatten)]
    model: ModelArgs,
}

/// Minimum length of replies, in tokens, for a world in one reply.
const WHOLE: u32 = 8_000;
/// Minimum length of replies, in tokens. A part of a world never fits into fewer.
const LEAST: u32 = 400;

impl GenerateWorlds {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        self.fits()?;
        let connected = self.model.connect()?;
        let settings = Settings {
            count: self.count,
            topic: self.topic.clone(),
            in_parts: self.model.connection.max_reply_tokens < WHOLE,
            scenarios: usize::from(self.scenarios),
            seed: self.seed,
            license: self.license.clone(),
            sampling: connected.sampling.clone(),
            existing: existing()?,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let authored = runtime.block_on(author(connected.model.clone(), settings));
        self.write(&authored)?;
        if let Some(Stop::Spent(why)) = &authored.stopped {
            terminal::note(streams, &format!("{why}; the worlds written so far are kept"));
        }
        let usage_report = connected.budget.report();
        let data = self.data(&connected.name, &authored, &usage_report);
        // This file does not depend on the source of the replies, which is a model or a recording.
        save(&self.out.join("steps/funnel.json"), &[&authored.funnel])?;
        streams.print(&data, || self.text(&authored, &usage_report))?;
        match authored.stopped {
            Some(Stop::Spent(_)) | None if (authored.worlds.len() as u64) < self.count => {
                Ok(CommandEnd::NotMet)
            }
            Some(Stop::Spent(_)) | None => Ok(CommandEnd::Met),
            Some(stop) => Err(CliError::Empty(stop.to_string())),
        }
    }

    fn fits(&self) -> Result<(), CliError> {
        let usage = |what: String| Err(CliError::Usage(what));
        if self.model.connection.max_reply_tokens < LEAST {
            return usage(format!(
                "--max-reply-tokens: found {}, expected at least {LEAST}; from {WHOLE} on a world is written in one reply",
                self.model.connection.max_reply_tokens
            ));
        }
        let topic = self.topic.as_deref().map(Domain::of_topic);
        if topic.is_some_and(|domain| {
            domain.name.is_empty()
                || domain.name == "value"
                || !domain.name.starts_with(|first: char| first.is_ascii_lowercase())
        }) {
            return usage(format!(
                "--topic: found `{}`, expected a few words that begin with a letter from a to z",
                self.topic.as_deref().unwrap_or_default()
            ));
        }
        let taken = std::fs::read_dir(&self.out).is_ok_and(|mut entries| entries.next().is_some());
        if taken {
            return usage(format!(
                "--out: {} is not empty, expected a new or empty folder",
                self.out.display()
            ));
        }
        Ok(())
    }

    /// Writes the worlds, and the records of the steps.
    fn write(&self, authored: &AuthoringRun) -> Result<(), CliError> {
        std::fs::create_dir_all(self.out.join("steps"))?;
        for world in &authored.worlds {
            std::fs::write(self.out.join(format!("{}.yaml", world.name)), &world.text)?;
            if let Some((plots, words)) = &world.beside {
                for (suffix, text) in BESIDE.into_iter().zip([plots, words]) {
                    std::fs::write(self.out.join(format!("{}{suffix}", world.name)), text)?;
                }
            }
        }
        let mut steps: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for step in &authored.steps {
            steps.entry(step.step).or_default().push(step);
        }
        for (name, lines) in steps {
            save(&self.out.join(format!("steps/{name}.jsonl")), &lines)?;
        }
        Ok(())
    }

    fn data(&self, model: &str, authored: &AuthoringRun, usage_report: &UsageReport) -> Json {
        let usage = usage_report.total.usage.plus(usage_report.total.replayed_usage);
        let tokens = usage.total();
        json!({
            "model": model,
            "out": self.out.display().to_string(),
            "worlds": authored.worlds,
            "funnel": authored.funnel,
            "tokens": tokens,
            "tokens_per_world": tokens.checked_div(authored.worlds.len() as u64),
            "tokens_per_scenario": tokens.checked_div(authored.worlds.iter().map(|world| world.scenarios as u64).sum()),
            "cost": usage_report.cost,
        })
    }

    fn text(&self, authored: &AuthoringRun, usage_report: &UsageReport) -> String {
        let mut out = String::new();
        let funnel = &authored.funnel;
        let mut line = |count: u64, what: &str| {
            let _ = writeln!(out, "{count:>8}  {what}");
        };
        if self.topic.is_none() {
            line(funnel.domains_proposed, "domains proposed");
            line(funnel.domains_too_near, "of them too near to one that exists");
        }
        line(funnel.worlds_begun, "worlds begun");
        funnel.worlds_dropped.iter().for_each(|(why, count)| line(*count, &format!("dropped: {why}")));
        line(funnel.findings, "findings of `world check`");
        line(funnel.findings_mended, "of them mended by the model");
        line(funnel.apis_written, "APIs");
        funnel.apis_dropped.iter().for_each(|(why, count)| line(*count, &format!("taken out: {why}")));
        let [succeeded, refused, invalid] = funnel.smoke;
        line(succeeded, "calls of the smoke pass succeeded");
        line(refused, "were refused by a rule");
        line(invalid, "had something wrong in them and were refused");
        line(funnel.worlds_written, "worlds written");
        if self.scenarios > 0 {
            line(funnel.scenarios_written, "scenarios proposed");
            line(funnel.scenarios_mended, "of them mended by the model");
            funnel.scenarios_dropped.iter().for_each(|(why, count)| line(*count, &format!("dropped: {why}")));
        }
        out.push_str(&describe_steps(funnel, usage_report));
        for world in &authored.worlds {
            let _ = writeln!(
                out,
                "{} ({} resources, {} APIs, {} scenarios)",
                self.out.join(format!("{}.yaml", world.name)).display(),
                world.resources,
                world.apis,
                world.scenarios
            );
        }
        out
    }
}

/// Describes the requests and the cost of each step, for the terminal.
pub(super) fn describe_steps(funnel: &Funnel, usage_report: &UsageReport) -> String {
    let mut out = String::new();
    for (step, count) in &funnel.steps {
        let lost: u64 = count.lost.values().sum();
        let _ = writeln!(
            out,
            "{:>16}: asked {}, sent back {}, of them repaired {}, used in part {}, lost {lost} {:?}",
            step, count.asked, count.sent_back, count.repaired, count.in_part, count.lost
        );
    }
    let tokens = usage_report.total.usage.plus(usage_report.total.replayed_usage).total();
    let _ = writeln!(out, "{tokens} tokens, cost {:.4}", usage_report.cost);
    out
}

/// Writes values as lines of JSON.
fn save<T: Serialize>(path: &Path, lines: &[T]) -> Result<(), CliError> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(|error| CliError::Output(error.into()))?);
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}

/// Returns the domains of the catalog, from which new domains must differ.
fn existing() -> Result<Vec<Domain>, CliError> {
    let heads = catalog::worlds()?.into_iter().filter_map(|doc| doc.domain);
    let domains = heads.map(|head| Domain {
        title: head.title.unwrap_or_else(|| head.name.replace('_', " ")),
        description: head.description.unwrap_or_default(),
        sector: head.sector.unwrap_or_default(),
        name: head.name,
    });
    Ok(domains.collect())
}
