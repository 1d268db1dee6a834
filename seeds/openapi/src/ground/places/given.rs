//! Finds keys in paths that no reply shows to a new caller: subscriptions, projects, tenants. Callers are
//! given one value of each.
//!
//! The search starts from operations without keys. A list shows the keys of its records, and any reply the
//! names of its members. Where the search stops, the first key of a remaining path is given.

use std::collections::{BTreeSet, HashMap, HashSet};

use diorama_seeds::contract::{ANY_KEY, is_gone, key_name, noun, plain};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::told::PathValue;
use super::values::{names, stem, tells};
use super::{Part, Places, form, list};
use crate::document::{Operation, Place};
use crate::free;
use crate::hypotheses::Strength;
use crate::protocol::fixed;
use crate::shape::Kind;
use crate::views::is_generic;
use crate::words::identifier;

/// The names and collections that a caller has reached so far.
struct Reach<'a> {
    places: &'a Places,
    /// Plain names of members that replies show.
    told: HashSet<String>,
    /// Collections whose keys a reply shows.
    shown: HashSet<usize>,
    /// Those of them whose list names the records that it shows.
    evident: HashSet<usize>,
    /// Collections in which callers create records, whose keys they then see.
    made: HashSet<usize>,
    /// Collections that a list shows.
    listed: HashSet<usize>,
    /// Plain names of the keys that are given.
    given: HashSet<String>,
    /// By plain name of a key in paths, the collections whose records it names.
    named: HashMap<String, BTreeSet<usize>>,
}

/// Finds the keys that callers are given.
pub(super) fn find(places: &mut Places, operations: &[Operation]) {
    let paths: Vec<Vec<Part>> = operations.iter().map(|operation| places.parts(operation)).collect();
    let mut reach = Reach {
        places,
        told: HashSet::new(),
        shown: HashSet::new(),
        evident: HashSet::new(),
        made: HashSet::new(),
        listed: HashSet::new(),
        given: HashSet::new(),
        named: HashMap::new(),
    };
    for parts in &paths {
        for (at, part) in parts.iter().enumerate() {
            let Part::Key(name) = part else { continue };
            let exact = reach.places.exact(&form(parts.get(..at).unwrap_or_default()));
            reach.named.entry(plain(name)).or_default().extend(exact);
        }
    }
    let mut found = Vec::new();
    let mut open: Vec<usize> = (0..operations.len()).collect();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|index| {
            let is_open = reach.unknown(&paths[*index]).is_some();
            if !is_open {
                reach.see(&operations[*index], &paths[*index]);
            }
            is_open
        });
        if open.len() < before {
            continue;
        }
        // The shortest path goes first, because longer ones need its keys too.
        let shortest = open.iter().min_by_key(|index| paths[**index].len()).copied();
        let Some(index) = shortest else { break };
        let (operation, parts) = (&operations[index], &paths[index]);
        let Some(at) = reach.unknown(parts) else { break };
        let Part::Key(name) = &parts[at] else { break };
        reach.given.insert(plain(name));
        let given = reach.value(operation, parts, at);
        found.extend(given.clone().map(|given| (name.clone(), given)));
        // One position of a path has one key, under any name.
        let whole = form(parts.get(..=at).unwrap_or_default());
        let same = paths.iter().filter(|other| form(other.get(..=at).unwrap_or_default()) == whole);
        let others: BTreeSet<&str> = same.filter_map(|other| other.get(at)?.key()).collect();
        for other in others.into_iter().filter(|other| plain(other) != plain(name)) {
            if reach.given.insert(plain(other)) && !ANY_KEY.contains(&&*plain(other)) {
                found.extend(given.clone().map(|given| (other.to_owned(), given)));
            }
        }
    }
    let listed = reach.listed(&paths);
    for (name, given) in found {
        if let PathValue::Value(value) = &given {
            for parts in &paths {
                for (at, part) in parts.iter().enumerate() {
                    if matches!(part, Part::Key(own) if *own == name) {
                        let path = form(parts.get(..=at).unwrap_or_default());
                        places.values.insert(path, (identifier(&name), vec![value.clone()]));
                    }
                }
            }
        }
        places.given.insert(name, given);
    }
    for (name, given) in listed {
        places.given.entry(name).or_insert(given);
    }
    let mut told: Vec<(String, PathValue)> = Vec::new();
    // A value for a name that is a key elsewhere would open no record there.
    let keys: HashSet<String> = paths.iter().flatten().filter_map(Part::key).map(plain).collect();
    for operation in operations {
        for parameter in &operation.parameters {
            let is_owed = parameter.place == Place::Header
                && parameter.required
                && parameter.shape.is_scalar()
                && parameter.shape.kind != Kind::Boolean
                && fixed(parameter).is_none();
            let given = match &parameter.free {
                Some(value) if parameter.constant => PathValue::Value(value.clone()),
                Some(_) if keys.contains(&plain(&parameter.name)) => continue,
                Some(value) => PathValue::Sample(value.clone()),
                None if is_owed => PathValue::Sample(free::sample(parameter)),
                None => continue,
            };
            told.push((parameter.name.clone(), given));
        }
        let beside = operation.beside.iter();
        told.extend(beside.map(|known| (known.name.clone(), PathValue::Sample(free::sample(known)))));
    }
    for (name, given) in told {
        places.given.entry(name).or_insert(given);
    }
    give_unseen(places, &paths, operations);
}

