//! Owns the generation of a value that fits a schema and shows known facts. It fills members by their names,
//! and generates the rest.

use std::cell::Cell;
use std::cmp::Reverse;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::check::word;
use super::format::{is_mail_date, mail_date};
use super::merge::Flat;
use super::names::{is_name, key_name, plain};
use super::sample::{self, Subject};
use super::schemas::{Schemas, reference};
use crate::agreement::{Moment, place_names};
use crate::materialise::{Sampler, tells_person};
use known::WRAPPERS;
use state::{MAX_STEPS, Maker, Place, Scope};
use values::{bytes, coerced};

mod agree;
mod array;
mod known;
mod links;
mod object;
mod references;
mod state;
mod values;

pub use known::{Facts, KnownValues, List, ListedRecords, Lookup, NameableRecord, NoRecords};

/// Maximum depth of a generated value. Deeper values are null.
const MAX_DEPTH: u32 = 24;
/// Maximum number of alternatives to try for one value.
const MAX_WAYS: usize = 24;
/// Maximum depth of alternatives inside alternatives.
const MAX_WAYS_DEPTH: u32 = 12;
/// Maximum number of bytes of constants in a reply. Later constants become null.
const MAX_CONSTANT_BYTES: u64 = 32 << 20;

impl Schemas {
    /// Returns a value that fits the schema and shows the facts.
    pub fn reply(&self, schema: &Json, facts: &Facts<'_>) -> Json {
        let maker = || Maker {
            schemas: self,
            facts,
            open: Vec::new(),
            listed: false,
            steps: 0,
            checks: Cell::new(0),
            constant_bytes: 0,
            told: 0,
        };
        // A string or integer in reply to a creation is the key of the new record.
        let is_key = facts.known.is_new
            && !facts.known.key_name.is_empty()
            && ["string", "integer"].contains(&values::kind_of(&self.flat(schema).members, None));
        let found = Some(&facts.known.key).filter(|_| is_key);
        let place = Place { found, ..Place::top(facts.known.seed) };
        let mut value = maker().value(schema, &place, &Scope::Record(facts.known.clone()));
        if facts.known.is_new {
            // If a creation reply would be empty, it shows values as any other reply does, usually a
            // confirmation.
            if value.as_object().is_some_and(Map::is_empty) {
                let any = Rc::new(KnownValues { is_new: false, ..(*facts.known).clone() });
                value = maker().value(schema, &place, &Scope::Record(any));
            }
            maker().show_key(schema, &facts.known, &mut value);
        }
        value
    }
}

