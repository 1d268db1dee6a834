//! Owns the tool index: the schemas and search indexes of a world's APIs, built once per base.

use std::sync::{Arc, OnceLock};

use diorama_seeds::model::{
    Api, ApiId, Behaviour, BehaviourKind, DomainId, Method, Parameter, Place, Reply as Shown, World,
};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::GoldCall;
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::Value as Json;

use super::schema;
use super::search::Pool;
use crate::reply::{Body, Origin};
use crate::search::{ToolFinder, entries};

/// The implicit API that finds APIs. Its only parameter is the string `keywords`.
pub const TOOL_SEARCHER: &str = "ToolSearcher";

/// Returns true if the solution needs a reference call: it is neither a tool search nor a deliberate mistake.
#[must_use]
pub fn is_of_solution(call: &GoldCall) -> bool {
    call.api != TOOL_SEARCHER && !call.mistake
}

/// Maximum number of hits of a search.
pub const MAX_HITS: usize = 5;

/// The schemas of a world's APIs and the search indexes, built once per base.
#[derive(Debug)]
pub(crate) struct ToolIndex {
    pub(super) schemas: Vec<Arc<Json>>,
    pub(super) bodies: Vec<Body>,
    /// Built when a session first searches by `toolsearch/1`.
    pub(super) pool: OnceLock<Pool>,
    /// Built when a session first searches by `toolsearch/3`.
    pub(super) finder: OnceLock<Option<ToolFinder>>,
    pub(super) sign_in: Vec<Option<ApiId>>,
    pub(crate) searcher: Api,
    pub(super) searcher_schema: Json,
}

impl ToolIndex {
    pub(crate) fn new(world: &World) -> Self {
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

/// Returns a function object as a body with one leaf per member. Replies share the leaves instead of copying
/// a tree.
fn function_body(function: &Json) -> Body {
    let Json::Object(members) = function else { return Body::from_json(function) };
    let any = Schema::of(Type::Any);
    let member = |(name, json): (&String, &Json)| {
        let value = any.parse_json(json, &Zone::utc()).unwrap_or(Value::Null);
        (Str::from(name.as_str()), Body::Leaf(value, Origin::Constant))
    };
    Body::Object(members.iter().map(member).collect())
}

/// Builds the search by `toolsearch/3`. Returns none only if the program's model files are damaged, which a
/// test excludes.
pub(super) fn finder(world: &World) -> Option<ToolFinder> {
    let mut entries = entries("", world);
    // The API that issues a token follows the hit that needs it, so it must not take the place of a hit.
    for entry in &mut entries {
        entry.inputs.retain(|input| !input.thing.ends_with("/token"));
    }
    ToolFinder::new(entries).ok()
}

fn searcher() -> Api {
    let keywords = Parameter {
        name: "keywords".into(),
        schema: Schema::of(Type::String),
        required: true,
        default: None,
        told: false,
        sent_as: None,
        separator: None,
        hidden: false,
        place: Place::Query,
        description: "What the wanted APIs do, in a few words".into(),
        label: "keywords".into(),
        free_text: true,
        field: None,
        synonyms: Default::default(),
    };
    Api {
        source_api: None,
        name: TOOL_SEARCHER.into(),
        domain: DomainId(0),
        method: Method::Get,
        path: "".into(),
        chosen_by: Vec::new(),
        description: "Finds APIs by keywords and shows how to call them.".into(),
        measures: "".into(),
        search: Vec::new(),
        parameters: vec![keywords],
        token: None,
        errors: Vec::new(),
        security: Vec::new(),
        contract: None,
        behaviour: Behaviour {
            kind: BehaviourKind::Compute(Vec::new()),
            bindings: Vec::new(),
            rules: Vec::new(),
            replaced: Vec::new(),
            misreadings: Vec::new(),
            confirms: Vec::new(),
            require: Vec::new(),
            also: Vec::new(),
            keep: None,
            upsert: false,
            each: None,
        },
        reply: Shown {
            made: None,
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
