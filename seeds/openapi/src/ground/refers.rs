//! Finds references: members of records that hold the keys of others, or show those records.
//!
//! A member's name gives the target (`owner_id`, `artist: {...}`, `tag_ids`). Else the name of its schema
//! does (`owner: UserRef`), or the form of its values (`depot`, a depot's code).

use diorama_seeds::contract::{KEYS, key_name, noun, plain};
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ResourceDoc, TypeName};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::places::{Collection, Places};
use crate::shape::{Kind, Member, Shape};
use crate::words::{identifier, is_id, sentence, words};

/// The greatest number of words at the start of a description among which "id" may stand.
const WORDS_TO_ID: usize = 5;

/// A member that refers to the records of a collection.
struct Reference {
    field: String,
    target: usize,
    many: bool,
    /// True if every reply shows it.
    always: bool,
}

/// Gives resources the references that their records show.
pub(super) fn add(places: &Places, resources: &mut IndexMap<String, ResourceDoc>) {
    for (index, found) in places.all.values().enumerate().filter(|(_, found)| found.keeps_records()) {
        for reference in references(places, index, found) {
            let Some((_, target)) = places.all.get_index(reference.target) else { continue };
            // Membership resources are skipped, because no reply shows their keys.
            if target.uses.is_some() {
                continue;
            }
            let key =
                resources.get(&target.name).map(|known| (known.singleton, known.fields.get(&known.key)));
            let known = key.is_some_and(|(single, key)| !single && key.is_some());
            let Some(doc) = resources.get_mut(&found.name).filter(|_| known) else { continue };
            let new = field(&reference, &target.name, target.name == found.name);
            let owned = places.owners.get(&index) == Some(&reference.target) && !reference.many;
            if owned && doc.each.is_empty() && !doc.singleton {
                let (of, by) = (target.name.clone(), reference.field.clone());
                doc.records = RecordsDoc::default();
                doc.each.push(EachDoc { of, by, min: 3, max: 4, set: IndexMap::new() });
            }
            // A reference replaces a plain string field.
            if reference.field != doc.key
                && doc.fields.get(&reference.field).is_none_or(|known| known.reference.is_none())
            {
                doc.fields.insert(reference.field, new);
            }
        }
    }
    tell_first_parts(places, resources);
}

/// Generates the first part of a key of two from the record that a member shows: `octo` of `octo/hello`,
/// whose `owner` is `octo`.
fn tell_first_parts(places: &Places, resources: &mut IndexMap<String, ResourceDoc>) {
    for found in places.all.values() {
        for above in found.above.iter().filter(|above| above.of.is_none() && above.picks.is_empty()) {
            let by = format!("{}_id", above.field);
            let target = resources.get(&found.name).and_then(|doc| doc.fields.get(&by)?.reference.clone());
            let Some(key) = target.and_then(|target| Some(resources.get(&target)?.key.clone())) else {
                continue;
            };
            if let Some(field) =
                resources.get_mut(&found.name).and_then(|doc| doc.fields.get_mut(&above.field))
            {
                field.fake = Some(json!({"provider": "through", "ref": by, "field": key}));
            }
        }
    }
}

fn references(places: &Places, index: usize, found: &Collection) -> Vec<Reference> {
    let members = found.record.as_ref().and_then(Shape::members);
    let of = |(name, member): (&String, &Member)| reference(places, index, found, name, member);
    members.into_iter().flatten().filter_map(of).collect()
}

/// Returns the reference that a member of a collection's records holds.
fn reference(
    places: &Places,
    index: usize,
    found: &Collection,
    name: &str,
    member: &Member,
) -> Option<Reference> {
    let shape = &member.shape;
    let (item, many) = match shape.items() {
        Some(item) => (item, true),
        None => (shape, false),
    };
    let own = identifier(name);
    let (target, field) = if item.is_scalar() {
        if own == found.key || plain(name) == plain(&found.key) {
            return None;
        }
        let target = by_key(places, index, found, name, item, many)?;
        (target, own)
    } else {
        let object = item.first_object();
        // An object that looks like another collection's records, and adds no values, is one of those.
        let alike = || {
            let target = places.kind(object, &noun(name)).filter(|target| *target != index)?;
            places.binding(object, [index, target]).is_empty().then_some(target)
        };
        let target = shown(places, index, found, name, object).or_else(alike)?;
        let stem = if many { noun(name) } else { own };
        (target, identifier(&format!("{stem}_{}", if many { "ids" } else { "id" })))
    };
    // The path already gives the parents, and children refer to their parents themselves.
    let above = found.above.iter().any(|above| above.of == Some(target));
    let below = places.all[target].above.iter().any(|above| above.of == Some(index));
    let always = member.required && !shape.nullable && target != index;
    (!above && !below && found.uses != Some(target)).then_some(Reference { field, target, many, always })
}

