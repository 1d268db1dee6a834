//! APIs as tools of a language model, and the search among them.
//!
//! Owns the function schemas (OpenAI's format) and `ToolSearcher`, the implicit API of every session. The
//! search is part of the replay contract: `toolsearch/4` never changes, and a better search needs a new
//! version. Earlier versions remain for rows that name them.

mod hit;
pub(super) mod index;
mod promised;
mod schema;
mod search;
mod version;

use std::sync::Arc;

use diorama_seeds::model::{ApiId, DomainId, World};
use diorama_seeds::schema::Schema;
use diorama_seeds::value::Value;
use serde_json::Value as Json;

pub use self::hit::Hit;
use self::index::finder;
pub use self::index::{MAX_HITS, TOOL_SEARCHER, is_of_solution};
use self::search::Pool;
pub use self::version::SearchVersion;
use super::base::Base;
use super::reply::{Body, Reply};

/// Returns an API in OpenAI's function format.
#[must_use]
pub fn tool_schema(world: &World, api: ApiId) -> Json {
    world.apis.get(api.index()).map_or(Json::Null, |api| schema::function(api, world))
}

/// Returns a declared type as JSON Schema, for function schemas and served documents.
#[must_use]
pub fn json_schema(world: &World, schema: &Schema) -> Json {
    schema::json_schema(schema, &world.zone)
}

/// Returns the APIs that fit keywords best: at most [`MAX_HITS`], best first, ties by name.
#[must_use]
pub fn tool_search(base: &Base, version: SearchVersion, keywords: &str) -> Vec<Hit> {
    let world = base.world();
    match version {
        SearchVersion::V1 => {
            let mut hits = base.tools.pool.get_or_init(|| Pool::new(world)).ranked(world, keywords);
            hits.truncate(MAX_HITS);
            hits
        }
        SearchVersion::V3 | SearchVersion::V4 => {
            let finder = base.tools.finder.get_or_init(|| finder(world));
            let found = finder.iter().flat_map(|finder| finder.found(keywords, MAX_HITS));
            found.map(|(position, score)| Hit { api: ApiId(position as u16), score }).collect()
        }
    }
}

/// Returns the APIs in a `ToolSearcher` reply: the hits. Before `toolsearch/4`, a hit that needs a token was
/// followed by the API that issues it.
#[must_use]
pub fn tools_shown(base: &Base, version: SearchVersion, keywords: &str) -> Vec<ApiId> {
    let mut shown = Vec::new();
    let hits = tool_search(base, version, keywords);
    for hit in &hits {
        if !shown.contains(&hit.api) {
            shown.push(hit.api);
        }
        let api = base.world().api(hit.api);
        if version != SearchVersion::V4
            && api.token.is_some()
            && let Some(sign_in) = base.sign_in_api(api.domain)
            && !shown.contains(&sign_in)
        {
            shown.push(sign_in);
        }
    }
    shown
}

impl Base {
    /// Returns an API in OpenAI's function format. Each schema is built once.
    #[must_use]
    pub fn tool_schema(&self, api: ApiId) -> Option<&Arc<Json>> {
        self.tools.schemas.get(api.index())
    }

    /// Returns `ToolSearcher` in OpenAI's function format.
    #[must_use]
    pub const fn tool_searcher_schema(&self) -> &Json {
        &self.tools.searcher_schema
    }

    /// Returns the tools at the start: the schemas of the visible APIs, or `ToolSearcher`'s if there are
    /// none.
    #[must_use]
    pub fn shown_tools(&self, visible: &[ApiId]) -> Vec<&Json> {
        if visible.is_empty() {
            return vec![self.tool_searcher_schema()];
        }
        visible.iter().filter_map(|api| self.tool_schema(*api)).map(AsRef::as_ref).collect()
    }

    /// Returns the API by which users of a domain sign in.
    #[must_use]
    pub fn sign_in_api(&self, domain: DomainId) -> Option<ApiId> {
        self.tools.sign_in.get(domain.index()).copied().flatten()
    }
}

/// Returns the reply of `ToolSearcher`.
pub(super) fn search_reply(base: &Base, version: SearchVersion, arguments: &[Value]) -> Reply {
    let keywords = arguments.first().and_then(Value::as_str).unwrap_or("");
    let shown = tools_shown(base, version, keywords);
    let tools = shown.iter().filter_map(|api| base.tools.bodies.get(api.index()).cloned()).collect();
    Reply::new(200, Body::Object(vec![("tools".into(), Body::List(tools))]))
}

#[cfg(test)]
mod tests;
