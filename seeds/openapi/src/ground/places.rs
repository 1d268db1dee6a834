//! What a document's paths are places of: collections of records, and records of which there is one.
//!
//! A path alone says it. `/a/{x}/b/{y}` is a record `y` of the collection `b` of the record `x`; what a schema looks like
//! only tells the key's name and what is shown.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::{ANY_KEY, ME, key_name, noun, plain};
use diorama_seeds::english::stem;
use diorama_seeds::world::api_path::{Piece, pieces};
use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::told::Given;
use crate::document::Operation;
use crate::document::Place;
use crate::entities::has_page;
use crate::routes::{self, View, is_generic};
use crate::shape::{Kind, Shape};
use crate::words::{identifier, is_id, is_plural, label, singular, words};

mod given;
mod joins;
mod keys;
mod qualified;
mod told;
mod values;
mod views;

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Key(String),
}

/// A place where records are.
#[derive(Clone, Debug, Default)]
pub(super) struct Collection {
    /// The resource's name.
    pub(super) name: String,
    /// Its noun in plain letters, and for people.
    pub(super) noun: String,
    pub(super) label: String,
    /// The path of the whole.
    pub(super) parts: Vec<Part>,
    /// Only one record stands here.
    pub(super) single: bool,
    /// The parameter of its records' paths.
    pub(super) item: Option<String>,
    /// The key field, and the shape of keys.
    pub(super) key: String,
    pub(super) key_shape: Shape,
    /// What a record looks like.
    pub(super) record: Option<Shape>,
    /// What callers send to make one.
    pub(super) sent: Option<Shape>,
    pub(super) listed: bool,
    pub(super) opened: bool,
    pub(super) made: bool,
    /// What is made here names the key itself: it is put here, and no other place's records are meant.
    joined: bool,
    /// What it stands below.
    pub(super) above: Vec<Above>,
    /// The collection whose keys name its records, too: the users that members are.
    pub(super) uses: Option<usize>,
}

/// What a collection stands below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Above {
    /// Which of the keys in the path.
    pub(super) at: usize,
    /// The field that holds it.
    pub(super) field: String,
    /// The collection; nothing for a value of which no records are known.
    pub(super) of: Option<usize>,
    /// The path of that collection begins this path.
    pub(super) exact: bool,
    /// The field by which the path names its records, where that is not their key.
    pub(super) by: Option<String>,
    /// Of a value that is no record's key: some that it has.
    pub(super) picks: Vec<Json>,
    /// It is whoever asks, and no key names it.
    pub(super) mine: bool,
}

/// A list that has records of another place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    /// The collection whose records they are.
    pub(super) member: usize,
}

/// All places of a document, by the form of their paths.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) all: IndexMap<String, Collection>,
    /// The forms of all paths.
    forms: HashSet<String>,
    /// The forms of paths that end with a key and show a record.
    opened: HashSet<String>,
    /// The forms of paths that end with a key and list what stands below it.
    lists: HashSet<String>,
    /// Paths that list what one of a few values chooses.
    chosen: HashSet<String>,
    /// By plain name, the values of parameters that choose.
    pub(super) choices: HashMap<String, Vec<String>>,
    /// By the form of a path, the member that its last key is of the records below, and some values.
    values: HashMap<String, (String, Vec<Json>)>,
    /// The forms of paths that PUT or PATCH changes.
    pub(super) changed: HashSet<String>,
    /// Stems of what can be done to a record: `delet`, `archiv`.
    pub(super) verbs: HashSet<String>,
    /// Plain names of members that some request sends.
    pub(super) sent: HashSet<String>,
    /// Keys that callers are given, by name.
    pub(super) given: IndexMap<String, Given>,
    /// Plain names of keys that only one collection has.
    pub(super) keyed: HashSet<String>,
    /// Of collections that are listed below records of another: which that is.
    pub(super) owners: HashMap<usize, usize>,
    /// By the form of their paths: lists of records of other places that callers put some into.
    joins: HashMap<String, Join>,
    /// The path that shows whoever asks, and the path of the collection that they are in.
    me: Option<(String, String)>,
}

