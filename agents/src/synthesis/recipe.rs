//! The recipe of a run: everything its rows depend on, fixed before the first of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_output::plan::Batch;
use diorama_output::row::Split;
use diorama_seeds::compose::compose;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Ability;
use diorama_seeds::world::{Finding, Report};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::api_variant;
use super::fingerprint::fingerprint;
use super::locale::localised;
use super::scenario::{Shares, read_words};
use super::turns::{Turn, Turns};
use super::world::WorldTemplate;

/// Everything that rows depend on.
pub struct Recipe {
    /// The seed.
    pub seed: u64,
    /// Abilities asked for, without duplicates.
    pub abilities: Vec<Ability>,
    /// Families of the training split.
    pub train: Vec<Arc<WorldTemplate>>,
    /// Families of the test split; empty when there is one domain.
    pub test: Vec<Arc<WorldTemplate>>,
    /// Whether the rows take turns at scenarios: not where shares of tags say how often each is played.
    takes_turns: bool,
    turns: [Turns; 2],
    config_hash: [u8; 32],
    config: BTreeMap<String, Json>,
}

/// One batch in ten is of the test split, so that both splits have rows early.
pub(super) const TEST_EVERY: u64 = 10;
/// Characters of a world's name, at most.
const MAX_NAME: usize = 64;

/// API variants of each group of domains.
const API_VARIANTS: u64 = 3;

/// The inputs of a run.
pub struct Ingredients {
    /// The seed.
    pub seed: u64,
    /// Abilities; all when empty.
    pub abilities: Vec<Ability>,
    /// Source worlds of one domain each, by name, that may be grouped.
    pub domains: Vec<WorldDoc>,
    /// Source worlds that are used as they are.
    pub worlds: Vec<WorldDoc>,
    /// Domains grouped into a world.
    pub domains_per_world: usize,
    /// Dialogues asked for: part of the plan, and so of what the rows are.
    pub dialogues: u64,
    /// Shares of what conversations are to show, by label.
    pub shares: Shares,
    /// The model that writes, and how it is asked; none offline.
    pub model: Option<Json>,
}

impl Recipe {
    /// Composes and compiles all world templates.
    ///
    /// # Errors
    /// The findings of the reader for the first document that is wrong.
    pub fn new(ingredients: Ingredients) -> Result<Self, Report> {
        let Ingredients { seed, mut abilities, domains, worlds, domains_per_world, dialogues, shares, model } =
            ingredients;
        if abilities.is_empty() {
            abilities = Ability::ALL.to_vec();
        }
        let mut names: Vec<String> = domains.iter().chain(&worlds).map(|doc| doc.name.clone()).collect();
        names.sort_unstable();
        let hashes: Vec<Json> = domains
            .iter()
            .chain(&worlds)
            .map(|doc| {
                let text = serde_json::to_string(doc).unwrap_or_default();
                json!({ "name": doc.name, "blake3": blake3::hash(text.as_bytes()).to_hex().to_string() })
            })
            .collect();
        let mut config = BTreeMap::from([
            ("abilities".to_owned(), json!(abilities)),
            ("backend".to_owned(), json!(if model.is_some() { "llm" } else { "scenarios" })),
            ("dialogues".to_owned(), json!(dialogues)),
            ("domains_per_world".to_owned(), json!(domains_per_world)),
            ("sources".to_owned(), Json::Array(hashes)),
        ]);
        config.extend(model.map(|model| ("model".to_owned(), model)));
        if !shares.is_empty() {
            config.insert("tags".to_owned(), json!(shares));
        }
        let text = serde_json::to_string(&config).unwrap_or_default();
        let config_hash = *blake3::hash(text.as_bytes()).as_bytes();
        let mut recipe = Self {
            seed,
            abilities,
            train: Vec::new(),
            test: Vec::new(),
            takes_turns: shares.is_empty(),
            turns: Default::default(),
            config_hash,
            config,
        };
        recipe.build(domains, worlds, domains_per_world.max(1), &shares)?;
        recipe.turns = [Split::Train, Split::Test].map(|split| {
            let mut stream = recipe.stream("turns", split as u64);
            Turns::new(recipe.world_templates(split), &mut stream)
        });
        Ok(recipe)
    }

