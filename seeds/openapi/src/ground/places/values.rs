//! Finds keys in paths that no collection has: members of the path's children, or keys of records that only
//! members name.

use std::collections::HashSet;

use diorama_seeds::contract::{key_name, noun, plain};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use super::{Collection, Part, Places, form};
use crate::document::Operation;
use crate::shape::{Kind, Shape};
use crate::words::{identifier, is_id, label, singular, words};

/// Values of a member by which paths select records.
const PICKS: u64 = 3;
/// Levels of a reply that are searched for names.
const MAX_DEPTH: u32 = 6;

/// Finds such keys. Keys that no reply shows are skipped, because no caller could know them.
pub(super) fn find(places: &mut Places, operations: &[Operation]) {
    let mut told = HashSet::new();
    for reply in operations.iter().filter_map(|operation| operation.reply.as_ref()) {
        names(reply, "", &mut told, 0);
    }
    name_first_parts(places, operations);
    for operation in operations {
        let parts = places.parts(operation);
        for (at, part) in parts.iter().enumerate() {
            let Part::Key(name) = part else { continue };
            let path = form(parts.get(..=at).unwrap_or_default());
            if places.values.contains_key(&path) {
                continue;
            }
            if places.is_known(&parts, at, name) {
                continue;
            }
            let shape = operation.key_shape(name).cloned().unwrap_or_default();
            // An id inside an object of its own belongs to that object.
            let inside = |stem: String| told.contains(&format!("{stem}.id"));
            let is_own = is_id(name) && stem(name).is_some_and(inside);
            if let Some((_, member)) = places.member_below(&path, name).filter(|_| !is_own) {
                let picks = picks(name, &shape);
                places.values.insert(path, (identifier(&member), picks));
            } else if let Some(stem) = stem(name).filter(|stem| tells(&told, name, stem)) {
                let again = matches!(at.checked_sub(1).and_then(|before| parts.get(before)),
                    Some(Part::Key(before)) if key_name(before).is_some_and(|(other, _)| other == stem));
                if !again {
                    places
                        .all
                        .entry(format!("{{{}}}", plain(name)))
                        .or_insert_with(|| only_named(name, &stem, shape));
                }
            }
        }
    }
}

/// Names the first parts of keys of two: of all names in paths, the one that records have as a member.
fn name_first_parts(places: &mut Places, operations: &[Operation]) {
    let mut names: IndexMap<String, IndexSet<String>> = IndexMap::new();
    for operation in operations {
        let parts = places.parts(operation);
        for (at, part) in parts.iter().enumerate() {
            if let Some(name) = part.key().filter(|_| places.is_first_part(&parts, at)) {
                let path = form(parts.get(..=at).unwrap_or_default());
                names.entry(path).or_default().insert(name.to_owned());
            }
        }
    }
    for (path, names) in names {
        let record = places.all.get(&path).and_then(|found| found.record.as_ref()?.members());
        let shows = |name: &&String| {
            record.is_some_and(|members| members.keys().any(|shown| plain(shown) == plain(name)))
        };
        if let Some(name) = names.iter().find(shows).or_else(|| names.first()) {
            places.values.insert(path, (identifier(name), Vec::new()));
        }
    }
}

/// Returns the noun of a key.
pub(super) fn stem(name: &str) -> Option<String> {
    let stem = key_name(name).map_or_else(|| noun(name), |(stem, _)| stem);
    Some(stem).filter(|stem| !stem.is_empty())
}

pub(super) fn tells(told: &HashSet<String>, name: &str, stem: &str) -> bool {
    told.contains(&plain(name)) || told.contains(&format!("{stem}id"))
}

/// Makes a collection for records that only members with their keys mention.
fn only_named(name: &str, stem: &str, shape: Shape) -> Collection {
    let mut words = words(name);
    words.pop_if(|_| key_name(name).is_some());
    let words = words.join("_");
    Collection {
        noun: stem.to_owned(),
        label: label(&singular(&words)),
        parts: vec![Part::Text(words)],
        item: Some(name.to_owned()),
        key_shape: shape,
        listed: true,
        ..Collection::default()
    }
}

/// Collects the plain names of scalar members, and `userid` for `id` inside `user`.
pub(super) fn names(shape: &Shape, inside: &str, told: &mut HashSet<String>, depth: u32) {
    match &shape.kind {
        Kind::Object(members) if depth < MAX_DEPTH => {
            for (name, member) in members {
                let name = plain(name);
                if member.shape.is_scalar() {
                    told.insert(format!("{inside}{name}"));
                    told.insert(format!("{inside}.{name}"));
                    told.insert(name);
                } else {
                    names(&member.shape, &noun(&name), told, depth + 1);
                }
            }
        }
        Kind::Array(item) => names(item, inside, told, depth + 1),
        Kind::Union(ways) => ways.iter().for_each(|way| names(way, inside, told, depth + 1)),
        _ => {}
    }
}

/// Returns some values of a member, in the form of its parameter.
fn picks(name: &str, shape: &Shape) -> Vec<Json> {
    let samples: Vec<Json> =
        shape.samples.iter().filter(|sample| sample.is_string()).take(2).cloned().collect();
    let made = (1..=PICKS).map(|number| match (&shape.kind, shape.format.as_deref()) {
        (Kind::Integer, _) => json!(number),
        (_, Some("uuid")) => json!(format!("{number}f0c2b6e-7a51-4d3e-9c88-51d0b7a4e21{number}")),
        _ => json!(format!("{}_{number}", identifier(name))),
    });
    samples.into_iter().chain(made).take(PICKS as usize).collect()
}

impl Places {
    /// Returns true if a key in a path belongs to a collection, or chooses a list.
    fn is_known(&self, parts: &[Part], at: usize, name: &str) -> bool {
        let path = form(parts.get(..at).unwrap_or_default());
        let before = parts.get(..at).unwrap_or_default().iter().rev().find_map(|part| match part {
            Part::Text(text) => Some(noun(text)),
            Part::Key(_) => None,
        });
        let named = |wanted: &str| self.by_noun(wanted, usize::MAX, parts, name).is_some();
        self.exact(&path).is_some_and(|found| self.is_shown(found))
            || key_name(name).is_some_and(|(stem, _)| !stem.is_empty() && named(&stem))
            || self.by_item(name, usize::MAX).is_some()
            || (!self.lists.contains(&format!("{path}/{{}}")) && before.is_some_and(|before| named(&before)))
    }

    /// Returns the member of that name in the records below a path, and the form of their path.
    pub(super) fn member_below(&self, path: &str, name: &str) -> Option<(String, String)> {
        let below = self.all.iter().filter(|(other, _)| other.starts_with(path));
        let (form, nearest) = below.min_by_key(|(_, found)| found.parts.len())?;
        let members = nearest.record.as_ref()?.members()?;
        let named = |(other, member): &(&String, &crate::shape::Member)| {
            plain(other) == plain(name) && matches!(member.shape.kind, Kind::String | Kind::Integer)
        };
        members.iter().find(named).map(|(name, _)| (form.clone(), name.clone()))
    }
}
