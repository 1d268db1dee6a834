//! Contracts: what the JSON Schemas of a document promise about bodies.
//!
//! Owns two questions about a schema: whether a value is valid by it ([`Schemas::check`]), and which valid value shows what
//! is known of a record ([`Schemas::reply`]). Pure: the same schema, facts and seeds give the same value. It knows nothing
//! of resources; who asks says what is known.

mod check;
mod format;
mod headers;
mod make;
mod merge;
mod sample;

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

pub use check::{Side, Wrong};
pub use format::fits as fits_format;
pub use make::{Facts, Known, List, Listed, Lookup, Named};

use crate::english::{singular, split_identifier, stem};
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
    /// The schemas of a success's headers, by name.
    pub headers: Vec<(String, Json)>,
    /// The body is a form: one that is empty is no missing body.
    pub form: bool,
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

    /// The defaults of the members that a body leaves out.
    #[must_use]
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
    /// Whether a body must have members, whichever they are.
    #[must_use]
    pub fn needs_members(&self) -> bool {
        let schema = self.request.as_ref().map(|schema| self.schemas.resolve(schema));
        schema.and_then(|schema| schema.get("minProperties")?.as_f64()).is_some_and(|least| least >= 1.0)
    }

    /// The members of a form, whose texts may spell numbers, lists or objects: of each the first reading that its schema
    /// takes.
    #[must_use]
    pub fn form(&self, pairs: IndexMap<String, Vec<String>>) -> Map<String, Json> {
        let flat = self.request.as_ref().map(|schema| self.schemas.flat(schema)).unwrap_or_default();
        let ways = flat.ways.iter().map(|way| self.schemas.flat(way).members);
        let all: Vec<Cow<'_, Map<String, Json>>> =
            std::iter::once(flat.members.clone()).chain(ways).collect();
        let schema = |name: &str| all.iter().find_map(|members| members.get("properties")?.get(name));
        let mut members: Map<String, Json> = Map::new();
        for (name, texts) in pairs {
            let value = self.spelt(schema(&name), &texts);
            members.insert(name, value);
        }
        members
    }

    /// The first reading of a form's texts that a schema takes.
    fn spelt(&self, schema: Option<&Json>, texts: &[String]) -> Json {
        let read = |text: &str| serde_json::from_str::<Json>(text).ok();
        let only = texts.first().filter(|_| texts.len() == 1);
        let plain = only.map(|text| Json::from(text.as_str()));
        let whole = only.and_then(|text| read(text));
        let list = || Json::Array(texts.iter().map(|text| Json::from(text.as_str())).collect());
        let items = texts.iter().map(|text| read(text).unwrap_or_else(|| Json::from(text.as_str())));
        let readings = [plain.clone(), whole, Some(list()), Some(Json::Array(items.collect()))];
        let fits = |value: &Json| {
            schema.is_none_or(|schema| self.schemas.check(schema, value, Side::Request).is_ok())
        };
        readings.into_iter().flatten().find(fits).or(plain).unwrap_or_else(list)
    }
}

/// The name that a schema refers to.
pub(crate) fn reference(schema: &Json) -> Option<&str> {
    check::word(schema.as_object()?, "$ref")?.as_str()?.strip_prefix("#/schemas/")
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
    singular(&plain(name))
}

/// Which of a few values something begins with: the first of which the other members do not tell when it came to it, as
/// `accepted_at` does of `accepted`.
#[must_use]
pub fn first_state<'v>(values: impl Iterator<Item = &'v str> + Clone, beside: &[&str]) -> Option<&'v str> {
    let told =
        |name: &&str| matches!(&*split_identifier(name), [verb, at] if at == "at" && stem(verb) != "creat");
    let later: Vec<String> =
        beside.iter().filter(|name| told(name)).map(|name| stem(name.trim_end_matches("_at"))).collect();
    values.clone().find(|value| !later.contains(&stem(value))).or_else(|| values.clone().next())
}

/// Whether a member or a value tells that something is no longer there: `deleted_at`, `isTrashed`, `purged`.
#[must_use]
pub fn is_gone(name: &str) -> bool {
    // Most names need no closer look.
    name.to_ascii_lowercase().contains("ed")
        && split_identifier(name)
            .iter()
            .any(|word| word.ends_with("ed") && REMOVING.iter().any(|verb| stem(verb) == stem(word)))
}

/// Verbs after which what they are done to is no longer there.
const REMOVING: [&str; 8] =
    ["delete", "remove", "trash", "purge", "erase", "destroy", "discard", "terminate"];

/// Whether a value is a state that passes by itself: `pending`, `initializing`.
#[must_use]
pub fn is_passing(value: &str) -> bool {
    split_identifier(value).first().is_some_and(|word| word.len() > 5 && word.ends_with("ing"))
}

/// Whether a value is a state in which nothing more happens: `failed`, `expired`.
#[must_use]
pub fn is_over(value: &str) -> bool {
    const OVER: [&str; 11] = [
        "succeeded",
        "completed",
        "failed",
        "cancelled",
        "canceled",
        "finished",
        "ended",
        "expired",
        "closed",
        "done",
        "resolved",
    ];
    OVER.contains(&value)
}

/// Whether a member tells what went wrong.
#[must_use]
pub fn tells_error(name: &str) -> bool {
    // Most names need no closer look.
    name.to_ascii_lowercase().contains("error")
        && split_identifier(name).iter().any(|word| word == "error" || word == "errors")
}

/// Names that hold a key of whatever object they stand in.
pub const KEYS: [&str; 4] = ["id", "sid", "uuid", "guid"];
/// Names of keys that say nothing of whose they are.
pub const ANY_KEY: [&str; 12] =
    ["id", "sid", "uuid", "guid", "name", "title", "slug", "code", "key", "token", "number", "index"];
/// Segments of paths that mean whoever asks.
pub const ME: [&str; 4] = ["me", "@me", "self", "current"];
/// Endings of names that hold a key.
const KEY_ENDINGS: [&str; 12] =
    ["uuid", "guid", "sid", "id", "key", "slug", "code", "name", "number", "login", "token", "handle"];

/// The noun and the ending of a name that holds a key: `user` and `id` of `user_id`, nothing and `id` of `id`.
#[must_use]
pub fn key_name(name: &str) -> Option<(String, &'static str)> {
    let letters = plain(name);
    // Most names need no closer look.
    let found = KEY_ENDINGS.into_iter().find(|ending| letters.ends_with(ending))?;
    // `alias_id` ends with `id`, whatever `aliasid` ends with.
    let last = split_identifier(name).pop();
    let ending = KEY_ENDINGS.into_iter().find(|ending| last.as_deref() == Some(*ending)).unwrap_or(found);
    let stem = letters.strip_suffix(ending).unwrap_or_default();
    Some((noun(stem), ending))
}

#[cfg(test)]
mod tests;
