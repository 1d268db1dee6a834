//! Owns additional records for worlds whose document gives all records.
//!
//! New records take values from the records of another seed. If a document gives all its records, another
//! seed gives the same ones.

use std::collections::HashSet;

use serde_json::json;

use super::provider_of_field;
use crate::doc::{FieldDoc, RecordsDoc, ResourceDoc, TypeName, WorldDoc};

/// Number of records that are added to the given ones.
const MORE: u32 = 12;

/// Returns the document with a number of records to make in addition to the given ones.
pub(super) fn with_more_records(doc: &WorldDoc) -> WorldDoc {
    let mut doc = doc.without_scenarios();
    let resources = doc.domains.iter_mut().flat_map(|domain| domain.resources.values_mut());
    doc.resources.values_mut().chain(resources).for_each(extend);
    doc
}

fn extend(resource: &mut ResourceDoc) {
    let RecordsDoc::Given(given) = &mut resource.records else { return };
    let in_rows: HashSet<String> = resource.rows.iter().flat_map(|rows| &rows.fields).cloned().collect();
    let texts = resource.fields.iter_mut().filter(|(name, field)| {
        **name != resource.key && is_any_text(name, field) && !in_rows.contains(*name)
    });
    // A text of unknown kind is drawn from the given texts, because the world would not have any other.
    for (name, field) in texts {
        let known: Vec<_> =
            given.iter().filter_map(|row| row.get(name)).filter(|value| !value.is_null()).collect();
        if known.is_empty() || field.unique {
            return;
        }
        field.fake = Some(json!({ "provider": "pick", "of": known }));
    }
    if !given.is_empty() && !resource.singleton {
        resource.examples = std::mem::take(given);
        resource.records = RecordsDoc::Count(resource.examples.len() as u32 + MORE);
    }
}

/// Returns true for a text whose kind neither a provider nor its name shows.
fn is_any_text(name: &str, field: &FieldDoc) -> bool {
    matches!(field.kind, None | Some(TypeName::String))
        && field.fake.is_none()
        && field.pattern.is_none()
        && field.format.is_none()
        && field.reference.is_none()
        && field.values.is_empty()
        && provider_of_field(name, false).is_none()
}
