//! More records for worlds whose records all stand in the document.
//!
//! Values for new records come from records of another seed. Where a document gives all its records, another seed gives the same ones.

use std::collections::HashSet;

use serde_json::json;

use super::provider_of_field;
use crate::doc::{FieldDoc, RecordsDoc, ResourceDoc, TypeName, WorldDoc};

/// Records that are made beside the given ones.
const MORE: u32 = 12;

/// The document, with records to be made beside those that its resources give.
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
    // A text of which nothing is known is drawn from the given ones, so that it is none that the world does not have.
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

/// Returns true for a text whose kind neither a provider nor its name tells.
fn is_any_text(name: &str, field: &FieldDoc) -> bool {
    matches!(field.kind, None | Some(TypeName::String))
        && field.fake.is_none()
        && field.pattern.is_none()
        && field.format.is_none()
        && field.reference.is_none()
        && field.values.is_empty()
        && provider_of_field(name, false).is_none()
}
