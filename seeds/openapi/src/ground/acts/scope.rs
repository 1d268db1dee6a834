//! Finds the parents of a list or of a new record, where the operation's path is not the collection's own.

use diorama_seeds::contract::noun;
use diorama_seeds::doc::{EachDoc, FieldDoc, OnDelete, RecordsDoc, ResourceDoc};
use indexmap::{IndexMap, IndexSet};

use super::Act;
use crate::ground::makers::BELOW;
use crate::ground::places::{ParentKey, Places};

/// Records of a list for each record that they list, and the greatest number of them.
const LISTED: u32 = 4;
const MANY: u32 = 120;

impl Act<'_> {
    /// Returns the parents of a list or of a new record. Another path may need a field for its parent, which
    /// is added.
    pub(super) fn scope(&mut self, index: usize, elsewhere: bool) -> Vec<ParentKey> {
        let found = self.collection(index);
        if !elsewhere {
            return found.above.clone();
        }
        let mut above = all_above(self.places, &self.places.above(&self.parts, index));
        if let Some(of) = self.places.mine(&self.parts).filter(|of| self.is_stored(*of)) {
            above.push(ParentKey { of: Some(of), mine: true, ..ParentKey::default() });
        }
        let mut scope: Vec<ParentKey> = Vec::new();
        for known in above.clone() {
            let Some(of) = known.of.filter(|of| self.is_stored(*of)) else { continue };
            let other = self.collection(of).name.clone();
            let Some(resource) = self.resources.get(&found.name) else { continue };
            let refers = |doc: &FieldDoc| doc.reference.as_deref() == Some(other.as_str());
            // Of several references, the one that every record has counts.
            let mut all = resource.fields.iter().filter(|(_, doc)| refers(doc));
            let always = |doc: &FieldDoc| doc.on_delete == Some(OnDelete::Cascade);
            if let Some((field, _)) = all.clone().find(|(_, doc)| always(doc)).or_else(|| all.next()) {
                let again = scope.iter().any(|other| other.field == *field);
                scope.extend((!again).then(|| ParentKey { field: field.clone(), ..known }));
                continue;
            }
            // `project_ids` of a task are the projects of the task.
            let lists = |(field, doc): &(&String, &FieldDoc)| {
                let target = doc.items.as_ref().and_then(|item| item.reference.as_ref());
                target == Some(&other)
                    && field.strip_suffix("_ids").is_some_and(|stem| noun(stem) == self.collection(of).noun)
            };
            if let Some((field, _)) = resource.fields.iter().find(lists).filter(|_| !known.mine) {
                let field = field.clone();
                self.have_more(&found.name, &other);
                scope.push(ParentKey { field, among: true, ..known });
                continue;
            }
            // A record that another depends on cannot belong to it. Only the nearest parent needs a field.
            if known.mine {
                continue;
            }
            let nearest = above.iter().rposition(|other| other.of == Some(of)) == above.len().checked_sub(1);
            if !nearest || self.stands_below(&other, &found.name) {
                continue;
            }
            let field = format!("{BELOW}{other}");
            self.put_below(&found.name, &field, &other);
            scope.push(ParentKey { field, ..known });
        }
        scope
    }

    /// Gives a resource a field for its parent, and each parent some records.
    fn put_below(&mut self, name: &str, field: &str, other: &str) {
        let owners = size(self.resources, other, 0);
        let doc = FieldDoc {
            reference: Some(other.to_owned()),
            optional: true,
            on_delete: Some(OnDelete::Clear),
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

    /// Gives a resource enough records that its lists name each record of another resource.
    fn have_more(&mut self, name: &str, other: &str) {
        let owners = size(self.resources, other, 0);
        if let Some(RecordsDoc::Count(count)) = self
            .resources
            .get_mut(name)
            .filter(|own| own.each.is_empty() && !own.singleton)
            .map(|own| &mut own.records)
        {
            *count = (*count).max(owners.saturating_mul(LISTED).min(MANY));
        }
    }

    /// Returns true if records of a resource refer to those of another, directly or through others.
    fn stands_below(&self, name: &str, above: &str) -> bool {
        let mut seen = IndexSet::from([name]);
        let mut next = 0;
        while let Some(name) = seen.get_index(next).copied() {
            if name == above {
                return true;
            }
            let fields = self.resources.get(name).into_iter().flat_map(|known| known.fields.values());
            seen.extend(fields.filter_map(|doc| doc.reference.as_deref()));
            next += 1;
        }
        false
    }
}

/// Returns the greatest number of records that a resource has.
fn size(resources: &IndexMap<String, ResourceDoc>, name: &str, depth: u32) -> u32 {
    let Some(resource) = resources.get(name).filter(|_| depth < 12) else { return 1 };
    match (resource.each.first(), &resource.records) {
        (Some(each), _) => size(resources, &each.of, depth + 1).saturating_mul(each.max),
        (None, RecordsDoc::Count(count)) => *count,
        _ => 1,
    }
}

/// Returns the given parents and all of their own, each once.
pub(super) fn all_above<'a>(places: &'a Places, above: &'a [ParentKey]) -> Vec<ParentKey> {
    let mut all = Vec::new();
    let mut seen = IndexSet::new();
    let mut open = vec![above];
    while let Some(above) = open.pop() {
        all.extend_from_slice(above);
        let exact = above.iter().rev().filter(|known| known.exact).filter_map(|known| known.of);
        let others = exact.filter_map(|of| Some((of, places.all.get_index(of)?.1)));
        // The first parent is next, with all of its own.
        let new: Vec<&[ParentKey]> =
            others.filter(|(of, _)| !seen.contains(of)).map(|(_, other)| other.above.as_slice()).collect();
        seen.extend(above.iter().filter(|known| known.exact).filter_map(|known| known.of));
        open.extend(new);
    }
    all
}
