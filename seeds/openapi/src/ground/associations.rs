//! Associations: lists inside replies that show records of another place, with what binds the two: the cast of a film.
//!
//! Each is a resource with a reference to either end, so that a film's cast and a person's films agree.

use diorama_seeds::contract::{AS, KEYS, key_name, noun, plain};
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ResourceDoc};
use indexmap::{IndexMap, IndexSet};
use serde_json::json;

use super::places::{Part, Places, form};
use super::resources::stored;
use crate::document::Operation;
use crate::fakes::{self, Span};
use crate::shape::{Member, Shape};
use crate::words::{identifier, is_id, is_identifier, label};

/// Members of an association that are kept, at most.
const MAX_MEMBERS: usize = 12;

/// A list of records of one place inside those of another.
struct Listed<'a> {
    owner: usize,
    other: usize,
    name: &'a str,
    item: &'a Shape,
}

/// Gives the resources of a document their associations.
pub(super) fn add(places: &Places, resources: &mut IndexMap<String, ResourceDoc>, operations: &[Operation]) {
    let mut made: IndexMap<(usize, usize, String), String> = IndexMap::new();
    for Listed { owner, other, name, item } in
        operations.iter().flat_map(|operation| listed(places, operation))
    {
        let noun = noun(name);
        let [one, two] = [owner, other].map(|index| &places.all[index]);
        let is_there = |found: &super::places::Collection| resources.contains_key(&found.name);
        if !is_there(one) || !is_there(two) || is_told(&resources[&one.name], &noun, &two.name) {
            continue;
        }
        let known =
            made.get(&(owner, other, noun.clone())).or_else(|| made.get(&(other, owner, noun.clone())));
        let resource = match known {
            Some(known) => known.clone(),
            None => {
                let resource = (1..)
                    .map(|count| match count {
                        1 => identifier(&format!("{}_{noun}", one.name)),
                        count => identifier(&format!("{}_{noun}_{count}", one.name)),
                    })
                    .find(|name| !resources.contains_key(name))
                    .unwrap_or_default();
                resources.insert(resource.clone(), between(&resource, &noun, &one.name, &two.name));
                made.insert((owner, other, noun.clone()), resource.clone());
                resource
            }
        };
        // What neither end has binds the two.
        let own = |found: &super::places::Collection| -> IndexSet<String> {
            let members = found.record.as_ref().and_then(Shape::members).into_iter().flatten();
            members.map(|(name, _)| plain(name)).collect()
        };
        let (ones, twos) = (own(one), own(two));
        let binds = |(name, member): &(&String, &Member)| {
            let plain = plain(name);
            member.shape.is_scalar()
                && is_identifier(&identifier(name))
                && !KEYS.contains(&&*plain)
                && !ones.contains(&plain)
                && !twos.contains(&plain)
        };
        // A key of a third place opens there.
        let parts = &one.parts;
        let third = |name: &str| {
            let (stem, _) = key_name(name).filter(|(stem, _)| is_id(name) && !stem.is_empty())?;
            let target = places.by_noun(&stem, usize::MAX, parts, name)?;
            let target = Some(target).filter(|target| *target != owner && *target != other)?;
            Some(places.all[target].name.clone()).filter(|name| resources.contains_key(name))
        };
        let thirds: IndexMap<String, String> = item
            .members()
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| Some((identifier(name), third(name)?)))
            .collect();
        let Some(doc) = resources.get_mut(&resource) else { continue };
        for (name, member) in item.members().into_iter().flatten().filter(binds).take(MAX_MEMBERS) {
            doc.fields.entry(identifier(name)).or_insert_with(|| {
                if let Some(third) = thirds.get(&identifier(name)) {
                    return FieldDoc {
                        reference: Some(third.clone()),
                        optional: true,
                        on_delete: Some(OnDelete::Clear),
                        fake: Some(json!({"provider": "chance", "share": 1.0})),
                        ..FieldDoc::default()
                    };
                }
                let mut field = fakes::field(name, &member.shape, Span::USUAL, 0);
                (field.pattern, field.unique, field.optional) = (None, false, true);
                (field.min_length, field.max_length, field.nullable) = (None, None, false);
                field.fake = field.fake.map(|fake| json!({"provider": "chance", "share": 1.0, "of": fake}));
                field
            });
        }
    }
}

/// The lists of other records that an operation shows of one.
fn listed<'a>(places: &Places, operation: &'a Operation) -> Vec<Listed<'a>> {
    let parts = places.parts(operation);
    let before = parts.get(..parts.len().saturating_sub(1)).unwrap_or_default();
    let owner = match parts.last() {
        Some(Part::Key(_)) => places.all.get_index_of(&form(before)),
        Some(Part::Text(_)) => {
            let single = places.all.get(&form(&parts)).filter(|found| found.single);
            single.and_then(|found| found.above.last()).filter(|above| above.exact).and_then(|above| above.of)
        }
        None => None,
    };
    let is_plain = |index: &usize| {
        let found = &places.all[*index];
        stored(found) && !found.single && found.uses.is_none() && found.opened
    };
    let shown = operation.reply.as_ref().filter(|_| operation.method == "GET").map(Shape::fullest_object);
    let (Some(owner), Some(members)) = (owner.filter(is_plain), shown.and_then(Shape::members)) else {
        return Vec::new();
    };
    let lists = members.iter().filter_map(|(name, member)| {
        let item = member.shape.items()?.fullest_object();
        let other = places.kind(item, &noun(name)).filter(|other| *other != owner).filter(is_plain)?;
        // What stands below the one is its part, and nothing else's.
        let is_part =
            |one: usize, two: usize| places.all[one].above.iter().any(|above| above.of == Some(two));
        (!is_part(other, owner) && !is_part(owner, other)).then_some(Listed { owner, other, name, item })
    });
    lists.collect()
}

/// Whether a reference of a resource tells already which records a member lists.
fn is_told(resource: &ResourceDoc, noun: &str, other: &str) -> bool {
    let list = resource.fields.get(&identifier(&format!("{noun}_ids")));
    list.and_then(|list| list.items.as_ref()?.reference.as_deref()) == Some(other)
}

/// The resource that stands between two others: some of each record of the first.
fn between(name: &str, noun: &str, one: &str, two: &str) -> ResourceDoc {
    let end = |of: &str| FieldDoc {
        reference: Some(of.to_owned()),
        on_delete: Some(OnDelete::Cascade),
        ..FieldDoc::default()
    };
    let [first, second] = [one, two].map(|of| format!("{AS}{of}"));
    let each = EachDoc { of: one.to_owned(), by: first.clone(), min: 2, max: 3, set: IndexMap::new() };
    ResourceDoc {
        key: format!("{name}_key"),
        label: Some(label(noun)),
        records: RecordsDoc::default(),
        each: vec![each],
        unique_together: vec![vec![first.clone(), second.clone()]],
        fields: IndexMap::from_iter([(first, end(one)), (second, end(two))]),
        ..ResourceDoc::default()
    }
}
