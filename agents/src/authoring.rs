//! Owns the worlds that a model writes: the domain agent proposes domains, and the API agent writes them
//! in the world format.
//!
//! The result is world files that `generate --world` takes like any other. The model writes a document
//! whole or in parts ([`whole`]). The query agent then writes its plots ([`scenarios`]), and their words with
//! sample rows in the prompt ([`words`]). The code trusts no reply: [`mend`] bounds and checks a document,
//! removes parts with findings, and calls every API. Plots and wordings are played and proven. This module
//! must not read the environment, the clock of the machine or the terminal.

pub mod asking;
mod complaints;
pub mod domain;
pub mod examples;
mod form;
pub mod funnel;
mod guide;
pub mod mend;
pub mod paraphrase;
pub mod plain;
pub mod scenarios;
pub mod whole;
pub mod wordings;
pub mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_llm::{ChatModel, Sampling};
use diorama_seeds::doc::{ScenarioDoc, ScenariosDoc, WordsDoc, WorldDoc};
use diorama_seeds::world::{self, Report};
use serde::Serialize;
use serde_json::json;
use tokio::task::JoinSet;

use self::asking::{Asker, Notes, StepRecord, Stop, run_blocking};
use self::domain::{Domain, DomainIndex, ProposeDomain};
use self::examples::Examples;
use self::funnel::Funnel;
use self::mend::CheckedDocument;
use self::whole::{Part, Repair, WriteWorld};
use self::wordings::Words;

/// Domains of a wave. The model proposes them concurrently, so that a prompt depends on completed waves
/// alone.
const WAVE: u64 = 16;

/// Replies with APIs for a document that is written in parts.
const API_PARTS: u32 = 3;

/// Settings of a run that writes worlds. The worlds depend on each of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of worlds to write.
    pub count: u64,
    /// Domain that the user names, in a few words. The domain agent is then not asked.
    pub topic: Option<String>,
    /// True if the model writes a document in several replies.
    pub in_parts: bool,
    /// Seed for the choice of categories.
    pub seed: u64,
    /// Number of scenarios to ask for, per world.
    pub scenarios: usize,
    /// Licence of the model's texts, as an SPDX expression.
    pub license: String,
    /// Sampling of tokens.
    pub sampling: Sampling,
    /// Domains that exist already.
    pub existing: Vec<Domain>,
}

/// World that is ready to be written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorldFile {
    /// Name of the world and of its file.
    pub name: String,
    /// Text of the document.
    #[serde(skip)]
    pub text: String,
    /// Number of APIs.
    pub apis: usize,
    /// Number of resources.
    pub resources: usize,
    /// Number of scenarios.
    pub scenarios: usize,
    /// Texts of the files of plots and of their words, if the world has scenarios.
    #[serde(skip)]
    pub beside: Option<(String, String)>,
}

/// Result of a run that writes worlds.
#[derive(Debug, Default)]
pub struct AuthoringRun {
    /// Worlds, in the order of their slots.
    pub worlds: Vec<WorldFile>,
    /// Records of all steps, in the order of slots and steps.
    pub steps: Vec<StepRecord>,
    /// Counts of proposals, losses and results.
    pub funnel: Funnel,
    /// Reason for which the run ended before it wrote all worlds.
    pub stopped: Option<Stop>,
}

/// Writes worlds until there are `count`, or until no further one can be expected.
pub async fn author(model: Arc<dyn ChatModel>, settings: Settings) -> AuthoringRun {
    let (notes, mut worlds) = (Notes::default(), Vec::new());
    let ended = match Examples::new() {
        Ok(examples) => {
            let author = Author { model, settings, examples, notes: notes.clone() };
            Arc::new(author).run(&mut worlds).await
        }
        Err(error) => Err(error.into()),
    };
    let (steps, funnel) = notes.take();
    AuthoringRun { worlds, steps, funnel, stopped: ended.err() }
}

struct Author {
    model: Arc<dyn ChatModel>,
    settings: Settings,
    examples: Examples,
    notes: Notes,
}

