//! Recognizes records by shape: finds the collection of an object, whatever its path and its schema are
//! called.
//!
//! Objects that share a key and most of their members are of one kind. A member weighs less the more
//! collections have it. An `id` and a `name` alone prove nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use diorama_seeds::contract::{KEYS, plain};

use super::{Collection, Places};
use crate::shape::{Member, Shape};
use crate::words::{identifier, is_identifier};

/// The fewest members that an object and a record must share, the key among them.
const SHARED: usize = 3;
/// The weight of a member that one collection alone has.
const WEIGHT: usize = 1_000;

/// The collections of a document, by the members of their records.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    entities: Vec<Entity>,
    /// By plain name of a member, the entities that have it.
    holders: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Entity {
    /// The form of the collection's path.
    path: String,
    noun: String,
    /// Plain names of members that may be the key.
    keys: BTreeSet<String>,
}

/// How much an object shares with an entity.
#[derive(Clone, Copy, Debug, Default)]
struct Likeness {
    shared: usize,
    keyed: bool,
    weight: usize,
}

impl Kinds {
    /// Collects the collections whose records have paths of their own.
    pub(super) fn of(places: &Places) -> Self {
        let mut kinds = Self::default();
        let opens = |found: &Collection| found.opened && found.item.is_some() && !found.single;
        for (path, found) in places.all.iter().filter(|(_, found)| opens(found)) {
            let (Some(record), Some(item)) = (&found.record, &found.item) else { continue };
            let members: BTreeSet<String> = names(record).collect();
            let is_key = |name: &&String| KEYS.contains(&name.as_str()) || **name == plain(item);
            let keys: BTreeSet<String> = members.iter().filter(is_key).cloned().collect();
            if keys.is_empty() {
                continue;
            }
            for name in members {
                kinds.holders.entry(name).or_default().push(kinds.entities.len());
            }
            kinds.entities.push(Entity { path: path.clone(), noun: found.noun.clone(), keys });
        }
        kinds
    }

    /// Returns the path of the collection whose records have such members. `noun` is the object's name where
    /// it stands.
    pub(super) fn find(&self, members: &BTreeSet<String>, noun: &str) -> Option<&str> {
        let mut alike: BTreeMap<usize, Likeness> = BTreeMap::new();
        // An object whose only id has its own noun is no record without that id: a `feedbackId` tells
        // feedback from alerts.
        // The `cast_id` of a person beside their `id` excludes nothing.
        let is_bare = KEYS.iter().any(|key| members.contains(*key));
        let own_id = KEYS.iter().map(|key| format!("{noun}{key}")).filter(|_| !noun.is_empty() && !is_bare);
        let own_id = own_id.into_iter().find(|name| members.contains(name));
        let with_id = own_id.map(|name| self.holders.get(&name).map(Vec::as_slice).unwrap_or_default());
        for name in members {
            let holders = self.holders.get(name).map(Vec::as_slice).unwrap_or_default();
            for holder in holders {
                if with_id.is_some_and(|with_id| !with_id.contains(holder)) {
                    continue;
                }
                let is_key = self.entities[*holder].keys.contains(name);
                let likeness = alike.entry(*holder).or_default();
                likeness.shared += 1;
                likeness.keyed |= is_key;
                likeness.weight += if is_key { 0 } else { WEIGHT / holders.len() };
            }
        }
        let mut found: Vec<(bool, usize, &Entity)> = Vec::new();
        for (holder, Likeness { shared, keyed, weight }) in alike {
            let entity = &self.entities[holder];
            let is_called = !noun.is_empty() && noun.ends_with(&entity.noun);
            let fits = keyed && shared >= SHARED && shared * 2 >= members.len();
            if fits && (is_called || weight >= WEIGHT) {
                found.push((is_called, weight, entity));
            }
        }
        found.sort_by(|one, other| (other.0, other.1, &one.2.path).cmp(&(one.0, one.1, &other.2.path)));
        match found.as_slice() {
            [(_, _, only)] => Some(&only.path),
            // The next candidate is clearly less alike, or has another noun.
            [(called, most, first), (other, next, _), ..] if called > other || most * 3 > next * 4 => {
                Some(&first.path)
            }
            // Candidates of one noun may all end with one path: `/teams/{}/repos/{}` with `/repos/{}`.
            [(called, ..), ..] => {
                let alike: Vec<&Entity> =
                    found.iter().filter(|(other, ..)| other == called).map(|(.., entity)| *entity).collect();
                let is_root = |one: &&&Entity| alike.iter().all(|other| other.path.ends_with(&one.path));
                alike.iter().find(is_root).map(|root| &*root.path)
            }
            [] => None,
        }
    }
}

impl Places {
    /// Returns the collection of an object, by its members.
    pub(in crate::ground) fn kind(&self, object: &Shape, noun: &str) -> Option<usize> {
        let members: BTreeSet<String> = names(object).collect();
        self.all.get_index_of(self.kinds.find(&members, noun)?)
    }

    /// Returns the values of a listed object that neither end has by itself.
    pub(in crate::ground) fn binding(&self, item: &Shape, ends: [usize; 2]) -> Vec<(String, Shape)> {
        let [ones, twos] =
            ends.map(|end| -> BTreeSet<String> { self.all[end].record.iter().flat_map(names).collect() });
        let binds = |(name, member): &(&String, &Member)| {
            let plain = plain(name);
            member.shape.is_scalar()
                && is_identifier(&identifier(name))
                && !KEYS.contains(&&*plain)
                && !ones.contains(&plain)
                && !twos.contains(&plain)
        };
        let members = item.members().into_iter().flatten().filter(binds);
        members.map(|(name, member)| (name.clone(), member.shape.clone())).collect()
    }

    /// Returns the resource whose records objects with such members are. `noun` names the objects.
    pub(in crate::ground) fn resource_like(&self, members: &BTreeSet<String>, noun: &str) -> Option<&str> {
        let found = self.all.get(self.kinds.find(members, noun)?)?;
        found.uses.is_none().then_some(&*found.name)
    }
}

/// Returns the plain names of members.
fn names(object: &Shape) -> impl Iterator<Item = String> {
    let members = object.members().into_iter().flatten();
    members.map(|(name, _)| plain(name))
}
