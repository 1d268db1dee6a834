//! The value of a schema that shows what is known: members by their names, made-up ones for the rest.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::check::{Side, is_kind, list, number, same, word};
use super::merge::Flat;
use super::{KEYS, Schemas, first_state, is_gone, key_name, noun, plain, reference, sample, tells_error};

/// Objects inside objects show all of their members so deep; below that only those that are required.
const FULL_DEPTH: u32 = 3;
/// Below this depth nothing is made.
const MAX_DEPTH: u32 = 24;
/// Parts of one reply that are made before it is cut short.
const MAX_STEPS: u32 = 60_000;
/// Alternatives of `oneOf` that are tried.
const MAX_WAYS: usize = 24;
/// Alternatives inside alternatives are tried so deep.
const MAX_WAYS_DEPTH: u32 = 12;
/// Bytes of the constants that a reply shows: when it has more, nothing is put in the place of another.
const MAX_CONSTANT_BYTES: u64 = 32 << 20;
/// Parts of a record that one list inside it shows.
const MAX_PARTS: usize = 100;
/// Members that hold whoever made a record.
const MAKERS: [&str; 5] = ["createdby", "creator", "ownedby", "owner", "author"];
/// What callers call the entries of maps.
const ENTRIES: [&str; 4] = ["topic", "team", "region", "source"];
/// Names under which replies put what they show.
const WRAPPERS: [&str; 14] = [
    "data",
    "item",
    "result",
    "results",
    "content",
    "record",
    "object",
    "payload",
    "response",
    "value",
    "body",
    "entity",
    "resource",
    "attributes",
];

/// What is known of a record, for the members of a reply.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Where made-up members come from: the same seed, the same values.
    pub seed: u64,
    /// The record's key.
    pub key: Json,
    /// The name under which a list shows the key where none of its members does; empty where no path asks for it.
    pub key_name: String,
    /// The record's noun.
    pub noun: String,
    /// Of which resource it is, as whoever looks records up counts them.
    pub of: Option<usize>,
    /// A caller made it: what nobody has said of it is not made up.
    pub is_new: bool,
    /// Members by plain name.
    pub members: HashMap<String, Json>,
    /// The records that it stands below or refers to, and itself, by the names that members give them.
    pub named: Vec<Named>,
    /// The lists of records that it refers to.
    pub lists: Vec<Listed>,
}

/// The records that a list of references holds.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The noun by which a member shows them: `tag` for `tag_ids`.
    pub role: String,
    /// The noun of what they are.
    pub noun: String,
    /// Of which resource they are.
    pub of: Option<usize>,
    /// Their keys.
    pub keys: Vec<Json>,
}

/// A value that members name: the conversation of a message.
#[derive(Clone, Debug)]
pub struct Named {
    /// The noun of what it is the key of.
    pub noun: String,
    /// The noun by which a member shows it: `owner` for the user of `owner_id`.
    pub role: String,
    /// Of which resource its record is, where that is known.
    pub of: Option<usize>,
    /// The plain name of the parameter that gave it, which a member may have, too.
    pub name: String,
    /// The key.
    pub key: Json,
    /// The path of the call says it, so that nothing else can.
    pub sure: bool,
}

/// The list that a reply shows.
pub struct List {
    /// The name of the member that holds it; empty where the body is the list.
    pub name: String,
    /// What is known of its items.
    pub items: Vec<Rc<Known>>,
}

/// Where records are found that members refer to.
pub trait Lookup {
    /// A record of what a noun names: always the same one for a seed; nothing where no resource has that noun.
    fn record(&self, noun: &str, seed: u64) -> Option<Known>;

    /// The record that has this key: of a resource where one is given, else of what a noun names.
    fn at(&self, of: Option<usize>, noun: &str, key: &Json) -> Option<Known>;

    /// A record of the resource whose key has a plain name that no other key has.
    fn keyed(&self, name: &str, seed: u64) -> Option<Known>;

    /// The records of what a noun names that belong to a record; nothing where none could.
    fn parts(&self, noun: &str, whole: &Known) -> Option<Vec<Known>>;

    /// The record of whoever asks, where some path shows it.
    fn caller(&self) -> Option<Known>;
}

