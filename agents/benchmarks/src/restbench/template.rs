//! The paths of a document: which one a step of a gold path means, and what its parameters stand for.

use diorama_seeds::doc::{FieldDoc, WorldDoc};
use diorama_seeds::english::singular;
use serde_json::Value as Json;

use super::shown;

/// The operations of a document.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    all: Vec<Template>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
    /// Upper case.
    pub(super) method: String,
    /// As the document writes it.
    pub(super) path: String,
    /// Parameters with the values that are allowed, where they are listed.
    pub(super) parameters: Vec<(String, Vec<Json>)>,
    /// Parameters that a call must give, with what they take.
    pub(super) required: Vec<(String, Takes)>,
    /// Resources whose keys the reply shows.
    pub(super) shows: Vec<String>,
    /// The resource that the reply lists.
    pub(super) lists: Option<String>,
    /// The resource of which the reply is one record.
    pub(super) gets: Option<String>,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Takes {
    /// The key of a record of this resource.
    Key(String),
    /// One of the values that the document lists.
    Listed,
    /// The words of a search, or something that only a caller knows.
    Other,
}

impl Templates {
    /// The operations of an imported document.
    #[must_use]
    pub fn of(doc: &WorldDoc) -> Self {
        let all = doc.apis.iter().map(|api| Template {
            method: api.method.to_string(),
            path: api.path.clone(),
            parameters: api
                .parameters
                .iter()
                .map(|(name, parameter)| {
                    let allowed = parameter.values.iter().map(|value| Json::from(value.as_str()));
                    (name.clone(), allowed.collect())
                })
                .collect(),
            required: api
                .parameters
                .iter()
                .filter(|(_, parameter)| !parameter.optional && parameter.default.is_none())
                .map(|(name, parameter)| (name.clone(), Takes::of(parameter)))
                .collect(),
            shows: shown::resources(doc, api),
            lists: api.behaviour.list.clone(),
            gets: api.behaviour.get.clone(),
        });
        Self { all: all.collect() }
    }

    /// All operations, in the document's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Template> {
        self.all.iter()
    }

    /// The resource of the world that a kind of records is.
    pub(super) fn resource(&self, kind: &str) -> Option<&str> {
        self.details(kind)?.gets.as_deref()
    }

    /// The operation that searches for things of a kind.
    pub(super) fn search(&self, kind: &str) -> Option<&Template> {
        self.all
            .iter()
            .find(|template| template.method == "GET" && template.searched().as_deref() == Some(kind))
    }

    /// The operation that a step means. Gold paths have stray spaces and other names for parameters, so the place of
    /// a parameter counts and its name does not.
    pub(super) fn find(&self, step: &str) -> Option<&Template> {
        let (method, path) = step.trim().split_once(' ')?;
        let wanted: Vec<&str> = path.trim().split('/').collect();
        self.all.iter().find(|template| {
            let own: Vec<&str> = template.path.split('/').collect();
            template.method == method
                && own.len() == wanted.len()
                && own
                    .iter()
                    .zip(&wanted)
                    .all(|(own, wanted)| if is_parameter(own) { is_parameter(wanted) } else { own == wanted })
        })
    }

    /// The operation that shows one record of a kind: `/movie/{movie_id}`.
    pub(super) fn details(&self, kind: &str) -> Option<&Template> {
        let segments = |template: &Template| -> Option<(String, String)> {
            let (before, last) = template.path.rsplit_once('/')?;
            Some((before.to_owned(), last.to_owned()))
        };
        self.all.iter().find(|template| {
            template.method == "GET"
                && segments(template).is_some_and(|(before, last)| {
                    is_parameter(&last) && kind_of(before.trim_start_matches('/')) == kind
                })
        })
    }

    /// The kinds of records that can be shown by their id.
    pub(super) fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self
            .all
            .iter()
            .filter(|template| template.method == "GET")
            .filter_map(|template| {
                let mut segments = template.path.trim_start_matches('/').split('/');
                match (segments.next(), segments.next(), segments.next()) {
                    (Some(noun), Some(last), None) if !is_parameter(noun) && is_parameter(last) => {
                        Some(kind_of(noun))
                    }
                    _ => None,
                }
            })
            .collect();
        kinds.dedup();
        kinds
    }
}

impl Takes {
    fn of(parameter: &FieldDoc) -> Self {
        match &parameter.reference {
            Some(resource) => Self::Key(resource.clone()),
            None if !parameter.values.is_empty() => Self::Listed,
            None => Self::Other,
        }
    }
}

impl Template {
    /// The literal segments.
    pub(super) fn nouns(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.path.split('/').filter(|segment| !segment.is_empty() && !is_parameter(segment))
    }

    /// The parameters of the path, each with the literal segment before it.
    pub(super) fn holes(&self) -> Vec<(String, String)> {
        let mut noun = "";
        let mut holes = Vec::new();
        for segment in self.path.split('/') {
            match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => holes.push((name.to_owned(), kind_of(noun))),
                None => noun = segment,
            }
        }
        holes
    }

    /// Values that are allowed for a parameter; none when they are not listed.
    pub(super) fn allowed(&self, name: &str) -> &[Json] {
        self.parameters.iter().find(|(own, _)| own == name).map_or(&[], |(_, allowed)| allowed)
    }

    /// The parameter that takes the words of a search.
    pub(super) fn text_parameter(&self) -> Option<&str> {
        const NAMES: [&str; 6] = ["query", "q", "search", "text", "keyword", "term"];
        NAMES.into_iter().find(|name| self.parameters.iter().any(|(own, _)| own == name))
    }

    /// The kind that a search finds: `movie` of `/search/movie`.
    pub(super) fn searched(&self) -> Option<String> {
        let last = self.nouns().next_back().filter(|_| self.holes().is_empty())?;
        (self.path.contains("search") && self.text_parameter().is_some()).then(|| kind_of(last))
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}

/// The kind of records that a noun of a path or member names: `movie` for `Movies`.
pub(super) fn kind_of(noun: &str) -> String {
    singular(&noun.to_lowercase())
}
