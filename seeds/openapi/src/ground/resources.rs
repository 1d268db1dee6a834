//! Turns collections into resources: a key, references to parents, scalar fields of records, and the stored
//! request body.

mod keys;
mod names;

use diorama_seeds::contract::{KEYS, ME, first_state, is_gone, key_name, noun, plain, tells_error};
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ResourceDoc, TypeName};
use diorama_seeds::english::stem;
use diorama_seeds::materialise::ANY_NAME;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use self::keys::{find_first_number, keep_ids, key_field};
use self::names::{display_member, is_person, name_maker};
use super::places::{Collection, ParentKey, Part, Places};
use super::refers;
use crate::agreement;
use crate::fakes::{self, Span};
use crate::nouns;
use crate::phrases;
use crate::shape::{Kind, Shape};
use crate::words::{identifier, is_id, words};

/// Names of timestamps of the last change; `CREATED` has those of creation.
pub(super) const UPDATED: [&str; 9] = [
    "updatedat",
    "modifiedat",
    "dateupdated",
    "datemodified",
    "lastmodified",
    "lastupdated",
    "updated",
    "modified",
    "lastmodifiedat",
];
pub(super) const CREATED: [&str; 4] = ["createdat", "datecreated", "created", "creationdate"];
/// All initial records were created before this day, relative to the clock.
const SINCE: i32 = -28;
/// The field that stores the request body.
pub(super) const KEPT: &str = "kept";
/// The field with the key that a record shares with another resource.
pub(super) const OF: &str = "of";
/// A collection without parents gets at least `RECORDS` records and less than `SPREAD` more.
const RECORDS: u32 = 8;
const SPREAD: u32 = 8;
/// Records for each record below which a path lists them, and their greatest number.
const LISTED_EACH: u32 = 3;
const MAX_LISTED: u32 = 48;
/// The greatest number of records of a resource before each parent gets only one.
const MANY: u32 = 400;

/// Returns the resources of all collections, with their numbers of records.
pub(super) fn resources(places: &Places) -> IndexMap<String, ResourceDoc> {
    let mut counts: Vec<Option<u32>> = vec![None; places.all.len()];
    for index in 0..places.all.len() {
        count(places, index, &mut counts, 0);
    }
    // A list of members has no records of its own.
    let own = |found: &&Collection| found.keeps_records() && places.join(&found.parts).is_none();
    let own = places.all.values().filter(own);
    let mut all: IndexMap<String, ResourceDoc> =
        own.map(|found| (found.name.clone(), resource(places, found, &counts))).collect();
    for (found, total) in places.all.values().zip(&counts) {
        let Some(doc) = all.get_mut(&found.name).filter(|doc| doc.each.is_empty() && !doc.singleton) else {
            continue;
        };
        if let (RecordsDoc::Count(known), Some(total)) = (&mut doc.records, total) {
            *known = *total;
        }
    }
    refers::add(places, &mut all);
    keep_ids(places, &mut all);
    name_above(&mut all);
    all
}

/// Generates `project_name` in a project's children from the project's name.
fn name_above(all: &mut IndexMap<String, ResourceDoc>) {
    let names: IndexMap<String, (String, String)> = all
        .iter()
        .filter_map(|(name, doc)| Some((name.clone(), (noun(doc.label.as_ref()?), doc.display.clone()?))))
        .collect();
    for doc in all.values_mut() {
        let above: Vec<(String, String, String)> = doc
            .fields
            .iter()
            .filter_map(|(field, doc)| {
                let (of, display) = names.get(doc.reference.as_ref()?)?;
                Some((field.clone(), of.clone(), display.clone()))
            })
            .collect();
        let display = doc.display.clone();
        // A version of a file bears the file's name.
        let version = doc.label.as_deref().is_some_and(|label| label.ends_with("version"));
        for (field, member) in &mut doc.fields {
            let own = |shown: &String| version && display.is_none() && field == shown;
            let is_named = |(by, of, shown): &&(String, String, String)| {
                let member = plain(field);
                let is_its_name = member == format!("{of}name") || member == format!("{of}{}", plain(shown));
                by != field && (is_its_name || own(shown))
            };
            let named = above.iter().find(is_named);
            if let Some((by, _, shown)) = named.filter(|_| display.as_ref() != Some(field)) {
                member.fake = Some(json!({"provider": "through", "ref": by, "field": shown}));
                // It tells nothing of the record itself.
                (member.ask, member.say) = (Vec::new(), Vec::new());
            }
        }
    }
}

