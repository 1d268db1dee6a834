//! Finds paths that show parts of records of another collection: `/metrics/services/{service_id}`.

use std::collections::HashSet;

use diorama_seeds::contract::{ANY_KEY, key_name, noun, plain};
use indexmap::IndexMap;

use super::{Collection, Part, Places, form, list};
use crate::document::Operation;
use crate::shape::Shape;
use crate::words::label;

impl Places {
    /// Merges paths that only change records into the collection that lists or creates them: `/apps/{id}`
    /// beside `/accounts/{account_id}/apps`.
    pub(super) fn find_changed(&mut self) {
        let only_changed = |found: &Collection| {
            let shown = found.opened || found.listed || found.made || found.joined || found.single;
            !shown && found.item.is_some()
        };
        let paths = self.all.iter().filter(|(_, found)| only_changed(found));
        let paths: Vec<String> = paths.map(|(path, _)| path.clone()).collect();
        for path in paths {
            let end = |(other, found): &(&String, &Collection)| {
                **other != path
                    && other.ends_with(&path)
                    && found.item.is_none()
                    && (found.listed || found.made)
            };
            let mut ends = self.all.iter().filter(end).map(|(other, _)| other.clone());
            let (Some(other), None) = (ends.next(), ends.next()) else { continue };
            let item = self.all.shift_remove(&path).and_then(|found| found.item);
            if let Some(found) = self.all.get_mut(&other) {
                found.item = item;
            }
        }
    }

    /// Turns paths that open by another collection's key into one record below each of its records.
    pub(super) fn find_views(&mut self) {
        let alone = |found: &Collection| {
            let shown = found.listed || found.made || found.joined || found.single;
            found.opened && !shown && matches!(found.parts.last(), Some(Part::Text(_)))
        };
        let paths = self.all.iter().filter(|(_, found)| alone(found));
        let paths: Vec<String> = paths.map(|(path, _)| path.clone()).collect();
        for path in paths {
            let Some(at) = self.all.get_index_of(&path) else { continue };
            let Some(key) = self.all[at].item.clone() else { continue };
            let Some(of) = self.shown_elsewhere(at, &key) else { continue };
            self.all[of].item.get_or_insert_with(|| key.clone());
            self.make_view(&path);
        }
    }

    /// Finds records that several paths open by one key and no list shows.
    /// One collection stores them, and the others hold one record below each.
    pub(super) fn find_shared_roots(&mut self, operations: &[Operation]) {
        let writes = operations.iter().filter(|operation| operation.method != "GET");
        let written: HashSet<String> = writes.map(|operation| form(&self.parts(operation))).collect();
        let mut shared: IndexMap<String, Vec<String>> = IndexMap::new();
        for (path, found) in &self.all {
            let Some(key) = found.item.as_deref().map(plain) else { continue };
            let is_read = !written.contains(&format!("{path}/{{}}")) && !found.made && !found.joined;
            let is_root = is_read && found.opened && !found.listed && !found.single;
            let is_named = !ANY_KEY.contains(&&*key) && found.parts.iter().all(|part| part.key().is_none());
            if is_root && is_named && matches!(found.parts.last(), Some(Part::Text(_))) {
                shared.entry(key).or_default().push(path.clone());
            }
        }
        shared.retain(|_, paths| paths.len() > 1);
        if shared.is_empty() {
            return;
        }
        let items = operations.iter().filter_map(|operation| list(operation, &self.parts(operation)));
        let listed: HashSet<String> = items
            .flat_map(|(_, item)| item.members().into_iter().flatten().map(|(name, _)| plain(name)))
            .collect();
        for (key, mut paths) in shared.into_iter().filter(|(key, _)| !listed.contains(key)) {
            // The collection with the key's noun stores the records, else one that shows the key.
            paths.sort_by_key(|path| {
                let found = &self.all[path];
                let is_own = key_name(&key).is_some_and(|(stem, _)| stem == found.noun);
                let shows = |record: &Shape| {
                    record.members().is_some_and(|all| all.keys().any(|name| plain(name) == key))
                };
                (!is_own, !found.record.as_ref().is_some_and(shows))
            });
            for path in paths.iter().skip(1) {
                self.make_view(path);
            }
        }
    }

    /// Turns a collection into one record below each record that its key names.
    fn make_view(&mut self, path: &str) {
        let Some(mut view) = self.all.shift_remove(path) else { return };
        view.parts.extend(view.item.take().map(Part::Key));
        view.single = true;
        if let Some(title) = view.record.as_ref().and_then(|record| record.title.clone()) {
            view.label = label(&title);
        }
        self.all.insert(form(&view.parts), view);
    }

    /// Returns the collection that lists or creates the records of a key, where they are not the path's own.
    fn shown_elsewhere(&self, at: usize, key: &str) -> Option<usize> {
        let stem = key_name(key).map_or_else(|| noun(key), |(stem, _)| stem);
        let own = &self.all[at];
        let wanted = if stem.is_empty() { &own.noun } else { &stem };
        let shows = |found: &Collection| {
            let member = |record: &Shape| {
                let mut names = record.members().into_iter().flatten().map(|(name, _)| plain(name));
                names.any(|name| name == plain(key) || name == "id")
            };
            found.item.is_some() || found.record.as_ref().is_some_and(member)
        };
        // Members that show their user represent users and are none themselves.
        let stands_for = |found: &Collection| {
            let mut members = found.record.as_ref().and_then(Shape::members).into_iter().flatten();
            members.any(|(name, member)| noun(name) == *wanted && member.shape.members().is_some())
        };
        self.shortest(|index, found| {
            index != at
                && found.parts.len() <= own.parts.len()
                && found.noun == *wanted
                && !found.single
                && (found.listed || found.made)
                && shows(found)
                && !stands_for(found)
                && !self.is_alike(Some(index), own)
        })
    }
}
