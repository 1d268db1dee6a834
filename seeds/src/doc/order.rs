//! The canonical order of a document's keys.

use indexmap::IndexMap;

use super::{ApiDoc, DomainDoc, DomainHead, FieldDoc, ResourceDoc, WorldDoc};

impl WorldDoc {
    /// Puts every mapping in the order of its keys.
    ///
    /// The order in which keys are written means nothing. What is shown in the order of a mapping (the parameters of a
    /// tool, the members of a reply without `fields`) is therefore shown in this order wherever a world is run, so that
    /// a world read back from its canonical form behaves to the byte like the one that was written.
    pub fn sort_keys(&mut self) {
        if let Some(head) = &mut self.domain {
            head.sort_keys();
        }
        self.resources.sort_unstable_keys();
        self.resources.values_mut().for_each(ResourceDoc::sort_keys);
        self.apis.iter_mut().for_each(ApiDoc::sort_keys);
        self.domains.iter_mut().for_each(DomainDoc::sort_keys);
    }
}

impl DomainHead {
    fn sort_keys(&mut self) {
        self.security.sort_unstable_keys();
        self.schemas.sort_unstable_keys();
        self.schemas.values_mut().for_each(serde_json::Value::sort_all_objects);
    }
}

impl DomainDoc {
    fn sort_keys(&mut self) {
        self.domain.sort_keys();
        self.resources.sort_unstable_keys();
        self.resources.values_mut().for_each(ResourceDoc::sort_keys);
        self.apis.iter_mut().for_each(ApiDoc::sort_keys);
    }
}

impl ResourceDoc {
    fn sort_keys(&mut self) {
        self.fields.sort_unstable_keys();
        self.fields.values_mut().for_each(FieldDoc::sort_keys);
    }
}

impl FieldDoc {
    fn sort_keys(&mut self) {
        self.synonyms.sort_unstable_keys();
        self.fields.sort_unstable_keys();
        self.fields.values_mut().for_each(Self::sort_keys);
        if let Some(items) = &mut self.items {
            items.sort_keys();
        }
    }
}

impl ApiDoc {
    fn sort_keys(&mut self) {
        self.security.iter_mut().for_each(IndexMap::sort_unstable_keys);
        self.errors.sort_unstable_keys();
        self.errors.values_mut().for_each(serde_json::Value::sort_all_objects);
        if let Some(contract) = &mut self.contract {
            let schemas = [&mut contract.request, &mut contract.reply];
            schemas.into_iter().flatten().for_each(serde_json::Value::sort_all_objects);
        }
        self.parameters.sort_unstable_keys();
        self.parameters.values_mut().for_each(FieldDoc::sort_keys);
        let behaviour = &mut self.behaviour;
        behaviour.compute.sort_unstable_keys();
        behaviour.by.sort_unstable_keys();
        behaviour.filters.sort_unstable_keys();
        behaviour.set.sort_unstable_keys();
        behaviour.measures.sort_unstable_keys();
        behaviour.bindings.sort_unstable_keys();
        behaviour.also.iter_mut().for_each(|effect| effect.set.sort_unstable_keys());
        self.reply.paging.sort_unstable_by(|one, _, other, _| one.as_str().cmp(other.as_str()));
        self.reply.with.sort_unstable_keys();
    }
}
