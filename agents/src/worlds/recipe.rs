//! The recipe of a run: everything its rows depend on, fixed before the first of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_output::plan::Batch;
use diorama_output::row::Split;
use diorama_seeds::compose::compose;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Ability;
use diorama_seeds::world::Report;
use indexmap::IndexSet;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::locale::Locale;
use super::split::{TestRequest, TestShare};
use super::template::LazyTemplate;
use super::variant;
use super::world::WorldTemplate;
use crate::catalog::CatalogDomain;
use crate::rows::turns::{Turn, Turns};
use crate::scenarios::Shares;
use crate::scenarios::by_rule;

/// Everything that rows depend on.
pub struct Recipe {
    /// The seed.
    pub seed: u64,
    /// Abilities asked for, without duplicates.
    pub abilities: Vec<Ability>,
    /// World templates of the training split.
    pub train: Vec<LazyTemplate>,
    /// World templates of the test split; empty when there is one domain.
    pub test: Vec<LazyTemplate>,
    /// True where the rows take turns at scenarios: shares of tags say otherwise how often each is played.
    takes_turns: bool,
    test_share: TestShare,
    turns: [Turns; 2],
    streams: Streams,
    config: BTreeMap<String, Json>,
}

/// Streams of choices, which follow from the configuration and the seed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    config_hash: [u8; 32],
    seed: u64,
}

impl Streams {
    /// The streams of a run.
    pub fn new(config: &BTreeMap<String, Json>, seed: u64) -> Self {
        let text = serde_json::to_string(config).unwrap_or_default();
        Self { config_hash: *blake3::hash(text.as_bytes()).as_bytes(), seed }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The stream for one use and number.
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha8Rng {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.config_hash);
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(&number.to_le_bytes());
        ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
    }
}

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
    /// Domains of the catalog, which are grouped into worlds.
    pub domains: Vec<Arc<CatalogDomain>>,
    /// Source worlds that are used as they are.
    pub worlds: Vec<WorldDoc>,
    /// Domains grouped into a world.
    pub domains_per_world: usize,
    /// Dialogues asked for: part of the plan, and so of what the rows are.
    pub dialogues: u64,
    /// Shares of what conversations are to show, by label.
    pub shares: Shares,
    /// What is asked of the test split.
    pub test_split: TestRequest,
    /// The model that writes, and how it is asked; none offline.
    pub model: Option<Json>,
}

impl Recipe {
    /// Composes and compiles all world templates.
    ///
    /// # Errors
    /// The findings of the reader for the first document that is wrong.
    pub fn new(ingredients: Ingredients) -> Result<Self, Report> {
        let Ingredients {
            seed,
            mut abilities,
            domains,
            worlds,
            domains_per_world,
            dialogues,
            shares,
            test_split,
            model,
        } = ingredients;
        if abilities.is_empty() {
            abilities = Ability::ALL.to_vec();
        }
        let of_catalog = domains.iter().map(|domain| json!({ "name": domain.name, "blake3": domain.hash }));
        let hashes: Vec<Json> = of_catalog
            .chain(worlds.iter().map(|doc| {
                let text = serde_json::to_string(doc).unwrap_or_default();
                json!({ "name": doc.name, "blake3": blake3::hash(text.as_bytes()).to_hex().to_string() })
            }))
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
        if !test_split.domains.is_empty() {
            config.insert("test_domains".to_owned(), json!(test_split.domains));
        }
        config.extend(test_split.share.map(|share| ("test_share".to_owned(), json!(share))));
        let streams = Streams::new(&config, seed);
        let mut recipe = Self {
            seed,
            abilities,
            train: Vec::new(),
            test: Vec::new(),
            takes_turns: shares.is_empty(),
            test_share: test_split.share(),
            turns: Default::default(),
            streams,
            config,
        };
        recipe.build(domains, &worlds, domains_per_world.max(1), &shares, &test_split)?;
        recipe.turns = [Split::Train, Split::Test].map(|split| {
            let mut stream = recipe.stream("turns", split as u64);
            Turns::new(recipe.world_templates(split), &mut stream)
        });
        Ok(recipe)
    }

    /// Returns the settings besides the seed that the rows depend on, by name, for the manifest.
    pub const fn config(&self) -> &BTreeMap<String, Json> {
        &self.config
    }

    /// A stream of choices for one use and number.
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha8Rng {
        self.streams.stream(purpose, number)
    }

    /// The streams of choices.
    pub const fn streams(&self) -> Streams {
        self.streams
    }

    /// The split of a batch, from its number alone.
    pub const fn split_of(&self, batch: u64) -> Split {
        self.test_share().split_of(batch)
    }

    /// The share of batches that are of the test split.
    pub const fn test_share(&self) -> TestShare {
        if self.test.is_empty() { TestShare::NONE } else { self.test_share }
    }

    /// The world template of a batch.
    ///
    /// # Errors
    /// The findings of the reader.
    pub fn world_template(&self, batch: &Batch) -> Result<&Arc<WorldTemplate>, Report> {
        let turns = &self.turns[batch.split as usize];
        let (position, _) = turns.of_batch(batch.index, batch.split, self.test_share());
        self.world_templates(batch.split)[position].get()
    }

    /// The turn of a row; none where shares of tags say how often each scenario is played.
    pub fn turn(&self, batch: &Batch, row_index: u64) -> Option<Turn> {
        let turns = self.turns.get(batch.split as usize).filter(|_| self.takes_turns)?;
        turns.of_row(batch, self.test_share(), &self.abilities, row_index)
    }

    /// The world templates of a split.
    pub fn world_templates(&self, split: Split) -> &[LazyTemplate] {
        match split {
            Split::Train => &self.train,
            Split::Test => &self.test,
        }
    }

