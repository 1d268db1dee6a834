//! Fills in missing reply schemas: a path that reads records answers in the shape that writes send.

use diorama_seeds::contract::noun;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::places::{Part, form, list, parts};
use crate::document::Operation;
use crate::examples;
use crate::shape::{Kind, Member, Shape};
use crate::words::is_id;

/// The schema and shape of a record, as requests send it.
struct SentRecord {
    schema: Json,
    shape: Shape,
}

/// Gives reads without a reply schema the records that are written at their paths.
/// A path that ends with a key shows one. A path above shows a list, as does one whose noun has records
/// elsewhere.
pub(super) fn say(root: &Json, operations: &mut [Operation]) {
    let mut keys: IndexMap<String, (String, Shape)> = IndexMap::new();
    let mut bodies: IndexMap<String, SentRecord> = IndexMap::new();
    let mut shown: IndexMap<String, SentRecord> = IndexMap::new();
    let mut listed: IndexMap<String, SentRecord> = IndexMap::new();
    for operation in operations.iter() {
        let parts = without_choice(parts(operation));
        let place = match parts.split_last() {
            Some((Part::Key(name), before @ [.., Part::Text(_)])) => {
                let shape = operation.key_shape(name).cloned().unwrap_or_default();
                keys.entry(form(before)).or_insert_with(|| (name.clone(), shape));
                form(before)
            }
            _ => form(&parts),
        };
        if let (true, Some(schema), Some(shape)) =
            (operation.method == "GET", &operation.promise, &operation.reply)
            && !is_silent(root, operation)
        {
            if place != form(&parts) {
                let one = || SentRecord { schema: schema.clone(), shape: shape.clone() };
                shown.entry(place.clone()).or_insert_with(one);
            } else if let Some((name, shape)) = list(operation, &parts)
                && let Some(schema) = items(root, schema, &name)
            {
                let one = || SentRecord { schema: schema.clone(), shape: shape.clone() };
                listed.entry(place.clone()).or_insert_with(one);
            }
        }
        let body = operation.body.as_ref().map(Shape::first_object).filter(|body| body.members().is_some());
        if let (Some(schema), Some(shape)) = (&operation.request, body) {
            let written = || SentRecord { schema: schema.clone(), shape: shape.clone() };
            bodies.entry(place).or_insert_with(written);
        }
    }
    for operation in operations.iter_mut() {
        if operation.method == "GET" && say_items(root, operation, &keys, &bodies) {
            continue;
        }
        if operation.method != "GET" || !is_silent(root, operation) {
            continue;
        }
        let is_object =
            operation.promise.as_ref().is_some_and(|_| operation.reply.as_ref().is_some_and(is_object));
        let parts = without_choice(parts(operation));
        let one = matches!(parts.last(), Some(Part::Key(_)));
        let place = form(if one { parts.split_last().map_or(&[][..], |(_, before)| before) } else { &parts });
        let same =
            || keys.keys().find(|other| !one && last(other) == last(&place) && !last(other).is_empty());
        let Some((place, key)) = keys.get_key_value(&place).or_else(|| keys.get_key_value(same()?)) else {
            continue;
        };
        let SentRecord { schema, shape } = match shown.get(place).or_else(|| listed.get(place)) {
            Some(SentRecord { schema, shape }) => SentRecord { schema: schema.clone(), shape: shape.clone() },
            None => record(key, bodies.get(place)),
        };
        let (mut schema, mut shape) = (schema, shape);
        if !one {
            schema = json!({"type": "array", "items": schema});
            shape = Shape::of(Kind::Array(Box::new(shape)));
        }
        // A reply that must be an object holds the list under the path's last word.
        if let (false, true, Some(Part::Text(word))) = (one, is_object, parts.last()) {
            schema = json!({"type": "object", "properties": {word: schema}});
            let member = Member { shape, required: false };
            shape = Shape::of(Kind::Object(IndexMap::from_iter([(word.clone(), member)])));
        }
        (operation.promise, operation.reply) = (Some(schema), Some(shape));
    }
}

