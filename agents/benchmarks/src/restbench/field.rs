//! Owns the worlds of a benchmark run: a document's world with the queries' names, and another world as
//! noise.

use std::path::Path;
use std::sync::Arc;

use diorama_answers::Clock;
use diorama_baselines::operation::IN_PROCESS_URL;
use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_openapi::{Draft, ImportOptions, NoFiles};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::materialised;
use diorama_seeds::task::Call;
use diorama_simulator::http::openapi::document;
use serde_json::Value as Json;

use super::names::{named, parts, roles};
use super::operation::{Operations, fill};
use super::query::Query;
use crate::entities::{Entities, Entity};
use crate::material::{BenchmarkError, stem_of, text_of};

/// A document's world with the queries' names, and another document's APIs as noise.
#[derive(Clone)]
pub struct Field {
    /// The document's world.
    pub doc: Arc<WorldDoc>,
    /// The world, ready to run.
    pub base: Arc<Base>,
    /// The world's operations.
    pub operations: Arc<Operations>,
    /// The world whose APIs are the noise.
    pub noise: Option<Arc<Base>>,
    /// The OpenAPI documents of both, for agents.
    pub openapi: Arc<Vec<Json>>,
    /// The seed of sessions and of API pools.
    pub seed: u64,
}

impl Field {
    /// Makes the worlds of a document and of the noise.
    ///
    /// # Errors
    /// Returns an error if a world is wrong.
    pub fn new(doc: WorldDoc, noise: Option<&WorldDoc>, seed: u64) -> Result<Self, BenchmarkError> {
        let noise = noise.map(|noise| made(noise, seed)).transpose()?;
        let (base, operations) = (made(&doc, seed)?, Arc::new(Operations::of(&doc)));
        let bases = std::iter::once(&base).chain(&noise);
        let openapi = Arc::new(bases.map(|base| document(base.world(), IN_PROCESS_URL)).collect());
        Ok(Self { doc: Arc::new(doc), base, operations, noise, openapi, seed })
    }

    /// Returns a function that answers calls in a new session of the document's world, with status and body.
    pub(super) fn answers(&self) -> impl FnMut(&Call) -> (u16, Json) + use<> {
        let mut session = self.session(&self.base);
        move |call| {
            let entry = session.call(call);
            (entry.reply.status, entry.reply.json_tree(&session.base().world().zone))
        }
    }

    /// Returns the clock of the document's world.
    pub(super) fn clock(&self) -> Clock {
        let world = self.base.world();
        Clock::at(world.clock, &world.zone)
    }

    pub(super) fn session(&self, base: &Arc<Base>) -> Session {
        Session::new(Arc::clone(base), SessionOptions { seed: self.seed, ..SessionOptions::default() })
    }

    /// Returns the APIs in a query's gold path, in order. Those that the document lacks are left out.
    #[must_use]
    pub fn gold(&self, query: &Query) -> Vec<String> {
        let steps = query.solution.iter().filter_map(|step| self.operations.find(step));
        steps.map(|operation| operation.api.clone()).collect()
    }

    /// Returns the tools of a pool: all of the document's, or `size` of them. The gold path's come first,
    /// then others of the document, then noise. Choice and order depend only on the seed and the names.
    #[must_use]
    pub fn tools(&self, query: &Query, size: Option<usize>) -> Vec<Json> {
        let gold = self.gold(query);
        let place = |name: &str| {
            let mut hasher = blake3::Hasher::new();
            *hasher.update(&self.seed.to_le_bytes()).update(name.as_bytes()).finalize().as_bytes()
        };
        let named = |base: &Arc<Base>| -> Vec<(String, Json)> {
            let world = base.world();
            let tool = |name: &str| {
                base.tool_schema(world.api_named(name)?).map(|tool| (name.to_owned(), (**tool).clone()))
            };
            world.apis.iter().filter_map(|api| tool(&api.name)).collect()
        };
        let own = named(&self.base);
        let Some(size) = size else { return own.into_iter().map(|(_, tool)| tool).collect() };
        let noise: Vec<(String, Json)> = self.noise.iter().flat_map(named).collect();
        let is_own = |name: &str| own.iter().any(|(known, _)| known == name);
        let mut ranked: Vec<(u8, [u8; 32], Json)> = own
            .iter()
            .map(|(name, tool)| (u8::from(!gold.contains(name)), place(name), tool.clone()))
            .chain(
                noise
                    .iter()
                    .filter(|(name, _)| !is_own(name))
                    .map(|(name, tool)| (2, place(name), tool.clone())),
            )
            .collect();
        ranked.sort_by_key(|(rank, place, _)| (*rank, *place));
        let needed = ranked.iter().filter(|(rank, ..)| *rank == 0).count();
        ranked.truncate(size.max(needed));
        ranked.sort_by_key(|(_, place, _)| *place);
        ranked.into_iter().map(|(.., tool)| tool).collect()
    }

    /// Formats a call with its path filled in. Example: `GET /movie/5/credits`.
    pub(super) fn filled(&self, call: &Call) -> String {
        let Some(api) = self.doc.apis.iter().find(|api| api.name == call.api) else {
            return call.api.clone();
        };
        let (path, _) = fill(&api.path, &call.arguments);
        format!("{} {path}", api.method)
    }
}

/// Imports an OpenAPI document as a benchmark world.
///
/// # Errors
/// Returns an error if it cannot be read or imported.
pub fn imported(document: &Path) -> Result<WorldDoc, BenchmarkError> {
    let options = ImportOptions { benchmark: true, ..ImportOptions::default() };
    let imported = Draft::read(&stem_of(document), text_of(document)?.as_bytes(), &options, &NoFiles)
        .and_then(|draft| diorama_import::choose_guesses(&draft));
    Ok(imported.map_err(|report| BenchmarkError::World(report.to_string()))?.doc)
}

/// Returns the names and roles in queries, which a world must contain.
#[must_use]
pub fn entities(queries: &[Query], operations: &Operations) -> Entities {
    let names = queries.iter().flat_map(|query| named(query, operations));
    let names = names.map(|named| Entity { of: format!("GET {}", named.path), name: named.name });
    let parts = parts(queries, operations).into_iter();
    let parts = parts.map(|(of, number)| Entity { of, name: number.to_string() });
    let roles = roles(queries, operations).into_iter().map(|(of, name)| Entity { of, name });
    Entities::new(names.chain(parts).chain(roles))
}

fn made(doc: &WorldDoc, seed: u64) -> Result<Arc<Base>, BenchmarkError> {
    let made = materialised(doc, seed).map_err(|report| BenchmarkError::World(report.to_string()))?;
    Base::new(made.world.clone()).map_err(|error| BenchmarkError::World(error.to_string()))
}
