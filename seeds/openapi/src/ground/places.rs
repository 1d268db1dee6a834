//! Assigns a document's paths to collections of records, and to singletons.
//!
//! The path alone decides. `/a/{x}/b/{y}` is a record `y` of the collection `b` of the record `x`; schemas
//! only give the key's name and the members.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::ME;
use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::paths::{Part, find_shown, form, keys, list, noun_said, parts};
pub(super) use self::told::PathValue;
use crate::document::Operation;
use crate::hypotheses::{Choices, Guesses};
use crate::shape::Shape;

mod above;
mod elsewhere;
mod given;
mod joins;
mod keys;
mod kinds;
mod names;
mod numbers;
mod paths;
mod qualified;
mod seen;
mod told;
mod values;
mod views;

/// A collection of records at a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Collection {
    /// The name of the resource.
    pub(super) name: String,
    /// The noun in plain letters; `label` is the noun for users.
    pub(super) noun: String,
    pub(super) label: String,
    /// The path of the collection.
    pub(super) parts: Vec<Part>,
    /// True for a singleton.
    pub(super) single: bool,
    /// The parameter of its records' paths.
    pub(super) item: Option<String>,
    /// The key field, and the shape of keys.
    pub(super) key: String,
    pub(super) key_shape: Shape,
    /// The keys that a path enumerates as numbers; `is_numeric` is true if all keys are numbers.
    pub(super) counted: Vec<Json>,
    pub(super) is_numeric: bool,
    /// The field with the number or name by which paths name its records. It is unique below each parent only.
    pub(super) number: Option<String>,
    /// The members of a record.
    pub(super) record: Option<Shape>,
    /// Other shapes of a record: in the list, and in the reply to its creation.
    pub(super) seen: Vec<Shape>,
    /// The body that creates a record.
    pub(super) sent: Option<Shape>,
    pub(super) listed: bool,
    pub(super) opened: bool,
    pub(super) made: bool,
    /// Requests name the key of the new record, so the path is no alias of another collection.
    joined: bool,
    /// The parents of its records.
    pub(super) above: Vec<ParentKey>,
    /// The collection whose keys name these records, too: the users that members are.
    pub(super) uses: Option<usize>,
}

impl Collection {
    /// Returns true if the collection stores records: a singleton needs parents that are records.
    pub(super) fn keeps_records(&self) -> bool {
        !self.single || self.above.iter().all(|above| above.of.is_some())
    }
}

/// A parent of a collection's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParentKey {
    /// The index of the key in the path.
    pub(super) at: usize,
    /// The field that holds the key.
    pub(super) field: String,
    /// The parent's collection; none for a value without known records.
    pub(super) of: Option<usize>,
    /// True if the path of the parent's collection begins this path.
    pub(super) exact: bool,
    /// The field by which the path names the parent, where that is not its key.
    pub(super) by: Option<String>,
    /// Some values, where the key is no record's key.
    pub(super) picks: Vec<Json>,
    /// True if the parent is the caller, whom no key names.
    pub(super) mine: bool,
    /// True if the field lists several parents.
    pub(super) among: bool,
}

/// A list that holds records of another collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    /// The collection of the listed records.
    pub(super) member: usize,
}

/// All collections of a document, by the form of their paths.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) all: IndexMap<String, Collection>,
    /// The forms of all paths.
    forms: HashSet<String>,
    /// The forms of paths that end with a key and show a record.
    opened: HashSet<String>,
    /// The forms of paths that end with a key and list its children.
    lists: HashSet<String>,
    /// Paths that list the records of one of a few values.
    chosen: HashSet<String>,
    /// Values of parameters that choose among lists, by plain name.
    pub(super) choices: HashMap<String, Vec<String>>,
    /// By the form of a path: the member of its children that its last key holds, and some values.
    values: HashMap<String, (String, Vec<Json>)>,
    /// The forms of paths that PUT or PATCH changes.
    pub(super) changed: HashSet<String>,
    /// Stems of verbs that operations apply to records: `delet`, `archiv`.
    pub(super) verbs: HashSet<String>,
    /// Plain names of members that some request sends.
    pub(super) sent: HashSet<String>,
    /// Plain names of query parameters.
    pub(super) asked: HashSet<String>,
    /// Keys that callers are given, by name.
    pub(super) given: IndexMap<String, PathValue>,
    /// Plain names of keys that only one collection has.
    pub(super) keyed: HashSet<String>,
    /// The owners' collection of each collection that is listed below other records.
    pub(super) owners: HashMap<usize, usize>,
    /// By the form of a path: that of the collection whose records are created there.
    made_elsewhere: HashMap<String, String>,
    /// By the form of their paths: lists of records of other collections that callers change.
    joins: HashMap<String, Join>,
    /// The path that shows the caller, and the path of the caller's collection.
    me: Option<(String, String)>,
    /// The forms of the paths of collections whose records have full names.
    pub(super) full: HashSet<String>,
    kinds: kinds::Kinds,
    pub(super) guesses: Guesses,
}

impl Places {
    /// Finds the collections of a document's operations.
    pub(super) fn of(operations: &[Operation], choices: &Choices) -> Self {
        let mut places = Self { guesses: Guesses::new(choices), ..Self::default() };
        places.read_forms(operations);
        places.find_full_names(operations);
        for operation in operations.iter().filter(|operation| operation.method != "POST") {
            places.see(operation);
        }
        for operation in operations.iter().filter(|operation| operation.method == "POST") {
            places.see_made(operation);
        }
        places.find_me();
        places.kinds = kinds::Kinds::of(&places);
        places.find_made_elsewhere();
        places.find_shared_roots(operations);
        given::find(&mut places, operations);
        // A path that shows another collection's records is no collection of its own.
        let elsewhere = |found: &Collection| {
            if places.shown_of(found).is_some() {
                return true;
            }
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
        places.split_labels(operations);
        places.shorten_labels();
        places.give_names();
        places.find_numbers();
        // Parents are found before their children.
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

    fn find_full_names(&mut self, operations: &[Operation]) {
        for operation in operations.iter().filter(|operation| operation.resource_name.is_some()) {
            let parts = self.parts(operation);
            let keys = parts.iter().enumerate().filter(|(_, part)| part.key().is_some());
            self.full.extend(keys.map(|(at, _)| form(parts.get(..at).unwrap_or_default())));
        }
    }

    /// Finds the collection whose schema the caller's record has (`/me` beside `/users/{id}`).
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

    /// Returns the caller's collection, where a path begins with the caller.
    pub(super) fn mine(&self, parts: &[Part]) -> Option<usize> {
        let (path, of) = self.me.as_ref()?;
        let begins = parts.first().is_some_and(|first| form(std::slice::from_ref(first)) == *path);
        self.all.get_index_of(of).filter(|_| begins)
    }

    /// Finds collections that are listed below other records than their own paths name.
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

    /// Returns true if a key has one value, which callers are given.
    pub(super) fn is_constant(&self, key: &str) -> bool {
        matches!(self.given.get(key), Some(PathValue::Value(_) | PathValue::Sample(_)))
    }

    fn is_shown(&self, index: usize) -> bool {
        self.all
            .get_index(index)
            .is_some_and(|(_, found)| !found.single && (found.listed || found.opened || found.made))
    }
}
