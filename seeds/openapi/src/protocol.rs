//! Finds parameters with fixed values, which users never say.

use diorama_seeds::contract::plain;
use serde_json::{Value as Json, json};

use super::document::{Parameter, Place};
use super::shape::Kind;

/// Plain names of protocol parameters, which say nothing about the request.
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

/// Returns the value of a fixed required parameter: its only one, or any where it belongs to the protocol.
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

/// Returns true if a parameter belongs to the protocol.
pub(super) fn is_protocol(parameter: &Parameter) -> bool {
    let name = plain(&parameter.name);
    let is_outside = parameter.place == Place::Header || parameter.place == Place::Query;
    is_outside && (PROTOCOL.contains(&&*name) || name.starts_with("xamz"))
}
