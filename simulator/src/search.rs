//! Search for APIs among many worlds, for people and agents outside a session.
//!
//! Improves freely, unlike `ToolSearcher`, which is part of the replay contract. [`ApiSearch`] is the seam where a
//! search by embeddings stands beside the one by words.

mod lexical;

use diorama_seeds::model::{Api, World};
use serde::Serialize;

pub use self::lexical::{LexicalSearch, SearchError};

/// An API as searches see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiEntry {
    /// The world that has it.
    pub world: String,
    /// Its name.
    pub api: String,
    /// The name of its domain.
    pub domain: String,
    /// The domain's title.
    pub domain_title: String,
    /// What it does.
    pub description: String,
    /// Names and descriptions of its parameters.
    pub parameters: String,
}

/// A found API.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApiHit {
    /// Its name.
    pub api: String,
    /// The name of its domain.
    pub domain: String,
    /// The world that has it.
    pub world: String,
    /// How well it fits; greater is better. Comparable within one search only.
    pub score: f32,
    /// What it does.
    pub description: String,
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub struct ApiQuery<'a> {
    /// In plain words.
    pub text: &'a str,
    /// So many hits at most.
    pub k: usize,
    /// Only APIs of this world.
    pub world: Option<&'a str>,
}

/// Finds APIs by what they do.
pub trait ApiSearch: Send + Sync {
    /// The APIs that fit best, best first, ties by world and name.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn search(&self, query: ApiQuery<'_>) -> Result<Vec<ApiHit>, SearchError>;
}

/// The entries of a world's APIs.
#[must_use]
pub fn entries(name: &str, world: &World) -> Vec<ApiEntry> {
    world.apis.iter().map(|api| entry(name, world, api)).collect()
}

fn entry(name: &str, world: &World, api: &Api) -> ApiEntry {
    let domain = world.domains.get(api.domain.index());
    let parameters: Vec<String> = api
        .parameters
        .iter()
        .map(|parameter| format!("{} {} {}", parameter.name, parameter.label, parameter.description))
        .collect();
    ApiEntry {
        world: name.to_owned(),
        api: api.name.to_string(),
        domain: domain.map(|domain| domain.name.to_string()).unwrap_or_default(),
        domain_title: domain
            .map(|domain| format!("{} {} {}", domain.title, domain.sector, domain.description))
            .unwrap_or_default(),
        description: api.description.to_string(),
        parameters: parameters.join(" "),
    }
}
