//! Keys in paths that no reply shows to who starts with nothing: subscriptions, projects, tenants. Callers are given one value of each.
//!
//! What can be reached is followed from the operations without keys: a list tells the keys of its records, any reply the names of its
//! members. Where nothing more can be reached, the first key of a path that is left is given.

use std::collections::{BTreeSet, HashMap, HashSet};

use diorama_seeds::contract::{ANY_KEY, key_name, noun, plain};
use serde_json::{Value as Json, json};

use super::told::Given;
use super::values::{names, stem, tells};
use super::{Part, Places, form, list};
use crate::document::Operation;
use crate::shape::{Kind, Shape};
use crate::views::is_generic;
use crate::words::identifier;

/// What has been reached.
struct Reach<'a> {
    places: &'a Places,
    /// Plain names of members that replies show.
    told: HashSet<String>,
    /// Collections of which a reply shows keys.
    shown: HashSet<usize>,
    /// Of those, collections whose list says whose keys it shows.
    evident: HashSet<usize>,
    /// Plain names of the keys that are given.
    given: HashSet<String>,
    /// By plain name of a key in paths, the collections whose records it names.
    named: HashMap<String, BTreeSet<usize>>,
}

/// Finds them.
pub(super) fn find(places: &mut Places, operations: &[Operation]) {
    let paths: Vec<Vec<Part>> = operations.iter().map(|operation| places.parts(operation)).collect();
    let mut reach = Reach {
        places,
        told: HashSet::new(),
        shown: HashSet::new(),
        evident: HashSet::new(),
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
            let is_open = reach.unknown(&operations[*index], &paths[*index]).is_some();
            if !is_open {
                reach.see(&operations[*index], &paths[*index]);
            }
            is_open
        });
        if open.len() < before {
            continue;
        }
        // The shortest path goes first: what it needs, longer ones need too.
        let shortest = open.iter().min_by_key(|index| paths[**index].len()).copied();
        let Some(index) = shortest else { break };
        let (operation, parts) = (&operations[index], &paths[index]);
        let Some(at) = reach.unknown(operation, parts) else { break };
        let Part::Key(name) = &parts[at] else { break };
        reach.given.insert(plain(name));
        found.extend(reach.value(operation, parts, at).map(|given| (name.clone(), given)));
    }
    let listed = reach.listed(&paths);
    for (name, given) in found {
        if let Given::Value(value) = &given {
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
}

impl Reach<'_> {
    /// The first key of a path that nobody knows.
    fn unknown(&self, operation: &Operation, parts: &[Part]) -> Option<usize> {
        let is_unknown = |(at, part): &(usize, &Part)| match part {
            Part::Text(_) => false,
            // The first part of a key of two is told with the second.
            Part::Key(name) => {
                let is_first = self.places.is_first_part(parts, *at);
                !is_first && !is_free(operation, name) && !self.knows(parts, *at, name)
            }
        };
        parts.iter().enumerate().find(is_unknown).map(|(at, _)| at)
    }

    fn knows(&self, parts: &[Part], at: usize, name: &str) -> bool {
        if self.given.contains(&*plain(name)) {
            return true;
        }
        // A key of two parts is that of the records before both.
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

    /// An operation can be called: what it replies is known.
    fn see(&mut self, operation: &Operation, parts: &[Part]) {
        let Some(reply) = operation.reply.as_ref().filter(|reply| !reply.is_scalar()) else { return };
        names(reply, "", &mut self.told, 0);
        let here = self.places.all.get_index_of(&form(parts));
        match list(operation, parts).filter(|_| operation.method == "GET") {
            Some((member, item)) => {
                let found = self.places.listed_of(parts, item).or(here);
                self.shown.extend(found);
                if is_evident(&member, parts) {
                    self.evident.extend(found);
                }
            }
            None if operation.method == "POST" => {
                self.shown.extend(here);
                self.evident.extend(here);
            }
            None if operation.method == "GET" && self.places.keys_listed(operation, parts).is_some() => {
                self.shown.extend(here);
                self.evident.extend(here);
            }
            None => {}
        }
    }

    /// Keys of collections whose lists do not say whose keys they show.
    fn listed(&self, paths: &[Vec<Part>]) -> Vec<(String, Given)> {
        let mut paths: Vec<&Vec<Part>> = paths.iter().collect();
        // What stands above others comes first.
        paths.sort_by_key(|parts| parts.len());
        let mut listed = Vec::new();
        for parts in paths {
            for part in parts {
                let Part::Key(name) = part else { continue };
                // A name such as `id` may mean several things.
                let named = self.named.get(&plain(name)).into_iter().flatten();
                let is_one = named.clone().count() == 1 || !ANY_KEY.contains(&&*plain(name));
                let shown = named.filter(|index| is_one && self.shown.contains(index));
                let shortest = shown.min_by_key(|index| {
                    self.places.all.get_index(**index).map_or(usize::MAX, |(_, found)| found.parts.len())
                });
                let Some(index) = shortest.copied() else { continue };
                if let Some((form, _)) =
                    self.places.all.get_index(index).filter(|_| !self.evident.contains(&index))
                {
                    listed.push((name.clone(), Given::KeyOf(form.clone())));
                }
            }
        }
        listed
    }

    /// What callers are given for a key; nothing for a name that means several things of which one is shown.
    fn value(&self, operation: &Operation, parts: &[Part], at: usize) -> Option<Given> {
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
        // A name that means several things is that of the path's own records.
        if let Some((form, _)) = own.filter(|_| is_any) {
            return (2 * shown <= named.count()).then(|| Given::KeyOf(form.clone()));
        }
        if is_any && shown > 0 {
            return None;
        }
        let whole = form(parts.get(..=at).unwrap_or_default());
        let below = self.places.member_below(&whole, name);
        let is_kept = |form: &String| self.places.all.get_index_of(form).and_then(kept).is_some();
        if let Some((form, member)) = below.filter(|(form, _)| is_kept(form)) {
            return Some(Given::Member(form, identifier(&member)));
        }
        // Of several collections the one of the shortest path is meant.
        let all = named.filter_map(|found| kept(*found));
        let shortest = all.min_by_key(|(form, found)| (found.parts.len(), *form));
        Some(match shortest.or(own) {
            Some((form, _)) => Given::KeyOf(form.clone()),
            None => Given::Value(make_value(name, &shape)),
        })
    }
}

/// Whether the member of a list says whose keys it shows: by a usual name of lists, or by a noun of the path.
fn is_evident(member: &str, parts: &[Part]) -> bool {
    let texts = parts.iter().rev().filter_map(|part| match part {
        Part::Text(text) => Some(noun(text)),
        Part::Key(_) => None,
    });
    let last = member.rsplit('.').next().unwrap_or(member);
    (is_generic(last) && last != "value") || texts.take(2).any(|text| text == noun(last))
}

/// Whether any value of a type will do: a day, a moment, an amount.
fn is_free(operation: &Operation, name: &str) -> bool {
    let shape = operation.key_shape(name);
    shape.is_some_and(|shape| {
        matches!(shape.kind, Kind::Number | Kind::Boolean)
            || matches!(shape.format.as_deref(), Some("date" | "date-time"))
    })
}

/// A value of the form that a parameter has.
fn make_value(name: &str, shape: &Shape) -> Json {
    let hash = blake3::hash(name.as_bytes()).to_hex();
    if let Some(sample) = shape.samples.iter().find(|sample| sample.is_string() || sample.is_i64()) {
        return sample.clone();
    }
    match (&shape.kind, shape.format.as_deref()) {
        (Kind::Integer, _) => {
            let number = i64::from(u16::from_str_radix(&hash[..4], 16).unwrap_or(1)) + 1_000;
            let least = shape.min.as_ref().and_then(Json::as_i64).unwrap_or(0);
            let most = shape.max.as_ref().and_then(Json::as_i64).unwrap_or(i64::MAX);
            json!(number.clamp(least, most))
        }
        (_, Some("uuid")) => {
            json!(format!(
                "{}-{}-4{}-9{}-{}",
                &hash[..8],
                &hash[8..12],
                &hash[13..16],
                &hash[17..20],
                &hash[20..32]
            ))
        }
        _ => {
            let pattern = shape.pattern.as_deref().and_then(|pattern| {
                diorama_seeds::pattern::matching_text(
                    pattern,
                    u64::from_str_radix(&hash[..8], 16).unwrap_or(7),
                )
            });
            let plain = || format!("{}-{}", stem(name).unwrap_or_else(|| identifier(name)), &hash[..6]);
            let mut text = pattern.unwrap_or_else(plain);
            if let Some(most) = shape.max_length {
                text.truncate(most as usize);
            }
            while shape.min_length.is_some_and(|least| (text.len() as u64) < u64::from(least)) {
                text.push('0');
            }
            json!(text)
        }
    }
}
