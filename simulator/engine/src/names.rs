//! The names by which members of replies call resources, their fields and the parameters of paths, and the targets of references.

use std::collections::HashMap;

use diorama_seeds::contract::{ANY_KEY, KEYS, ME, key_name, noun, plain};
use diorama_seeds::model::{Api, BehaviourKind, DomainId, Field, FieldId, ParameterId, Resource, ResourceId};
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
    /// The role that the name of a field with a key or a list of keys says (example: `owner` of `owner_id` and of `owner_ids`); else
    /// empty.
    pub(super) roles: Vec<String>,
}

/// The names by which members of replies call resources.
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

/// A parameter in the path of an API, with the name of what it holds.
#[derive(Debug)]
pub(super) struct PathName {
    pub(super) parameter: ParameterId,
    /// The noun of the record whose key it is; empty where it is no key.
    pub(super) noun: String,
    /// Its plain name; empty where any record's key may have that name and the path goes on.
    pub(super) name: String,
}

/// The parameters in the path of an API, and the record that it ends below.
#[derive(Debug)]
pub(super) struct PathNames {
    pub(super) names: Vec<PathName>,
    /// The id of the record that the path ends below: `movie_id` of `/movies/{movie_id}/credits`.
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
                // A number or a name is no id of what it names.
                Some((_, ending)) if !KEYS.contains(&ending) => String::new(),
                Some((stem, _)) if !stem.is_empty() => stem,
                // A day or a word is no key of what stands before it, unless that is its name.
                None if noun(name) != before && !is_reference(api, parameter) => String::new(),
                _ => before.clone(),
            };
            // `name` in a path is what stands there is called, and nothing below it.
            let mut name = plain(name);
            if segment != last && ANY_KEY.contains(&&*name) {
                name.clear();
            }
            names.push(PathName { parameter, noun, name });
        }
        Self { names, owner: find_owner(api) }
    }
}

/// The id of the record that the path of an API ends below.
fn find_owner(api: &Api) -> Option<ParameterId> {
    let mut segments = api.path.rsplit('/');
    segments.next().filter(|last| !last.contains('{'))?;
    let name = segments.next()?.strip_prefix('{')?.strip_suffix('}')?;
    key_name(name).filter(|(_, ending)| KEYS.contains(ending))?;
    api.parameter_named(name)
}

/// Returns true if a parameter takes the key of a record.
fn is_reference(api: &Api, parameter: ParameterId) -> bool {
    let known = api.parameters.get(parameter.index());
    known.is_some_and(|known| matches!(known.schema.kind, Type::Reference { .. }))
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

/// The resource a type refers to, and whether it is a list of such references.
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
