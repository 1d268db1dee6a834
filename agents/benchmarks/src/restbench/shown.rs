//! Records in replies: their positions by the schemas of a document's world, and the records in an actual
//! reply.

use diorama_seeds::contract::{AS, KEYS, RESOURCE, plain};
use diorama_seeds::doc::{ApiDoc, FieldDoc, WorldDoc};
use diorama_seeds::english::words;
use diorama_seeds::naming::snake;
use serde_json::{Map, Value as Json};

/// Maximum depth of replies that are searched.
const MAX_DEPTH: usize = 8;
/// Maximum number of words in a text that describes a record's role.
const MAX_WORDS_OF_ROLE: usize = 3;

/// A position of records in a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordPosition {
    /// Possible resources of the records. Entries of some lists represent records of several resources.
    pub(super) resources: Vec<String>,
    /// Members from the body to the object. Lists on the path stand for their items.
    path: Vec<String>,
    /// Member with the key.
    key: String,
    /// Member with the name.
    name: Option<String>,
    /// All members.
    pub(super) members: Vec<String>,
}

/// A record in a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sighting {
    pub(super) resource: String,
    pub(super) key: Json,
    pub(super) name: Option<String>,
    /// Short texts beside it, as lists of words. Examples: a job, a kind.
    pub(super) roles: Vec<Vec<String>>,
    /// True if it is the whole body.
    pub(super) is_body: bool,
}

/// Returns the records of a reply. If a position allows several resources, a value among the arguments
/// decides.
pub(super) fn sightings(all: &[RecordPosition], arguments: &Map<String, Json>, body: &Json) -> Vec<Sighting> {
    let mut found = Vec::new();
    for shown in all {
        let named = |resource: &&String| arguments.values().any(|value| value.as_str() == Some(resource));
        let resource = shown.resources.iter().find(named).or_else(|| shown.resources.first());
        let Some(resource) = resource else { continue };
        for item in items(body, &shown.path) {
            let key = item.get(&shown.key);
            let keys = key.map_or(&[][..], |key| key.as_array().map_or(std::slice::from_ref(key), |all| all));
            let name = shown.name.as_ref().and_then(|name| item.get(name)?.as_str());
            let keys = keys.iter().filter(|key| key.is_string() || key.is_number());
            found.extend(keys.map(|key| Sighting {
                resource: resource.clone(),
                key: key.clone(),
                name: name.map(str::to_owned),
                roles: roles(item),
                is_body: shown.path.is_empty() && !body.is_array(),
            }));
        }
    }
    found
}

/// Returns the objects at a path.
fn items<'a>(value: &'a Json, path: &[String]) -> Vec<&'a Json> {
    match (value, path) {
        (Json::Array(all), _) => all.iter().flat_map(|item| items(item, path)).collect(),
        (value, []) => vec![value],
        (value, [member, rest @ ..]) => value.get(member).map_or_else(Vec::new, |inner| items(inner, rest)),
    }
}

fn roles(item: &Json) -> Vec<Vec<String>> {
    let texts = item.as_object().into_iter().flat_map(Map::values).filter_map(Json::as_str);
    let texts = texts.map(|text| words(text).take(MAX_WORDS_OF_ROLE + 1).collect::<Vec<String>>());
    texts.filter(|words| !words.is_empty() && words.len() <= MAX_WORDS_OF_ROLE).collect()
}

/// Returns the positions of records in an API's reply, in document order.
pub(super) fn shown(doc: &WorldDoc, api: &ApiDoc) -> Vec<RecordPosition> {
    let behaviour = &api.behaviour;
    let members = behaviour.members.as_ref().and_then(|path| {
        let (resource, list) = path.split_once('.')?;
        doc.resources.get(resource)?.fields.get(list)?.items.as_ref()?.reference.clone()
    });
    let is_list = behaviour.list.is_some() || members.is_some();
    let own = behaviour.resource().cloned().or(members);
    let Some(schema) = api.contract.as_ref().and_then(|contract| contract.reply.as_ref()) else {
        return Vec::new();
    };
    let listed = api.reply.items.clone().filter(|_| is_list);
    let mut reader = Reader { doc, own: own.clone(), listed: listed.clone(), found: Vec::new() };
    let is_body = listed.as_deref().is_none_or(str::is_empty);
    reader.value(schema, own.filter(|_| is_body).as_deref(), &[]);
    reader.found
}

/// Finds records in the schema of a reply.
struct Reader<'a> {
    doc: &'a WorldDoc,
    /// The resource of the operation, and the member with its list of records.
    own: Option<String>,
    listed: Option<String>,
    found: Vec<RecordPosition>,
}

