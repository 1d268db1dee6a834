//! What a list or a new record stands below, where the path of an operation is not that of the collection.

use diorama_seeds::doc::{EachDoc, FieldDoc, RecordsDoc, ResourceDoc};
use indexmap::IndexMap;

use super::Act;
use crate::ground::places::{Above, Places};

impl Act<'_> {
    /// What a list or a new record stands below. Where the collection's own path is another, a field is added that says it.
    pub(super) fn scope(&mut self, index: usize, elsewhere: bool) -> Vec<Above> {
        let found = self.collection(index);
        if !elsewhere {
            return found.above.clone();
        }
        let mut above = all_above(self.places, &self.places.above(&self.parts, index));
        if let Some(of) = self.places.mine(&self.parts).filter(|of| self.is_stored(*of)) {
            above.push(Above { of: Some(of), mine: true, ..Above::default() });
        }
        let mut scope: Vec<Above> = Vec::new();
        for known in above.clone() {
            let Some(of) = known.of.filter(|of| self.is_stored(*of)) else { continue };
            let other = self.collection(of).name.clone();
            let Some(resource) = self.resources.get(&found.name) else { continue };
            let refers = |doc: &FieldDoc| doc.reference.as_deref() == Some(other.as_str());
            if let Some((field, _)) = resource.fields.iter().find(|(_, doc)| refers(doc)) {
                let again = scope.iter().any(|other| other.field == *field);
                scope.extend((!again).then(|| Above { field: field.clone(), ..known }));
                continue;
            }
            // Records that come before others cannot stand below them, and the nearest says what is above it.
            if known.mine {
                continue;
            }
            let nearest = above.iter().rposition(|other| other.of == Some(of)) == above.len().checked_sub(1);
            if !nearest || self.stands_below(&other, &found.name, 0) {
                continue;
            }
            let field = format!("in_{other}");
            self.put_below(&found.name, &field, &other);
            scope.push(Above { field, ..known });
        }
        scope
    }

    /// Gives a resource a field that says below which record of another it stands, and each of those some of them.
    fn put_below(&mut self, name: &str, field: &str, other: &str) {
        let owners = size(self.resources, other, 0);
        let doc = FieldDoc {
            reference: Some(other.to_owned()),
            optional: true,
            on_delete: Some("clear".to_owned()),
            ..FieldDoc::default()
        };
        let Some(resource) = self.resources.get_mut(name) else { return };
        resource.fields.insert(field.to_owned(), doc);
        if resource.each.is_empty() && !resource.singleton {
            resource.records = RecordsDoc::default();
            resource.each.push(EachDoc {
                of: other.to_owned(),
                by: field.to_owned(),
                min: if owners <= 40 { 3 } else { 1 },
                max: if owners <= 40 { 4 } else { 1 },
                set: IndexMap::new(),
            });
        }
    }

    fn stands_below(&self, name: &str, above: &str, depth: u32) -> bool {
        name == above
            || depth > 12
            || self.resources.get(name).into_iter().flat_map(|known| known.fields.values()).any(|doc| {
                doc.reference
                    .as_deref()
                    .is_some_and(|next| next != name && self.stands_below(next, above, depth + 1))
            })
    }
}

/// How many records a resource has, at most.
fn size(resources: &IndexMap<String, ResourceDoc>, name: &str, depth: u32) -> u32 {
    let Some(resource) = resources.get(name).filter(|_| depth < 12) else { return 1 };
    match (resource.each.first(), &resource.records) {
        (Some(each), _) => size(resources, &each.of, depth + 1).saturating_mul(each.max),
        (None, RecordsDoc::Count(count)) => *count,
        _ => 1,
    }
}

/// What is above, with what stands above that.
pub(super) fn all_above(places: &Places, above: &[Above]) -> Vec<Above> {
    let mut all = above.to_vec();
    for known in above.iter().filter(|known| known.exact) {
        if let Some((_, other)) = known.of.and_then(|of| places.all.get_index(of)) {
            all.extend(all_above(places, &other.above));
        }
    }
    all
}
