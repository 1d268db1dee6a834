//! Owns the replies of the server's own API. The OpenAPI document has their schemas.
//!
//! Types that are marked as unused describe replies that are written as text, which is faster or smaller.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::search::ApiHit;
use diorama_engine::fault::{FiredFault, Rule};
use diorama_seeds::model::Method;
use diorama_sessions::TaskSummary;

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    #[schemars(extend("enum" = ["ok", "ready"]))]
    pub(super) status: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WorldList {
    pub(super) worlds: Vec<WorldSummary>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WorldSummary {
    /// The name that sessions are created by.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) domains: Vec<String>,
    pub(super) resources: usize,
    pub(super) apis: usize,
    /// The seed of its made-up records.
    pub(super) seed: u64,
    /// True if it stands for a public benchmark.
    pub(super) benchmark: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WorldDetail {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) domains: Vec<String>,
    pub(super) resources: Vec<ResourceSummary>,
    pub(super) apis: Vec<ApiSummary>,
    pub(super) seed: u64,
    pub(super) benchmark: bool,
    /// The hash of the world's canonical form.
    pub(super) hash: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ResourceSummary {
    pub(super) name: String,
    pub(super) description: String,
    /// The field that is its key.
    pub(super) key: String,
    pub(super) fields: Vec<String>,
    pub(super) records: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ApiSummary {
    pub(super) name: String,
    pub(super) domain: Option<String>,
    #[schemars(extend("enum" = Method::ALL))]
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) description: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct TaskList {
    pub(super) total: usize,
    pub(super) offset: usize,
    pub(super) tasks: Vec<TaskSummary>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchReply {
    // The hits are a JSON tree, because their scores keep all digits of a double.
    #[schemars(with = "Vec<ApiHit>")]
    pub(super) hits: Json,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(super) struct SessionView {
    /// Cannot be guessed; whoever has it may call the session's APIs.
    pub(super) id: String,
    /// The absolute URL of its REST API.
    pub(super) base_url: String,
    pub(super) world: String,
    pub(super) world_hash: String,
    pub(super) seed: u64,
    pub(super) clock: String,
    pub(super) zone: String,
    /// The version of the search that ToolSearcher does.
    pub(super) search: &'static str,
    pub(super) task: Option<String>,
    pub(super) calls: usize,
    pub(super) state_hash: String,
    pub(super) graded: bool,
    /// Values of parameters that no reply lists: a subscription, a project.
    #[schemars(with = "BTreeMap<String, Json>")]
    pub(super) given: Map<String, Json>,
    /// The credentials of a client of its REST API, by the name of the security scheme.
    #[schemars(with = "BTreeMap<String, Credential>")]
    pub(super) credentials: Map<String, Json>,
    pub(super) faults: Vec<Rule>,
    pub(super) lease_seconds: u64,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "its schema is used")]
struct Credential {
    r#type: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NewSessions {
    #[serde(flatten)]
    pub(super) first: SessionView,
    /// Opens the admin API for this session alone.
    pub(super) token: String,
    #[schemars(length(min = 1))]
    pub(super) sessions: Vec<SessionAccess>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionAccess {
    pub(super) id: String,
    pub(super) base_url: String,
    pub(super) token: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    pub(super) total: usize,
    pub(super) offset: usize,
    pub(super) sessions: Vec<SessionView>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct State {
    pub(super) clock: String,
    pub(super) state_hash: String,
    /// Records by resource.
    #[schemars(with = "BTreeMap<String, Vec<Map<String, Json>>>")]
    pub(super) resources: Map<String, Json>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Diff {
    pub(super) changes: Vec<Change>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Change {
    pub(super) resource: String,
    #[schemars(extend("enum" = ["created", "updated", "deleted"]))]
    pub(super) kind: &'static str,
    pub(super) key: Json,
    pub(super) before: Option<Map<String, Json>>,
    pub(super) after: Option<Map<String, Json>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is used")]
pub(super) struct Log {
    total: usize,
    offset: usize,
    calls: Vec<LoggedCall>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LoggedCall {
    pub(super) n: usize,
    pub(super) api: String,
    pub(super) arguments: Map<String, Json>,
    pub(super) clock: String,
    pub(super) status: u16,
    pub(super) body: Json,
    pub(super) changes: Vec<Change>,
    pub(super) faults: Vec<FiredFault>,
    /// The rule of the domain's policy that the call broke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<String>,
    /// The rule of the domain's policy by which the call needs a yes of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) needs: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is used")]
pub(super) struct CallReply {
    #[schemars(range(min = 100, max = 999))]
    status: u16,
    body: Json,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is used")]
pub(super) struct BatchReply {
    /// One result for each call, in the order of the calls.
    results: Vec<BatchResult>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "its schema is used")]
enum BatchResult {
    Reply {
        #[schemars(range(min = 100, max = 999))]
        status: u16,
        body: Json,
        /// The server did not make the call; the body is its problem.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "bool", extend("const" = true))]
        refused: Option<bool>,
        /// The call was made, and its reply is too large beside the others; the body is the problem.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "bool", extend("const" = true))]
        withheld: Option<bool>,
        /// Seconds after which to ask again.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        retry_after: Option<u32>,
    },
    Dropped {
        /// A fault: the reply was lost on its way.
        #[schemars(extend("const" = true))]
        dropped: bool,
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Task")]
pub(super) struct TaskView {
    pub(super) id: String,
    pub(super) system: String,
    pub(super) user: String,
    #[schemars(with = "Vec<Map<String, Json>>")]
    pub(super) tools: Vec<Json>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Tools {
    pub(super) id: String,
    pub(super) world: String,
    /// True if an agent has to search before it may call.
    pub(super) searches: bool,
    #[schemars(with = "Vec<Map<String, Json>>")]
    pub(super) tools: Vec<Json>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is used")]
pub(super) struct Verdicts {
    passes: bool,
    gates: Vec<Map<String, Json>>,
}
