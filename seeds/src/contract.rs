//! Contracts: what the JSON Schemas of a document promise about bodies.
//!
//! Owns two questions about a schema: whether a value is valid by it ([`Schemas::check`]), and which valid value shows what
//! is known of a record ([`Schemas::reply`]). Pure: the same schema, facts and seeds give the same value. It knows nothing
//! of resources; who asks says what is known.

mod check;
mod make;
mod merge;
mod sample;

use std::sync::Arc;

use serde_json::{Map, Value as Json};

pub use check::{Side, Wrong};
pub use make::{Facts, Known, List, Lookup, Named};

use crate::model::ParameterId;

/// Schemas by name, to which others refer as `#/schemas/Name`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schemas(Map<String, Json>);

/// What an API promises of its bodies.
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
    /// The status of a body that is not valid.
    pub refusal: u16,
}

impl Schemas {
    /// Schemas by name.
    #[must_use]
    pub const fn new(schemas: Map<String, Json>) -> Self {
        Self(schemas)
    }

    /// All schemas, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.0.iter()
    }

    /// The schema behind references, at most 32 in a row.
    pub(crate) fn resolve<'s>(&'s self, mut schema: &'s Json) -> &'s Json {
        for _ in 0..32 {
            let Some(target) = self.target(schema) else { return schema };
            schema = target;
        }
        &Json::Bool(true)
    }

    /// What a schema that is only a reference refers to.
    pub(crate) fn target<'s>(&'s self, schema: &Json) -> Option<&'s Json> {
        const ANYTHING: &Json = &Json::Bool(true);
        let reference = reference(schema)?;
        Some(self.0.get(reference).unwrap_or(ANYTHING))
    }
}

impl Contract {
    /// The lists that a body must have.
    #[must_use]
    pub fn lists(&self) -> Vec<String> {
        let flat = self.request.as_ref().map(|schema| self.schemas.flat(schema)).unwrap_or_default();
        let required = flat.members.get("required").and_then(Json::as_array).into_iter().flatten();
        let is_list = |name: &&str| {
            let schema = flat.members.get("properties").and_then(|properties| properties.get(*name));
            schema.is_some_and(|schema| {
                let kind = self.schemas.flat(schema).members;
                kind.get("type").is_some_and(|kind| kind == "array") && !kind.contains_key("minItems")
            })
        };
        required.filter_map(Json::as_str).filter(is_list).map(str::to_owned).collect()
    }

    /// A member of a form, whose texts may spell a number, a list or an object: the first reading that its schema takes.
    #[must_use]
    pub fn spelt(&self, name: &str, texts: &[String]) -> Json {
        let list = || texts.iter().map(|text| Json::from(text.as_str())).collect::<Vec<_>>();
        let first = texts.first().map_or("", String::as_str);
        let flat = self.request.as_ref().map(|schema| self.schemas.flat(schema)).unwrap_or_default();
        let ways = flat.ways.iter().map(|way| self.schemas.flat(way).members);
        let all: Vec<Map<String, Json>> = std::iter::once(flat.members.clone()).chain(ways).collect();
        let member = all.iter().find_map(|members| members.get("properties")?.get(name));
        let read = |text: &str| serde_json::from_str::<Json>(text).ok();
        let plain = (texts.len() == 1).then(|| Json::from(first));
        let whole = (texts.len() == 1).then(|| read(first)).flatten();
        let items = texts.iter().map(|text| read(text).unwrap_or_else(|| Json::from(text.as_str())));
        let readings = [plain.clone(), whole, Some(Json::Array(list())), Some(Json::Array(items.collect()))];
        let fits = |value: &Json| {
            member.is_none_or(|schema| self.schemas.check(schema, value, Side::Request).is_ok())
        };
        readings.into_iter().flatten().find(fits).or(plain).unwrap_or_else(|| Json::Array(list()))
    }
}

/// The name that a schema refers to.
pub(crate) fn reference(schema: &Json) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/schemas/")
}

/// A name without case and punctuation, as members of different spellings are compared: `ConversationSid` is
/// `conversation_sid`.
#[must_use]
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The singular of a plain name, as far as its last letters tell.
#[must_use]
pub fn noun(name: &str) -> String {
    let name = plain(name);
    if let Some(stem) = name.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    match name.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

/// Endings of names that hold a key.
const KEY_ENDINGS: [&str; 12] =
    ["uuid", "guid", "sid", "id", "key", "slug", "code", "name", "number", "login", "token", "handle"];

/// The noun and the ending of a name that holds a key: `user` and `id` of `user_id`, nothing and `id` of `id`.
#[must_use]
pub fn key_name(name: &str) -> Option<(String, &'static str)> {
    let name = plain(name);
    let ending = KEY_ENDINGS.into_iter().find(|ending| name.ends_with(ending))?;
    let stem = name.strip_suffix(ending).unwrap_or_default();
    Some((noun(stem), ending))
}

#[cfg(test)]
mod tests;
