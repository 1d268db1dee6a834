//! Owns the generation of objects from known and generated members.

use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::known::{KnownValues, WRAPPERS};
use super::state::{FULL_DEPTH, Holds, MAX_STEPS, Maker, Place, Scope};
use super::values::{alike, kind_of, one_of};
use crate::contract::check::{Side, list, number, word};
use crate::contract::conditions::CONDITIONS;
use crate::contract::names::{KEYS, is_gone, item_of, noun, plain, tells_error};
use crate::contract::sample;

/// Maximum number of members to add or remove until an object meets its conditions.
const MAX_REPAIRS: u32 = 8;
/// Names of generated entries of maps.
const ENTRIES: [&str; 4] = ["topic", "team", "region", "source"];

impl Maker<'_> {
    pub(super) fn plain(
        &mut self,
        members: &Map<String, Json>,
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Json {
        if let Some(only) = word(members, "const") {
            return self.constant(only);
        }
        if let Some(values) = word(members, "enum").and_then(Json::as_array) {
            return self.constant(&one_of(members, values, place, scope));
        }
        match kind_of(members, place.found) {
            "object" => self.object(members, place, scope),
            "array" => self.array(members, place, scope),
            "null" => Json::Null,
            "" => place
                .found
                .cloned()
                .unwrap_or_else(|| Json::String(sample::plain_text(place.name, place.seed))),
            kind => self.scalar(kind, members, place, scope),
        }
    }

    pub(super) fn object(
        &mut self,
        members: &Map<String, Json>,
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Json {
        let scope = match place.found {
            Some(Json::Object(inner)) => Scope::Found(inner, scope.known().clone()),
            _ => scope.clone(),
        };
        let properties = word(members, "properties").and_then(Json::as_object);
        let required = list(members, "required");
        let inside = if place.name.is_empty() { scope.known().noun.clone() } else { noun(place.name) };
        let are_objects: Vec<bool> =
            properties.into_iter().flatten().map(|(_, part)| self.is_object(part)).collect();
        let objects = are_objects.iter().filter(|is_object| **is_object).count();
        // A sole member that is an object is always shown.
        let alone = properties.is_some_and(|all| all.len() == 1) && objects == 1;
        // If the record's scalars show its key, an object inside does not show the same record.
        let shows_key = |known: &KnownValues| {
            let mut scalars =
                properties.into_iter().flatten().zip(&are_objects).filter(|(_, is_object)| !**is_object);
            !known.key.is_null()
                && scalars.any(|((name, _), _)| known.members.get(&plain(name)) == Some(&known.key))
        };
        let keyed = matches!(&scope, Scope::Record(known) if shows_key(known));
        // A record gets the same generated values in all places.
        let seed = if let Scope::Record(known) = &scope { known.seed } else { place.seed };
        let mut out = Map::new();
        // Members without known values.
        let mut free = Vec::new();
        for ((name, part), is_object) in properties.into_iter().flatten().zip(are_objects) {
            let is_only = alone && !self.is_past_last_page(part, name, &scope);
            let must = is_only || required.iter().any(|known| known.as_str() == Some(name));
            // A reply shows members about errors only if an error is known.
            let error = tells_error(name);
            let unneeded = self.schemas.owed_by_other(part, Side::Reply) || (!must && error);
            if (unneeded || error) && !self.is_found(name, &scope) {
                if unneeded {
                    continue;
                }
                if self.fits(part, &Json::Null) {
                    out.insert(name.clone(), Json::Null);
                    continue;
                }
            }
            let here = place.below(name, &inside, sample::mix(seed, &plain(name)));
            let here = Place { beside: properties, whole: seed, ..here };
            let holds = match (is_object, objects) {
                (false, _) => Holds::NoObject,
                (true, 1) if !keyed => Holds::OnlyObject,
                (true, _) => Holds::Object,
            };
            let before = self.told;
            if let Some(value) = self.member(part, &here, &scope, must, holds) {
                out.insert(name.clone(), value);
                if self.told == before {
                    free.push(name.as_str());
                }
            }
        }
        if !scope.is_said() {
            self.agree(members, &scope, &free, &mut out);
        }
        self.more(members, &scope, place, &mut out);
        for name in required.iter().filter_map(Json::as_str) {
            if !out.contains_key(name) && properties.is_none_or(|known| !known.contains_key(name)) {
                let told = match &scope {
                    Scope::Record(known) => known.members.get(&plain(name)).cloned(),
                    _ => None,
                };
                let made = || Json::String(sample::plain_text(name, sample::mix(seed, name)));
                out.insert(name.to_owned(), told.unwrap_or_else(made));
            }
        }
        let mut value = Json::Object(out);
        if CONDITIONS.iter().any(|condition| word(members, condition).is_some()) {
            self.keep_conditions(members, place, &scope, &mut value);
        }
        value
    }

    /// Returns the record for an envelope whose schema says only that it is an object: the key and the sent
    /// members.
    fn whole(&self, part: &Json, name: &str, scope: &Scope<'_>) -> Option<Json> {
        let Scope::Record(known) = scope else { return None };
        if known.key_name.is_empty() || !WRAPPERS.contains(&name) {
            return None;
        }
        let flat = self.schemas.flat(part);
        let is_open = flat.ways.is_empty()
            && word(&flat.members, "type").is_some_and(|kind| kind == "object")
            && ["properties", "additionalProperties"].iter().all(|said| word(&flat.members, said).is_none());
        if !is_open {
            return None;
        }
        let mut members = Map::from_iter([(known.key_name.clone(), known.key.clone())]);
        members.extend(known.sent.iter().map(|(name, value)| (name.clone(), value.clone())));
        Some(Json::Object(members))
    }

    /// Makes an object meet the conditions between its members. It adds missing members, or removes an
    /// optional one.
    fn keep_conditions(
        &mut self,
        members: &Map<String, Json>,
        place: &Place<'_>,
        scope: &Scope<'_>,
        value: &mut Json,
    ) {
        let schema = Json::Object(members.clone());
        let properties = word(members, "properties").and_then(Json::as_object);
        let required = list(members, "required");
        for _ in 0..MAX_REPAIRS {
            let Err(wrong) = self.schemas.check(&schema, value, Side::Reply) else { return };
            let Json::Object(out) = &*value else { return };
            let missing =
                properties.and_then(|all| all.get(&wrong.at)).filter(|_| !out.contains_key(&wrong.at));
            if let Some(part) = missing {
                let here = place.below(&wrong.at, "", sample::mix(place.seed, &plain(&wrong.at)));
                let made = self.value(part, &here, &Scope::Made(scope.known().clone()));
                if let Json::Object(out) = value {
                    out.insert(wrong.at, made);
                }
                continue;
            }
            let names: Vec<String> = out.keys().rev().cloned().collect();
            let without = |name: &String| {
                let mut less = out.clone();
                less.shift_remove(name);
                Json::Object(less)
            };
            let fits = |less: &Json| self.fits(&schema, less);
            // If several conditions fail, each round removes one problem.
            let mends = |name: &&String| {
                let still = self.schemas.check(&schema, &without(name), Side::Reply).err();
                let may_go = !required.iter().any(|known| known.as_str() == Some(name));
                may_go && still.is_some_and(|still| still != wrong && still.at != **name)
            };
            let less = names.iter().map(without).find(fits);
            let less = less.or_else(|| names.iter().find(mends).map(without));
            match less {
                Some(less) => *value = less,
                None => return,
            }
        }
    }

    /// Adds members of arbitrary names: the known ones, and generated ones if the schema requires some.
    pub(super) fn more(
        &mut self,
        members: &Map<String, Json>,
        scope: &Scope<'_>,
        place: &Place<'_>,
        out: &mut Map<String, Json>,
    ) {
        let extra = word(members, "additionalProperties");
        let rest = word(members, "unevaluatedProperties");
        if [extra, rest].contains(&Some(&Json::Bool(false))) {
            return;
        }
        if let Scope::Found(inner, known) = scope {
            for (name, value) in inner.iter() {
                if out.contains_key(name) {
                    continue;
                }
                let value = match extra.filter(|extra| extra.is_object()) {
                    Some(schema) => {
                        let here = place.below(name, "", sample::mix(place.seed, name));
                        let here = Place { found: Some(value), ..here };
                        self.value(schema, &here, &Scope::Made(known.clone()))
                    }
                    None => value.clone(),
                };
                out.insert(name.clone(), value);
            }
        }
        let most = number(members, "maxProperties").map_or(usize::MAX, |most| most as usize);
        // A generated map has one entry, so that callers see its form.
        let made = !matches!(scope, Scope::Found(..)) && word(members, "properties").is_none();
        let map =
            made && !scope.is_said() && extra.is_some_and(|extra| extra.is_object() && !self.is_open(extra));
        let shown = usize::from(map && place.depth < FULL_DEPTH);
        let least = number(members, "minProperties").unwrap_or(0.0) as usize;
        for n in out.len()..least.max(shown).min(most).min(16) {
            let name = ENTRIES.get(n).map_or_else(|| format!("key_{}", n + 1), |name| (*name).to_owned());
            let here = place.below(&name, "", place.seed.wrapping_add(n as u64));
            let schema = extra.unwrap_or(&Json::Bool(true));
            let value = self.value(schema, &here, &Scope::Made(scope.known().clone()));
            out.insert(name, value);
        }
    }

    pub(super) fn is_object(&self, schema: &Json) -> bool {
        let flat = self.schemas.flat(schema);
        let way = |way: &Json| {
            let flat = self.schemas.flat(way);
            word(&flat.members, "properties").is_some() || !flat.ways.is_empty()
        };
        word(&flat.members, "properties").is_some()
            || (kind_of(&flat.members, None).is_empty() && flat.ways.iter().any(way))
    }

    pub(super) fn is_found(&self, name: &str, scope: &Scope<'_>) -> bool {
        match scope {
            Scope::Record(known) => known.members.contains_key(&plain(name)),
            Scope::Found(members, _) => members.contains_key(name),
            Scope::Made(_) => false,
        }
    }

    /// Returns a member of an object. Returns none if it is optional and no value is known.
    pub(super) fn member(
        &mut self,
        part: &Json,
        here: &Place<'_>,
        scope: &Scope<'_>,
        must: bool,
        holds: Holds,
    ) -> Option<Json> {
        let name = plain(here.name);
        let known = scope.known();
        // An object that was sent determines all of its members.
        let named = known
            .named(&name, here.inside)
            .or_else(|| known.of_any_kind(&name, here.beside))
            .filter(|_| holds == Holds::NoObject && !matches!(scope, Scope::Found(..)));
        let told = match scope {
            Scope::Record(known) => known
                .members
                .get(&name)
                .or_else(|| known.sent_slug(&name).filter(|slug| self.fits(part, slug)))
                .cloned(),
            Scope::Found(members, _) => members
                .get(here.name)
                .or_else(|| members.iter().find(|(known, _)| plain(known) == name).map(|(_, value)| value))
                .or_else(|| known.enveloped_key(&name, here.inside, here.depth))
                .cloned(),
            Scope::Made(_) => None,
        };
        let told = told.map(|told| self.next_link(part, &name, known).unwrap_or(told));
        let list = self.facts.list.as_ref().filter(|list| !self.listed && plain(&list.name) == name);
        // The list itself may have a name that tells of pages: `{"page": [..], "total": 9}`.
        let told = told.filter(|_| list.is_none());
        // A count or flag does not describe an object.
        let told = told.filter(|told| holds == Holds::NoObject || !(told.is_number() || told.is_boolean()));
        let is_keyed =
            told.as_ref().is_some_and(|told| self.are_keys(part, told, holds) && !self.fits(part, told));
        if is_keyed && let Some(value) = self.related(part, here, scope) {
            self.told += 1;
            return Some(value);
        }
        if is_keyed && let Some(value) = told.as_ref().and_then(|told| self.holder(part, here, scope, told)) {
            self.told += 1;
            return Some(value);
        }
        let is_free = told.is_none() && holds == Holds::NoObject && matches!(scope, Scope::Record(_));
        let named = named.or_else(|| known.above(&name).filter(|_| is_free));
        if told.is_none()
            && let Some(whole) = self.whole(part, &name, scope)
        {
            self.told += 1;
            return Some(whole);
        }
        if list.is_none() && !must {
            let known = named.is_some() || told.is_some();
            let deep = here.depth > FULL_DEPTH || self.steps > MAX_STEPS;
            if !known && (deep || self.is_open(part)) {
                return None;
            }
        }
        let sure = named.filter(|named| named.sure).map(|named| &named.key);
        for found in [sure, told.as_ref(), named.map(|named| &named.key)].into_iter().flatten() {
            let here = Place { found: Some(found), ..*here };
            let value = self.value(part, &here, &Scope::Made(known.clone()));
            let kept = found.is_object() || found.is_array() || alike(&value, found);
            if kept && self.fits(part, &value) {
                // A key of another record does not describe the object.
                self.told += u32::from(told.is_some() || KEYS.contains(&&*name));
                return Some(value);
            }
        }
        if let Some(value) = named.and_then(|named| self.id_of(part, here, named)) {
            return Some(value);
        }
        // A member that is known to be null is left out, or empty if it is required.
        if told.as_ref().is_some_and(Json::is_null) {
            let empty = Json::from("");
            return must.then(|| if self.fits(part, &empty) { empty } else { self.value(part, here, scope) });
        }
        // A reply shows only records that are not deleted.
        if told.is_none() && list.is_none() && is_gone(here.name) {
            let nothing = [Json::Bool(false), Json::Null].into_iter().find(|none| self.fits(part, none));
            if nothing.is_some() || !must {
                return nothing.filter(|_| must || !scope.is_said());
            }
        }
        if told.is_none()
            && list.is_none()
            && let Some(value) = self.related(part, here, scope)
        {
            self.told += 1;
            return Some(value);
        }
        let inner = self.inner(part, &name, holds, scope);
        if told.is_some() {
            self.told += 1;
        } else if list.is_none() && scope.is_said() {
            if let Some(value) = self.maker(part, here, scope, must) {
                return Some(value);
            }
            return self.unsaid(part, here, (scope, &inner), must);
        }
        let is_free = told.is_none() && list.is_none();
        if is_free && !must && self.says_nothing(part, here, &inner) {
            return None;
        }
        let value = self.value(part, &Place { found: told.as_ref(), ..*here }, &inner);
        let is_empty = is_free && !must && value.as_object().is_some_and(Map::is_empty);
        (must || !is_empty && self.fits(part, &value)).then_some(value)
    }

    /// Returns true if only the name describes a member, and the name has no known meaning. A generated value
    /// would only look meaningful.
    pub(super) fn says_nothing(&self, part: &Json, here: &Place<'_>, scope: &Scope<'_>) -> bool {
        let flat = self.schemas.flat(part);
        let members = &flat.members;
        let told = ["enum", "const", "default", "example", "pattern", "format"];
        let is_told = !flat.ways.is_empty() || told.iter().any(|told| word(members, told).is_some());
        // The limit ends recursion in lists of lists.
        if is_told || here.depth > 2 * FULL_DEPTH {
            return false;
        }
        match kind_of(members, None) {
            "string" => {
                let sampler = self.sampler(here, scope);
                let fits = |value: &Json| self.schemas.fits_members(members, value);
                self.key_named(here, scope.known()).is_none()
                    && sample::meant_text(&self.subject(here, scope, &sampler), &fits).is_none()
            }
            "array" => {
                let item = word(members, "items").unwrap_or(&Json::Bool(true));
                let one = item_of(here.name);
                self.says_nothing(item, &Place { name: &one, depth: here.depth + 1, ..*here }, scope)
            }
            "object" => ["properties", "additionalProperties", "required"]
                .iter()
                .all(|said| word(members, said).is_none()),
            "" => true,
            _ => false,
        }
    }

    /// Returns true if a value is one or several keys, but the schema expects the records.
    fn are_keys(&self, part: &Json, value: &Json, holds: Holds) -> bool {
        match value {
            Json::String(_) | Json::Number(_) => holds != Holds::NoObject,
            Json::Array(items) => {
                let item =
                    word(&self.schemas.flat(part).members, "items").is_some_and(|item| self.is_object(item));
                item && !items.iter().any(|item| item.is_object() || item.is_array())
            }
            _ => false,
        }
    }

    /// Returns a member without a known value: its default or only value, or an object with known members.
    /// Otherwise it is null, or generated if it is required.
    pub(super) fn unsaid(
        &mut self,
        part: &Json,
        here: &Place<'_>,
        (outer, inner): (&Scope<'_>, &Scope<'_>),
        must: bool,
    ) -> Option<Json> {
        let flat = self.schemas.flat(part);
        let only = match list(&flat.members, "enum") {
            [only] => Some(only),
            _ => word(&flat.members, "const"),
        };
        let given = only.or_else(|| word(&flat.members, "default"));
        if let Some(given) = given.filter(|given| self.fits(part, given)) {
            return Some(self.constant(given));
        }
        let before = self.told;
        let own = Rc::ptr_eq(outer.known(), inner.known()) && self.is_object(part);
        let value = own.then(|| self.value(part, here, inner)).filter(|_| self.told > before);
        self.told = before + u32::from(value.is_some());
        if value.as_ref().is_some_and(|value| must || self.fits(part, value)) {
            return value;
        }
        let any = flat.ways.is_empty() && kind_of(&flat.members, None).is_empty();
        if !any && self.fits(part, &Json::Null) {
            return Some(Json::Null);
        }
        must.then(|| self.value(part, here, inner))
    }

    /// Returns the scope of an object whose name no known member has.
    pub(super) fn inner<'s>(&self, part: &Json, name: &str, holds: Holds, scope: &Scope<'s>) -> Scope<'s> {
        let known = scope.known();
        if holds == Holds::NoObject {
            return match (scope, &self.facts.list) {
                // The list may be inside this member.
                (Scope::Record(_), Some(_)) => scope.clone(),
                _ => Scope::Made(known.clone()),
            };
        }
        let meant = noun(name);
        let named = known.meant(&meant);
        let above = named.is_some();
        let kind = self.kind_said(part).filter(|kind| *kind != known.noun && !above);
        let record = kind.and_then(|kind| self.facts.lookup.record(&kind, sample::mix(known.seed, name)));
        if let Some(record) = record {
            return Scope::Record(Rc::new(record));
        }
        if matches!(scope, Scope::Record(_)) {
            // An object beside a list describes the list, unless it is a record.
            let is_record = || self.listed && self.facts.lookup.record(&meant, known.seed).is_some();
            let around = self.facts.list.is_some() && Rc::ptr_eq(known, &self.facts.known) && !is_record();
            if holds == Holds::OnlyObject || around || meant == known.noun || WRAPPERS.contains(&name) {
                return scope.clone();
            }
        }
        if let Some(named) = named {
            let above = self.facts.lookup.at(named.of, &named.noun, &named.key);
            return above.map_or_else(|| Scope::Made(known.clone()), |above| Scope::Record(Rc::new(above)));
        }
        let seed = sample::mix(known.seed, &meant);
        let like =
            || self.schemas.resource_said(part).and_then(|like| self.facts.lookup.record_of(like, seed));
        match self.facts.lookup.record(&meant, seed).or_else(like) {
            Some(record) => Scope::Record(Rc::new(record)),
            None => Scope::Made(known.clone()),
        }
    }

    /// Returns the noun of the records that a schema declares for its objects: `type: {enum: [user]}`.
    pub(super) fn kind_said(&self, schema: &Json) -> Option<String> {
        let flat = self.schemas.flat(schema);
        let said = ["type", "object", "kind"]
            .iter()
            .find_map(|name| word(&flat.members, "properties")?.get(name))?;
        let said = self.schemas.flat(said).members;
        match (word(&said, "const"), list(&said, "enum")) {
            (Some(Json::String(only)), _) | (None, [Json::String(only)]) => Some(noun(only)),
            _ => None,
        }
    }
}
