//! Finds lists of another collection's records into which callers put records by their keys.

use diorama_seeds::contract::{key_name, noun, plain};

use super::{Join, Part, Places, form, list};
use crate::document::{Operation, Place};
use crate::shape::Kind;
use crate::words::is_id;

/// Finds the lists: another collection holds the items, and a write takes nothing but their keys.
pub(super) fn find(places: &mut Places, operations: &[Operation]) {
    let mut found = Vec::new();
    for operation in operations.iter().filter(|operation| operation.method == "GET") {
        let parts = places.parts(operation);
        let Some((_, item)) = list(operation, &parts) else { continue };
        let Some(member) = places.listed_of(&parts, item).filter(|_| ends_with_word(&parts)) else {
            continue;
        };
        // A path that creates records does not add existing ones.
        if places.made_elsewhere.contains_key(&form(&parts)) {
            continue;
        }
        // Records that show their owner are not added to it.
        let above = places.above(&parts, member).last().and_then(|above| above.of);
        if above.is_some() && above == places.owners_of(member) {
            continue;
        }
        found.push((form(&parts), Join { member }));
    }
    let writes = |path: &str, join: &Join| {
        operations.iter().any(|operation| {
            operation.method != "GET"
                && form(&places.parts(operation)) == path
                && places.named_by(operation, join.member).is_some()
        })
    };
    let kept: Vec<_> = found.into_iter().filter(|(path, join)| writes(path, join)).collect();
    places.joins.extend(kept);
}

fn ends_with_word(parts: &[Part]) -> bool {
    matches!(parts.last(), Some(Part::Text(_)))
}

impl Places {
    /// Returns the list of members at a path.
    pub(in crate::ground) fn join(&self, parts: &[Part]) -> Option<Join> {
        self.joins.get(&form(parts)).copied()
    }

    /// Returns the parameter that names the members which an operation adds to a list or removes from it.
    pub(in crate::ground) fn joined_by(&self, operation: &Operation) -> Option<String> {
        let join = self.join(&self.parts(operation))?;
        self.named_by(operation, join.member)
    }

    /// Returns the owner that a record itself shows.
    fn owners_of(&self, member: usize) -> Option<usize> {
        let record = self.all[member].record.as_ref()?.members()?;
        let owner = self.owners.get(&member).copied()?;
        let says = |name: &String| {
            let stem = key_name(name).filter(|_| is_id(name)).map_or_else(|| noun(name), |(stem, _)| stem);
            stem == self.all[owner].noun
        };
        record.keys().any(says).then_some(owner)
    }

    /// Returns the only required argument of an operation, where it holds keys of a collection.
    fn named_by(&self, operation: &Operation, member: usize) -> Option<String> {
        let members = operation.body.as_ref().and_then(|body| body.first_object().members());
        let of_body = members.into_iter().flatten().map(|(name, part)| (name, &part.shape, part.required));
        let of_query = operation.parameters.iter().filter(|known| known.place == Place::Query);
        let given = of_query.map(|known| (&known.name, &known.shape, known.required)).chain(of_body);
        let mut required = given.filter(|(.., required)| *required);
        let (name, shape, _) = required.next().filter(|_| required.next().is_none())?;
        let target = &self.all[member];
        let single = crate::words::singular(name);
        let stem =
            key_name(&single).filter(|_| is_id(&single)).map_or_else(|| noun(&single), |(stem, _)| stem);
        let item = shape.items().unwrap_or(shape);
        let alike = item.is_text() == matches!(target.key_shape.kind, Kind::String | Kind::Enum(_));
        let meant = stem.is_empty() || stem == target.noun || plain(name) == plain(&target.key);
        (is_keys(&shape.kind) && alike && meant).then(|| name.clone())
    }
}

/// Returns true if a parameter holds a key or a list of keys.
fn is_keys(kind: &Kind) -> bool {
    match kind {
        Kind::Array(item) => item.is_scalar(),
        Kind::String | Kind::Integer => true,
        _ => false,
    }
}