impl Author {
    async fn run(self: &Arc<Self>, worlds: &mut Vec<WorldFile>) -> Result<(), Stop> {
        let count = self.settings.count;
        let mut known = Arc::new(DomainIndex::new(&self.settings.existing)?);
        let mut slot = 0;
        let most = count.saturating_mul(3).saturating_add(8);
        while (worlds.len() as u64) < count && slot < most {
            let left = count - worlds.len() as u64;
            let wave = slot..slot + left.min(WAVE).min(most - slot);
            slot = wave.end;
            let domains = match &self.settings.topic {
                Some(topic) => self.make_topic_domains(topic, wave),
                None => {
                    let proposed = self.propose(wave, &known).await?;
                    admit_proposals(proposed, Arc::make_mut(&mut known), &self.notes)?
                }
            };
            self.write_all(domains, worlds).await?;
        }
        Ok(())
    }

    /// Makes the domains of a wave for a topic that the user names. They differ by name only.
    fn make_topic_domains(&self, topic: &str, wave: std::ops::Range<u64>) -> Vec<(u64, Domain)> {
        let named = |slot: u64| {
            let domain = Domain::of_topic(topic);
            let name = if slot == 0 { domain.name.clone() } else { format!("{}_{}", domain.name, slot + 1) };
            (slot, Domain { name, ..domain })
        };
        wave.map(named).collect()
    }

    /// Asks the domain agent for a domain per slot of a wave. Returns them in the order of slots.
    async fn propose(
        self: &Arc<Self>,
        wave: std::ops::Range<u64>,
        known: &Arc<DomainIndex>,
    ) -> Result<Vec<(u64, Domain)>, Stop> {
        let mut slots = JoinSet::new();
        for slot in wave {
            let (author, known) = (Arc::clone(self), Arc::clone(known));
            slots.spawn(async move {
                let step = ProposeDomain { seed: author.settings.seed, slot, known: &known };
                (slot, author.asker(slot).ask(0, &step).await)
            });
        }
        let (proposed, stopped) = join_in_order(slots).await;
        stopped.map_or(Ok(()), Err)?;
        Ok(proposed.into_iter().filter_map(|(slot, domain)| Some((slot, domain?))).collect())
    }

    /// Asks the API agent to write each domain of a wave.
    async fn write_all(
        self: &Arc<Self>,
        domains: Vec<(u64, Domain)>,
        worlds: &mut Vec<WorldFile>,
    ) -> Result<(), Stop> {
        let mut slots = JoinSet::new();
        for (slot, domain) in domains {
            let author = Arc::clone(self);
            slots.spawn(async move { (slot, author.write(&author.asker(slot), slot, &domain).await) });
        }
        let (written, stopped) = join_in_order(slots).await;
        let left = (self.settings.count as usize).saturating_sub(worlds.len());
        worlds.extend(written.into_iter().filter_map(|(_, world)| world).take(left));
        self.notes.count(|funnel| funnel.worlds_written = worlds.len() as u64);
        stopped.map_or(Ok(()), Err)
    }

    fn asker(&self, slot: u64) -> Asker {
        Asker::new(Arc::clone(&self.model), self.settings.sampling.clone(), slot, self.notes.clone())
    }

    /// Writes one world. None means that it was dropped and counted.
    async fn write(&self, asker: &Asker, slot: u64, domain: &Domain) -> Result<Option<WorldFile>, Stop> {
        asker.count(|funnel| funnel.worlds_begun += 1);
        let examples = &self.examples.draw(domain, self.settings.seed, slot)?;
        let doc = match self.settings.in_parts {
            false => asker.ask(0, &WriteWorld { domain, examples, part: Part::Whole }).await?,
            true => self.write_in_parts(asker, domain, examples).await?,
        };
        let made = match doc {
            None => Err("nothing that can be used".to_owned()),
            Some(doc) => self.make_sound(asker, domain, doc).await?,
        };
        Ok(match made {
            Ok(world) => Some(world),
            Err(why) => {
                asker.count(|funnel| funnel.drop_world(&why));
                asker.keep("dropped", json!({ "domain": domain, "why": why }));
                None
            }
        })
    }

