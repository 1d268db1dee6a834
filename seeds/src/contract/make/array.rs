//! Owns the generation of arrays: the list that a reply shows, and lists inside records.

use std::rc::Rc;

use serde_json::{Map, Value as Json, json};

use super::known::KnownValues;
use super::state::{FULL_DEPTH, Maker, Place, Scope};
use super::values::{alike, kind_of};
use crate::contract::check::{list, number, word};
use crate::contract::names::{KEYS, item_of, key_name, noun, plain};
use crate::contract::sample;

/// Number of records in a list inside another record, if the facts name none.
const RECORDS: usize = 3;

impl Maker<'_> {
    pub(super) fn array(
        &mut self,
        members: &Map<String, Json>,
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Json {
        let first = list(members, "prefixItems");
        if !first.is_empty() {
            return self.tuple(members, first, place, scope);
        }
        let item = word(members, "items").filter(|item| !item.is_array()).unwrap_or(&Json::Bool(true));
        let most = number(members, "maxItems").map_or(usize::MAX, |most| most as usize);
        if let Some(list) = &self.facts.list
            && !self.listed
            && plain(&list.name) == plain(place.name)
        {
            self.listed = true;
            let of_keys = ["string", "integer"].contains(&kind_of(&self.schemas.flat(item).members, None));
            let mut items = Vec::with_capacity(list.items.len());
            for known in list.items.iter().take(most) {
                self.steps = 0;
                self.checks.set(0);
                // Items that are not objects are the keys.
                let found = Some(&known.key).filter(|_| of_keys && !known.key_name.is_empty());
                let here = Place { depth: 1, found, ..Place::top(known.seed) };
                let mut value = self.value(item, &here, &Scope::Record(known.clone()));
                self.show_key(item, known, &mut value);
                items.push(value);
            }
            return Json::Array(items);
        }
        if let Some(found) = place.found.filter(|found| found.is_string())
            && let Some(one) = self.spoken(item, found, place, scope)
        {
            return Json::Array(vec![one]);
        }
        if let Some(Json::Array(found)) = place.found {
            let mut items = Vec::with_capacity(found.len());
            for (index, value) in found.iter().take(most).enumerate() {
                let seed = place.seed.wrapping_add(index as u64);
                let here = Place { found: Some(value), ..place.below(place.name, place.inside, seed) };
                items.push(self.value(item, &here, &Scope::Made(scope.known().clone())));
            }
            return Json::Array(items);
        }
        if let Some(shown @ Json::Array(_)) = word(members, "example").filter(|_| !scope.is_said())
            && !self.is_object(item)
            && self.schemas.fits_members(members, shown)
        {
            return self.constant(shown);
        }
        let least = number(members, "minItems").unwrap_or(0.0) as usize;
        let one = item_of(place.name);
        let known = scope.known();
        let schemas = self.schemas;
        let like = schemas.resource_said(item);
        let some = if like.is_some() { RECORDS } else { 1 };
        let is_shown = place.depth < FULL_DEPTH && !scope.is_said() && !self.is_open(item);
        let shown = if is_shown { some } else { 0 };
        let mut items: Vec<Json> = Vec::new();
        for index in 0..least.max(shown).min(most).min(64) {
            let seed = sample::mix(place.seed, &index.to_string());
            let here = place.below(&one, "", seed);
            let meant = self.kind_said(item).unwrap_or_else(|| noun(&one));
            let like = || self.facts.lookup.record_of(like?, seed);
            let inner = match self.facts.lookup.record(&meant, seed).or_else(like) {
                Some(record) if self.is_object(item) => Scope::Record(Rc::new(record)),
                _ => Scope::Made(known.clone()),
            };
            let value = self.value(item, &here, &inner);
            // An item without known members is shown only if the schema requires one.
            let is_empty = value.as_object().is_some_and(Map::is_empty) && index >= least;
            let is_twice = word(members, "uniqueItems") == Some(&Json::Bool(true)) && items.contains(&value);
            if !is_empty && !is_twice {
                items.push(value);
            }
        }
        if let Some(contained) = word(members, "contains")
            && !items.is_empty()
            && !items.iter().any(|item| self.fits(contained, item))
        {
            let both = json!({"allOf": [contained, item]});
            let value = self.value(&both, &place.below(&one, "", place.seed), &Scope::Made(known.clone()));
            items.pop();
            items.push(value);
        }
        Json::Array(items)
    }

    /// Makes a list with a schema for each of its first items, and appends further known items.
    fn tuple(
        &mut self,
        members: &Map<String, Json>,
        first: &[Json],
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Json {
        let found = place.found.and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = word(members, "items").filter(|rest| **rest != Json::Bool(false));
        let beyond = rest.into_iter().cycle().take(found.len().saturating_sub(first.len()));
        let mut items = Vec::with_capacity(first.len());
        for (index, schema) in first.iter().chain(beyond).enumerate() {
            let seed = sample::mix(place.seed, &index.to_string());
            let here = Place { found: found.get(index), ..place.below(place.name, place.inside, seed) };
            items.push(self.value(schema, &here, &Scope::Made(scope.known().clone())));
        }
        Json::Array(items)
    }

    /// Returns the item for a known text: the text itself, or the first object with a member for plain text.
    pub(super) fn spoken(
        &mut self,
        item: &Json,
        text: &Json,
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Option<Json> {
        if self.fits(item, text) {
            return Some(text.clone());
        }
        let flat = self.schemas.flat(item);
        let ways = if flat.ways.is_empty() { std::slice::from_ref(item) } else { flat.ways };
        ways.iter().find_map(|way| {
            let mut value =
                self.value(way, &place.below("", "", place.seed), &Scope::Made(scope.known().clone()));
            (self.put_text(way, text, &mut value, 0) && self.fits(item, &value)).then_some(value)
        })
    }

    /// Puts a text into the first string without further constraints. Returns true if there is one.
    pub(super) fn put_text(&self, schema: &Json, text: &Json, value: &mut Json, depth: u32) -> bool {
        let flat = self.schemas.flat(schema).members;
        match value {
            Json::Object(members) if depth < FULL_DEPTH => {
                members.iter_mut().filter(|(name, _)| key_name(name).is_none()).any(|(name, inner)| {
                    let part = word(&flat, "properties").and_then(|parts| parts.get(name));
                    part.is_some_and(|part| self.put_text(part, text, inner, depth + 1))
                })
            }
            Json::String(_)
                if ["enum", "const", "format", "pattern"].iter().all(|word| !flat.contains_key(*word)) =>
            {
                *value = text.clone();
                true
            }
            _ => false,
        }
    }

    /// Adds the key to an item that a path can read.
    pub(super) fn show_key(&self, item: &Json, known: &KnownValues, value: &mut Json) {
        let Json::Object(members) = value else { return };
        let inner = members.values().filter_map(Json::as_object).flat_map(Map::values);
        if known.key_name.is_empty() || members.values().chain(inner).any(|value| alike(value, &known.key)) {
            return;
        }
        members.insert(known.key_name.clone(), known.key.clone());
        if !self.fits(item, value)
            && let Json::Object(members) = value
        {
            members.remove(&known.key_name);
        }
    }

    /// Returns the key that a member's name denotes: `user_id`, `id` inside `user`, or the name of a key that
    /// only users have.
    pub(super) fn key_named(&self, place: &Place<'_>, known: &KnownValues) -> Option<Json> {
        let stem = key_name(place.name).filter(|(_, ending)| KEYS.contains(ending)).map(|(stem, _)| stem);
        let stem = stem.map(|stem| if stem.is_empty() { place.inside.to_owned() } else { stem });
        if let Some(stem) = stem.filter(|stem| !stem.is_empty()) {
            let own = known.meant(&stem).map(|named| named.key.clone());
            let other = || Some(self.facts.lookup.record(&stem, sample::mix(known.seed, &stem))?.key);
            if let Some(key) = own.or_else(other) {
                return Some(key);
            }
        }
        let name = plain(place.name);
        Some(self.facts.lookup.keyed(&name, sample::mix(known.seed, &name))?.key)
    }
}
