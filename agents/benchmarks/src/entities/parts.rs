//! Required numbered parts: `season: [3]` gives every show at least three seasons.

use diorama_seeds::doc::{ResourceDoc, WorldDoc};

/// Maximum number of parts per record.
const MOST_PARTS: u32 = 500;

/// Increases the number of parts, if the name is a number and the resource has numbered parts. Returns true
/// if it did.
pub(super) fn make_room(doc: &mut WorldDoc, of: &str, name: &str) -> bool {
    let Ok(number) = name.parse::<u32>() else { return false };
    let Some(resource) = doc.resources.get_mut(of) else { return false };
    if number > MOST_PARTS || !numbered(resource) {
        return false;
    }
    for each in &mut resource.each {
        each.min = each.min.max(number);
        each.max = each.max.max(each.min);
    }
    true
}

/// Returns true if records are numbered within their parent: generated for it, with their position as a
/// field.
fn numbered(resource: &ResourceDoc) -> bool {
    !resource.each.is_empty() && resource.fields.values().any(|field| field.provider() == Some("position"))
}
