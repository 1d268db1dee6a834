//! Holds the recipe of a run: the inputs of its rows, fixed before the first row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_output::plan::{Batch, ROWS_PER_BATCH};
use diorama_output::row::Split;
use diorama_seeds::compose::compose;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::{Ability, Difficulty};
use diorama_seeds::world::Report;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::locale::Locale;
use super::split::{TestRequest, TestShare};
use super::template::LazyTemplate;
use super::variant;
use super::world::WorldTemplate;
use crate::catalog::CatalogDomain;
use crate::draws::{RowKey, Streams};
use crate::rows::turns::{Subject, Turn};
use crate::scenarios::Shares;
use crate::scenarios::by_rule;

/// All inputs of the rows.
pub struct Recipe {
    /// The seed of all random streams.
    pub seed: u64,
    /// Abilities asked for, without duplicates.
    pub abilities: Vec<Ability>,
    /// The band that all rows must have; any where none is requested.
    pub difficulty: Option<Difficulty>,
    /// The subjects of the training split, in the order of their turns.
    pub train: Vec<Subject>,
    /// The subjects of the test split; empty when there is one domain.
    pub test: Vec<Subject>,
    /// True if the rows take turns at scenarios; shares of tags choose scenarios otherwise.
    takes_turns: bool,
    test_share: TestShare,
    config: BTreeMap<String, Json>,
}

/// The greatest number of characters of a world's name.
const MAX_NAME: usize = 64;

/// The number of API variants of a domain, each among other domains.
const API_VARIANTS: u64 = 3;

/// One in this many worlds of a domain with a policy has it in articles; all do for hard rows.
const WITH_ARTICLES: u64 = 6;

/// The inputs of a run.
pub struct Ingredients {
    /// The seed of all random streams.
    pub seed: u64,
    /// The requested abilities; all when empty.
    pub abilities: Vec<Ability>,
    /// Domains of the catalog, which are grouped into worlds.
    pub domains: Vec<Arc<CatalogDomain>>,
    /// Source worlds that are used as they are.
    pub worlds: Vec<WorldDoc>,
    /// The number of domains of a world.
    pub domains_per_world: usize,
    /// The number of requested dialogues: a part of the plan that the rows follow from.
    pub dialogues: u64,
    /// The shares of tags that conversations must show, by label.
    pub shares: Shares,
    /// The band that all rows must have; any where none is requested.
    pub difficulty: Option<Difficulty>,
    /// The request for the test split.
    pub test_split: TestRequest,
    /// The model that writes, with its settings; none without a model.
    pub model: Option<Json>,
}

