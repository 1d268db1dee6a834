//! Reply names: the nouns of resources, the plain names of fields and path parameters, and the targets of
//! references.

use std::collections::HashMap;

use diorama_seeds::contract::{ANY_KEY, KEYS, ME, key_name, noun, plain};
use diorama_seeds::model::{Api, BehaviourKind, DomainId, Field, FieldId, ParameterId, Resource, ResourceId};
use diorama_seeds::naming::reserved;
use diorama_seeds::schema::Type;
use diorama_seeds::value::Str;

/// Returns the resource of the caller: a path that ends in `me` or the like reads it. Of several such paths,
/// the one that starts most other paths counts.
pub(super) fn caller_resource(apis: &[Api]) -> Option<ResourceId> {
    let shown = apis.iter().filter_map(|api| match &api.behaviour.kind {
        BehaviourKind::Get { resource, .. } => Some((&*api.path, *resource)),
        _ => None,
    });
    let own = shown.filter(|(path, _)| path.rsplit('/').next().is_some_and(|last| ME.contains(&last)));
    let begins = |path: &str| apis.iter().filter(|api| api.path.starts_with(path)).count();
    own.max_by_key(|(path, _)| begins(path)).map(|(_, resource)| resource)
}

/// Indexes resources by noun. Of two with the same noun, the one with the shorter name wins.
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

/// Indexes resources by domain and name.
pub(super) fn resources_by_name(resources: &[Resource]) -> HashMap<DomainId, HashMap<Str, ResourceId>> {
    let mut names: HashMap<DomainId, HashMap<Str, ResourceId>> = HashMap::new();
    for (index, resource) in resources.iter().enumerate() {
        names.entry(resource.domain).or_default().insert(resource.name.clone(), ResourceId(index as u16));
    }
    names
}

/// The noun of a resource and the plain names of its fields.
#[derive(Debug)]
pub(super) struct ResourceNames {
    pub(super) noun: String,
    /// The plain names of its fields.
    pub(super) fields: Vec<String>,
    /// The role of each reference field by its name, else empty. Example: `owner` for `owner_id` and for
    /// `owner_ids`.
    pub(super) roles: Vec<String>,
}

/// Returns the reply names of resources.
pub(super) fn resource_names(resources: &[Resource]) -> Vec<ResourceNames> {
    let names = resources.iter().map(|resource| {
        let fields: Vec<String> = resource.fields.iter().map(|field| member_name(&field.name)).collect();
        let role = |(field, name): (&Field, &String)| match reference_target(&field.schema.kind) {
            Some((_, true)) => noun(field.name.strip_suffix("_ids").unwrap_or(&field.name)),
            _ => key_name(name).map(|(stem, _)| stem).unwrap_or_default(),
        };
        let roles = resource.fields.iter().zip(&fields).map(role).collect();
        ResourceNames { noun: noun(&resource.label), roles, fields }
    });
    names.collect()
}

/// A path parameter, with the names of its value.
#[derive(Debug)]
pub(super) struct PathName {
    pub(super) parameter: ParameterId,
    /// The noun of the record whose key it is. Empty if it is no key.
    pub(super) noun: String,
    /// The plain name. Empty if the name is a generic key name and the path continues after it.
    pub(super) name: String,
}

/// The path parameters of an API, and the record that the path ends below.
#[derive(Debug)]
pub(super) struct PathNames {
    pub(super) names: Vec<PathName>,
    /// The parameter with the id of the record that the path ends below. Example: `movie_id` of
    /// `/movies/{movie_id}/credits`.
    pub(super) owner: Option<ParameterId>,
}

impl PathNames {
    pub(super) fn new(api: &Api) -> Self {
        let mut names = Vec::new();
        let mut before = String::new();
        let last = api.path.rsplit('/').next().unwrap_or_default();
        for segment in api.path.split('/').filter(|segment| !segment.is_empty()) {
            let Some(name) =
                segment.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(name, _)| name)
            else {
                before = noun(segment.split('.').next().unwrap_or(segment));
                continue;
            };
            let Some(parameter) = api.parameter_named(name) else { continue };
            let noun = match key_name(name) {
                // A number or a name is no id of the record that it identifies.
                Some((_, ending)) if !KEYS.contains(&ending) => String::new(),
                Some((stem, _)) if !stem.is_empty() => stem,
                // A day or a word is no key of the preceding segment, unless it has that segment's name.
                None if noun(name) != before && !is_reference(api, parameter) => String::new(),
                _ => before.clone(),
            };
            // A generic key name belongs only to the record that the path ends with.
            let mut name = plain(name);
            if segment != last && ANY_KEY.contains(&&*name) {
                name.clear();
            }
            names.push(PathName { parameter, noun, name });
        }
        Self { names, owner: find_owner(api) }
    }
}

/// Returns the parameter with the id of the record that the path ends below.
fn find_owner(api: &Api) -> Option<ParameterId> {
    let mut segments = api.path.rsplit('/');
    segments.next().filter(|last| !last.contains('{'))?;
    let name = segments.next()?.strip_prefix('{')?.strip_suffix('}')?;
    key_name(name).filter(|(_, ending)| KEYS.contains(ending))?;
    api.parameter_named(name)
}

/// Returns true if a parameter refers to a record.
fn is_reference(api: &Api, parameter: ParameterId) -> bool {
    let known = api.parameters.get(parameter.index());
    known.is_some_and(|known| matches!(known.schema.kind, Type::Reference { .. }))
}

/// By noun of the part and containing resource: the part resources, and their fields that refer to the
/// container.
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

/// Indexes resources by the plain name of their key. Names that several resources share are left out.
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

/// Returns the plain member name of a field. Fields with a reserved name have a suffix in the world, which is
/// removed.
fn member_name(field: &str) -> String {
    plain(reserved(field).unwrap_or(field))
}

/// Returns the resource that a type refers to, with true for a list of references.
pub(super) fn reference_target(kind: &Type) -> Option<(ResourceId, bool)> {
    match kind {
        Type::Reference { resource, .. } => Some((*resource, false)),
        Type::List(item) => match &item.kind {
            Type::Reference { resource, .. } => Some((*resource, true)),
            _ => None,
        },
        _ => None,
    }
}