/// What a reply is made from.
pub struct Facts<'a> {
    /// The record that it shows; for a list what stands around it.
    pub known: Rc<Known>,
    /// The list that it shows.
    pub list: Option<List>,
    /// The session's moment, in seconds of Unix time: made-up moments lie before it.
    pub now: i64,
    /// Records that members refer to.
    pub lookup: &'a dyn Lookup,
}

/// Where a member's value comes from.
#[derive(Clone)]
enum Scope<'f> {
    /// The members of a record.
    Record(Rc<Known>),
    /// The members of an object that is known.
    Found(&'f Map<String, Json>, Rc<Known>),
    /// Nothing is known but whose it is.
    Made(Rc<Known>),
}

/// Whether a member of an object holds another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    NoObject,
    /// As other members do.
    Object,
    /// As no other member does.
    OnlyObject,
}

/// A place in the reply.
#[derive(Clone, Copy)]
struct Place<'p> {
    name: &'p str,
    /// The noun of the object that it is in.
    inside: &'p str,
    seed: u64,
    depth: u32,
    /// What is known to stand there.
    found: Option<&'p Json>,
    /// The members of the object that it is in.
    beside: Option<&'p Map<String, Json>>,
}

struct Maker<'a> {
    schemas: &'a Schemas,
    facts: &'a Facts<'a>,
    open: Vec<String>,
    listed: bool,
    steps: u32,
    /// Schemas held against values so far.
    checks: Cell<u32>,
    /// Bytes so far of values that schemas give.
    constant_bytes: u64,
    /// Members so far that showed what is known.
    told: u32,
}

impl Schemas {
    /// The valid value of a schema that shows the facts.
    #[must_use]
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
        let place =
            Place { name: "", inside: "", seed: facts.known.seed, depth: 0, found: None, beside: None };
        let mut value = maker().value(schema, &place, &Scope::Record(facts.known.clone()));
        if facts.known.is_new {
            // A reply none of whose members anybody has said shows what any reply does: that it was done, as a rule.
            if value.as_object().is_some_and(Map::is_empty) {
                let any = Rc::new(Known { is_new: false, ..(*facts.known).clone() });
                value = maker().value(schema, &place, &Scope::Record(any));
            }
            maker().show_key(schema, &facts.known, &mut value);
        }
        value
    }
}

impl Place<'_> {
    /// A place inside this one, of which nothing is known.
    const fn below<'q>(&self, name: &'q str, inside: &'q str, seed: u64) -> Place<'q> {
        Place { name, inside, seed, depth: self.depth + 1, found: None, beside: None }
    }
}

impl<'f> Scope<'f> {
    const fn known(&self) -> &Rc<Known> {
        match self {
            Self::Record(known) | Self::Found(_, known) | Self::Made(known) => known,
        }
    }

    /// Whether somebody has said all that there is to say: of a new record, and of an object that was sent.
    fn is_said(&self) -> bool {
        matches!(self, Self::Found(..)) || self.known().is_new
    }
}

impl Known {
    /// The key of the record that a member names: `conversation_sid`, or `id` inside `conversation`.
    fn named(&self, name: &str, inside: &str) -> Option<&Named> {
        let fits = |named: &&Named| named.name == name && !KEYS.contains(&name);
        if let Some(named) = self.named.iter().find(fits) {
            return Some(named);
        }
        let (stem, ending) = key_name(name)?;
        if !KEYS.contains(&ending) {
            return None;
        }
        let stem = if stem.is_empty() { inside } else { &stem };
        self.meant(stem)
    }

    /// What a noun of members means: a role before what records are.
    fn meant(&self, noun: &str) -> Option<&Named> {
        let by = |of: fn(&Named) -> &String| self.named.iter().find(|named| of(named) == noun);
        by(|named| &named.role).or_else(|| by(|named| &named.noun)).filter(|_| !noun.is_empty())
    }
}

