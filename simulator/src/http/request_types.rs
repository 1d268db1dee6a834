//! Owns the bodies and query strings of the server's own API, and their bounds. The OpenAPI document has
//! their schemas.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::search::SearchBy;
use diorama_seeds::model::Method;
use diorama_sessions::{MAX_LEASE_SECONDS, or_null};

/// Maximum number of calls in one request.
pub(super) const MAX_BATCH_CALLS: usize = 4_096;
/// Maximum number of items on a page of a list, and of hits of a search.
pub(super) const MAX_PAGE_ITEMS: usize = 1_000;
/// Number of items on a page of a list, unless the request states one.
pub(super) const DEFAULT_PAGE_ITEMS: usize = 100;
/// Maximum offset of a page, which is the greatest integer of many JSON parsers.
pub(super) const MAX_OFFSET: usize = i64::MAX as usize;
/// Formats of an export. The first is the default.
pub(super) const EXPORT_FORMATS: [&str; 3] = ["dialogue", "har", "curl"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"query": "book an appointment with a dentist", "k": 3}]))]
pub(super) struct SearchRequest {
    /// The API's purpose in plain words.
    pub(super) query: String,
    /// Hits at most; 5 when left out.
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    pub(super) k: Option<usize>,
    /// Only APIs of this world.
    pub(super) world: Option<String>,
    /// Only APIs of the domain of this name.
    pub(super) domain: Option<String>,
    /// Only APIs of this method.
    #[schemars(extend("enum" = or_null(Method::ALL.iter().map(|method| method.as_str()))))]
    pub(super) method: Option<String>,
    /// Which parts count: words, meaning, both, or both and what the hits need; the last when left out.
    #[schemars(extend("enum" = or_null(SearchBy::ALL.map(SearchBy::name))))]
    pub(super) by: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"clock": "2026-03-09T17:30"}]))]
pub(super) struct ClockRequest {
    /// A date-time in the world's zone.
    pub(super) clock: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"lease_seconds": 600}]))]
pub(super) struct HeartbeatRequest {
    /// The new lease; 0 is for ever. It stays as it is when left out.
    #[schemars(range(min = 0, max = MAX_LEASE_SECONDS))]
    pub(super) lease_seconds: Option<u64>,
}

/// Nothing: what an agent did and gave is judged as it stands.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{}]))]
pub(super) struct GradeRequest {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"api": "ToolSearcher", "arguments": {"keywords": "book an appointment"}}]))]
pub(super) struct CallRequest {
    pub(super) api: String,
    #[serde(default)]
    pub(super) arguments: Map<String, Json>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"calls": [
    {"session": "0f9c2d5e8a7b41630f9c2d5e8a7b4163", "api": "ToolSearcher", "arguments": {"keywords": "book a table"}}
]}]))]
pub(super) struct BatchRequest {
    /// Calls of one session are made in their order.
    #[schemars(length(max = MAX_BATCH_CALLS))]
    pub(super) calls: Vec<BatchCall>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchCall {
    /// The session's id.
    pub(super) session: String,
    pub(super) api: String,
    #[serde(default)]
    pub(super) arguments: Map<String, Json>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"content": "Which day would suit you?"}]))]
pub(super) struct MessageRequest {
    pub(super) content: String,
}

/// A proposed task with a proposed solution: `diorama schema candidate` has the whole form.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = ["candidate", "goals"]))]
#[schemars(rename = "Candidate")]
pub(super) struct CandidateHead {
    pub(super) world: Option<String>,
    #[serde(default, rename = "candidate")]
    #[schemars(extend("const" = 1))]
    _version: Json,
    #[serde(default, rename = "goals")]
    #[schemars(with = "Vec<Map<String, Json>>", length(min = 1))]
    _goals: Json,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PageQuery {
    /// The first item of the page; 0 when left out.
    #[schemars(with = "u64", range(min = 0, max = MAX_OFFSET))]
    pub(super) offset: Option<String>,
    /// Items on the page; 100 when left out.
    #[schemars(with = "u64", range(min = 0, max = MAX_PAGE_ITEMS))]
    pub(super) limit: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct StateQuery {
    /// Only records of this resource.
    #[schemars(with = "String")]
    pub(super) resource: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ExportQuery {
    #[schemars(with = "String", extend("enum" = EXPORT_FORMATS, "default" = EXPORT_FORMATS[0]))]
    pub(super) format: Option<String>,
    /// True if requests carry the credentials of the session's client where an API asks for them.
    pub(super) credentials: Option<Flag>,
}

/// True or false, as a query string spells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Flag {
    True,
    False,
}
