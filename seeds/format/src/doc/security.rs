//! Owns the part of the world format that describes how HTTP callers authenticate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire;
use super::words::KeyPlace;
use indexmap::IndexMap;

/// A way to prove who one is over HTTP. Tool calls inside a session need none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SecurityDoc {
    /// A key under a name of its own.
    ApiKey {
        /// The part of the request that has the key.
        #[serde(rename = "in")]
        place: KeyPlace,
        /// Name of the header, parameter or cookie.
        name: String,
    },
    /// `Authorization: Bearer`.
    Bearer {},
    /// `Authorization: Basic`.
    Basic {},
    /// `Authorization: Bearer` with a token that the world issues.
    Oauth2 {
        /// The path at which tokens are issued.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_path: Option<String>,
        /// The scopes there are, with what they allow.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
        scopes: IndexMap<String, String>,
    },
}