    /// Checks a document, asks the model to repair it once, and removes parts that still have findings.
    async fn make_sound(
        &self,
        asker: &Asker,
        domain: &Domain,
        doc: WorldDoc,
    ) -> Result<Result<WorldFile, String>, Stop> {
        let license = self.settings.license.as_str();
        let mut checked = match check(doc, domain, license) {
            Ok(checked) => checked,
            Err(why) => return Ok(Err(why)),
        };
        let found = checked.report.findings.len();
        asker.count(|funnel| {
            funnel.apis_written += checked.doc.apis.len() as u64;
            funnel.findings += found as u64;
        });
        if found > 0 {
            asker.keep("findings", json!({ "world": domain.name, "findings": checked.report.findings }));
            let step = Repair { doc: &checked.doc, text: &checked.text, report: &checked.report };
            if let Some(edits) = asker.ask(0, &step).await? {
                let edited = check(edits.applied(&checked.doc), domain, license);
                if let Some(better) = edited.ok().filter(|edited| edited.badness() < checked.badness()) {
                    let mended = found.saturating_sub(better.report.findings.len());
                    asker.count(|funnel| funnel.findings_mended += mended as u64);
                    checked = better;
                }
            }
        }
        let notes = asker.notes.clone();
        let sound = match run_blocking(move || mend::reduced(checked, &notes)).await? {
            Ok(sound) => sound,
            Err(why) => return Ok(Err(why)),
        };
        let (apis, resources) = (sound.doc.apis.len(), sound.doc.resources.len());
        asker.count(|funnel| funnel.apis_kept += apis as u64);
        asker.keep("smoke", json!({ "world": domain.name, "apis": sound.smoke }));
        let scenarios = match self.settings.scenarios {
            0 => Vec::new(),
            count => scenarios::write(asker, &sound, count).await?,
        };
        let written = WorldFile {
            name: domain.name.clone(),
            text: sound.text,
            apis,
            resources,
            scenarios: scenarios.len(),
            beside: None,
        };
        if scenarios.is_empty() {
            return Ok(Ok(written));
        }
        let beside = write_beside(&written.name, scenarios);
        Ok(beside
            .map(|beside| WorldFile { beside: Some(beside), ..written })
            .map_err(|error| mend::failed(&error.into())))
    }

    /// Writes a document in several replies: its resources, then its APIs, a few at a time.
    async fn write_in_parts(
        &self,
        asker: &Asker,
        domain: &Domain,
        examples: &[String],
    ) -> Result<Option<WorldDoc>, Stop> {
        let first = asker.ask(0, &WriteWorld { domain, examples, part: Part::Resources }).await?;
        let Some(mut doc) = first else { return Ok(None) };
        for number in 1..=API_PARTS {
            let part = Part::Apis(&doc);
            if let Some(longer) = asker.ask(number, &WriteWorld { domain, examples, part }).await? {
                doc = longer;
            }
        }
        Ok(Some(doc))
    }
}

/// Returns the texts of the files of plots and of their words.
fn write_beside(name: &str, scenarios: Vec<(ScenarioDoc, Words)>) -> Result<(String, String), Report> {
    let mut words = WordsDoc::default();
    let mut plots = ScenariosDoc::default();
    for (plot, lines) in scenarios {
        words.words.insert(plot.name.clone(), wordings::to_doc(lines));
        plots.scenarios.push(plot);
    }
    Ok((world::beside_to_yaml(name, &plots)?, world::beside_to_yaml(name, &words)?))
}

fn check(doc: WorldDoc, domain: &Domain, license: &str) -> Result<CheckedDocument, String> {
    CheckedDocument::new(mend::bounded(doc, domain, license)?).map_err(|error| mend::failed(&error))
}

/// Admits the proposals that are far enough from all existing domains, in the order of slots.
fn admit_proposals(
    proposed: Vec<(u64, Domain)>,
    known: &mut DomainIndex,
    notes: &Notes,
) -> Result<Vec<(u64, Domain)>, Stop> {
    let mut admitted = Vec::new();
    for (slot, domain) in proposed {
        let fits = known.admit(&domain)?;
        notes.count(|funnel| {
            funnel.domains_proposed += 1;
            funnel.domains_too_near += u64::from(!fits);
        });
        admitted.extend(fits.then_some((slot, domain)));
    }
    Ok(admitted)
}

/// Waits for the tasks of slots. Returns their results in the order of slots, up to the first slot that
/// stopped, and its reason.
async fn join_in_order<T: Send + 'static>(
    mut tasks: JoinSet<(u64, Result<T, Stop>)>,
) -> (Vec<(u64, T)>, Option<Stop>) {
    let mut all = BTreeMap::new();
    while let Some(ended) = tasks.join_next().await {
        let Ok((slot, result)) = ended else { return (Vec::new(), Some(Stop::Worker)) };
        all.insert(slot, result);
    }
    let (mut kept, mut stopped) = (Vec::new(), None);
    for (slot, result) in all {
        match result {
            Ok(value) => kept.push((slot, value)),
            Err(stop) => stopped = stopped.or(Some(stop)),
        }
    }
    (kept, stopped)
}

#[cfg(test)]
mod tests;
