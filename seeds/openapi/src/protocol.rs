//! Parameters whose values nobody has to say.

use diorama_seeds::contract::plain;
use serde_json::{Value as Json, json};

use super::document::{Parameter, Place};
use super::shape::Kind;

/// Parameters of the protocol, which say nothing of what is wanted: plain names.
const PROTOCOL: [&str; 12] = [
    "accesstoken",
    "apiversion",
    "fields",
    "oauthtoken",
    "alt",
    "prettyprint",
    "quotauser",
    "userip",
    "uploadtype",
    "uploadprotocol",
    "xgafv",
    "callback",
];

/// The value of a required parameter that nobody has to say: its only one, or any where it belongs to the protocol.
pub(super) fn fixed(parameter: &Parameter) -> Option<Json> {
    if parameter.place == Place::Path || !parameter.required {
        return None;
    }
    let shape = &parameter.shape;
    let is_protocol = is_protocol(parameter);
    match &shape.kind {
        Kind::Enum(values) if values.len() == 1 || is_protocol => values.first().map(|only| json!(only)),
        Kind::String if is_protocol => {
            let sample = shape.default.as_ref().or(shape.samples.first()).filter(|sample| sample.is_string());
            Some(sample.cloned().unwrap_or_else(|| json!("2024-01-01")))
        }
        _ => None,
    }
}

/// Whether a parameter belongs to the protocol, so that it is no matter of what is wanted.
pub(super) fn is_protocol(parameter: &Parameter) -> bool {
    let name = plain(&parameter.name);
    let is_outside = parameter.place == Place::Header || parameter.place == Place::Query;
    is_outside && (PROTOCOL.contains(&&*name) || name.starts_with("xamz"))
}