impl Maker<'_> {
    /// Returns true if a value fits a schema. After a million schemas in one reply, or in one item of its
    /// list, it always returns true.
    pub(super) fn fits(&self, schema: &Json, value: &Json) -> bool {
        self.schemas.fits_within(schema, value, &self.checks)
    }

    pub(super) fn value(&mut self, schema: &Json, place: &Place<'_>, scope: &Scope<'_>) -> Json {
        self.steps += 1;
        if let Some(value) = place.found
            && !value.is_object()
            && !value.is_array()
            && self.fits(schema, value)
        {
            return value.clone();
        }
        // A schema that requires itself without end has no finite value.
        if place.depth > MAX_DEPTH || self.steps > 2 * MAX_STEPS {
            return Json::Null;
        }
        let flat = self.schemas.flat(schema);
        let before = self.open.len();
        self.open.extend(flat.names.iter().map(|name| (*name).to_owned()));
        let value = self.chosen(schema, &flat, place, scope, 0);
        self.open.truncate(before);
        value
    }

    /// Returns the value of the first alternative that fits.
    pub(super) fn chosen(
        &mut self,
        schema: &Json,
        flat: &Flat<'_>,
        place: &Place<'_>,
        scope: &Scope<'_>,
        depth: u32,
    ) -> Json {
        self.steps += 1;
        if flat.ways.is_empty() || depth > MAX_WAYS_DEPTH {
            return self.plain(&flat.members, place, scope);
        }
        let null = |way: &Json| way.get("type").is_some_and(|kind| kind == "null");
        let mut ways: Vec<&Json> = flat.ways.iter().collect();
        // Alternatives come first that fit the known value, then those that show most known members. Null
        // comes later, and recursive alternatives come last.
        ways.sort_by_cached_key(|way| {
            let fits = place.found.is_some_and(|found| self.fits(way, found));
            (!fits, self.is_open(way), null(way), Reverse(self.shown_by(way, place, scope)))
        });
        let listed = self.listed;
        let mut first = None;
        for way in ways.into_iter().take(MAX_WAYS) {
            self.listed = listed;
            let part = self.schemas.with(flat, way);
            let before = self.open.len();
            self.open.extend(part.names.iter().skip(flat.names.len()).map(|name| (*name).to_owned()));
            let value = self.chosen(schema, &part, place, scope, depth + 1);
            self.open.truncate(before);
            if self.fits(schema, &value) {
                return value;
            }
            first.get_or_insert(value);
            if self.steps > MAX_STEPS {
                break;
            }
        }
        first.unwrap_or(Json::Null)
    }

    /// Counts the members of a schema that a known value fits unchanged.
    pub(super) fn shown_by(&self, way: &Json, place: &Place<'_>, scope: &Scope<'_>) -> usize {
        let flat = self.schemas.flat(way);
        let known = |name: &String| match (place.found, scope) {
            (Some(Json::Object(members)), _) => members.get(name),
            (None, Scope::Record(known)) => known.members.get(&plain(name)),
            (None, Scope::Found(members, _)) => members.get(name),
            _ => None,
        };
        let properties = word(&flat.members, "properties").and_then(Json::as_object);
        let shows = |name: &String, part: &Json| known(name).is_some_and(|value| self.fits(part, value));
        properties.into_iter().flatten().filter(|(name, part)| shows(name, part)).count()
    }

    /// Returns true if this schema is already being generated, so that the value would contain itself.
    pub(super) fn is_open(&self, schema: &Json) -> bool {
        reference(schema).is_some_and(|name| self.open.iter().any(|open| open == name))
    }

    /// Returns a constant of a schema, or null after the maximum number of bytes.
    pub(super) fn constant(&mut self, value: &Json) -> Json {
        if self.constant_bytes > MAX_CONSTANT_BYTES {
            return Json::Null;
        }
        self.constant_bytes += bytes(value);
        value.clone()
    }

    pub(super) fn scalar(
        &self,
        kind: &str,
        members: &Map<String, Json>,
        place: &Place<'_>,
        scope: &Scope<'_>,
    ) -> Json {
        let fits = |value: &Json| self.schemas.fits_members(members, value);
        if let Some(value) = place.found.and_then(|found| coerced(kind, found)).filter(|value| fits(value)) {
            return value;
        }
        let format = word(members, "format").and_then(Json::as_str);
        if format.is_some_and(is_mail_date)
            && let Some(date) =
                place.found.and_then(Json::as_str).and_then(sample::seconds).and_then(mail_date)
        {
            return Json::String(date);
        }
        if place.found.is_none_or(Json::is_null) {
            // The name may refer to a record, whose key is the value.
            let key = self.key_named(place, scope.known()).and_then(|key| coerced(kind, &key));
            if let Some(key) = key.filter(|key| fits(key)) {
                return key;
            }
            // Timestamps in examples are arbitrary and have no order, so they are ignored.
            let is_moment =
                matches!(format, Some("date-time" | "date")) || Moment::kind_by_name(place.name).is_some();
            let moment = |told: &Json| is_moment && told.as_str().and_then(sample::seconds).is_some();
            let may = |told: &&Json| !told.is_null() && !moment(told) && key_name(place.name).is_none();
            let told = |name: &str| word(members, name).filter(may);
            let first = sample::first(kind, members, place.name, self.facts.now);
            let first = first.as_ref().filter(|_| scope.is_said());
            let given = [told("default"), first, told("example")];
            if let Some(given) = given.into_iter().flatten().find(|given| fits(given)) {
                return given.clone();
            }
        }
        let sampler = self.sampler(place, scope);
        sample::scalar(kind, members, &self.subject(place, scope, &sampler), &fits)
    }

    /// Returns the sampler for an object: one person, and the location that the known members name.
    pub(super) fn sampler(&self, place: &Place<'_>, scope: &Scope<'_>) -> Sampler {
        let known = scope.known();
        let mut sampler = Sampler::new(place.whole, known.seed);
        let inside = |object: &Map<String, Json>, name: &str| {
            object.iter().find(|(member, _)| plain(member) == name).map(|(_, value)| value.clone())
        };
        let held = |name: &str| {
            let holders = place_names("holder").filter_map(|holder| known.members.get(holder)?.as_object());
            holders.filter_map(|holder| inside(holder, name)).next()
        };
        let told = |name: &str| match scope {
            Scope::Found(members, _) => inside(members, name),
            _ => known.members.get(name).cloned().or_else(|| held(name)),
        };
        for name in place_names("city").chain(place_names("country")) {
            if told(name).and_then(|place| Some(sampler.set_in(place.as_str()?))) == Some(true) {
                break;
            }
        }
        sampler
    }

    /// Returns the name, the object and the seed for which a scalar is generated.
    pub(super) fn subject<'s>(
        &self,
        place: &Place<'s>,
        scope: &'s Scope<'_>,
        sampler: &'s Sampler,
    ) -> Subject<'s> {
        // The name of a wrapper does not describe its content. An object with an email address is a person.
        let says_nothing = place.within.is_empty() || WRAPPERS.contains(&&*plain(place.within));
        let of = match place.beside {
            Some(members) if is_name(place.name) && members.keys().any(|name| tells_person(name)) => "person",
            _ if says_nothing => &scope.known().noun,
            _ => place.within,
        };
        Subject { name: place.name, of, seed: place.seed, now: self.facts.now, sampler }
    }
}
