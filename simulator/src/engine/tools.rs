//! APIs as the tools of a language model, and the search among them.
//!
//! Owns the function schemas (OpenAI's format) and `ToolSearcher`, the implicit API of every session. The search
//! is part of the replay contract: `toolsearch/3` stays what it is, and a better one gets its own version.
//! `toolsearch/1` is kept for the rows that name it.

mod schema;
mod search;
mod version;

use std::sync::{Arc, OnceLock};

use diorama_seeds::model::{
    Api, ApiId, Behaviour, BehaviourKind, DomainId, Method, Parameter, Place, Reply as Shown, World,
};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::Value as Json;

use self::search::Pool;
pub use self::version::SearchVersion;
use super::base::Base;
use super::reply::{Body, Origin, Reply};
use crate::search::{ToolFinder, entries};

/// The implicit API that finds APIs: `{keywords: string}`.
pub const TOOL_SEARCHER: &str = "ToolSearcher";

/// How many hits a search has, at most.
pub const MAX_HITS: usize = 5;

/// An API that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The API.
    pub api: ApiId,
    /// How well it fits; greater is better. Comparable within one search only.
    pub score: u32,
}

/// The schemas of a world's APIs and the index of the search, made once for each base.
#[derive(Debug)]
pub(super) struct ToolIndex {
    schemas: Vec<Arc<Json>>,
    bodies: Vec<Body>,
    /// Made when a session searches by `toolsearch/1`.
    pool: OnceLock<Pool>,
    /// Made when a session searches by `toolsearch/3`.
    finder: OnceLock<Option<ToolFinder>>,
    sign_in: Vec<Option<ApiId>>,
    pub(super) searcher: Api,
    searcher_schema: Json,
}

/// An API in OpenAI's function format.
#[must_use]
pub fn tool_schema(world: &World, api: ApiId) -> Json {
    world.apis.get(api.index()).map_or(Json::Null, |api| schema::function(api, world))
}

/// A declared type as JSON Schema, as function schemas and served documents write it.
#[must_use]
pub fn json_schema(world: &World, schema: &Schema) -> Json {
    schema::json_schema(schema, &world.zone)
}

/// The APIs that fit keywords best: at most five, best first, ties by name.
#[must_use]
pub fn tool_search(base: &Base, version: SearchVersion, keywords: &str) -> Vec<Hit> {
    let world = base.world();
    match version {
        SearchVersion::V1 => {
            let mut hits = base.tools.pool.get_or_init(|| Pool::new(world)).ranked(world, keywords);
            hits.truncate(MAX_HITS);
            hits
        }
        SearchVersion::V3 => {
            let finder = base.tools.finder.get_or_init(|| finder(world));
            let found = finder.iter().flat_map(|finder| finder.found(keywords, MAX_HITS));
            found.map(|(position, score)| Hit { api: ApiId(position as u16), score }).collect()
        }
    }
}

/// The search by `toolsearch/3`; none only in a program whose model files are damaged, which a test loads.
fn finder(world: &World) -> Option<ToolFinder> {
    let mut entries = entries("", world);
    // The API that issues a token is shown after the hit that needs it, and takes no hit's place.
    for entry in &mut entries {
        entry.inputs.retain(|input| !input.thing.ends_with("/token"));
    }
    ToolFinder::new(entries).ok()
}

/// The APIs that a `ToolSearcher` reply shows: the hits, each one that needs a token followed by the API that
/// issues it.
#[must_use]
pub fn tools_shown(base: &Base, version: SearchVersion, keywords: &str) -> Vec<ApiId> {
    let mut shown = Vec::new();
    let hits = tool_search(base, version, keywords);
    for hit in &hits {
        if !shown.contains(&hit.api) {
            shown.push(hit.api);
        }
        let api = base.world().api(hit.api);
        if api.token.is_some()
            && let Some(sign_in) = base.sign_in_api(api.domain)
            && !shown.contains(&sign_in)
        {
            shown.push(sign_in);
        }
    }
    shown
}

impl Base {
    /// An API in OpenAI's function format, made once.
    #[must_use]
    pub fn tool_schema(&self, api: ApiId) -> Option<&Arc<Json>> {
        self.tools.schemas.get(api.index())
    }

