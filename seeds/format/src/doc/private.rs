//! Private fields: removes them, or everything but the record generation, from a document.

use std::borrow::Cow;
use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::world::{DomainDoc, RecordsDoc, ResourceDoc, WorldDoc};

impl WorldDoc {
    /// Returns the document without private fields and without scenarios if it has private fields. The world
    /// that runs is compiled from it.
    pub fn without_private(&self) -> Cow<'_, Self> {
        if self.all_resources().all(|resource| resource.fields.values().all(|field| !field.private)) {
            return Cow::Borrowed(self);
        }
        let mut doc = self.without_scenarios();
        doc.all_resources_mut().for_each(ResourceDoc::drop_private);
        Cow::Owned(doc)
    }

    /// Returns the document for generating records: with private fields, but without APIs and policies, which
    /// must not refer to them. Returns none if no field is private.
    pub fn for_making(&self) -> Option<Self> {
        if self.all_resources().all(|resource| resource.fields.values().all(|field| !field.private)) {
            return None;
        }
        let mut doc = self.without_scenarios();
        doc.apis.clear();
        doc.domain.iter_mut().for_each(|head| head.house = None);
        for domain in &mut doc.domains {
            domain.apis.clear();
            domain.domain.house = None;
        }
        Some(doc)
    }

    fn all_resources(&self) -> impl Iterator<Item = &ResourceDoc> {
        let of_domains = self.domains.iter().flat_map(|domain: &DomainDoc| domain.resources.values());
        self.resources.values().chain(of_domains)
    }

    fn all_resources_mut(&mut self) -> impl Iterator<Item = &mut ResourceDoc> {
        let of_domains =
            self.domains.iter_mut().flat_map(|domain: &mut DomainDoc| domain.resources.values_mut());
        self.resources.values_mut().chain(of_domains)
    }
}

impl ResourceDoc {
    /// Removes private fields, their values in given records, and the unique groups that contain them.
    fn drop_private(&mut self) {
        let private: HashSet<String> =
            self.fields.iter().filter(|(_, field)| field.private).map(|(name, _)| name.clone()).collect();
        self.fields.retain(|name, _| !private.contains(name));
        self.unique_together.retain(|group| group.iter().all(|name| !private.contains(name)));
        let drop_from = |row: &mut IndexMap<String, Json>| row.retain(|name, _| !private.contains(name));
        if let RecordsDoc::Given(rows) = &mut self.records {
            rows.iter_mut().for_each(drop_from);
        }
        self.examples.iter_mut().for_each(drop_from);
        self.each.iter_mut().for_each(|each| drop_from(&mut each.set));
    }
}