/// Returns the parts of a path without a final word that selects from the list before it:
/// `/lists/{idList}/cards/{filter}`.
fn without_choice(mut parts: Vec<Part>) -> Vec<Part> {
    let chooses = |part: &Part| matches!(part, Part::Text(text) if text.starts_with('{'));
    if let [.., before @ Part::Text(_), last] = parts.as_slice()
        && chooses(last)
        && !chooses(before)
    {
        parts.pop();
    }
    parts
}

/// Gives untyped list items the schema of the record that is written at the path. Returns true if there is
/// one.
fn say_items(
    root: &Json,
    operation: &mut Operation,
    keys: &IndexMap<String, (String, Shape)>,
    bodies: &IndexMap<String, SentRecord>,
) -> bool {
    let place = form(&parts(operation));
    let (Some(key), Some(promise), Some(reply)) = (keys.get(&place), &operation.promise, &operation.reply)
    else {
        return false;
    };
    let is_open = |shape: &Shape| shape.items().is_some_and(|item| item.kind == Kind::Any);
    let name = match reply.members() {
        Some(members) => {
            members.iter().find(|(_, member)| is_open(&member.shape)).map(|(name, _)| name.clone())
        }
        None => is_open(reply).then(String::new),
    };
    let Some(name) = name else { return false };
    let SentRecord { schema, shape } = record(key, bodies.get(&place));
    let mut said = examples::resolved(root, promise).clone();
    let mut shown = reply.clone();
    let list = if name.is_empty() {
        (Some(&mut said), Some(&mut shown))
    } else {
        let inner = match &mut shown.kind {
            Kind::Object(members) => members.get_mut(&name).map(|member| &mut member.shape),
            _ => None,
        };
        (said.get_mut("properties").and_then(|all| all.get_mut(&name)), inner)
    };
    let (Some(Json::Object(list)), Some(of)) = list else { return false };
    list.insert("items".to_owned(), schema);
    of.kind = Kind::Array(Box::new(shape));
    (operation.promise, operation.reply) = (Some(said), Some(shown));
    true
}

/// Returns true if an operation that may answer with JSON declares no content.
pub(super) fn is_silent(root: &Json, operation: &Operation) -> bool {
    let told = operation.promise.as_ref().is_some_and(|promise| examples::tells(root, promise));
    !told && !operation.answers && !matches!(operation.status, 204 | 205)
}

/// Returns the schema of the items that a reply lists in a member, or in the body where the name is empty.
fn items<'a>(root: &'a Json, schema: &'a Json, name: &str) -> Option<&'a Json> {
    let schema = examples::resolved(root, schema);
    if name.is_empty() {
        return schema.get("items");
    }
    let own = schema.get("properties").and_then(|properties| properties.get(name));
    let parts = schema.get("allOf").and_then(Json::as_array).into_iter().flatten();
    own.and_then(|own| items(root, own, ""))
        .or_else(|| parts.take(32).find_map(|part| items(root, part, name)))
}

fn is_object(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Object(_))
}

/// Returns the noun that a path ends with.
fn last(form: &str) -> String {
    form.rsplit('/').next().filter(|last| !last.starts_with('{')).map(noun).unwrap_or_default()
}

/// Returns a record: the written members, with its key.
fn record((name, key): &(String, Shape), written: Option<&SentRecord>) -> SentRecord {
    let kind = if key.kind == Kind::Integer { "integer" } else { "string" };
    let mut own = json!({"type": "object", "required": [name], "properties": {name: {"type": kind}}});
    // Clients look for the id of a new record under the name that most records have for it.
    let has_id =
        written.and_then(|written| written.shape.members()).is_some_and(|all| all.contains_key("id"));
    if is_id(name) && name != "id" && !has_id {
        own = json!({"type": "object", "required": [name, "id"], "properties": {name: {"type": kind}, "id": {"type": kind}}});
    }
    let mut members = IndexMap::new();
    let shape = Shape::of(if key.kind == Kind::Integer { Kind::Integer } else { Kind::String });
    members.insert(name.clone(), Member { shape, required: true });
    let Some(written) = written else {
        return SentRecord { schema: own, shape: Shape::of(Kind::Object(members)) };
    };
    for (name, member) in written.shape.members().into_iter().flatten() {
        members.entry(name.clone()).or_insert_with(|| member.clone());
    }
    SentRecord { schema: json!({"allOf": [own, written.schema]}), shape: Shape::of(Kind::Object(members)) }
}