impl Reader<'_> {
    /// Reads the schema of a value at a path. `meant` is the resource that it is known to show.
    fn value(&mut self, schema: &Json, meant: Option<&str>, path: &[String]) {
        let mut flat = Flat::default();
        self.take_in(schema, &mut flat, 0);
        if path.len() > MAX_DEPTH {
            return;
        }
        if let Some(items) = &flat.items {
            return self.value(items, meant, path);
        }
        let is_entry = |meant: &str| {
            let own = self.doc.resources.get(meant);
            own.is_some_and(|own| own.fields.keys().any(|name| name.starts_with(AS)))
        };
        let entry = meant.filter(|meant| is_entry(meant));
        let resource = entry.or(flat.resource.as_deref()).or(meant);
        let own = resource.and_then(|resource| self.record(resource, &flat.members, path));
        let is_record = own.is_some();
        self.found.extend(own);
        for (name, part) in &flat.members {
            let inside = [path, std::slice::from_ref(name)].concat();
            let field = resource.filter(|_| is_record).and_then(|resource| self.target(resource, name));
            let listed = self.listed.as_ref() == Some(name) && path.is_empty();
            match field {
                Some((target, true)) => {
                    self.found.push(RecordPosition {
                        resources: vec![target],
                        path: path.to_vec(),
                        key: name.clone(),
                        name: None,
                        members: Vec::new(),
                    });
                }
                Some((target, false)) => self.value(part, Some(&target), &inside),
                None if listed => self.value(part, self.own.clone().as_deref(), &inside),
                // Members around a record do not describe it.
                None => self.value(part, meant.filter(|_| !is_record && self.listed.is_none()), &inside),
            }
        }
    }

    /// Returns the position of a record in an object with these members.
    fn record(&self, resource: &str, members: &Map<String, Json>, path: &[String]) -> Option<RecordPosition> {
        let own = self.doc.resources.get(resource)?;
        let stands_for = own.fields.iter().filter(|(name, _)| name.starts_with(AS));
        let stands_for: Vec<String> = stands_for.filter_map(|(_, field)| field.reference.clone()).collect();
        if let Some(first) = stands_for.first() {
            let shown = self.record(first, members, path)?;
            return Some(RecordPosition { resources: stands_for, ..shown });
        }
        let named = |wanted: &str| members.keys().find(|name| plain(name) == plain(wanted)).cloned();
        let key = named(&own.key).or_else(|| KEYS.iter().find_map(|key| named(key)))?;
        let name = own.display.as_deref().and_then(named);
        let members = members.keys().cloned().collect();
        Some(RecordPosition { resources: vec![resource.to_owned()], path: path.to_vec(), key, name, members })
    }

    /// Returns the resource that a record's member refers to, with true if the member has keys.
    fn target(&self, resource: &str, member: &str) -> Option<(String, bool)> {
        let own = self.doc.resources.get(resource)?;
        let of = |field: &FieldDoc| {
            field.reference.clone().or_else(|| field.items.as_ref().and_then(|item| item.reference.clone()))
        };
        let by_key = own.fields.get(&snake(member)).filter(|_| snake(member) != own.key).and_then(of);
        let by_record = || {
            let ends = ["_id", "_ids"].map(|end| format!("{}{end}", snake(member)));
            ends.iter().find_map(|name| of(own.fields.get(name)?))
        };
        by_key.map(|target| (target, true)).or_else(|| by_record().map(|target| (target, false)))
    }

    /// Merges the parts of a schema.
    fn take_in(&self, schema: &Json, flat: &mut Flat, depth: usize) {
        let Some(words) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return };
        let target =
            words.get("$ref").and_then(Json::as_str).and_then(|name| name.strip_prefix("#/schemas/"));
        let schemas = self.doc.domain.as_ref().map(|domain| &domain.schemas);
        if let Some(target) = target.and_then(|name| schemas?.get(name)) {
            self.take_in(target, flat, depth + 1);
        }
        let named = words.get(RESOURCE).and_then(Json::as_str);
        flat.resource = flat.resource.take().or_else(|| named.map(str::to_owned));
        flat.items = flat.items.take().or_else(|| words.get("items").cloned());
        if let Some(Json::Object(members)) = words.get("properties") {
            for (name, part) in members {
                flat.members.entry(name.clone()).or_insert_with(|| part.clone());
            }
        }
        for part in
            ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| words.get(*word)?.as_array()).flatten()
        {
            self.take_in(part, flat, depth + 1);
        }
    }
}

/// A schema with its parts merged.
#[derive(Default)]
struct Flat {
    resource: Option<String>,
    items: Option<Json>,
    members: Map<String, Json>,
}
