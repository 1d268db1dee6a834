//! The domain agent: fields of use that differ from all there are.

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

/// Categories of public APIs, one a line: what real services are about.
const CATEGORIES: &str = include_str!("categories.txt");

/// Cosine from which two domains are taken for one. Of the catalog's domains no two are nearer than 0.6.
const TOO_NEAR: f32 = 0.72;

/// Domains that a prompt names, the latest ones.
const NAMED: usize = 40;

/// A field of use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Domain {
    /// Identifier: `harbour_pilots`.
    pub name: String,
    /// For people: `Harbour pilots`.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// The category of public APIs it was asked for in.
    pub sector: String,
}

impl Domain {
    /// A domain that a person asks for in a few words.
    pub fn of_topic(topic: &str) -> Self {
        let title = diorama_seeds::english::capitalised(topic.trim());
        let mut name = naming::snake(topic);
        name.truncate(40);
        let name = name.trim_matches('_').to_owned();
        Self { name, description: format!("{title}."), title, sector: "other".to_owned() }
    }

    /// Returns true if nothing is known of it but its title.
    pub fn is_topic(&self) -> bool {
        self.description.trim_end_matches('.') == self.title
    }

    fn text(&self) -> String {
        format!("{}: {}", self.title, self.description)
    }
}

/// Asks for a domain.
pub struct ProposeDomain<'a> {
    /// What the slot's choices follow from.
    pub seed: u64,
    /// Its slot.
    pub slot: u64,
    /// The domains that exist, from completed waves.
    pub known: &'a Known,
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

/// The domains there are, and how near to them another one is.
#[derive(Clone)]
pub struct Known {
    embedder: Arc<StaticEmbedder>,
    titles: Vec<String>,
    names: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Known {
    /// Domains by name, title and description.
    ///
    /// # Errors
    /// When the embedded model cannot be loaded.
    pub fn new<'a>(domains: impl IntoIterator<Item = &'a Domain>) -> Result<Self, EmbedError> {
        let mut known =
            Self { embedder: embedded()?, titles: Vec::new(), names: Vec::new(), vectors: Vec::new() };
        for domain in domains {
            let vector = known.vector(domain)?;
            known.take(domain, vector);
        }
        Ok(known)
    }

    /// Takes a domain unless it is too near to one that exists; says whether it did.
    ///
    /// # Errors
    /// When the model cannot embed it.
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
