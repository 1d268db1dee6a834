//! Contracts of APIs, and what they make of the bodies of requests.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::check::Side;
use super::schemas::Schemas;
use crate::model::ids::ParameterId;

/// Promises of an API about its bodies.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The schemas that those below refer to.
    pub schemas: Arc<Schemas>,
    /// The schema of the request's body.
    pub request: Option<Json>,
    /// The parameter that holds the body as a whole, where it is no object whose members are parameters.
    pub whole: Option<ParameterId>,
    /// The schema of a success; nothing where a success has no JSON.
    pub reply: Option<Json>,
    /// Media types of a success; none where it is JSON alone.
    pub kinds: Vec<String>,
    /// The schemas of a success's headers, by name.
    pub headers: Vec<(String, Json)>,
    /// The body is a form: one that is empty is no missing body.
    pub form: bool,
    /// A change merges members of objects inside the body (RFC 7396).
    pub merge: bool,
    /// The members of the body, each in the one before, that hold the members of the record.
    pub inside: Vec<String>,
    /// A request over HTTP must have a body.
    pub needs_body: bool,
    /// The status of a body that is not valid.
    pub refusal: u16,
}

impl Schemas {
    /// The defaults of the members that a body leaves out.
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
    /// The members that a request's body must have.
    pub fn required_members(&self) -> Vec<String> {
        let Some(schema) = &self.request else { return Vec::new() };
        let flat = self.schemas.flat(schema);
        let names = flat.members.get("required").and_then(Json::as_array);
        names.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// True when a body must have members, whichever they are.
    pub fn needs_members(&self) -> bool {
        let schema = self.request.as_ref().map(|schema| self.schemas.resolve(schema));
        schema.and_then(|schema| schema.get("minProperties")?.as_f64()).is_some_and(|least| least >= 1.0)
    }
}