    /// `ToolSearcher` in OpenAI's function format.
    #[must_use]
    pub const fn tool_searcher_schema(&self) -> &Json {
        &self.tools.searcher_schema
    }

    /// What a caller is shown at the start: the schemas of the visible APIs, or `ToolSearcher`'s where none is.
    #[must_use]
    pub fn shown_tools(&self, visible: &[ApiId]) -> Vec<&Json> {
        if visible.is_empty() {
            return vec![self.tool_searcher_schema()];
        }
        visible.iter().filter_map(|api| self.tool_schema(*api)).map(AsRef::as_ref).collect()
    }

    /// The API with which users of a domain sign in.
    #[must_use]
    pub fn sign_in_api(&self, domain: DomainId) -> Option<ApiId> {
        self.tools.sign_in.get(domain.index()).copied().flatten()
    }
}

impl ToolIndex {
    pub(super) fn new(world: &World) -> Self {
        let schemas: Vec<_> = world.apis.iter().map(|api| Arc::new(schema::function(api, world))).collect();
        let bodies =
            schemas.iter().map(|schema| function_body(schema.get("function").unwrap_or(&Json::Null)));
        let sign_in = (0..world.domains.len()).map(|domain| {
            let signs_in = |api: &Api| {
                api.domain.index() == domain && matches!(api.behaviour.kind, BehaviourKind::SignIn { .. })
            };
            world.apis.iter().position(signs_in).map(|position| ApiId(position as u16))
        });
        let searcher = searcher();
        Self {
            bodies: bodies.collect(),
            pool: OnceLock::new(),
            finder: OnceLock::new(),
            sign_in: sign_in.collect(),
            searcher_schema: schema::function(&searcher, world),
            searcher,
            schemas,
        }
    }
}

/// A function object whose members are single leaves: a reply that shows it shares them instead of copying a tree.
fn function_body(function: &Json) -> Body {
    let Json::Object(members) = function else { return Body::from_json(function) };
    let any = Schema::of(Type::Any);
    let member = |(name, json): (&String, &Json)| {
        let value = any.parse_json(json, &Zone::utc()).unwrap_or(Value::Null);
        (Str::from(name.as_str()), Body::Leaf(value, Origin::Constant))
    };
    Body::Object(members.iter().map(member).collect())
}

/// What `ToolSearcher` answers.
pub(super) fn search_reply(base: &Base, version: SearchVersion, arguments: &[Value]) -> Reply {
    let keywords = arguments.first().and_then(Value::as_str).unwrap_or("");
    let shown = tools_shown(base, version, keywords);
    let tools = shown.iter().filter_map(|api| base.tools.bodies.get(api.index()).cloned()).collect();
    Reply { status: 200, body: Body::Object(vec![("tools".into(), Body::List(tools))]) }
}

fn searcher() -> Api {
    let keywords = Parameter {
        name: "keywords".into(),
        schema: Schema::of(Type::String),
        required: true,
        default: None,
        place: Place::Query,
        description: "What the wanted APIs do, in a few words".into(),
        label: "keywords".into(),
        free_text: true,
        field: None,
        synonyms: Default::default(),
    };
    Api {
        name: TOOL_SEARCHER.into(),
        domain: DomainId(0),
        method: Method::Get,
        path: "".into(),
        description: "Finds APIs by keywords and shows how to call them.".into(),
        search: Vec::new(),
        parameters: vec![keywords],
        token: None,
        errors: Vec::new(),
        security: Vec::new(),
        contract: None,
        behaviour: Behaviour {
            kind: BehaviourKind::Compute(Vec::new()),
            bindings: Vec::new(),
            require: Vec::new(),
            also: Vec::new(),
            keep: None,
            upsert: false,
            each: None,
        },
        reply: Shown {
            status: 200,
            members: Vec::new(),
            items: "".into(),
            total: "".into(),
            paging: Vec::new(),
            envelope: None,
            with: Vec::new(),
        },
        slots: 0,
    }
}

#[cfg(test)]
mod tests;