    /// The worlds from outside, read at once, so that what is wrong is told before a row is made. The first that is wrong is told
    /// of, whichever was read first.
    fn given(
        &self,
        worlds: &[WorldDoc],
        alternates: u64,
        shares: &Shares,
    ) -> Result<Vec<LazyTemplate>, Report> {
        let given: Vec<Result<Arc<WorldTemplate>, Report>> = worlds
            .par_iter()
            .map(|doc| {
                let template = WorldTemplate::new(doc, alternates, shares, &self.abilities)?;
                by_rule::complete(template, shares, &self.abilities)
            })
            .collect();
        given.into_iter().map(|template| template.map(LazyTemplate::from_template)).collect()
    }

    fn build(
        &mut self,
        domains: Vec<Arc<CatalogDomain>>,
        worlds: &[WorldDoc],
        group: usize,
        shares: &Shares,
        test_split: &TestRequest,
    ) -> Result<(), Report> {
        let alternates = alternate_seed(self.seed);
        let of_catalog = domains.iter().map(|domain| vec![domain.name.to_owned()]);
        let given = self.given(worlds, alternates, shares)?;
        let of_worlds = given.iter().map(|template| template.domains().to_vec());
        let chosen = test_split.pick(&of_catalog.chain(of_worlds).collect::<Vec<_>>())?;
        let (train, test) = match test_split.is_usual() {
            true => split_by_domain(domains),
            false => domains.into_iter().partition(|domain| !chosen.contains(domain.name)),
        };
        let template = |group: Vec<Arc<CatalogDomain>>, api_variant: Option<u64>| {
            let names: Vec<String> = group.iter().map(|domain| domain.name.to_owned()).collect();
            let family = family_name(&names);
            let stream = api_variant.map(|number| self.stream(&format!("api_variant/{family}"), number));
            let locales = self.stream(&format!("locale/{family}"), api_variant.unwrap_or_default());
            let (shares, abilities) = (shares.clone(), self.abilities.clone());
            LazyTemplate::new(names, move || {
                let docs: Result<Vec<WorldDoc>, Report> =
                    group.iter().map(|domain| domain.doc().cloned()).collect();
                let docs = docs?;
                let docs = Locale::draw(&docs, &mut locales.clone())
                    .map_or_else(|| docs.clone(), |locale| locale.put_on(&docs));
                let composed = compose(&family, &docs)?;
                let doc = match stream.clone() {
                    Some(mut stream) => variant::vary(composed, &mut stream),
                    None => composed,
                };
                // The words of the catalog's scenarios were checked by its tests.
                let template = WorldTemplate::of_read(doc, alternates, &shares, &abilities)?;
                by_rule::complete(template, &shares, &abilities)
            })
        };
        let of_train = groups(&train, group).into_iter().flat_map(|group| {
            (0..API_VARIANTS)
                .map(|api_variant| template(group.clone(), Some(api_variant)))
                .collect::<Vec<_>>()
        });
        let mut made: Vec<LazyTemplate> = of_train.collect();
        let mut of_test: Vec<LazyTemplate> =
            groups(&test, group).into_iter().map(|group| template(group, None)).collect();
        for template in given {
            let is_test = template.domains().iter().any(|domain| chosen.contains(domain));
            if is_test { &mut of_test } else { &mut made }.push(template);
        }
        (self.train, self.test) = (made, of_test);
        Ok(())
    }
}

/// The seed of the records that values of requests for new records come from.
pub(crate) const fn alternate_seed(seed: u64) -> u64 {
    seed ^ 0x5eed_0f5e_ed00_0000
}

/// About a tenth of the domains is test, and at least three where there are nine; none when there is one domain.
fn split_by_domain(domains: Vec<Arc<CatalogDomain>>) -> (Vec<Arc<CatalogDomain>>, Vec<Arc<CatalogDomain>>) {
    if domains.len() < 2 {
        return (domains, Vec::new());
    }
    let count = (domains.len() / 10).max(3).min((domains.len() / 3).max(1));
    // The order of the hash is fixed and has nothing to do with the names' order.
    let mut ranked: Vec<(String, &str)> = domains
        .iter()
        .map(|domain| {
            (blake3::hash(format!("split/{}", domain.name).as_bytes()).to_hex().to_string(), domain.name)
        })
        .collect();
    ranked.sort_unstable();
    let chosen: BTreeSet<&str> = ranked.into_iter().take(count).map(|(_, name)| name).collect();
    domains.into_iter().partition(|domain| !chosen.contains(domain.name))
}

/// Returns true if two numbers have no common divisor but 1.
fn is_coprime(one: usize, other: usize) -> bool {
    let (mut one, mut other) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

/// One group for each domain: it and its followers in a ring, so that each domain meets others.
fn groups(domains: &[Arc<CatalogDomain>], size: usize) -> Vec<Vec<Arc<CatalogDomain>>> {
    let size = size.min(domains.len());
    // One more than the length of the ring has no divisor in common with it.
    let length = (5..=domains.len() + 5).find(|length| is_coprime(*length, domains.len())).unwrap_or(1);
    let group = |first: usize| {
        // Steps of a length coprime to the ring's come to each domain once, and not to neighbours in the alphabet.
        let steps = (0..size).map(|step| (first + step * length) % domains.len());
        let positions: IndexSet<usize> = steps.collect();
        positions.into_iter().map(|position| domains[position].clone()).collect()
    };
    (0..domains.len()).map(group).collect()
}

/// The names of the domains; where those are too long for a name, as many as fit, how many more there are, and a hash
/// of all.
pub(crate) fn family_name(names: &[String]) -> String {
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