/// Returns the number of a collection's records: some for each record of its parent.
fn count(places: &Places, index: usize, counts: &mut [Option<u32>], depth: u32) -> u32 {
    if let Some(known) = counts.get(index).copied().flatten() {
        return known;
    }
    let Some((_, found)) = places.all.get_index(index) else { return 0 };
    let owner = found.above.iter().rev().find_map(|above| above.of).filter(|_| depth < 12);
    let total = match owner {
        Some(owner) => {
            let owners = count(places, owner, counts, depth + 1);
            owners.saturating_mul(each(found, owners, used(places, found, counts, depth)).1)
        }
        None if found.single => 1,
        // Lists below other records show several.
        None => {
            let is_counted = find_first_number(found).is_some();
            let lister = places.owners.get(&index).filter(|lister| **lister != index && depth < 12);
            let lister = lister.filter(|_| !is_counted);
            let listers = lister.map_or(0, |lister| count(places, *lister, counts, depth + 1));
            records_of(found).max(listers.saturating_mul(LISTED_EACH).min(MAX_LISTED))
        }
    };
    if let Some(place) = counts.get_mut(index) {
        *place = Some(total);
    }
    total
}

/// Returns the number of records in the collection whose keys a membership shares.
fn used(places: &Places, found: &Collection, counts: &mut [Option<u32>], depth: u32) -> Option<u32> {
    let other = found.uses.filter(|_| depth < 12)?;
    Some(count(places, other, counts, depth + 1))
}

/// Returns the number of records without parents. It differs between collections, so that a count needs a
/// look.
fn records_of(found: &Collection) -> u32 {
    let letters =
        found.name.bytes().fold(7_u32, |sum, letter| sum.wrapping_mul(31).wrapping_add(letter.into()));
    let counted = find_first_number(found).and_then(|_| u32::try_from(found.counted.len()).ok());
    counted.filter(|count| *count <= MANY).unwrap_or(RECORDS + letters % SPREAD)
}

/// Returns the least and the greatest number of records for each parent.
fn each(found: &Collection, owners: u32, used: Option<u32>) -> (u32, u32) {
    match owners {
        _ if found.single => (1, 1),
        // Three in four of the possible members are members.
        _ if used.is_some_and(|used| owners * used <= MANY) => {
            let used = used.unwrap_or_default();
            let some = (used * 3 / 4).max(1);
            (some, some)
        }
        _ if owners * 4 <= 60 => (3, 4),
        _ if owners * 2 <= MANY => (2, 2),
        _ => (1, 1),
    }
}

fn resource(places: &Places, found: &Collection, counts: &[Option<u32>]) -> ResourceDoc {
    let mut doc = ResourceDoc {
        key: found.key.clone(),
        label: Some(found.label.clone()),
        singleton: found.single && found.above.is_empty(),
        records: RecordsDoc::Count(records_of(found)),
        ..ResourceDoc::default()
    };
    doc.fields.insert(found.key.clone(), key_field(found));
    for above in &found.above {
        doc.fields.insert(above.field.clone(), above_field(places, above));
    }
    if let Some((_, other)) = found.uses.and_then(|uses| places.all.get_index(uses)) {
        let field = FieldDoc {
            reference: Some(other.name.clone()),
            on_delete: Some(OnDelete::Cascade),
            ..FieldDoc::default()
        };
        doc.fields.insert(OF.to_owned(), field);
        let mut group: Vec<String> = found.above.iter().map(|above| above.field.clone()).collect();
        group.push(OF.to_owned());
        doc.unique_together.push(group);
    }
    members(places, found, &mut doc);
    keys::add_number(found, &mut doc);
    let kept = FieldDoc {
        kind: Some(TypeName::Any),
        optional: true,
        generated: true,
        fake: Some(json!({"provider": "pick", "of": [{}]})),
        ..FieldDoc::default()
    };
    doc.fields.insert(KEPT.to_owned(), kept);
    let owner = found.above.iter().rev().find(|above| above.of.is_some());
    if doc.singleton {
        doc.records = RecordsDoc::Count(1);
    } else if let Some((above, of)) = owner.and_then(|above| Some((above, above.of?)))
        && let Some((_, other)) = places.all.get_index(of)
    {
        let known = |index: usize| counts.get(index).copied().flatten().unwrap_or(RECORDS);
        let (min, max) = each(found, known(of), found.uses.map(known));
        let each =
            EachDoc { of: other.name.clone(), by: above.field.clone(), min, max, set: IndexMap::new() };
        doc.records = RecordsDoc::default();
        doc.each.push(each);
    }
    doc
}

