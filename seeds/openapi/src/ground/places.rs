//! What a document's paths are places of: collections of records, and records of which there is one.
//!
//! A path alone says it. `/a/{x}/b/{y}` is a record `y` of the collection `b` of the record `x`; what a schema looks like
//! only tells the key's name and what is shown.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::ME;
use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::paths::{Part, find_shown, form, keys, list, noun_said, parts};
pub(super) use self::told::Given;
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
    /// The numbers that a path counts out as keys, and whether it takes numbers alone.
    pub(super) counted: Vec<Json>,
    pub(super) is_numeric: bool,
    /// The field with the number by which paths name its records, which begins anew below each record above them.
    pub(super) number: Option<String>,
    /// What a record looks like.
    pub(super) record: Option<Shape>,
    /// What it looks like elsewhere: in the list, and in the reply to who makes one.
    pub(super) seen: Vec<Shape>,
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

impl Collection {
    /// Whether a place keeps records: one record for each value that nobody knows is none.
    pub(super) fn keeps_records(&self) -> bool {
        !self.single || self.above.iter().all(|above| above.of.is_some())
    }
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
    /// The field lists several, of which it is one.
    pub(super) among: bool,
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
    /// Plain names of parameters of queries.
    pub(super) asked: HashSet<String>,
    /// Keys that callers are given, by name.
    pub(super) given: IndexMap<String, Given>,
    /// Plain names of keys that only one collection has.
    pub(super) keyed: HashSet<String>,
    /// Of collections that are listed below records of another: which that is.
    pub(super) owners: HashMap<usize, usize>,
    /// By the form of a path: that of the collection whose records are made there.
    made_elsewhere: HashMap<String, String>,
    /// By the form of their paths: lists of records of other places that callers put some into.
    joins: HashMap<String, Join>,
    /// The path that shows whoever asks, and the path of the collection that they are in.
    me: Option<(String, String)>,
    /// The forms of the paths of collections whose records have full names.
    pub(super) full: HashSet<String>,
    kinds: kinds::Kinds,
    pub(super) guesses: Guesses,
}

impl Places {
    /// Finds them.
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
        // A list of what another place keeps is none of its own, nor is one record of those.
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
        places.shorten_labels();
        places.give_names();
        places.find_numbers();
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

    fn find_full_names(&mut self, operations: &[Operation]) {
        for operation in operations.iter().filter(|operation| operation.resource_name.is_some()) {
            let parts = self.parts(operation);
            let keys = parts.iter().enumerate().filter(|(_, part)| part.key().is_some());
            self.full.extend(keys.map(|(at, _)| form(parts.get(..at).unwrap_or_default())));
        }
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

    /// Whether a key has one value, which callers are given.
    pub(super) fn is_constant(&self, key: &str) -> bool {
        matches!(self.given.get(key), Some(Given::Value(_) | Given::Sample(_)))
    }

    fn is_shown(&self, index: usize) -> bool {
        self.all
            .get_index(index)
            .is_some_and(|(_, found)| !found.single && (found.listed || found.opened || found.made))
    }
}