impl Recipe {
    /// Composes and compiles all world templates.
    ///
    /// # Errors
    /// Returns the reader's findings for the first invalid document.
    pub fn new(ingredients: Ingredients) -> Result<Self, Report> {
        let Ingredients {
            seed,
            mut abilities,
            domains,
            worlds,
            domains_per_world,
            dialogues,
            shares,
            difficulty,
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
        config.extend(difficulty.map(|band| ("difficulty".to_owned(), json!(band))));
        if !test_split.domains.is_empty() {
            config.insert("test_domains".to_owned(), json!(test_split.domains));
        }
        config.extend(test_split.share.map(|share| ("test_share".to_owned(), json!(share))));
        let mut recipe = Self {
            seed,
            abilities,
            difficulty,
            train: Vec::new(),
            test: Vec::new(),
            takes_turns: shares.is_empty(),
            test_share: test_split.share(),
            config,
        };
        recipe.build(domains, &worlds, domains_per_world.max(1), &shares, &test_split)?;
        Ok(recipe)
    }

    /// Returns the settings besides the seed that the rows depend on, by name, for the manifest.
    pub const fn config(&self) -> &BTreeMap<String, Json> {
        &self.config
    }

    /// Returns the random streams of the run.
    pub const fn streams(&self) -> Streams {
        Streams::new(self.seed)
    }

    /// Returns the split of a batch, from its number alone.
    pub const fn split_of(&self, batch: u64) -> Split {
        self.test_share().split_of(batch)
    }

    /// Returns the share of batches in the test split.
    pub const fn test_share(&self) -> TestShare {
        if self.test.is_empty() { TestShare::NONE } else { self.test_share }
    }

    /// Returns the world template of a batch: those of its subject take turns.
    ///
    /// # Errors
    /// Returns the findings of the reader.
    pub fn world_template(&self, batch: &Batch) -> Result<&Arc<WorldTemplate>, Report> {
        let (subject, visit) = self.visit(batch);
        subject.templates[(visit % subject.templates.len() as u64) as usize].get()
    }

    /// Returns the subject of a batch, and the number of its earlier batches: subjects take turns.
    pub fn visit(&self, batch: &Batch) -> (&Subject, u64) {
        let before = self.test_share().count_before(batch.index);
        let (subjects, number) = match batch.split {
            Split::Train => (&self.train, batch.index - before),
            Split::Test => (&self.test, before),
        };
        let count = subjects.len() as u64;
        (&subjects[(number % count) as usize], number / count)
    }

    /// Returns the key of a row's choices.
    pub fn row_key(&self, batch: &Batch, row_index: u64) -> RowKey<'_> {
        let (subject, visit) = self.visit(batch);
        // The last batch may be shorter, and its rows must not depend on that.
        let number = visit * u64::from(ROWS_PER_BATCH) + row_index.saturating_sub(batch.row_indexes.start);
        RowKey { subject: &subject.name, number }
    }

    /// Returns the turn of a row; none where shares of tags choose the scenarios.
    pub fn turn(&self, batch: &Batch, row_index: u64) -> Option<Turn> {
        let number = self.row_key(batch, row_index).number;
        self.takes_turns.then(|| Turn::new(self.visit(batch).0, &self.abilities, number)).flatten()
    }

