//! Owns members that show other records: those that a record refers to, lists, or has as parts, and its
//! maker.

use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::known::{KnownValues, NameableRecord};
use super::state::{FULL_DEPTH, Maker, Place, Scope};
use super::values::alike;
use crate::contract::check::{number, word};
use crate::contract::names::{KEYS, key_name, noun, plain};

/// Maximum number of parts in one list inside a record.
const MAX_PARTS: usize = 100;
/// Names of members that identify their object, the surest first.
const HOLDERS: [&str; 8] = ["id", "sid", "uuid", "slug", "key", "code", "value", "name"];
/// Plain names of members that show the maker of a record.
const MAKERS: [&str; 5] = ["createdby", "creator", "ownedby", "owner", "author"];

impl Maker<'_> {
    /// Returns the id of a record that has another key. Example: the number of a user whose key is a login.
    pub(super) fn id_of(&mut self, part: &Json, here: &Place<'_>, named: &NameableRecord) -> Option<Json> {
        let (_, ending) = key_name(here.name)?;
        let record = self.facts.lookup.at(named.of, &named.noun, &named.key)?;
        let id = record.members.get(ending).filter(|id| **id != named.key)?;
        self.fits(part, id).then(|| id.clone())
    }

    /// Returns a member that shows the records to which a record refers, which it lists, or which are its
    /// parts.
    pub(super) fn related(&mut self, part: &Json, here: &Place<'_>, scope: &Scope<'_>) -> Option<Json> {
        let Scope::Record(known) = scope else { return None };
        let meant = noun(here.name);
        if here.depth > FULL_DEPTH || self.is_open(part) {
            return None;
        }
        let value = if self.is_object(part) {
            let named = known.meant(&meant).filter(|named| meant != known.noun || named.role == meant)?;
            let record = self.facts.lookup.at(named.of, &named.noun, &named.key)?;
            self.value(part, here, &Scope::Record(Rc::new(record)))
        } else {
            let flat = self.schemas.flat(part).members;
            let item = word(&flat, "items").filter(|item| self.is_object(item) && !self.is_open(item))?;
            let all = self.listed(known, &meant, self.schemas.resource_said(item))?;
            let most = number(&flat, "maxItems").map_or(MAX_PARTS, |most| MAX_PARTS.min(most as usize));
            let items = all.into_iter().take(most).enumerate().map(|(index, part)| {
                let here = here.below(&meant, "", here.seed.wrapping_add(index as u64));
                self.value(item, &here, &Scope::Record(Rc::new(part)))
            });
            Json::Array(items.collect())
        };
        self.fits(part, &value).then_some(value)
    }

    /// Returns the object that holds a sent scalar, where the schema expects an object. Example: a sent
    /// `topic` is the `value` of the shown `topic`.
    /// A key of the record, or of one that it refers to, stands for that record.
    pub(super) fn holder(
        &mut self,
        part: &Json,
        here: &Place<'_>,
        scope: &Scope<'_>,
        told: &Json,
    ) -> Option<Json> {
        let known = scope.known();
        if known.key == *told || known.named.iter().any(|named| named.key == *told) {
            return None;
        }
        let flat = self.schemas.flat(part);
        let ways = flat.ways.iter().map(|way| self.schemas.with(&flat, way).members.into_owned());
        let objects: Vec<Map<String, Json>> = match flat.ways.is_empty() {
            true => vec![flat.members.clone().into_owned()],
            false => ways.collect(),
        };
        let name = objects.iter().find_map(|object| {
            let properties = word(object, "properties").and_then(Json::as_object)?;
            let fits = |name: &&&str| properties.get(**name).is_some_and(|part| self.fits(part, told));
            HOLDERS.iter().find(fits)
        })?;
        let object = Json::Object(Map::from_iter([((*name).to_owned(), told.clone())]));
        let here = Place { found: Some(&object), ..*here };
        let value = self.value(part, &here, &Scope::Made(scope.known().clone()));
        self.fits(part, &value).then_some(value)
    }

    /// Returns the records of a noun that a record lists, or that are its parts.
    fn listed(&self, known: &KnownValues, meant: &str, like: Option<&str>) -> Option<Vec<KnownValues>> {
        let lists = || known.lists.iter();
        let found =
            lists().find(|list| list.role == meant).or_else(|| lists().find(|list| list.noun == meant));
        match found {
            Some(list) => Some(
                list.keys.iter().filter_map(|key| self.facts.lookup.at(list.of, &list.noun, key)).collect(),
            ),
            // The parts may belong to a record above this one.
            None => self.facts.lookup.parts(meant, known, like).or_else(|| {
                known.named.iter().filter(|named| named.key != known.key).find_map(|named| {
                    let whole = self.facts.lookup.at(named.of, &named.noun, &named.key)?;
                    self.facts.lookup.parts(meant, &whole, like)
                })
            }),
        }
    }

    /// Returns the maker of a new record, who is the caller. The member's name must denote a maker, or the
    /// member is required and denotes a record of the caller's kind.
    pub(super) fn maker(
        &mut self,
        part: &Json,
        here: &Place<'_>,
        scope: &Scope<'_>,
        must: bool,
    ) -> Option<Json> {
        let Scope::Record(known) = scope else { return None };
        let caller = self.facts.lookup.caller()?;
        let key = key_name(here.name).filter(|(_, ending)| KEYS.contains(ending));
        let is_key = key.is_some() || plain(here.name).ends_with("by");
        let meant = key.map_or_else(|| plain(here.name), |(stem, _)| stem);
        if !MAKERS.contains(&&*meant) && (!must || meant != caller.noun) {
            return None;
        }
        let object = self.is_object(part);
        if (object && self.kind_said(part).is_some_and(|kind| kind != caller.noun)) || (!object && !is_key) {
            return None;
        }
        let key = caller.key.clone();
        let value = if object {
            self.value(part, here, &Scope::Record(Rc::new(caller)))
        } else {
            self.value(part, &Place { found: Some(&key), ..*here }, &Scope::Made(known.clone()))
        };
        ((object || alike(&value, &key)) && self.fits(part, &value)).then_some(value)
    }
}