/// Returns the field that holds a parent's key.
pub(super) fn above_field(places: &Places, above: &ParentKey) -> FieldDoc {
    let name = above.of.and_then(|of| places.all.get_index(of)).map(|(_, other)| other.name.clone());
    if name.is_none() {
        if above.picks.is_empty() {
            let fake = Some(json!("username"));
            return FieldDoc { kind: Some(TypeName::String), fake, ..FieldDoc::default() };
        }
        let whole = above.picks.iter().all(Json::is_number);
        let fake = json!({"provider": "pick", "of": above.picks});
        let kind = if whole { TypeName::Integer } else { TypeName::String };
        return FieldDoc { kind: Some(kind), fake: Some(fake), ..FieldDoc::default() };
    }
    FieldDoc { reference: name, on_delete: Some(OnDelete::Cascade), ..FieldDoc::default() }
}

/// Members with the display name of a record, the likeliest first.
const NAMES: [&str; 8] =
    ["name", "title", "friendlyname", "displayname", "label", "subject", "username", "fullname"];

/// Members that stand in for a display name: an invite goes by its email address.
const ADDRESSES: [&str; 5] = ["email", "emailaddress", "login", "domain", "hostname"];

/// Adds the scalar members of a record as fields. Keys of other records are chosen when a reply is made.
fn members(places: &Places, found: &Collection, doc: &mut ResourceDoc) {
    let Some(record) = &found.record else { return };
    let named = |wanted: &&str| {
        record
            .members()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
            .find(|name| plain(name) == **wanted)
            .cloned()
    };
    // `policy_name` is the display name of a policy.
    let own = words(&found.noun_words()).last().map(|last| format!("{last}name"));
    let display = display_member(record).map(str::to_owned).or_else(|| NAMES.iter().find_map(named));
    let display = display.or_else(|| named(&own?.as_str()));
    // A login belongs to a person, or to a connection to a service.
    let names_it = |name: &&&str| **name != "login" || is_person(found, record);
    let display = display.or_else(|| ADDRESSES.iter().filter(names_it).find_map(named));
    let says = |name: &str, names: &[&str]| names.contains(&&*plain(name));
    let beside: Vec<&str> = record.members().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let dated = record.members().into_iter().flatten().any(|(name, _)| says(name, &CREATED));
    // A version of a file shares the file's name, and users call it by number.
    let owner = found.above.iter().rev().find_map(|above| places.all.get_index(above.of?));
    let part_of = |whole: &str| found.label.strip_prefix(whole).is_some_and(|rest| rest.starts_with(' '));
    let version = found.label.ends_with("version") || owner.is_some_and(|(_, owner)| part_of(&owner.label));
    let own_name = display.clone().filter(|_| version);
    let display = display.filter(|_| !version);
    let is_me = matches!(found.parts.last(), Some(Part::Text(text)) if ME.contains(&text.as_str()));
    let says_nothing = found.single && (found.label.ends_with("count") || is_me);
    let is_person = is_person(found, record);
    let above = found.above.iter().filter_map(|above| Some(places.all.get_index(above.of?)?.1.noun.clone()));
    let above: Vec<String> = above.collect();
    let of_lists = agreement::told_of_lists(record);
    for (name, member) in record.members().into_iter().flatten() {
        let field = identifier(name);
        let known =
            doc.fields.contains_key(&field) || doc.fields.keys().any(|known| plain(known) == plain(name));
        // A record with another key shows its own id beside it.
        let own = ["id", "uuid"].contains(&name.as_str())
            && *name != found.key
            && !found.single
            && found.uses.is_none();
        let refers = !own && is_id(name)
            || key_name(name).is_some_and(|(_, ending)| ending == "sid")
            || places.keyed.contains(&plain(name));
        // A membership shows the key of its other record.
        let is_of_other = found.uses.is_some() && found.item.as_deref().map(plain) == Some(plain(name));
        // Small objects of values, such as an address, are stored with the record.
        // Lists of strings are stored where a filter uses them.
        let own_noun = noun(name);
        let is_asked =
            [own_noun.clone(), format!("{own_noun}name")].iter().any(|name| places.asked.contains(name));
        let texts = is_asked && matches!(&member.shape.kind, Kind::Array(item) if item.kind == Kind::String);
        let scalar = (texts || member.shape.is_scalar() || is_plain_object(&member.shape))
            && !of_lists.contains(name.as_str())
            && !matches!(&member.shape.kind, Kind::Enum(values) if values.is_empty());
        let touched = says(name, &CREATED) || says(name, &UPDATED);
        // Numeric timestamps are stored as timestamps, and shown as numbers.
        let counted = matches!(member.shape.kind, Kind::Integer | Kind::Number)
            && ["at", "time", "timestamp", "created", "updated"].iter().any(|end| plain(name).ends_with(end));
        let moment = counted && (touched || words(name).last().is_some_and(|last| last == "at"));
        // Optional errors are shown only where one occurred.
        let error = !member.required && tells_error(name);
        // A success flag is no part of a record.
        let worked = member.shape.kind == Kind::Boolean && nouns::is("outcomes", &words(name).join("_"));
        if error
            || worked
            || known
            || refers
            || is_of_other
            || (counted && !moment)
            || !scalar
            || fakes::is_seconds(name, &member.shape)
            || member.shape.write_only
            || name.is_empty()
        {
            continue;
        }
        let mut shape = member.shape.clone();
        shape.nullable = false;
        if let (Kind::String, Some(values)) = (&shape.kind, places.choices.get(&plain(name))) {
            shape.kind = Kind::Enum(values.clone());
        }
        if let (Kind::String, Some(values)) = (&shape.kind, fakes::kinds_in_description(name, &shape)) {
            shape.kind = Kind::Enum(values);
        }
        if moment {
            shape = Shape { format: Some("date-time".to_owned()), ..Shape::of(Kind::String) };
        }
        let done = words(name).first().filter(|word| word.ends_with("ed") && !touched).map(|word| stem(word));
        let done_to = done.is_some();
        // Later actions on a record come after its creation.
        let from = if dated { SINCE } else { Span::USUAL.from };
        let to = if done.is_some() { -1 } else { Span::USUAL.to };
        let mut made = fakes::field(name, &shape, Span { from, to }, 0);
        // Replies make the values inside an object agree.
        if is_plain_object(&shape)
            && made.fake.is_none()
            && (made.fields.is_empty() || agreement::is_bound(&made.fields))
        {
            continue;
        }
        // A placeholder string with only the parent's noun holds the parent's key.
        if fakes::is_anything(&made) && above.contains(&noun(name)) {
            continue;
        }
        (made.pattern, made.unique) = (None, false);
        made.default = made
            .default
            .filter(|_| !moment)
            .or_else(|| first(name, &shape.kind, &beside).filter(|_| member.required));
        (made.min_length, made.max_length) = (None, None);
        made.optional = true;
        if own && made.kind == Some(TypeName::Integer) {
            // An id beside another key is unique.
            made.fake = Some(json!({"provider": "integer", "min": 1_000, "max": 999_999}));
            made.unique = true;
        }
        if display.as_deref() == Some(name.as_str())
            && shape.kind == Kind::String
            && made.kind == Some(TypeName::String)
        {
            if !ADDRESSES.contains(&plain(name).as_str()) {
                let is_named = is_person && plain(name) != "title";
                made.fake = Some(if is_named { json!("person_name") } else { name_maker(found) });
            }
            doc.display = Some(field.clone());
        } else if fakes::is_made_by(&made, ANY_NAME) && made.kind == Some(TypeName::String) {
            // Other names of a person are names of persons, too.
            made.fake = Some(if is_person { json!("person_name") } else { fakes::title(name, &found.label) });
        }
        // Generated prose fits where people write: no terms of service, and no description of a command.
        let noun_words = found.noun_words();
        if fakes::is_prose(&made)
            && !(phrases::tells(name, &noun_words) && fakes::is_writable(name, &noun_words))
        {
            made.fake = Some(fakes::anything(name));
        }
        if made.kind == Some(TypeName::String)
            && ["paragraph", "sentence"].iter().any(|long| made.fake == Some(json!(long)))
        {
            made.free_text = true;
        }
        // Actions that callers can take have not been taken, and initial records are not deleted.
        let undone = |value: &&String| {
            !(is_gone(value) || value.ends_with("ed") && places.verbs.contains(&stem(value)))
        };
        if let Kind::Enum(values) = &shape.kind {
            let kept: Vec<&String> = values.iter().filter(undone).collect();
            let kept = if kept.is_empty() { values.iter().collect() } else { kept };
            made.fake = Some(json!({"provider": "pick", "of": kept}));
        }
        if made.kind == Some(TypeName::Boolean) {
            made.fake = made.fake.or_else(|| Some(json!({"provider": "pick", "of": [false, true]})));
        }
        // Every initial record has the member.
        made.fake = Some(match made.fake {
            Some(fake) => json!({"provider": "chance", "share": 1.0, "of": fake}),
            None => json!({"provider": "chance", "share": 1.0}),
        });
        // An optional placeholder is dropped unless a query parameter names it.
        let is_asked = is_asked || places.asked.contains(&plain(name));
        if fakes::is_anything(&made) && !member.required && !is_asked {
            fakes::leave_out(&mut made);
        }
        let gone = is_gone(name);
        if gone || is_built_in(name) || done.is_some_and(|done| places.verbs.contains(&done)) {
            match made.kind {
                Some(TypeName::Boolean) => made.fake = Some(json!({"provider": "pick", "of": [false]})),
                Some(kind)
                    if (gone || kind == TypeName::DateTime)
                        && (!member.required || member.shape.nullable) =>
                {
                    (made.nullable, made.optional) = (true, false);
                    made.fake = Some(json!({"provider": "pick", "of": [null]}));
                }
                _ => {}
            }
        }
        let called = bare_name(name, found);
        phrases::name(&called, &mut made);
        // A value with the record's own noun carries no information: a certificate's type `certificate`.
        let says_what =
            |values: &Vec<String>| values.iter().any(|value| noun(value).starts_with(&found.noun));
        // `$parent` is meant for programs.
        let is_hidden = name.starts_with('$');
        // A question asks for no timestamp that may be missing, and for no field that two records share.
        let open = gone || done_to && moment_of(&made) && (!member.required || member.shape.nullable);
        // A rating's own rating is not asked for.
        let is_itself = noun(&called) == found.noun;
        let told = own_name.as_deref() != Some(name)
            && !(says_nothing || is_itself || is_hidden || open)
            && found.uses.is_none();
        if told && !matches!(&member.shape.kind, Kind::Enum(values) if says_what(values)) {
            phrases::field(&called, &member.shape, &mut made);
        }
        doc.fields.insert(field, made);
    }
    phrases::tell_currencies(&mut doc.fields);
    agreement::agree(doc);
}

