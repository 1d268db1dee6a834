//! Referring records: makes records of other resources refer to the named ones.

use diorama_seeds::doc::FieldDoc;

use super::*;

/// Maximum number of records that a resource gets for this purpose.
const MOST_KIN: usize = 2_000;

/// Makes at least one record of each referring kind refer to every named record.
pub(super) fn lead_to(doc: &mut WorldDoc, placed: &IndexMap<String, IndexSet<String>>) {
    // A name identifies a record only if it is unique.
    let nameable: IndexMap<String, Vec<String>> = placed
        .iter()
        .filter(|(resource, _)| {
            let described = doc.resources.get(*resource);
            let display =
                described.and_then(|found| Some(found.fields.get(found.display.as_deref()?)?.unique));
            display == Some(true)
        })
        .map(|(resource, names)| (resource.clone(), names.iter().cloned().collect()))
        .collect();
    for (name, resource) in &mut doc.resources {
        if resource.singleton || matches!(&resource.records, RecordsDoc::Given(rows) if !rows.is_empty()) {
            continue;
        }
        let references: Vec<(String, bool, String)> = resource
            .fields
            .iter()
            // A generated reference follows from other fields, so it is not overridden.
            .filter(|(field, doc)| **field != resource.key && (!follows(doc) || doc.items.is_some()))
            .filter_map(|(field, doc)| Some((field.clone(), reference(doc)?)))
            .filter(|(_, (_, target))| target != name && nameable.contains_key(target))
            .map(|(field, (many, target))| (field, many, target))
            .collect();
        for (field, many, target) in references {
            let names = nameable.get(&target).map(Vec::as_slice).unwrap_or_default();
            if resource.each.is_empty() {
                for (place, name) in names.iter().enumerate() {
                    refer(resource, place, &field, if many { json!([name]) } else { json!(name) });
                }
            } else if !many && !resource.each.iter().any(|each| each.by == field) {
                link(resource, &field, names, &nameable);
            }
        }
    }
}

/// Returns true if a field's value follows from others. A `chance` only decides if there is a value.
fn follows(field: &FieldDoc) -> bool {
    field.fake.is_some() && field.provider() != Some("chance")
}

/// Returns true for a list of references, and the resource that the field refers to.
fn reference(field: &FieldDoc) -> Option<(bool, String)> {
    match (&field.reference, &field.items) {
        (Some(target), _) => Some((false, target.clone())),
        (None, Some(items)) => Some((true, items.reference.clone()?)),
        (None, None) => None,
    }
}

/// Sets a reference of the given record at this position, or of an additional one.
fn refer(resource: &mut ResourceDoc, place: usize, field: &str, value: Json) {
    let rows = &mut resource.examples;
    if rows.len() >= MOST_KIN && place >= rows.len() {
        return;
    }
    match rows.get_mut(place) {
        Some(row) => {
            row.entry(field.to_owned()).or_insert(value);
        }
        None => rows.push(IndexMap::from([(field.to_owned(), value)])),
    }
}

/// Adds link records (credits) between named records, in each list that every parent record has.
fn link(resource: &mut ResourceDoc, field: &str, names: &[String], nameable: &IndexMap<String, Vec<String>>) {
    let entries: Vec<_> = resource.each.iter().filter(|each| each.min > 0).cloned().collect();
    for each in entries {
        let parents = nameable.get(&each.of).map(Vec::as_slice).unwrap_or_default();
        let nullable = resource.fields.get(&each.by).is_some_and(|field| field.nullable || field.optional);
        if parents.is_empty() && nullable {
            continue;
        }
        for (place, name) in names.iter().enumerate() {
            if resource.examples.len() >= MOST_KIN {
                return;
            }
            let mut row = each.set.clone();
            if let Some(parent) = parents.get(place % parents.len().max(1)) {
                row.insert(each.by.clone(), json!(parent));
            }
            row.insert(field.to_owned(), json!(name));
            resource.examples.push(row);
        }
    }
}