/// Returns the collection whose key a scalar member holds.
fn by_key(
    places: &Places,
    index: usize,
    found: &Collection,
    name: &str,
    shape: &Shape,
    many: bool,
) -> Option<usize> {
    let single = if many { crate::words::singular(name) } else { name.to_owned() };
    let fits = |target: &usize| alike(&places.all[*target].key_shape, shape);
    if is_id(&single) {
        let stem = key_name(&single).map(|(stem, _)| stem).filter(|stem| !stem.is_empty())?;
        let target = places.by_noun(&stem, usize::MAX, &found.parts, name);
        return target.or_else(|| role(places, index, found, name, &stem)).filter(fits);
    }
    // A code of the same pattern refers to that record: the `depot` of a scan. So does a described id.
    let target = places.by_noun(&noun(&single), index, &found.parts, name)?;
    let is_coded = shape.pattern.is_some() && places.all[target].key_shape.pattern == shape.pattern;
    (is_coded || says_id(shape) && fits(&target)).then_some(target)
}

/// Returns the collection behind a role: the sender of a customer's parcels. The parcels are listed below
/// customers.
/// No other member may name the owner.
fn role(places: &Places, index: usize, found: &Collection, name: &str, stem: &str) -> Option<usize> {
    let owner = places.owners.get(&index).copied()?;
    let target = &places.all[owner];
    // A role needs a target with an id, and not one with a name as key.
    if !is_id(&target.key) {
        return None;
    }
    let members = found.record.as_ref().and_then(Shape::members)?;
    let shared = target.record.as_ref().is_some_and(|record| record.member(name).is_some());
    let named = |other: &String| {
        let other = key_name(other).filter(|_| is_id(other)).map(|(stem, _)| stem);
        other.is_some_and(|other| other == target.noun)
    };
    let is_first = members.iter().find(|(other, member)| {
        let stem = key_name(other).map(|(stem, _)| stem).unwrap_or_default();
        member.shape.is_scalar()
            && is_id(other)
            && !stem.is_empty()
            && places.by_noun(&stem, usize::MAX, &found.parts, other).is_none()
    });
    let first = is_first.is_some_and(|(other, _)| other == name);
    (first && !shared && !stem.is_empty() && !members.keys().any(named)).then_some(owner)
}

/// Returns the collection of an object: by its member's name, or by the name of its schema.
fn shown(places: &Places, index: usize, found: &Collection, name: &str, object: &Shape) -> Option<usize> {
    let members = object.members()?;
    let key = |target: usize| {
        let target = &places.all[target];
        let named = |(other, member): (&String, &Member)| {
            (plain(other) == plain(&target.key) || (is_id(other) && words(other).len() == 1))
                && alike(&target.key_shape, &member.shape)
        };
        members.iter().any(named)
    };
    let titled = object.title.as_deref().map(words).unwrap_or_default();
    let by = |wanted: &str| places.by_noun(wanted, usize::MAX, &found.parts, name);
    let by_title = || titled.iter().rev().find_map(|word| by(&noun(word)));
    let target = by(&noun(name)).or_else(by_title).filter(|target| key(*target))?;
    let title = |shape: &Shape| shape.title.clone();
    let same = places.all[target].record.as_ref().and_then(title);
    // A nested version of the record itself is no reference, unless its schema says so.
    (target != index || same == object.title).then_some(target)
}

/// Returns true if a description's first sentence starts by calling the value an id: `Category ID of the
/// page`.
fn says_id(shape: &Shape) -> bool {
    let said = shape.description.as_deref().map(sentence).unwrap_or_default();
    words(&said)
        .iter()
        .take(WORDS_TO_ID)
        .any(|word| KEYS.contains(&word.trim_end_matches('s')) || word == "identifier")
}

/// Returns true if a member can hold the keys of a collection.
fn alike(key: &Shape, member: &Shape) -> bool {
    let text = |shape: &Shape| matches!(shape.kind, Kind::String | Kind::Enum(_));
    (text(key) && text(member)) || (key.kind == Kind::Integer && member.kind == Kind::Integer)
}

/// Returns a provider of non-empty lists.
pub(super) fn some_of(min: u32, max: u32) -> Json {
    json!({"provider": "chance", "share": 1.0, "of": {"provider": "list", "min": min, "max": max}})
}

fn field(reference: &Reference, target: &str, own: bool) -> FieldDoc {
    let one = FieldDoc { reference: Some(target.to_owned()), ..FieldDoc::default() };
    if reference.many {
        return FieldDoc {
            kind: Some(TypeName::List),
            items: Some(Box::new(one)),
            fake: Some(some_of(1, 3)),
            on_delete: Some(OnDelete::Clear),
            optional: true,
            ..FieldDoc::default()
        };
    }
    FieldDoc {
        optional: true,
        on_delete: Some(if reference.always { OnDelete::Cascade } else { OnDelete::Clear }),
        fake: Some(json!({"provider": "chance", "share": if own { 0.4 } else { 1.0 }})),
        ..one
    }
}