    /// Returns the settings besides the seed that the rows depend on, by name, for the manifest.
    #[must_use]
    pub const fn config(&self) -> &BTreeMap<String, Json> {
        &self.config
    }

    /// A stream of choices for one use and number.
    #[must_use]
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha8Rng {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.config_hash);
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(&number.to_le_bytes());
        ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
    }

    /// The split of a batch, from its number alone.
    #[must_use]
    pub fn split_of(&self, batch: u64) -> Split {
        if !self.test.is_empty() && batch % TEST_EVERY == TEST_EVERY - 1 { Split::Test } else { Split::Train }
    }

    /// The world template of a batch.
    #[must_use]
    pub fn world_template(&self, batch: &Batch) -> &Arc<WorldTemplate> {
        let turns = &self.turns[batch.split as usize];
        let (position, _) = turns.of_batch(batch.index, batch.split, !self.test.is_empty());
        &self.world_templates(batch.split)[position]
    }

    /// The turn of a row; none where shares of tags say how often each scenario is played.
    #[must_use]
    pub fn turn(&self, batch: &Batch, row_index: u64) -> Option<Turn> {
        let turns = self.turns.get(batch.split as usize).filter(|_| self.takes_turns)?;
        turns.of_row(batch, !self.test.is_empty(), &self.abilities, row_index)
    }

    /// The world templates of a split.
    #[must_use]
    pub fn world_templates(&self, split: Split) -> &[Arc<WorldTemplate>] {
        match split {
            Split::Train => &self.train,
            Split::Test => &self.test,
        }
    }

    fn build(
        &mut self,
        domains: Vec<WorldDoc>,
        worlds: Vec<WorldDoc>,
        group: usize,
        shares: &Shares,
    ) -> Result<(), Report> {
        let alternates = self.seed ^ 0x5eed_0f5e_ed00_0000;
        // Groups and API variants change names in the words, and leave their form as it is.
        if let Some((name, findings)) = wrong_words(&domains) {
            return Err(Report { name, findings });
        }
        let (train, test) = split_by_domain(domains);
        let mut docs = Vec::new();
        for (number, group) in groups(&train, group).into_iter().enumerate() {
            let composed = compose(&family_name(&group), &localised(&group))?;
            for api_variant in 0..API_VARIANTS {
                let mut rng = self.stream("api_variant", number as u64 * API_VARIANTS + api_variant);
                docs.push(api_variant::vary(composed.clone(), &mut rng));
            }
        }
        let world_templates: Vec<Result<Arc<WorldTemplate>, Report>> = docs
            .into_par_iter()
            .map(|doc| WorldTemplate::of_read(doc, alternates, shares, &self.abilities))
            .chain(worlds.par_iter().map(|doc| WorldTemplate::new(doc, alternates, shares, &self.abilities)))
            .collect();
        // The first that is wrong is told of, whichever was read first.
        self.train = world_templates.into_iter().collect::<Result<_, _>>()?;
        if test.is_empty() {
            return Ok(());
        }
        let known: BTreeSet<String> = self
            .train
            .iter()
            .flat_map(|world_template| {
                world_template.world().apis.iter().map(|api| fingerprint(world_template.world(), api))
            })
            .collect();
        for docs in groups(&test, group) {
            let composed = compose(&family_name(&docs), &localised(&docs))?;
            let world_template =
                WorldTemplate::of_read(composed.clone(), alternates, shares, &self.abilities)?;
            // APIs of training rows may not occur in test rows, not even as distractors.
            let shared: BTreeSet<String> = world_template
                .world()
                .apis
                .iter()
                .filter(|api| known.contains(&fingerprint(world_template.world(), api)))
                .map(|api| api.name.to_string())
                .collect();
            let world_template = if shared.is_empty() {
                world_template
            } else {
                WorldTemplate::of_read(without(composed, &shared), alternates, shares, &self.abilities)?
            };
            self.test.push(world_template);
        }
        Ok(())
    }
}

