//! Owns the domain agent, which proposes domains that differ from all existing ones.

use std::sync::Arc;

use diorama_engine::embed::{EmbedError, Embedder, StaticEmbedder, dot, embedded};
use diorama_seeds::naming;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::asking::{Complaints, Step, read_json};
use super::form;

/// Categories of real public APIs, one per line.
const CATEGORIES: &str = include_str!("categories.txt");

/// Cosine similarity from which two domains count as the same. The nearest domains of the catalog have
/// 0.6.
const TOO_NEAR: f32 = 0.72;

/// Maximum number of domains in a prompt. The latest ones stay.
const NAMED: usize = 40;

/// Domain of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Domain {
    /// Identifier: `harbour_pilots`.
    pub name: String,
    /// Title for people: `Harbour pilots`.
    pub title: String,
    /// Description of one sentence.
    pub description: String,
    /// Category of public APIs for which the domain was proposed.
    pub sector: String,
}

impl Domain {
    /// Makes a domain of a topic in a few words.
    pub fn of_topic(topic: &str) -> Self {
        let title = diorama_seeds::english::capitalised(topic.trim());
        let mut name = naming::snake(topic);
        name.truncate(40);
        let name = name.trim_matches('_').to_owned();
        Self { name, description: format!("{title}."), title, sector: "other".to_owned() }
    }

    /// Returns true if the domain has only a title, from [`Domain::of_topic`].
    pub fn is_topic(&self) -> bool {
        self.description.trim_end_matches('.') == self.title
    }

    fn text(&self) -> String {
        format!("{}: {}", self.title, self.description)
    }
}

/// Request for a domain.
pub struct ProposeDomain<'a> {
    /// Seed for the choice of the category.
    pub seed: u64,
    /// Slot of the domain.
    pub slot: u64,
    /// Domains from completed waves.
    pub known: &'a DomainIndex,
}

pub(crate) fn categories() -> impl Iterator<Item = &'static str> {
    CATEGORIES.lines().filter(|line| !line.is_empty())
}

impl ProposeDomain<'_> {
    fn category(&self) -> &'static str {
        let categories: Vec<&str> = categories().collect();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.slot);
        categories.choose(&mut rng).copied().unwrap_or("Business")
    }
}

impl Step for ProposeDomain<'_> {
    type Output = Domain;
    const NAME: &'static str = "domain";

    fn input(&self) -> Json {
        let titles = &self.known.titles;
        json!({ "category": self.category(), "known": &titles[titles.len().saturating_sub(NAMED)..] })
    }

    fn schema(&self) -> Option<Json> {
        Some(json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 32 },
                "description": { "type": "string", "maxLength": 140 },
            },
            "required": ["name", "description"],
            "additionalProperties": false,
        }))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Domain> {
        let json = read_json(reply, wrong)?;
        let name = form::name(&json, "name", wrong)?;
        let description = form::text(&json, "description", 240, wrong)?;
        let title = diorama_seeds::english::capitalised(&naming::label(&name));
        let sector = naming::snake(self.category());
        Some(Domain { name, title, description, sector })
    }
}

/// Existing domains with their vectors, for the distance to a new one.
#[derive(Clone)]
pub struct DomainIndex {
    embedder: Arc<StaticEmbedder>,
    titles: Vec<String>,
    names: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl DomainIndex {
    /// Embeds domains by title and description.
    ///
    /// # Errors
    /// Returns an error if the embedding model cannot be loaded.
    pub fn new<'a>(domains: impl IntoIterator<Item = &'a Domain>) -> Result<Self, EmbedError> {
        let mut known =
            Self { embedder: embedded()?, titles: Vec::new(), names: Vec::new(), vectors: Vec::new() };
        for domain in domains {
            let vector = known.vector(domain)?;
            known.take(domain, vector);
        }
        Ok(known)
    }

    /// Adds a domain unless it is too near to an existing one. Returns true if it was added.
    ///
    /// # Errors
    /// Returns an error if the model cannot embed the domain.
    pub fn admit(&mut self, domain: &Domain) -> Result<bool, EmbedError> {
        let vector = self.vector(domain)?;
        let near = self.vectors.iter().any(|other| dot(other, &vector) >= TOO_NEAR);
        let fits = !near && !self.names.contains(&domain.name);
        if fits {
            self.take(domain, vector);
        }
        Ok(fits)
    }

    fn vector(&self, domain: &Domain) -> Result<Vec<f32>, EmbedError> {
        self.embedder.embed(&[&domain.text()])
    }

    fn take(&mut self, domain: &Domain, vector: Vec<f32>) {
        self.vectors.push(vector);
        self.titles.push(domain.title.clone());
        self.names.push(domain.name.clone());
    }
}