/// The parts of an operation's path; parameters with a few values are text.
pub(super) fn parts(operation: &Operation) -> Vec<Part> {
    let mut parts = Vec::new();
    for segment in operation.path.split('/').filter(|segment| !segment.is_empty()) {
        let found = pieces(segment).unwrap_or_default();
        let keyed = found.iter().any(|piece| matches!(piece, Piece::Parameter(_)));
        // Two values in one segment are no key.
        if found.iter().filter(|piece| matches!(piece, Piece::Parameter(_))).count() > 1 {
            parts.push(Part::Text(format!("{{{segment}}}")));
            continue;
        }
        for piece in found {
            match piece {
                Piece::Parameter(name) => {
                    let known = operation.path_parameter(name);
                    match known.map(|known| &known.shape.kind) {
                        Some(Kind::Enum(_)) => parts.push(Part::Text(format!("{{{name}}}"))),
                        _ => parts.push(Part::Key(name.to_owned())),
                    }
                }
                Piece::Literal(text) if keyed => {
                    if let Some(verb) = text.strip_prefix(':').filter(|verb| !verb.is_empty()) {
                        parts.push(Part::Text(verb.to_owned()));
                    }
                }
                Piece::Literal(text) => {
                    let plain = [".json", ".xml", ".php"].iter().find_map(|ending| text.strip_suffix(ending));
                    parts.push(Part::Text(plain.unwrap_or(text).to_owned()));
                }
            }
        }
    }
    parts
}

/// The form of a path, in which the names of parameters do not count.
pub(super) fn form(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("/{text}"),
        Part::Key(_) => "/{}".to_owned(),
    };
    parts.iter().map(part).collect()
}

/// The names of the keys in a path.
pub(super) fn keys(parts: &[Part]) -> Vec<&str> {
    parts.iter().filter_map(Part::key).collect()
}