/// A key in paths that no reply is known to show.
struct Unseen {
    /// The forms of the paths up to the key.
    forms: Vec<String>,
    /// The collections whose records it may name.
    of: HashSet<Option<usize>>,
    /// A value of its form.
    value: Json,
}

/// Gives a key for records that no reply shows, where the options choose that. Ambiguous names are skipped.
fn give_unseen(places: &mut Places, paths: &[Vec<Part>], operations: &[Operation]) {
    let mut meant: IndexMap<String, Unseen> = IndexMap::new();
    for (parts, operation) in paths.iter().zip(operations) {
        for (at, part) in parts.iter().enumerate() {
            let Part::Key(name) = part else { continue };
            if places.given.contains_key(name) || ANY_KEY.contains(&&*plain(name)) {
                continue;
            }
            let of = places.exact(&form(parts.get(..at).unwrap_or_default())).or_else(|| {
                let stem = stem(name)?;
                places.by_noun(&stem, usize::MAX, parts, name)
            });
            let shape = operation.key_shape(name).cloned().unwrap_or_default();
            let unseen =
                || Unseen { forms: Vec::new(), of: HashSet::new(), value: free::make_value(name, &shape) };
            let known = meant.entry(name.clone()).or_insert_with(unseen);
            known.forms.push(form(parts.get(..=at).unwrap_or_default()));
            known.of.insert(of);
        }
    }
    for (name, Unseen { forms, of, value }) in meant {
        let mut of = of.into_iter();
        let (Some(only), None) = (of.next(), of.next()) else { continue };
        let is_chosen = |form: &String| places.guesses.guess("given", form, Strength::Unseen, 2) == 1;
        let chosen = forms.iter().filter(|form| is_chosen(form)).count() > 0;
        let kept = only.and_then(|of| places.all.get_index(of)).filter(|(_, found)| !found.single);
        if chosen {
            let given = kept.map_or(PathValue::Sample(value), |(form, _)| PathValue::KeyOf(form.clone()));
            places.given.insert(name, given);
        }
    }
}

