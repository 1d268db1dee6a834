//! The names by which members of replies call resources and their fields.

use std::collections::HashMap;

use diorama_seeds::contract::{ANY_KEY, ME, key_name, noun, plain};
use diorama_seeds::model::{Api, BehaviourKind, DomainId, FieldId, Resource, ResourceId};
use diorama_seeds::naming::reserved;
use diorama_seeds::schema::Type;
use diorama_seeds::value::Str;

/// The resource whose record a path shows to whoever asks; of several such paths that which begins most others.
pub(super) fn caller_resource(apis: &[Api]) -> Option<ResourceId> {
    let shown = apis.iter().filter_map(|api| match &api.behaviour.kind {
        BehaviourKind::Get { resource, .. } => Some((&*api.path, *resource)),
        _ => None,
    });
    let own = shown.filter(|(path, _)| path.rsplit('/').next().is_some_and(|last| ME.contains(&last)));
    let begins = |path: &str| apis.iter().filter(|api| api.path.starts_with(path)).count();
    own.max_by_key(|(path, _)| begins(path)).map(|(_, resource)| resource)
}

/// Resources by noun; of two with the same noun the one with the shorter name, whose path is the shorter.
pub(super) fn resources_by_noun(resources: &[Resource]) -> HashMap<String, ResourceId> {
    let mut nouns: HashMap<String, ResourceId> = HashMap::new();
    for (index, resource) in resources.iter().enumerate().filter(|(_, resource)| !resource.singleton) {
        let known = nouns.entry(noun(&resource.label)).or_insert(ResourceId(index as u16));
        if resources.get(known.index()).is_some_and(|other| resource.name.len() < other.name.len()) {
            *known = ResourceId(index as u16);
        }
    }
    nouns
}

/// Resources by domain and name.
pub(super) fn resources_by_name(resources: &[Resource]) -> HashMap<DomainId, HashMap<Str, ResourceId>> {
    let mut names: HashMap<DomainId, HashMap<Str, ResourceId>> = HashMap::new();
    for (index, resource) in resources.iter().enumerate() {
        names.entry(resource.domain).or_default().insert(resource.name.clone(), ResourceId(index as u16));
    }
    names
}

/// The names by which members of replies call a resource.
#[derive(Debug)]
pub(super) struct ResourceNames {
    pub(super) noun: String,
    /// Its fields, by plain name.
    pub(super) fields: Vec<String>,
    /// The role that the name of a field with a key says (example: `owner` of `owner_id`); else empty.
    pub(super) roles: Vec<String>,
}

/// The names by which members of replies call resources.
pub(super) fn resource_names(resources: &[Resource]) -> Vec<ResourceNames> {
    let names = resources.iter().map(|resource| {
        let fields: Vec<String> = resource.fields.iter().map(|field| member_name(&field.name)).collect();
        let role = |name: &String| key_name(name).map(|(stem, _)| stem).unwrap_or_default();
        ResourceNames { noun: noun(&resource.label), roles: fields.iter().map(role).collect(), fields }
    });
    names.collect()
}

/// By noun and whole: the resources whose records belong to those of another, and the fields that say so.
pub(super) type Parts = HashMap<String, HashMap<ResourceId, Vec<(ResourceId, FieldId)>>>;

/// Finds parts: resources that refer to others, by their nouns.
pub(super) fn parts_by_noun(resources: &[Resource]) -> Parts {
    let mut found = Parts::new();
    for (index, resource) in resources.iter().enumerate().filter(|(_, resource)| !resource.singleton) {
        for (field, declared) in resource.fields.iter().enumerate() {
            let Type::Reference { resource: whole, .. } = &declared.schema.kind else { continue };
            if whole.index() != index && &*declared.name != "of" {
                let part = (ResourceId(index as u16), FieldId(field as u16));
                found.entry(noun(&resource.label)).or_default().entry(*whole).or_default().push(part);
            }
        }
    }
    found
}

/// Resources by the plain name of their key, where it is theirs alone.
pub(super) fn resources_by_key_name(resources: &[Resource]) -> HashMap<String, ResourceId> {
    let mut keyed: HashMap<String, Option<ResourceId>> = HashMap::new();
    for (index, resource) in resources.iter().enumerate() {
        let name = member_name(&resource.field(resource.key).name);
        if !resource.singleton && !is_hidden(resource) && !ANY_KEY.contains(&&*name) {
            let id = ResourceId(index as u16);
            keyed.entry(name).and_modify(|known| *known = None).or_insert(Some(id));
        }
    }
    keyed.into_iter().filter_map(|(name, id)| Some((name, id?))).collect()
}

/// Returns true if no reply shows the keys of a resource.
pub(super) fn is_hidden(resource: &Resource) -> bool {
    resource.field(resource.key).name.strip_suffix("_key") == Some(&*resource.name)
}

/// The plain name of the member that shows a field: a reserved word stands with a suffix in the world.
fn member_name(field: &str) -> String {
    plain(reserved(field).unwrap_or(field))
}