impl Part {
    /// The name of a key.
    fn key(&self) -> Option<&str> {
        match self {
            Self::Key(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// The list that a reply shows: the member that holds it (empty for the body) and its items.
pub(super) fn list<'s>(operation: &'s Operation, parts: &[Part]) -> Option<(String, &'s Shape)> {
    let reply = operation.reply.as_ref()?;
    let texts = parts.iter().rev().filter_map(|part| match part {
        Part::Text(text) => Some(noun(text)),
        Part::Key(_) => None,
    });
    let is_record = reply.first_object().member("id").is_some();
    let mut texts = texts.take(if is_record { 1 } else { usize::MAX });
    let named = texts.find_map(|text| listed_in(reply, &text, 0));
    named.or_else(|| listed_in(reply, "", 0)).or_else(|| {
        match routes::view(reply, false, has_page(operation)) {
            View::List(list) => Some((list.items.to_owned(), list.item)),
            _ => None,
        }
    })
}

fn listed_in<'s>(shape: &'s Shape, wanted: &str, depth: u32) -> Option<(String, &'s Shape)> {
    let holds_objects = |item: &Shape| item.first_object().members().is_some();
    match &shape.first_object().kind {
        Kind::Array(item) if holds_objects(item) => Some((String::new(), item.fullest_object())),
        Kind::Object(members) => {
            let arrays = members.iter().filter_map(|(name, member)| {
                let item = member.shape.items().filter(|item| holds_objects(item))?;
                Some((name, item.fullest_object()))
            });
            let is_record = ["id", "sid", "uuid"].iter().any(|key| members.contains_key(*key));
            let fits = |name: &String| noun(name) == wanted || (is_generic(name) && !is_record);
            let found = arrays.clone().find(|(name, _)| fits(name));
            if let Some((name, item)) = found {
                return Some((name.clone(), item));
            }
            if arrays.count() > 0 || is_record || depth > 0 {
                return None;
            }
            members.values().find_map(|member| {
                let inner = member.shape.members().and(Some(&member.shape))?;
                listed_in(inner, wanted, depth + 1).filter(|(name, _)| !name.is_empty())
            })
        }
        _ => None,
    }
}

/// The noun that all records of a schema say that they are.
pub(super) fn noun_said(record: &Shape) -> Option<String> {
    let said = ["type", "object", "kind"].iter().find_map(|name| record.member(name))?;
    match &said.kind {
        Kind::Enum(values) if values.len() == 1 => values.first().map(|only| noun(only)),
        _ => None,
    }
}

/// The record that a reply shows.
fn shown(operation: &Operation) -> Option<&Shape> {
    match routes::view(operation.reply.as_ref()?, true, false) {
        View::Record { shape, .. } => Some(shape.fullest_object()).filter(|shape| shape.members().is_some()),
        _ => None,
    }
}

/// A record with the members that it shows inside `attributes`, as JSON:API has it.
fn whole(record: &Shape) -> Shape {
    let mut record = record.clone();
    let inner = record.member("attributes").and_then(Shape::members).cloned().unwrap_or_default();
    if let (Kind::Object(members), false) = (&mut record.kind, inner.is_empty()) {
        for (name, member) in inner {
            members.entry(name).or_insert(member);
        }
    }
    record
}

/// What a list is called whose path ends with words that tell of which things they are: `threads/archived/public`.
fn described(parts: &[Part]) -> Option<String> {
    let mut said = Vec::new();
    for part in parts.iter().rev() {
        let Part::Text(text) = part else { return None };
        if is_plural(text) {
            let things = singular(&identifier(text));
            return (!said.is_empty()).then(|| label(&format!("{}_{things}", said.join("_"))));
        }
        // Adjectives and participles tell which; nouns tell something else.
        if !["ed", "ive", "ic", "ate", "ing", "ent", "al", "est"].iter().any(|ending| text.ends_with(ending))
        {
            return None;
        }
        said.push(spelt(text));
    }
    None
}

/// The words of a path's part up to the first that is none.
fn spelt(part: &str) -> String {
    let all = words(part);
    let kept = all.iter().take_while(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
    let kept: Vec<&str> = kept.map(String::as_str).collect();
    if kept.is_empty() { identifier(part) } else { kept.join("_") }
}

impl Places {
    /// Finds them.
    pub(super) fn of(operations: &[Operation]) -> Self {
        let mut places = Self::default();
        places.read_forms(operations);
        for operation in operations.iter().filter(|operation| operation.method != "POST") {
            places.see(operation);
        }
        for operation in operations.iter().filter(|operation| operation.method == "POST") {
            places.see_made(operation);
        }
        places.find_me();
        given::find(&mut places, operations);
        // A list of what another place keeps is none of its own.
        let elsewhere = |found: &Collection| {
            let own = found.single || found.made || (found.item.is_some() && !found.listed);
            !own && found.record.as_ref().is_some_and(|item| places.listed_of(&found.parts, item).is_some())
        };
        let gone: Vec<String> =
            places.all.iter().filter(|(_, found)| elsewhere(found)).map(|(path, _)| path.clone()).collect();
        places.all.retain(|path, _| !gone.contains(path));
        places.find_changed();
        places.find_views();
        values::find(&mut places, operations);
        places.call_by_keys(operations);
        places.tell_apart(operations);
        places.give_names();
        // What a place stands below is known before the place.
        let mut order: Vec<usize> = (0..places.all.len()).collect();
        order.sort_by_key(|index| places.all[*index].parts.len());
        for index in order {
            places.find_above(index);
        }
        places.find_keys();
        places.lend_key_shapes(operations);
        places.find_owners(operations);
        joins::find(&mut places, operations);
        places
    }

    /// Whoever asks is one of the records that have the same schema (`/me` beside `/users/{id}`).
    fn find_me(&mut self) {
        let is_me = |found: &Collection| matches!(found.parts.as_slice(), [Part::Text(text)] if ME.contains(&text.as_str()));
        let title = |found: &Collection| found.record.as_ref().and_then(|record| record.title.clone());
        let Some((path, me)) = self.all.iter().find(|(_, found)| found.single && is_me(found)) else {
            return;
        };
        let same = |found: &&Collection| found.opened && title(me).is_some() && title(found) == title(me);
        let of = self.all.values().filter(same).min_by_key(|found| found.parts.len());
        let Some(of) = of.map(|found| form(&found.parts)) else { return };
        let path = path.clone();
        self.all.shift_remove(&path);
        self.me = Some((path, of));
    }

    /// The collection that whoever asks is in, where a path begins with them.
    pub(super) fn mine(&self, parts: &[Part]) -> Option<usize> {
        let (path, of) = self.me.as_ref()?;
        let begins = parts.first().is_some_and(|first| form(std::slice::from_ref(first)) == *path);
        self.all.get_index_of(of).filter(|_| begins)
    }

    /// Finds what is listed below records of another collection than its own path says.
    fn find_owners(&mut self, operations: &[Operation]) {
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let parts = self.parts(operation);
            let Some((_, item)) = list(operation, &parts) else { continue };
            let Some(listed) = self.listed_of(&parts, item) else { continue };
            if let Some(owner) = self.above(&parts, listed).last().and_then(|above| above.of) {
                self.owners.entry(listed).or_insert(owner);
            }
        }
    }

    /// A place is called by what the keys in its paths say that they are of: `mappings/teams/{mapping_id}` has mappings.
    fn call_by_keys(&mut self, operations: &[Operation]) {
        for operation in operations {
            let mut parts = parts(operation);
            let Some(Part::Key(name)) = parts.pop() else { continue };
            let Some(found) = self.all.get_mut(&form(&parts)) else { continue };
            let words = words(&name);
            if let Some((last, of)) = words.split_last()
                && of.len() > 1
                && is_id(last)
                && noun(&of.join(" ")) != noun(&found.label)
                && of.last().map(|last| noun(last)) != found.label.rsplit(' ').next().map(noun)
            {
                // Mappings at `/mappings/slack` are Slack mappings.
                let of = of.join("_");
                let is_said = plain(&of).contains(&found.noun);
                let kind = match found.parts.last() {
                    Some(Part::Text(kind)) => spelt(kind),
                    _ => found.noun.clone(),
                };
                found.label = label(&if is_said { of } else { format!("{kind}_{of}") });
            }
        }
    }

    /// What of paths is told by more than one of them: which keys show a record, and which a list.
    fn read_forms(&mut self, operations: &[Operation]) {
        self.forms = operations.iter().map(|operation| form(&parts(operation))).collect();
        let changes =
            operations.iter().filter(|operation| ["PUT", "PATCH"].contains(&operation.method.as_str()));
        self.changed.extend(changes.map(|operation| form(&parts(operation))));
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let parts = parts(operation);
            let listed = list(operation, &parts).is_some();
            match parts.last() {
                Some(Part::Key(_)) => {
                    let path = form(&parts);
                    let whole = operation.reply.as_ref().is_some_and(|reply| reply.items().is_some());
                    let below = self.forms.contains(&format!("{path}/{{}}"));
                    if listed && (below || whole) {
                        self.lists.insert(path)
                    } else {
                        self.opened.insert(path)
                    };
                }
                Some(Part::Text(text)) if listed && text.starts_with('{') => {
                    self.chosen.insert(operation.path.clone());
                }
                _ => {}
            }
        }
        for operation in operations.iter().filter(|operation| operation.method != "GET") {
            let said = operation.id.as_deref().and_then(|id| words(id).into_iter().next());
            match parts(operation).as_slice() {
                [.., Part::Key(_), Part::Text(verb)] => {
                    self.verbs.insert(stem(verb));
                }
                [.., Part::Key(_)] => self.verbs.extend(said.as_deref().map(stem)),
                _ => {}
            }
            if operation.method == "DELETE" {
                self.verbs.insert(stem("delete"));
            }
        }
        let bodies =
            operations.iter().filter_map(|operation| operation.body.as_ref()?.first_object().members());
        self.sent = bodies.flat_map(|members| members.keys().map(|name| plain(name))).collect();
        for parameter in operations.iter().flat_map(|operation| &operation.parameters) {
            if let (Place::Path, Kind::Enum(values)) = (parameter.place, &parameter.shape.kind) {
                self.choices.entry(plain(&parameter.name)).or_insert_with(|| values.clone());
            }
        }
    }

    /// Whether a key in a path is the first part of one of two: `{owner}/{repo}`, where no path ends with the first.
    fn is_first_part(&self, parts: &[Part], at: usize) -> bool {
        let pair = matches!((parts.get(at), parts.get(at + 1)), (Some(Part::Key(_)), Some(Part::Key(_))));
        pair && !self.forms.contains(&form(parts.get(..=at).unwrap_or_default()))
    }

    /// Whether a path ends with a key and lists what stands below it.
    pub(super) fn is_list(&self, parts: &[Part]) -> bool {
        self.lists.contains(&form(parts))
    }

    /// The member (empty for the body) in which a reply lists nothing but the keys of what lies below its path.
    pub(super) fn keys_listed(&self, operation: &Operation, parts: &[Part]) -> Option<String> {
        let opens = self.opened.contains(&format!("{}/{{}}", form(parts)));
        let reply = operation.reply.as_ref().filter(|_| opens)?;
        let of_keys = |shape: &Shape| {
            shape.items().is_some_and(|item| matches!(item.kind, Kind::String | Kind::Integer))
        };
        if of_keys(reply) {
            return Some(String::new());
        }
        let members = reply.members()?;
        let mut arrays = members.iter().filter(|(_, member)| of_keys(&member.shape));
        let (name, _) = arrays.next()?;
        let others = members.keys().filter(|other| *other != name);
        let only = arrays.next().is_none() && others.into_iter().all(|other| routes::is_paging(other));
        only.then(|| name.clone())
    }

    /// The collection at a path: of this form, or the only one whose form ends so (`/organization/projects/{}` for
    /// `/projects/{}`).
    pub(super) fn exact(&self, path: &str) -> Option<usize> {
        self.all.get_index_of(path).or_else(|| {
            let ends = |(_, known): &(usize, &String)| known.len() > path.len() && known.ends_with(path);
            let mut found = self.all.keys().enumerate().filter(ends);
            let first = found.next()?.0;
            found.next().is_none().then_some(first)
        })
    }

    /// The parts of an operation's path. Of two keys in a row the second says nothing more where the first alone shows
    /// the record.
    pub(super) fn parts(&self, operation: &Operation) -> Vec<Part> {
        let mut kept: Vec<Part> = Vec::new();
        let all = parts(operation);
        let last = all.len().saturating_sub(1);
        for (at, part) in all.into_iter().enumerate() {
            let known = matches!((&part, kept.last()), (Part::Key(_), Some(Part::Key(_))))
                && self.opened.contains(&form(&kept));
            // One of a few values chooses among the records of the place before it.
            let chooses = matches!(&part, Part::Text(text) if text.starts_with('{'))
                && (at < last || self.chosen.contains(&operation.path));
            if !known && !chooses {
                kept.push(part);
            }
        }
        kept
    }

    fn entry(&mut self, parts: &[Part]) -> &mut Collection {
        let last = parts.iter().rev().find_map(|part| match part {
            Part::Text(text) if !text.starts_with('{') => Some(text.as_str()),
            _ => None,
        });
        let word = last.unwrap_or("record");
        self.all.entry(form(parts)).or_insert_with(|| Collection {
            name: String::new(),
            noun: noun(word),
            label: label(&singular(&spelt(word))),
            parts: parts.to_vec(),
            single: false,
            item: None,
            key: String::new(),
            key_shape: Shape::of(Kind::String),
            record: None,
            sent: None,
            listed: false,
            opened: false,
            made: false,
            joined: false,
            above: Vec::new(),
            uses: None,
        })
    }

    fn see(&mut self, operation: &Operation) {
        let parts = self.parts(operation);
        let get = operation.method == "GET";
        let lists = self.is_list(&parts);
        match parts.split_last() {
            Some((Part::Key(name), before)) if !before.is_empty() && !lists => {
                let key_shape = operation.path_parameter(name).map(|known| known.shape.clone());
                let record = shown(operation).map(whole);
                let found = self.entry(before);
                found.item.get_or_insert_with(|| name.clone());
                // A path may be seen before the one of its records.
                found.single = false;
                found.opened |= get;
                // A change without a body puts what its path names into this place.
                found.joined |= operation.method == "PUT" && operation.request.is_none();
                if let Some(shape) = key_shape.filter(|_| found.record.is_none()) {
                    found.key_shape = shape;
                }
                // What a record's own path shows tells more than what a change answers.
                if record.is_some() && (get || found.record.is_none()) {
                    found.record = record;
                }
            }
            Some(_) if get => {
                let items = list(operation, &parts).map(|(name, item)| (name, whole(item)));
                let keys = self.keys_listed(operation, &parts);
                let record = shown(operation).cloned();
                let found = self.entry(&parts);
                match items {
                    _ if keys.is_some() => found.listed = true,
                    Some((name, item)) => {
                        found.listed = true;
                        if let Some(label) = described(&parts) {
                            found.label = label;
                        }
                        // `address_configurations` at `/addresses` are those of addresses.
                        let words = words(&name);
                        if words.len() > 1 && words.iter().any(|word| noun(word) == found.noun) {
                            found.label = label(&singular(&words.join("_")));
                        }
                        found.record.get_or_insert(item);
                    }
                    None if found.item.is_none() && !found.listed => {
                        found.single = true;
                        if let Some(label) = described(&parts) {
                            found.label = label;
                        }
                        found.record = record;
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn see_made(&mut self, operation: &Operation) {
        let parts = self.parts(operation);
        let Some(Part::Text(last)) = parts.last() else { return };
        let key = |shape: &&Shape| ["id", "sid", "uuid"].iter().any(|key| shape.member(key).is_some());
        let record = shown(operation);
        let sent = operation.body.as_ref().map(Shape::first_object).and_then(Shape::members);
        if let Some(found) = self.all.get_mut(&form(&parts)) {
            found.sent = operation.body.as_ref().map(|body| body.first_object().clone());
            let key = found.item.as_deref().map(plain);
            found.joined = sent.is_some_and(|sent| sent.keys().any(|name| Some(plain(name)) == key));
        }
        let own = self.made_in(&parts).is_none();
        let kept = own && record.filter(key).is_some() && !routes::is_verb(last);
        match self.all.get_mut(&form(&parts)) {
            Some(found) if !found.single => {
                found.made |= own;
                if found.record.is_none() {
                    found.record = record.cloned();
                }
            }
            None if kept => {
                let record = record.cloned();
                let found = self.entry(&parts);
                found.made = true;
                found.record = record;
            }
            _ => {}
        }
    }

    /// The collection of the same noun whose records have paths of their own, for a path that has none below it:
    /// what `/users/{id}/lists` makes is what `/lists/{id}` shows.
    pub(super) fn same_elsewhere(&self, parts: &[Part]) -> Option<usize> {
        let Some(Part::Text(last)) = parts.last() else { return None };
        let own = self.all.get_index_of(&form(parts));
        let item = own.and_then(|own| self.all[own].item.as_ref());
        if own.is_some_and(|own| self.all[own].opened || self.all[own].joined) {
            return None;
        }
        let (wanted, known) = (noun(last), keys(parts));
        // Featured playlists are playlists, where they look like them.
        let kind = own.and_then(|_| words(last).last().map(|word| noun(word))).unwrap_or_default();
        self.shortest(|index, other| {
            // Records that are changed here and shown there have the same key.
            (item.is_none() || item == other.item.as_ref())
                && self.is_alike(own, other)
                && (other.noun == wanted || other.noun == kind)
                && matches!(other.parts.last(), Some(Part::Text(_)))
                && other.opened
                && other.item.is_some()
                && own != Some(index)
                && keys(&other.parts).iter().all(|key| known.contains(key))
        })
    }

    /// Whether what a place shows may be the records of another: they have the same schema, or share half of its members.
    fn is_alike(&self, own: Option<usize>, other: &Collection) -> bool {
        let Some(own) = own.and_then(|own| self.all[own].record.as_ref()) else { return true };
        let Some(record) = other.record.as_ref() else { return true };
        let (Some(shown), Some(known)) = (own.members(), record.members()) else { return true };
        let shared = shown.keys().filter(|name| known.contains_key(*name)).count();
        (own.title.is_some() && own.title == record.title) || shared * 2 >= shown.len()
    }

    /// The collection with the shortest path of those that fit.
    fn shortest(&self, fits: impl Fn(usize, &Collection) -> bool) -> Option<usize> {
        let fitting = self.all.values().enumerate().filter(|(index, found)| fits(*index, found));
        fitting.min_by_key(|(_, found)| found.parts.len()).map(|(index, _)| index)
    }

    /// The collection that a list shows: that of the same noun, or one whose records have the schema of its items and
    /// whose path begins as its own does (`/pets/findByStatus` beside `/pets/{id}`).
    pub(super) fn listed_of(&self, parts: &[Part], item: &Shape) -> Option<usize> {
        let same = || {
            let title = item.title.as_ref()?;
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some()) {
                return None;
            }
            let known = keys(parts);
            self.shortest(|_, other| {
                let schema = other.record.as_ref().is_some_and(|record| record.title.as_ref() == Some(title));
                // Elsewhere only where records say to what they belong, or the list has those of nobody.
                let begins = other.parts.first() == parts.first()
                    || (keys(&other.parts).is_empty() && self.tells_owner(other, parts));
                // Keys that have one value tell nothing apart.
                let is_known = |key: &&str| known.contains(key) || self.is_constant(key);
                schema && begins && other.opened && keys(&other.parts).iter().all(is_known)
            })
        };
        // What all items say of themselves is the noun of a place: `type: {enum: [task]}`.
        let said = || {
            let said = noun_said(item)?;
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some() || own.noun == said) {
                return None;
            }
            let known = keys(parts);
            self.shortest(|_, other| {
                let opens = other.opened && other.item.is_some() && !other.single;
                opens && other.noun == said && keys(&other.parts).iter().all(|key| known.contains(key))
            })
        };
        self.same_elsewhere(parts).or_else(same).or_else(said)
    }

    /// Whether a key has one value, which callers are given.
    pub(super) fn is_constant(&self, key: &str) -> bool {
        matches!(self.given.get(key), Some(Given::Value(_)))
    }

    /// Whether the records of a collection show the one that a path is about, if it is about one.
    fn tells_owner(&self, found: &Collection, parts: &[Part]) -> bool {
        let Some(at) = parts.iter().rposition(|part| matches!(part, Part::Key(_))) else { return true };
        // What nothing shows has nothing of its own.
        if !self.all.contains_key(&form(parts.get(..at).unwrap_or_default())) {
            return true;
        }
        let Some(Part::Text(owner)) = at.checked_sub(1).and_then(|before| parts.get(before)) else {
            return false;
        };
        let members = found.record.as_ref().and_then(Shape::members);
        members.into_iter().flatten().any(|(name, member)| {
            let stem = key_name(name).filter(|_| is_id(name)).map_or_else(|| noun(name), |(stem, _)| stem);
            member.required && stem == noun(owner)
        })
    }

    /// The collection that a record made at a path goes to, where the path is no collection's own: it may leave out what
    /// those records stand below (`POST /threads/runs` beside `/threads/{thread_id}/runs`).
    pub(super) fn made_in(&self, parts: &[Part]) -> Option<usize> {
        let Some(Part::Text(last)) = parts.last() else { return None };
        let beside = || {
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some() || own.listed) {
                return None;
            }
            let wanted = noun(last);
            self.shortest(|_, other| {
                let named = other.noun == wanted && matches!(other.parts.last(), Some(Part::Text(_)));
                named && other.opened && other.item.is_some() && other.parts.first() == parts.first()
            })
        };
        // What is listed by the key that follows is made before it.
        let listing = format!("{}/{{}}", form(parts));
        let listing = self.all.get_index_of(&listing).filter(|_| self.lists.contains(&listing));
        listing.or_else(|| self.same_elsewhere(parts)).or_else(beside)
    }

    fn give_names(&mut self) {
        let mut taken: Vec<String> = Vec::new();
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        // The shortest path has the plain name.
        order.sort_by_key(|index| self.all.get_index(*index).map_or(0, |(_, found)| found.parts.len()));
        for index in order {
            let Some((_, found)) = self.all.get_index_mut(index) else { continue };
            let words: Vec<String> = found
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text(text) if !text.starts_with('{') => Some(routes::entity_name(text)),
                    _ => None,
                })
                .collect();
            let candidates = (1..=words.len().max(1))
                .map(|count| words.get(words.len().saturating_sub(count)..).unwrap_or_default().join("_"));
            let short = |name: String| name.chars().take(56).collect::<String>();
            let mut names = candidates.map(short).chain((2..).map(|number| {
                format!("{}_{number}", short(words.last().cloned().unwrap_or_else(|| "record".to_owned())))
            }));
            let free = names.find(|name| {
                let sayable = crate::words::is_identifier(name) && !TAKEN.contains(&name.as_str());
                sayable && !taken.contains(name)
            });
            found.name = free.unwrap_or_default();
            taken.push(found.name.clone());
        }
    }

    fn is_shown(&self, index: usize) -> bool {
        self.all
            .get_index(index)
            .is_some_and(|(_, found)| !found.single && (found.listed || found.opened || found.made))
    }

    /// The shown collection of a noun whose records have keys in paths: one whose key has the given name in paths, where
    /// there is one, and the one whose path shares most with a path.
    pub(super) fn by_noun(&self, wanted: &str, but: usize, parts: &[Part], key: &str) -> Option<usize> {
        let fits = |index: usize, found: &Collection| {
            index != but && self.is_shown(index) && found.noun == wanted && found.item.is_some()
        };
        let fitting = self.all.values().enumerate().filter(|(index, found)| fits(*index, found));
        let shared =
            |found: &Collection| found.parts.iter().zip(parts).take_while(|(one, two)| one == two).count();
        fitting
            .min_by_key(|(_, found)| {
                let other = found.item.as_deref() != Some(key);
                (other, std::cmp::Reverse(shared(found)), found.parts.len())
            })
            .map(|(index, _)| index)
    }

    /// The only shown collection whose records' paths have a key of that name, where the name says whose it is.
    fn by_item(&self, key: &str, but: usize) -> Option<usize> {
        let fits = |(index, found): &(usize, &Collection)| {
            *index != but && self.is_shown(*index) && found.item.as_deref() == Some(key)
        };
        let mut all = self.all.values().enumerate().filter(fits);
        let (index, _) = all.next().filter(|_| !ANY_KEY.contains(&&*plain(key)))?;
        all.next().is_none().then_some(index)
    }

    fn find_above(&mut self, index: usize) {
        let Some((_, found)) = self.all.get_index(index) else { return };
        let above = self.above(&found.parts, index);
        let shown = self.is_shown(index);
        let key = found.item.as_deref().unwrap_or_default();
        // What shows a name under the parameter's own word has that name itself, unless others are put there.
        let named = |record: &Shape| {
            !is_id(key)
                && record.members().is_some_and(|all| all.keys().any(|name| plain(name) == plain(key)))
        };
        let stem = key_name(key).filter(|_| found.joined || !found.record.as_ref().is_some_and(named));
        let stem = stem.map(|(stem, _)| stem).unwrap_or_default();
        let other = match (stem.is_empty(), stem == found.noun) {
            (false, false) => self.by_noun(&stem, index, &found.parts, key),
            // Who puts the key of a user here means that user.
            (false, true) if found.joined => self.by_noun(&stem, index, &found.parts, key),
            _ if !shown && !found.single => self.by_noun(&found.noun, index, &found.parts, key),
            _ => None,
        };
        // Nothing is named by what stands below it.
        let own = form(&found.parts);
        let uses = other.filter(|other| {
            let path = self.all.get_index(*other).map(|(path, _)| path.as_str()).unwrap_or_default();
            !path.starts_with(&format!("{own}/"))
        });
        if let Some((_, found)) = self.all.get_index_mut(index) {
            found.above = above;
            found.uses = uses.filter(|_| !found.single);
        }
    }

    /// Returns true if a collection is another one (`of`) or stands below it: by its path, which begins with `path`, or by what it
    /// stands below itself. `of` is no collection's index where only the path counts.
    fn is_below(&self, index: usize, path: &str, of: usize) -> bool {
        let mut seen = HashSet::from([index]);
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            let Some((form, found)) = self.all.get_index(index) else { continue };
            if index == of || form.starts_with(path) {
                return true;
            }
            let exact = found.above.iter().filter(|known| known.exact).filter_map(|known| known.of);
            open.extend(exact.filter(|next| seen.insert(*next)));
        }
        false
    }

