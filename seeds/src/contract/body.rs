//! Owns the contracts of APIs, and their effect on request bodies.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::check::Side;
use super::schemas::Schemas;
use crate::model::ids::ParameterId;

/// Promises of an API about its bodies.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The schemas to which the other members refer.
    pub schemas: Arc<Schemas>,
    /// Schema of the request body.
    pub request: Option<Json>,
    /// Parameter for the whole body, if the body is not an object whose members are parameters.
    pub whole: Option<ParameterId>,
    /// Schema of a success. None means that a success has no JSON.
    pub reply: Option<Json>,
    /// Media types of a success. The list is empty if JSON is the only one.
    pub kinds: Vec<String>,
    /// Schemas of the headers of a success, by name.
    pub headers: Vec<(String, Json)>,
    /// True if the body is a form. An empty form does not count as a missing body.
    pub form: bool,
    /// True if a change merges members of objects inside the body (RFC 7396).
    pub merge: bool,
    /// Path of member names to the object that holds the members of the record.
    pub inside: Vec<String>,
    /// True if a request over HTTP must have a body.
    pub needs_body: bool,
    /// HTTP status for an invalid body.
    pub refusal: u16,
}

impl Schemas {
    /// Returns the defaults of the members that the body lacks.
    pub fn defaults(&self, schema: &Json, body: &Map<String, Json>) -> Map<String, Json> {
        let flat = self.flat(schema);
        let sent = Json::Object(body.clone());
        let way = flat.ways.iter().find(|way| self.check(way, &sent, Side::Request).is_ok());
        let flat = way.map_or_else(|| flat.clone(), |way| self.with(&flat, way));
        let members = flat.members.get("properties").and_then(Json::as_object);
        let unsent = members.into_iter().flatten().filter(|(name, _)| !body.contains_key(*name));
        unsent
            .filter_map(|(name, part)| Some((name.clone(), self.flat(part).members.get("default")?.clone())))
            .collect()
    }
}

impl Contract {
    /// Returns the required members of a request body.
    pub fn required_members(&self) -> Vec<String> {
        let Some(schema) = &self.request else { return Vec::new() };
        let flat = self.schemas.flat(schema);
        let names = flat.members.get("required").and_then(Json::as_array);
        names.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// Returns true if a body must have at least one member, of any name.
    pub fn needs_members(&self) -> bool {
        let schema = self.request.as_ref().map(|schema| self.schemas.resolve(schema));
        schema.and_then(|schema| schema.get("minProperties")?.as_f64()).is_some_and(|least| least >= 1.0)
    }
}
