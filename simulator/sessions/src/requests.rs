//! Owns the creation requests of sessions, and their limits.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use diorama_engine::fault::Rule;
use diorama_engine::tools::SearchVersion;

/// Maximum number of sessions that one request makes.
pub(crate) const MAX_COPIES: u32 = 10_000;
/// Maximum lease: 400 days.
pub const MAX_LEASE_SECONDS: u64 = 34_560_000;

/// A request for new sessions.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"world": "dental_clinic", "seed": 7, "clock": "2026-03-02T09:00"}]))]
pub struct CreateRequest {
    /// May be left out where one world is served, or with a task.
    pub world: Option<String>,
    /// New keys, tokens and faults follow from it; 0 when left out.
    #[schemars(range(min = 0, max = u64::MAX))]
    pub seed: Option<u64>,
    /// Where the clock starts, such as 2026-03-02T09:00.
    pub clock: Option<String>,
    /// The faults to inject.
    #[schemars(with = "Option<Vec<Rule>>")]
    pub faults: Option<Vec<Json>>,
    /// The id of a task.
    pub task: Option<String>,
    /// How many sessions, all with the same start; 1 when left out.
    #[schemars(range(min = 1, max = MAX_COPIES))]
    pub n: Option<u32>,
    /// How long it lives when nobody asks for it; 0 is for ever.
    #[schemars(range(min = 0, max = MAX_LEASE_SECONDS))]
    pub lease_seconds: Option<u64>,
    /// The version of the search that ToolSearcher does: the task's when left out.
    #[schemars(extend("enum" = or_null(SearchVersion::ALL.map(SearchVersion::name))))]
    pub search: Option<String>,
}

/// A request for sessions that start where another is.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"n": 8, "at": 3}]))]
pub struct ForkRequest {
    /// How many sessions; 1 when left out.
    #[schemars(range(min = 1, max = MAX_COPIES))]
    pub n: Option<u32>,
    /// As it was after so many calls; now when left out.
    pub at: Option<usize>,
}

/// The arguments of the tool `ask_user`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskUser {
    pub(crate) question: String,
}

/// Returns the names and null, for the enum of a schema.
pub fn or_null(names: impl IntoIterator<Item = &'static str>) -> Json {
    names.into_iter().map(|name| json!(name)).chain([Json::Null]).collect()
}