    /// What a path stands below: the nearest records, and values of which no records are known.
    pub(super) fn above(&self, parts: &[Part], but: usize) -> Vec<Above> {
        let mut above: Vec<Above> = Vec::new();
        let mut at = 0;
        let mut before = String::new();
        let below = format!("{}/", form(parts));
        for (position, part) in parts.iter().enumerate() {
            let name = match part {
                Part::Text(text) => {
                    before = noun(text);
                    continue;
                }
                Part::Key(name) => name,
            };
            let path = form(parts.get(..position).unwrap_or_default());
            // The first part of a key of two is no key by itself.
            let is_first = self.is_first_part(parts, position);
            let exact = self.exact(&path).filter(|found| !is_first && self.is_shown(*found));
            let exact = exact.filter(|found| !self.is_below(*found, &below, but));
            let stem = key_name(name).map_or_else(|| noun(name), |(stem, _)| stem);
            let stem = Some(stem).filter(|stem| !stem.is_empty());
            // What only chooses a list is no record of it, unless it is an id.
            let chooses = self.lists.contains(&format!("{path}/{{}}"));
            let stem = stem.filter(|_| !chooses || is_id(name));
            let named = || stem.as_deref().and_then(|stem| self.by_noun(stem, but, parts, name));
            let listed = || (!chooses).then(|| self.by_noun(&before, but, parts, name)).flatten();
            let of = exact.or_else(named).or_else(listed).or_else(|| self.by_item(name, but));
            if let Some(found) = exact {
                // What that record stands below is told by it.
                let told = &self.all[found].above;
                above.retain(|known| !told.iter().any(|told| told.at == known.at));
            }
            let value = self.values.get(&form(parts.get(..=position).unwrap_or_default()));
            // A key that nothing shows is none that anybody could know: it scopes nothing.
            if let Some((field, picks)) = value {
                let field = field.clone();
                above.push(Above { at, field, exact: true, picks: picks.clone(), ..Above::default() });
            } else if let Some(of) = of {
                let bare = key_name(name).is_some_and(|(stem, _)| stem.is_empty());
                let field = if bare { format!("{}_id", self.all[of].name) } else { identifier(name) };
                let by = self.all[of].named_by(name);
                above.push(Above { at, field, of: Some(of), exact: exact.is_some(), by, ..Above::default() });
            }
            at += 1;
        }
        above
    }
}

/// Names that resources cannot have.
const TAKEN: [&str; 10] = ["args", "record", "item", "me", "now", "today", "true", "false", "null", "in"];