impl Reach<'_> {
    /// Returns the position of the first unknown key in a path.
    fn unknown(&self, parts: &[Part]) -> Option<usize> {
        let is_unknown = |(at, part): &(usize, &Part)| match part {
            Part::Text(_) => false,
            // The first part of a key of two is known with the second.
            Part::Key(name) => {
                let is_first = self.places.is_first_part(parts, *at);
                !is_first && !self.knows(parts, *at, name)
            }
        };
        parts.iter().enumerate().find(is_unknown).map(|(at, _)| at)
    }

    fn knows(&self, parts: &[Part], at: usize, name: &str) -> bool {
        if self.given.contains(&*plain(name)) {
            return true;
        }
        // The collection of a key of two parts stands before both.
        let is_second = at.checked_sub(1).is_some_and(|before| self.places.is_first_part(parts, before));
        let before = parts.get(..at - usize::from(is_second)).unwrap_or_default();
        let is_shown = |found: Option<usize>| found.is_some_and(|found| self.shown.contains(&found));
        if is_shown(self.places.exact(&form(before))) || is_shown(self.places.by_item(name, usize::MAX)) {
            return true;
        }
        let own = key_name(name).map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
        let named =
            own.clone().is_some_and(|stem| is_shown(self.places.by_noun(&stem, usize::MAX, parts, name)));
        named || own.is_some_and(|_| stem(name).is_some_and(|stem| tells(&self.told, name, &stem)))
    }

    /// Records the reply of an operation that the caller can call.
    fn see(&mut self, operation: &Operation, parts: &[Part]) {
        let here = self.places.all.get_index_of(&form(parts));
        // A created record has a key, even if the document declares no reply that shows it.
        if operation.method == "POST" {
            self.shown.extend(here);
            self.made.extend(here);
        }
        let Some(reply) = operation.reply.as_ref().filter(|reply| !reply.is_scalar()) else { return };
        // Keys of deleted records open nothing.
        if matches!(parts.last(), Some(Part::Text(text)) if is_gone(text)) {
            return;
        }
        names(reply, "", &mut self.told, 0);
        match list(operation, parts).filter(|_| operation.method == "GET") {
            Some((member, item)) => {
                let found = self.places.listed_of(parts, item).or(here);
                self.shown.extend(found);
                self.listed.extend(found);
                if is_evident(&member, parts) {
                    self.evident.extend(found);
                }
            }
            None if operation.method == "GET" && self.places.keys_listed(operation, parts).is_some() => {
                self.shown.extend(here);
                self.evident.extend(here);
            }
            None => {}
        }
    }

    /// Returns the keys of collections whose lists do not name the records that they show.
    fn listed(&self, paths: &[Vec<Part>]) -> Vec<(String, PathValue)> {
        let mut paths: Vec<&Vec<Part>> = paths.iter().collect();
        // Parents come first.
        paths.sort_by_key(|parts| parts.len());
        let mut listed = Vec::new();
        for parts in paths {
            for part in parts {
                let Part::Key(name) = part else { continue };
                // A name such as `id` may mean several keys.
                let named = self.named.get(&plain(name)).into_iter().flatten();
                let is_one = named.clone().count() == 1 || !ANY_KEY.contains(&&*plain(name));
                let shown = named.filter(|index| is_one && self.shown.contains(index));
                let shortest = shown.min_by_key(|index| {
                    self.places.all.get_index(**index).map_or(usize::MAX, |(_, found)| found.parts.len())
                });
                let Some(index) = shortest.copied() else { continue };
                // Callers who can create and list records see their keys anyway.
                let is_told = self.evident.contains(&index)
                    || (self.made.contains(&index) && self.listed.contains(&index));
                if let Some((form, _)) = self.places.all.get_index(index).filter(|_| !is_told) {
                    listed.push((name.clone(), PathValue::KeyOf(form.clone())));
                }
            }
        }
        listed
    }

    /// Returns the value that callers are given for a key; none for an ambiguous name of which one meaning is
    /// shown.
    fn value(&self, operation: &Operation, parts: &[Part], at: usize) -> Option<PathValue> {
        let path = form(parts.get(..at).unwrap_or_default());
        let Some(Part::Key(name)) = parts.get(at) else { return None };
        let shape = operation.key_shape(name).cloned().unwrap_or_default();
        let named = self.named.get(&plain(name)).into_iter().flatten();
        let shown = named.clone().filter(|found| self.shown.contains(found)).count();
        let kept = |found: usize| {
            let found = self.places.all.get_index(found);
            found.filter(|(_, found)| !found.single && (found.opened || found.listed))
        };
        let own = self.places.exact(&path).and_then(kept);
        let is_any = ANY_KEY.contains(&&*plain(name));
        // An ambiguous name means the path's own records.
        if let Some((form, _)) = own.filter(|_| is_any) {
            return (2 * shown <= named.count()).then(|| PathValue::KeyOf(form.clone()));
        }
        if is_any && shown > 0 {
            return None;
        }
        let whole = form(parts.get(..=at).unwrap_or_default());
        let below = self.places.member_below(&whole, name);
        let is_kept = |form: &String| self.places.all.get_index_of(form).and_then(kept).is_some();
        if let Some((form, member)) = below.filter(|(form, _)| is_kept(form)) {
            return Some(PathValue::Member(form, identifier(&member)));
        }
        // The collection with the shortest path is meant.
        let all = named.filter_map(|found| kept(*found));
        let shortest = all.min_by_key(|(form, found)| (found.parts.len(), *form));
        Some(match shortest.or(own) {
            Some((form, _)) => PathValue::KeyOf(form.clone()),
            None => PathValue::Value(free::make_value(name, &shape)),
        })
    }
}

/// Returns true if the member of a list names the listed records: by a usual name of lists, or by a noun of
/// the path.
fn is_evident(member: &str, parts: &[Part]) -> bool {
    let texts = parts.iter().rev().filter_map(|part| match part {
        Part::Text(text) => Some(noun(text)),
        Part::Key(_) => None,
    });
    let last = member.rsplit('.').next().unwrap_or(member);
    (is_generic(last) && last != "value") || texts.take(2).any(|text| text == noun(last))
}
