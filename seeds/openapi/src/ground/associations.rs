//! Finds associations: lists inside replies that show records of another collection with values of their own,
//! such as a film's cast.
//!
//! Each becomes a resource with a reference to either end, so that a film's cast and a person's films agree.

use diorama_seeds::contract::{AS, key_name, noun};
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ResourceDoc};
use indexmap::IndexMap;
use serde_json::json;

use super::places::{Part, Places, form};
use crate::document::Operation;
use crate::fakes::{self, Span};
use crate::shape::Shape;
use crate::words::{identifier, is_id, label, singular};

/// The greatest number of members of an association that are stored.
const MAX_MEMBERS: usize = 12;

/// A list of records of one collection inside those of another.
struct EmbeddedList<'a> {
    owner: usize,
    other: usize,
    name: &'a str,
    item: &'a Shape,
}

/// The two ends of an association, with the values that bind them.
struct Association {
    one: usize,
    two: usize,
    noun: String,
    label: String,
    /// Members that neither end has.
    members: IndexMap<String, Shape>,
}

/// Gives the resources of a document their associations.
pub(super) fn add(places: &Places, resources: &mut IndexMap<String, ResourceDoc>, operations: &[Operation]) {
    for association in find(places, operations) {
        let [one, two] = [association.one, association.two].map(|index| &places.all[index]);
        if ![one, two].iter().all(|end| resources.contains_key(&end.name)) {
            continue;
        }
        let names = std::iter::once(String::new()).chain((2..).map(|count| format!("_{count}")));
        let mut names = names.map(|end| identifier(&format!("{}_{}{end}", one.name, association.noun)));
        let Some(name) = names.find(|name| !resources.contains_key(name)) else { continue };
        let mut doc = between(&name, &association.label, &one.name, &two.name);
        for (member, shape) in association.members.iter().take(MAX_MEMBERS) {
            let third = third(places, &association, member);
            let field = match third.filter(|third| resources.contains_key(*third)) {
                Some(third) => FieldDoc {
                    reference: Some(third.to_owned()),
                    optional: true,
                    on_delete: Some(OnDelete::Clear),
                    fake: Some(json!({"provider": "chance", "share": 1.0})),
                    ..FieldDoc::default()
                },
                None => bound(member, shape),
            };
            doc.fields.entry(identifier(member)).or_insert(field);
        }
        resources.insert(name, doc);
    }
}

/// Finds the associations from either end. A list whose items have no values of their own is a plain
/// reference.
fn find(places: &Places, operations: &[Operation]) -> Vec<Association> {
    let mut found: IndexMap<(usize, usize, String), Association> = IndexMap::new();
    for EmbeddedList { owner, other, name, item } in
        operations.iter().flat_map(|operation| listed(places, operation))
    {
        let members = places.binding(item, [owner, other]);
        if members.is_empty() {
            continue;
        }
        let noun = noun(name);
        let inverse = (other, owner, noun.clone());
        let place = if found.contains_key(&inverse) { inverse } else { (owner, other, noun.clone()) };
        let association = found.entry(place).or_insert_with(|| Association {
            one: owner,
            two: other,
            noun,
            label: label(&singular(name)),
            members: IndexMap::new(),
        });
        for (name, shape) in members {
            association.members.entry(name).or_default().merge(shape);
        }
    }
    found.into_values().collect()
}

/// Returns the resource of a third collection whose key a member holds.
fn third<'a>(places: &'a Places, association: &Association, member: &str) -> Option<&'a str> {
    let (stem, _) = key_name(member).filter(|(stem, _)| is_id(member) && !stem.is_empty())?;
    let target = places.by_noun(&stem, usize::MAX, &places.all[association.one].parts, member)?;
    let is_end = [association.one, association.two].contains(&target);
    (!is_end).then_some(&*places.all[target].name)
}

/// Returns the field of a value that binds two records.
fn bound(name: &str, shape: &Shape) -> FieldDoc {
    let mut field = fakes::field(name, shape, Span::USUAL, 0);
    (field.pattern, field.unique, field.optional) = (None, false, true);
    (field.min_length, field.max_length, field.nullable) = (None, None, false);
    field.fake = field.fake.map(|fake| json!({"provider": "chance", "share": 1.0, "of": fake}));
    if fakes::is_anything(&field) {
        fakes::leave_out(&mut field);
    }
    field
}

/// Returns the lists of other records that an operation shows of one record.
fn listed<'a>(places: &Places, operation: &'a Operation) -> Vec<EmbeddedList<'a>> {
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
        found.keeps_records() && !found.single && found.uses.is_none() && found.opened
    };
    let shown = operation.reply.as_ref().filter(|_| operation.method == "GET").map(Shape::fullest_object);
    let (Some(owner), Some(members)) = (owner.filter(is_plain), shown.and_then(Shape::members)) else {
        return Vec::new();
    };
    let lists = members.iter().filter_map(|(name, member)| {
        let item = member.shape.items()?.fullest_object();
        let other = places.kind(item, &noun(name)).filter(|other| *other != owner).filter(is_plain)?;
        // A child record belongs to its parent alone and is no association.
        let is_part =
            |one: usize, two: usize| places.all[one].above.iter().any(|above| above.of == Some(two));
        (!is_part(other, owner) && !is_part(owner, other)).then_some(EmbeddedList {
            owner,
            other,
            name,
            item,
        })
    });
    lists.collect()
}

/// Returns the resource between two others, with some records for each record of the first.
fn between(name: &str, label: &str, one: &str, two: &str) -> ResourceDoc {
    let end = |of: &str| FieldDoc {
        reference: Some(of.to_owned()),
        on_delete: Some(OnDelete::Cascade),
        ..FieldDoc::default()
    };
    let [first, second] = [one, two].map(|of| format!("{AS}{of}"));
    let each = EachDoc { of: one.to_owned(), by: first.clone(), min: 2, max: 3, set: IndexMap::new() };
    ResourceDoc {
        key: format!("{name}_key"),
        label: Some(label.to_owned()),
        records: RecordsDoc::default(),
        each: vec![each],
        unique_together: vec![vec![first.clone(), second.clone()]],
        fields: IndexMap::from_iter([(first, end(one)), (second, end(two))]),
        ..ResourceDoc::default()
    }
}