    /// Reads the worlds from outside at once, so that faults are reported before a row is made.
    /// The first faulty one in order is reported, whichever was read first.
    fn given(
        &self,
        worlds: &[WorldDoc],
        alternates: u64,
        shares: &Shares,
    ) -> Result<Vec<Arc<WorldTemplate>>, Report> {
        let given: Vec<Result<Arc<WorldTemplate>, Report>> = worlds
            .par_iter()
            .map(|doc| {
                let template = WorldTemplate::new(doc, alternates, shares, &self.abilities)?;
                by_rule::complete(template, shares, &self.abilities)
            })
            .collect();
        given.into_iter().collect()
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
        let of_world = |template: &Arc<WorldTemplate>| -> Vec<String> {
            template.world().domains.iter().map(|domain| domain.name.to_string()).collect()
        };
        let of_worlds: Vec<Vec<String>> = given.iter().map(of_world).collect();
        let chosen = test_split.pick(&of_catalog.chain(of_worlds.iter().cloned()).collect::<Vec<_>>())?;
        let (train, test) = match test_split.is_usual() {
            true => split_by_domain(domains),
            false => domains.into_iter().partition(|domain| !chosen.contains(domain.name)),
        };
        let streams = self.streams();
        let template = |group: Vec<Arc<CatalogDomain>>, api_variant: Option<u64>| {
            let names: Vec<String> = group.iter().map(|domain| domain.name.to_owned()).collect();
            let family = family_name(&names);
            let (shares, abilities, difficulty) = (shares.clone(), self.abilities.clone(), self.difficulty);
            LazyTemplate::new(move || {
                let docs: Result<Vec<WorldDoc>, Report> =
                    group.iter().map(|domain| domain.doc().cloned()).collect();
                let docs = docs?;
                let number = api_variant.unwrap_or_default();
                let docs = Locale::draw(&docs, &mut streams.stream(&format!("locale/{family}"), number))
                    .map_or_else(|| docs.clone(), |locale| locale.put_on(&docs));
                let composed = compose(&family, &docs)?;
                let articles = format!("articles/{family}");
                let has_articles = difficulty == Some(Difficulty::Hard)
                    || streams.number(&articles, number).is_multiple_of(WITH_ARTICLES);
                let composed = match has_articles {
                    true => {
                        variant::put_policy_into_articles(composed, &mut streams.stream(&articles, number))?
                    }
                    false => composed,
                };
                let doc = match api_variant {
                    Some(number) => {
                        variant::vary(composed, &mut streams.stream(&format!("api_variant/{family}"), number))
                    }
                    None => composed,
                };
                let doc = match difficulty {
                    Some(Difficulty::Hard) => variant::lengthen_lists(
                        doc,
                        &mut streams.stream(&format!("long_lists/{family}"), number),
                    ),
                    _ => doc,
                };
                // The catalog's tests checked the words of its scenarios.
                let template = WorldTemplate::of_read(doc, alternates, &shares, &abilities)?;
                by_rule::complete(template, &shares, &abilities)
            })
        };
        let subjects = |domains: &[Arc<CatalogDomain>], api_variants: &[Option<u64>]| -> Vec<Subject> {
            let subject = |domain: &Arc<CatalogDomain>| Subject {
                name: domain.name.to_owned(),
                templates: api_variants
                    .iter()
                    .map(|number| {
                        template(choose_group(&streams, domain, domains, (group, *number)), *number)
                    })
                    .collect(),
                domains: 1,
            };
            domains.iter().map(subject).collect()
        };
        let api_variants: Vec<Option<u64>> = (0..API_VARIANTS).map(Some).collect();
        (self.train, self.test) = (subjects(&train, &api_variants), subjects(&test, &[None]));
        for ((template, domains), doc) in given.into_iter().zip(of_worlds).zip(worlds) {
            let is_test = domains.iter().any(|domain| chosen.contains(domain));
            let templates = vec![LazyTemplate::from_template(template)];
            let subject = Subject { name: doc.name.clone(), templates, domains: domains.len() };
            if is_test { &mut self.test } else { &mut self.train }.push(subject);
        }
        for subjects in [&mut self.train, &mut self.test] {
            subjects.sort_by_cached_key(|subject| streams.number(&format!("turn/{}", subject.name), 0));
        }
        Ok(())
    }
}

/// Returns the seed of the alternate records, which provide values for new records.
pub(crate) const fn alternate_seed(seed: u64) -> u64 {
    seed ^ 0x5eed_0f5e_ed00_0000
}

/// Puts about a tenth of the domains into the test split: at least three of nine, and none of one.
fn split_by_domain(domains: Vec<Arc<CatalogDomain>>) -> (Vec<Arc<CatalogDomain>>, Vec<Arc<CatalogDomain>>) {
    if domains.len() < 2 {
        return (domains, Vec::new());
    }
    let count = (domains.len() / 10).max(3).min((domains.len() / 3).max(1));
    // The hash gives a fixed order that is independent of the names' order.
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

/// Chooses the domains of a world: the given one, and the others that rank highest beside it.
fn choose_group(
    streams: &Streams,
    domain: &Arc<CatalogDomain>,
    domains: &[Arc<CatalogDomain>],
    (size, api_variant): (usize, Option<u64>),
) -> Vec<Arc<CatalogDomain>> {
    let mut others: Vec<&Arc<CatalogDomain>> =
        domains.iter().filter(|other| other.name != domain.name).collect();
    let number = api_variant.unwrap_or_default();
    others.sort_by_cached_key(|other| {
        std::cmp::Reverse(streams.number(&format!("partner/{}/{}", domain.name, other.name), number))
    });
    std::iter::once(domain).chain(others.into_iter().take(size - 1)).cloned().collect()
}

/// Joins the names of the domains. If they are too long, it returns as many as fit, the number of the rest,
/// and a hash.
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
