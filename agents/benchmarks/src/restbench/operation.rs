//! Owns the operations of a document: the values of their parameters, and the records in their replies, as
//! the document's world defines them.

use std::collections::BTreeSet;

use diorama_seeds::doc::{ApiDoc, FieldDoc, FilterDoc, TypeName, WorldDoc};
use diorama_seeds::english::{singular, split_identifier, words};
use serde_json::{Map, Value as Json};

use super::shown::{RecordPosition, shown};
use crate::entities::roles::{self, RoleMember};

/// The operations of a document.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    all: Vec<Operation>,
    /// Words of the document's title and paths, in the singular. None of them names a record.
    words: BTreeSet<String>,
    /// Members of links with a fixed set of values.
    role_members: Vec<RoleMember>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Name of its API in the world.
    pub(super) api: String,
    /// Method in upper case.
    pub(super) method: String,
    /// Path as in the document.
    pub(super) path: String,
    /// Parameters of the path, required parameters, and those that take a name.
    pub(super) parameters: Vec<Parameter>,
    /// Records in the reply.
    pub(super) shown: Vec<RecordPosition>,
    /// The resource, if the reply is one record.
    pub(super) gets: Option<String>,
    /// Resources that the reply is about: the one it returns, and their parents.
    pub(super) subjects: Vec<String>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Literal path segment before it, in the singular.
    pub(super) noun: String,
    pub(super) takes: Takes,
}

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Takes {
    /// The key of a record of this resource.
    Key(String),
    /// The name of a record of this resource, by which records are searched.
    Name(String),
    /// One of these values.
    Listed(Vec<String>),
    /// The number of a part.
    Number,
    /// A value that only the caller knows.
    Other,
}

impl Operations {
    /// Returns the operations of an imported document.
    #[must_use]
    pub fn of(doc: &WorldDoc) -> Self {
        let segments = doc.apis.iter().flat_map(|api| api.path.split('/')).filter(|part| !is_parameter(part));
        let title = doc.title.iter().flat_map(|title| words(title));
        let all = segments.flat_map(split_identifier).chain(title).map(|word| singular(&word));
        Self {
            words: all.collect(),
            role_members: roles::list(doc),
            all: doc.apis.iter().map(|api| Operation::of(doc, api)).collect(),
        }
    }

    /// Returns the members of links with a fixed set of values.
    pub(super) fn role_members(&self) -> &[RoleMember] {
        &self.role_members
    }

    /// Returns true if a word belongs to the document.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&singular(&word.to_lowercase()))
    }

    /// Returns the operation of a step. Gold paths have stray spaces and other parameter names. So the
    /// position of a parameter counts, not its name.
    pub(super) fn find(&self, step: &str) -> Option<&Operation> {
        let (method, path) = step.trim().split_once(' ')?;
        let wanted: Vec<&str> = path.trim().split('/').collect();
        let is_same = |(own, wanted): (&str, &&str)| {
            if is_parameter(own) { is_parameter(wanted) } else { own == *wanted }
        };
        self.all.iter().find(|operation| {
            operation.method == method
                && operation.path.split('/').count() == wanted.len()
                && operation.path.split('/').zip(&wanted).all(is_same)
        })
    }

    /// Returns the operation that searches for records of a resource by name.
    pub(super) fn search(&self, resource: &str) -> Option<&Operation> {
        self.all.iter().find(|operation| operation.searched() == Some(resource))
    }

    /// Returns the operation that returns a record by its key alone, with the name of the key's parameter.
    pub(super) fn details(&self, resource: &str) -> Option<(&Operation, &str)> {
        self.all.iter().find_map(|operation| match operation.parameters.as_slice() {
            [Parameter { name, takes: Takes::Key(taken), .. }]
                if taken == resource
                    && operation.gets.as_deref() == Some(resource)
                    && operation.path.ends_with('}') =>
            {
                Some((operation, &**name))
            }
            _ => None,
        })
    }
}

impl Operation {
    fn of(doc: &WorldDoc, api: &ApiDoc) -> Self {
        let parameters = api.parameters.iter().filter_map(|(name, field)| {
            let noun = noun_before(&api.path, name);
            let takes = Takes::of(api, name, field);
            let is_required = noun.is_some() || (!field.optional && field.default.is_none());
            let is_used = is_required || matches!(takes, Takes::Name(_));
            is_used.then(|| Parameter { name: name.clone(), noun: noun.unwrap_or_default(), takes })
        });
        let gets = api.behaviour.get.clone().filter(|_| api.method.as_str() == "GET");
        let kept = gets.as_ref().and_then(|resource| doc.resources.get(resource));
        let above = kept.into_iter().flat_map(|resource| &resource.each).map(|each| each.of.clone());
        Self {
            api: api.name.clone(),
            method: api.method.to_string(),
            path: api.path.clone(),
            parameters: parameters.collect(),
            shown: shown(doc, api),
            subjects: gets.iter().cloned().chain(above).collect(),
            gets,
        }
    }

    /// Returns the resource that is searched by name.
    pub(super) fn searched(&self) -> Option<&str> {
        self.parameters.iter().find_map(|parameter| match &parameter.takes {
            Takes::Name(resource) => Some(&**resource),
            _ => None,
        })
    }

    /// Returns the parameters that take keys, with the resources.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters.iter().filter_map(|parameter| match &parameter.takes {
            Takes::Key(resource) => Some((&*parameter.name, &**resource)),
            _ => None,
        })
    }

    /// Returns true if a record of a resource in the reply has a member.
    pub(super) fn shows(&self, resource: &str, member: &str) -> bool {
        let has = |all: &[String], wanted: &str| all.iter().any(|one| one == wanted);
        self.shown.iter().any(|shown| has(&shown.resources, resource) && has(&shown.members, member))
    }

    /// Returns the last parameter of the path and its resource, if it takes a record key.
    pub(super) fn below(&self) -> Option<(&str, &str)> {
        let last = self.path.rsplit('/').find(|segment| is_parameter(segment))?;
        self.keys().find(|(name, _)| last == format!("{{{name}}}"))
    }
}

impl Takes {
    fn of(api: &ApiDoc, name: &str, field: &FieldDoc) -> Self {
        match (&field.reference, api.behaviour.filters.get(name), &api.behaviour.list) {
            (Some(resource), ..) => Self::Key(resource.clone()),
            (None, Some(FilterDoc::Text(_)), Some(resource)) => Self::Name(resource.clone()),
            _ if !field.values.is_empty() => Self::Listed(field.values.clone()),
            _ if field.kind == Some(TypeName::Integer) => Self::Number,
            _ => Self::Other,
        }
    }
}

/// Returns the literal segment before a parameter of a path, in the singular.
fn noun_before(path: &str, parameter: &str) -> Option<String> {
    let (before, _) = path.split_once(&format!("{{{parameter}}}"))?;
    let noun = before.split('/').rfind(|segment| !segment.is_empty() && !is_parameter(segment));
    Some(singular(&noun.unwrap_or_default().to_lowercase()))
}

/// Fills the parameters of a path. Returns the path and the arguments that are not in it.
pub(super) fn fill(path: &str, arguments: &Map<String, Json>) -> (String, Vec<(String, String)>) {
    let (mut path, mut rest) = (path.to_owned(), Vec::new());
    for (name, value) in arguments {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let hole = format!("{{{name}}}");
        if path.contains(&hole) {
            path = path.replace(&hole, &text);
        } else {
            rest.push((name.clone(), text));
        }
    }
    (path, rest)
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}