/// Returns the name of a member without the noun of its record: `jobStatus` of a job becomes `status`.
fn bare_name(name: &str, found: &Collection) -> String {
    let said = words(name);
    let own = words(&found.label);
    match said.strip_prefix(own.as_slice()) {
        Some(rest) if !rest.is_empty() && !own.is_empty() => rest.join("_"),
        _ => name.to_owned(),
    }
}

/// Returns true if an object has only scalar values, none of which is a key.
pub(super) fn is_plain_object(shape: &Shape) -> bool {
    let members = shape.members().filter(|members| !members.is_empty() && !shape.map);
    members.is_some_and(|members| {
        members.iter().all(|(name, member)| {
            let known =
                matches!(member.shape.kind, Kind::String | Kind::Integer | Kind::Number | Kind::Boolean);
            let known = known && diorama_seeds::world::is_member_name(name);
            known && key_name(name).is_none_or(|(_, ending)| !KEYS.contains(&ending))
        })
    })
}

/// Returns true if a flag marks records that came with the service, which no caller changes.
fn is_built_in(name: &str) -> bool {
    let words = words(name);
    let said: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "is").collect();
    matches!(said.as_slice(), ["system" | "builtin" | "predefined"] | ["built", "in"] | ["pre", "defined"])
}

fn moment_of(field: &FieldDoc) -> bool {
    matches!(field.kind, Some(TypeName::Date | TypeName::DateTime | TypeName::Time))
}

/// Returns the initial value of a required member of a new record. Its creator gets permission flags.
fn first(name: &str, kind: &Kind, beside: &[&str]) -> Option<Json> {
    match kind {
        Kind::Boolean => Some(json!(nouns::is_permission(name))),
        Kind::Enum(values) => {
            let values = values.iter().map(String::as_str).filter(|value| !value.trim().is_empty());
            first_state(values, beside).map(Json::from)
        }
        _ => None,
    }
}

impl Collection {
    /// Returns the noun as an identifier of words.
    pub(super) fn noun_words(&self) -> String {
        identifier(&self.label)
    }
}
