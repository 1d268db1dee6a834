//! Numbered parts that a world must have: `season: [3]` gives every show at least three seasons.

use diorama_seeds::doc::{ResourceDoc, WorldDoc};

/// More parts than this belong to no record.
const MOST_PARTS: u32 = 500;

/// Makes room for a part of a number, where the name is a number and the resource has numbered parts. Whether it did.
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

/// True when records are counted inside their parent: made one by one for it, with their position as a field.
fn numbered(resource: &ResourceDoc) -> bool {
    !resource.each.is_empty() && resource.fields.values().any(|field| field.provider() == Some("position"))
}