/// The first document of whose scenarios words are wrong: its name, and what is wrong with them.
fn wrong_words(docs: &[WorldDoc]) -> Option<(String, Vec<Finding>)> {
    let read: Vec<Vec<Finding>> = docs.par_iter().map(read_words).collect();
    docs.iter()
        .zip(read)
        .find(|(_, findings)| !findings.is_empty())
        .map(|(doc, findings)| (doc.name.clone(), findings))
}

/// About a tenth of the domains is test, and at least three where there are nine; none when there is one domain.
fn split_by_domain(domains: Vec<WorldDoc>) -> (Vec<WorldDoc>, Vec<WorldDoc>) {
    let name = |doc: &WorldDoc| {
        let head = doc.domain.as_ref().or_else(|| doc.domains.first().map(|domain| &domain.domain));
        head.map(|head| head.name.clone()).unwrap_or_default()
    };
    let names: BTreeSet<String> = domains.iter().map(name).collect();
    if names.len() < 2 {
        return (domains, Vec::new());
    }
    let count = (names.len() / 10).max(3).min((names.len() / 3).max(1));
    // The order of the hash is fixed and has nothing to do with the names' order.
    let mut ranked: Vec<(String, String)> = names
        .into_iter()
        .map(|name| (blake3::hash(format!("split/{name}").as_bytes()).to_hex().to_string(), name))
        .collect();
    ranked.sort_unstable();
    let chosen: BTreeSet<String> = ranked.into_iter().take(count).map(|(_, name)| name).collect();
    domains.into_iter().partition(|doc| !chosen.contains(&name(doc)))
}

/// One group for each domain: it and its followers in a ring, so that each domain meets others.
fn groups(docs: &[WorldDoc], size: usize) -> Vec<Vec<WorldDoc>> {
    let size = size.min(docs.len());
    (0..docs.len())
        .map(|first| {
            // Steps of coprime length keep the groups from being the same neighbours in every run of the catalog.
            (0..size)
                .map(|step| docs[(first + step * 5 % docs.len().max(1)) % docs.len()].clone())
                .collect::<Vec<_>>()
        })
        .map(|mut group: Vec<WorldDoc>| {
            let mut seen = BTreeSet::new();
            group.retain(|doc| seen.insert(doc.name.clone()));
            group
        })
        .collect()
}

/// The names of the domains; where those are too long for a name, as many as fit, how many more there are, and a hash
/// of all.
fn family_name(docs: &[WorldDoc]) -> String {
    let names: Vec<&str> = docs.iter().map(|doc| doc.name.as_str()).collect();
    let whole = names.join("-");
    if whole.len() <= MAX_NAME {
        return whole;
    }
    let hash: String = blake3::hash(whole.as_bytes()).to_hex().chars().take(8).collect();
    let short = |kept: usize| {
        let first = names.get(..kept).unwrap_or_default().join("-");
        format!("{first}-and-{}-more-{hash}", names.len() - kept)
    };
    let fitting = (1..names.len()).rev().map(short).find(|name| name.len() <= MAX_NAME);
    fitting.unwrap_or_else(|| format!("joined-{}-{hash}", names.len()))
}

fn without(doc: WorldDoc, names: &BTreeSet<String>) -> WorldDoc {
    let (mut doc, mut domains) = doc.into_domains();
    for domain in &mut domains {
        domain.apis.retain(|api| !names.contains(&api.name));
        domain.scenarios.retain(|scenario| {
            scenario.calls().all(|call| call.call.as_ref().is_none_or(|name| !names.contains(name)))
        });
    }
    doc.domains = domains;
    doc
}