impl Maker<'_> {
    /// Returns true if a value is valid by a schema. After a million schemas in one reply, or one item of its
    /// list, every value is.
    fn fits(&self, schema: &Json, value: &Json) -> bool {
        self.schemas.fits_within(schema, value, &self.checks)
    }

    fn value(&mut self, schema: &Json, place: &Place<'_>, scope: &Scope<'_>) -> Json {
        self.steps += 1;
        if let Some(value) = place.found
            && !value.is_object()
            && !value.is_array()
            && self.fits(schema, value)
        {
            return value.clone();
        }
        // A schema that requires itself without end has no value.
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

    /// The first of a schema's alternatives that gives a valid value.
    fn chosen(
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
        // What is known fits one of them best, or shows most in it; null comes after others, and what would stand inside
        // itself last.
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

    /// How many of the known members a schema shows as they are.
    fn shown_by(&self, way: &Json, place: &Place<'_>, scope: &Scope<'_>) -> usize {
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

    /// Whether a schema is being made already, so that it would stand inside itself.
    fn is_open(&self, schema: &Json) -> bool {
        reference(schema).is_some_and(|name| self.open.iter().any(|open| open == name))
    }

    /// A value that a schema gives; null where the reply has more of those than any may have.
    fn constant(&mut self, value: &Json) -> Json {
        if self.constant_bytes > MAX_CONSTANT_BYTES {
            return Json::Null;
        }
        self.constant_bytes += bytes(value);
        value.clone()
    }

    fn plain(&mut self, members: &Map<String, Json>, place: &Place<'_>, scope: &Scope<'_>) -> Json {
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
            "" => place.found.cloned().unwrap_or_else(|| Json::String(sample::words(place.seed))),
            kind => self.scalar(kind, members, place, scope),
        }
    }

    fn object(&mut self, members: &Map<String, Json>, place: &Place<'_>, scope: &Scope<'_>) -> Json {
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
        // What there is nothing else beside is there.
        let alone = properties.is_some_and(|all| all.len() == 1) && objects == 1;
        // A record that shows its key is not shown by an object inside it.
        let keyed = matches!(&scope, Scope::Record(known) if properties.into_iter().flatten().any(|(name, _)| {
            !known.key.is_null() && known.members.get(&plain(name)) == Some(&known.key)
        }));
        // A record is the same wherever it is shown.
        let seed = if let Scope::Record(known) = &scope { known.seed } else { place.seed };
        let mut out = Map::new();
        for ((name, part), is_object) in properties.into_iter().flatten().zip(are_objects) {
            let must = alone || required.iter().any(|known| known.as_str() == Some(name));
            // What went wrong is told where something did.
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
            let here = Place { beside: properties, ..here };
            let holds = match (is_object, objects) {
                (false, _) => Holds::NoObject,
                (true, 1) if !keyed => Holds::OnlyObject,
                (true, _) => Holds::Object,
            };
            if let Some(value) = self.member(part, &here, &scope, must, holds) {
                out.insert(name.clone(), value);
            }
        }
        self.more(members, &scope, place, &mut out);
        for name in required.iter().filter_map(Json::as_str) {
            if !out.contains_key(name) && properties.is_none_or(|known| !known.contains_key(name)) {
                let told = match &scope {
                    Scope::Record(known) => known.members.get(&plain(name)).cloned(),
                    _ => None,
                };
                let made = || Json::String(sample::words(sample::mix(seed, name)));
                out.insert(name.to_owned(), told.unwrap_or_else(made));
            }
        }
        Json::Object(out)
    }

    /// Members that callers name: what is known of them, and one where there must be some.
    fn more(
        &mut self,
        members: &Map<String, Json>,
        scope: &Scope<'_>,
        place: &Place<'_>,
        out: &mut Map<String, Json>,
    ) {
        let extra = word(members, "additionalProperties");
        if extra == Some(&Json::Bool(false)) {
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
        // A made-up map has an entry, so that callers see what it is.
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

    fn is_object(&self, schema: &Json) -> bool {
        let flat = self.schemas.flat(schema);
        let way = |way: &Json| {
            let flat = self.schemas.flat(way);
            word(&flat.members, "properties").is_some() || !flat.ways.is_empty()
        };
        word(&flat.members, "properties").is_some()
            || (kind_of(&flat.members, None).is_empty() && flat.ways.iter().any(way))
    }

    fn is_found(&self, name: &str, scope: &Scope<'_>) -> bool {
        match scope {
            Scope::Record(known) => known.members.contains_key(&plain(name)),
            Scope::Found(members, _) => members.contains_key(name),
            Scope::Made(_) => false,
        }
    }

    /// A member of an object; nothing where it may be left out and nothing is known of it.
    fn member(
        &mut self,
        part: &Json,
        here: &Place<'_>,
        scope: &Scope<'_>,
        must: bool,
        holds: Holds,
    ) -> Option<Json> {
        let name = plain(here.name);
        let known = scope.known();
        // What stands in an object that was sent is told by it alone.
        let named = known
            .named(&name, here.inside)
            .filter(|_| holds == Holds::NoObject && !matches!(scope, Scope::Found(..)));
        let told = match scope {
            Scope::Record(known) => known.members.get(&name).cloned(),
            Scope::Found(members, _) => members
                .get(here.name)
                .or_else(|| members.iter().find(|(known, _)| plain(known) == name).map(|(_, value)| value))
                .cloned(),
            Scope::Made(_) => None,
        };
        let list = self.facts.list.as_ref().filter(|list| !self.listed && plain(&list.name) == name);
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
                // A key of something else does not tell what an object is.
                self.told += u32::from(told.is_some() || KEYS.contains(&&*name));
                return Some(value);
            }
        }
        // What is known to be nothing is left out, or empty where it may not be.
        if told.as_ref().is_some_and(Json::is_null) {
            let empty = Json::from("");
            return must.then(|| if self.fits(part, &empty) { empty } else { self.value(part, here, scope) });
        }
        // What is shown is there.
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
        let value = self.value(part, &Place { found: told.as_ref(), ..*here }, &inner);
        (must || self.fits(part, &value)).then_some(value)
    }

    /// A member that shows the record that a record refers to, or those that it lists, or its parts.
    fn related(&mut self, part: &Json, here: &Place<'_>, scope: &Scope<'_>) -> Option<Json> {
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
            let all = self.listed(known, &meant)?;
            let most = number(&flat, "maxItems").map_or(MAX_PARTS, |most| MAX_PARTS.min(most as usize));
            let items = all.into_iter().take(most).enumerate().map(|(index, part)| {
                let here = here.below(&meant, "", here.seed.wrapping_add(index as u64));
                self.value(item, &here, &Scope::Record(Rc::new(part)))
            });
            Json::Array(items.collect())
        };
        self.fits(part, &value).then_some(value)
    }

    /// The records of a noun that a record lists, or that are its parts.
    fn listed(&self, known: &Known, meant: &str) -> Option<Vec<Known>> {
        let lists = || known.lists.iter();
        let found =
            lists().find(|list| list.role == meant).or_else(|| lists().find(|list| list.noun == meant));
        match found {
            Some(list) => Some(
                list.keys.iter().filter_map(|key| self.facts.lookup.at(list.of, &list.noun, key)).collect(),
            ),
            // What a record has none of, what it stands below may have.
            None => self.facts.lookup.parts(meant, known).or_else(|| {
                known.named.iter().filter(|named| named.key != known.key).find_map(|named| {
                    let whole = self.facts.lookup.at(named.of, &named.noun, &named.key)?;
                    self.facts.lookup.parts(meant, &whole)
                })
            }),
        }
    }

    /// A member that nobody has said anything of: its default or only value, an object around what is known, else nothing,
    /// or as little as its schema takes.
    fn unsaid(
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

    /// Whoever made a new record: the caller, where a member says so, or must name one of its kind.
    fn maker(&mut self, part: &Json, here: &Place<'_>, scope: &Scope<'_>, must: bool) -> Option<Json> {
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

    /// Where the members of an object come from of which nothing is known by its name.
    fn inner<'s>(&self, part: &Json, name: &str, holds: Holds, scope: &Scope<'s>) -> Scope<'s> {
        let known = scope.known();
        if holds == Holds::NoObject {
            return match (scope, &self.facts.list) {
                // The list may lie inside.
                (Scope::Record(_), Some(_)) => scope.clone(),
                _ => Scope::Made(known.clone()),
            };
        }
        let meant = noun(name);
        let named = known.meant(&meant);
        let above = named.is_some();
        if let Some(kind) = self.kind_said(part).filter(|kind| *kind != known.noun && !above)
            && let Some(record) = self.facts.lookup.record(&kind, sample::mix(known.seed, name))
        {
            return Scope::Record(Rc::new(record));
        }
        if matches!(scope, Scope::Record(_)) {
            let around = self.facts.list.is_some() && !self.listed;
            if holds == Holds::OnlyObject || around || meant == known.noun || WRAPPERS.contains(&name) {
                return scope.clone();
            }
        }
        if let Some(named) = named {
            // What a record stands below is shown as itself.
            let record = self.facts.lookup.at(named.of, &named.noun, &named.key);
            return record
                .map_or_else(|| Scope::Made(known.clone()), |record| Scope::Record(Rc::new(record)));
        }
        match self.facts.lookup.record(&meant, sample::mix(known.seed, &meant)) {
            Some(record) => Scope::Record(Rc::new(record)),
            None => Scope::Made(known.clone()),
        }
    }

    /// The noun of the records that a schema says its objects are: `type: {enum: [user]}`.
    fn kind_said(&self, schema: &Json) -> Option<String> {
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

    fn array(&mut self, members: &Map<String, Json>, place: &Place<'_>, scope: &Scope<'_>) -> Json {
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
                // Items that are no objects are the keys.
                let found = Some(&known.key).filter(|_| of_keys && !known.key_name.is_empty());
                let here = Place { name: "", inside: "", seed: known.seed, depth: 1, found, beside: None };
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
        let least = number(members, "minItems").unwrap_or(0.0) as usize;
        let one = noun(place.name);
        let known = scope.known();
        let shown = usize::from(place.depth < FULL_DEPTH && !scope.is_said() && !self.is_open(item));
        let mut items: Vec<Json> = Vec::new();
        for index in 0..least.max(shown).min(most).min(64) {
            let seed = sample::mix(place.seed, &index.to_string());
            let here = place.below(&one, "", seed);
            let meant = self.kind_said(item).unwrap_or_else(|| one.clone());
            let inner = match self.facts.lookup.record(&meant, seed) {
                Some(record) if self.is_object(item) => Scope::Record(Rc::new(record)),
                _ => Scope::Made(known.clone()),
            };
            let value = self.value(item, &here, &inner);
            if word(members, "uniqueItems") != Some(&Json::Bool(true)) || !items.contains(&value) {
                items.push(value);
            }
        }
        Json::Array(items)
    }

    /// A text as the only item of a list: itself, or the first object that has a place for plain text.
    fn spoken(&mut self, item: &Json, text: &Json, place: &Place<'_>, scope: &Scope<'_>) -> Option<Json> {
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

    /// Puts a text where a value has one that its schema says nothing more of. Whether there is such a place.
    fn put_text(&self, schema: &Json, text: &Json, value: &mut Json, depth: u32) -> bool {
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

    /// What can be opened shows its key.
    fn show_key(&self, item: &Json, known: &Known, value: &mut Json) {
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

    /// The key that a member's name means: `user_id`, `id` inside `user`, or the name of a key that only users have.
    fn key_named(&self, place: &Place<'_>, known: &Known) -> Option<Json> {
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

    fn scalar(&self, kind: &str, members: &Map<String, Json>, place: &Place<'_>, scope: &Scope<'_>) -> Json {
        let fits = |value: &Json| self.schemas.fits_members(members, value);
        if let Some(value) = place.found.and_then(|found| coerced(kind, found)).filter(|value| fits(value)) {
            return value;
        }
        if place.found.is_none_or(Json::is_null) {
            // The key of a record that there is, where the name says of what.
            let key = self.key_named(place, scope.known()).and_then(|key| coerced(kind, &key));
            if let Some(key) = key.filter(|key| fits(key)) {
                return key;
            }
            // Moments of examples lie anywhere, and after one another in no order.
            let moment = word(members, "format").is_some_and(|format| format == "date-time");
            let may = |told: &&Json| !told.is_null() && !moment && key_name(place.name).is_none();
            let told = |name: &str| word(members, name).filter(may);
            let first = sample::first(kind, members, place.name, self.facts.now);
            let first = first.as_ref().filter(|_| scope.is_said());
            let given = [told("default"), first, told("example")];
            if let Some(given) = given.into_iter().flatten().find(|given| fits(given)) {
                return given.clone();
            }
        }
        sample::scalar(kind, members, place.name, place.seed, self.facts.now, &fits)
    }
}

/// One of a few values: what is known in whatever spelling, the default, the first of something new, or any.
fn one_of(members: &Map<String, Json>, values: &[Json], place: &Place<'_>, scope: &Scope<'_>) -> Json {
    if let Some(found) = place.found.map(spelt)
        && let Some(value) = values.iter().find(|value| spelt(value) == found)
    {
        return value.clone();
    }
    if let Some(default) = word(members, "default").filter(|value| values.contains(value)) {
        return default.clone();
    }
    let kind = word(members, "type").and_then(Json::as_str).unwrap_or_default();
    let real: Vec<&Json> = values.iter().filter(|value| !value.is_null() && is_kind(kind, value)).collect();
    if scope.is_said() && real.iter().all(|value| value.is_string()) {
        let beside: Vec<&str> = place.beside.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        return first_state(real.iter().filter_map(|value| value.as_str()), &beside)
            .map_or(Json::Null, Json::from);
    }
    // What is shown is there.
    let there: Vec<&Json> =
        real.iter().copied().filter(|value| !value.as_str().is_some_and(is_gone)).collect();
    let real = if there.is_empty() { real } else { there };
    let at = if scope.is_said() { 0 } else { place.seed as usize % real.len().max(1) };
    let chosen = real.get(at).copied().or_else(|| values.first());
    chosen.cloned().unwrap_or(Json::Null)
}

/// The type of a schema's values, the one of what is known where it has several; empty for any.
fn kind_of<'m>(members: &'m Map<String, Json>, found: Option<&Json>) -> &'m str {
    let says = |words: &[&str]| members.keys().any(|known| words.contains(&known.as_str()));
    match word(members, "type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            let kinds = || kinds.iter().filter_map(Json::as_str);
            let known = found.and_then(|found| kinds().find(|kind| is_kind(kind, found)));
            known
                .or_else(|| kinds().find(|kind| *kind != "null"))
                .or_else(|| kinds().next())
                .unwrap_or_default()
        }
        _ if says(&["properties", "additionalProperties", "required"]) => "object",
        _ if says(&["items"]) => "array",
        _ if says(&["pattern", "maxLength"]) => "string",
        _ if says(&["minimum", "maximum"]) => "number",
        _ => "",
    }
}

/// A value in another type that spells it.
fn coerced(kind: &str, found: &Json) -> Option<Json> {
    match (kind, found) {
        ("string" | "file", Json::String(_)) | ("boolean", Json::Bool(_)) => Some(found.clone()),
        ("integer" | "number", Json::Number(_)) => Some(found.clone()),
        ("string", Json::Number(_) | Json::Bool(_)) => Some(Json::String(found.to_string())),
        ("integer", Json::String(text)) => {
            text.parse::<i64>().ok().or_else(|| sample::seconds(text)).map(Json::from)
        }
        ("number", Json::String(text)) => {
            text.parse::<f64>().ok().map(Json::from).or_else(|| Some(sample::seconds(text)?.into()))
        }
        ("boolean", Json::String(text)) => text.parse::<bool>().ok().map(Json::from),
        _ => None,
    }
}

/// Whether a value says what is known, if in another type or case.
fn alike(value: &Json, found: &Json) -> bool {
    same(value, found) || spelt(value) == spelt(found)
}

/// Bytes of the texts of a value, the names of members among them, and one for anything else. Schemas bound its depth.
fn bytes(value: &Json) -> u64 {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 1,
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(|item| 1 + bytes(item)).sum(),
        Json::Object(members) => members.iter().map(|(name, part)| name.len() as u64 + bytes(part)).sum(),
    }
}

/// A value as text without case.
fn spelt(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).to_lowercase()
}
