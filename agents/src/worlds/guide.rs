//! Holds a document's phrases for its APIs and fields.

use std::collections::HashMap;

use diorama_seeds::doc::{PhrasesDoc, WorldDoc};
use diorama_seeds::english::split_identifier;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, FieldId, ResourceId, World};

use super::text::{Part, Template};

/// Phrases for APIs and fields, from the source document.
#[derive(Default)]
pub struct Guide {
    apis: Vec<ApiWords>,
    asks: HashMap<(ResourceId, FieldId), Vec<String>>,
    says: HashMap<(ResourceId, FieldId), Vec<String>>,
}

/// Parsed phrases of an API.
#[derive(Default)]
pub struct ApiWords {
    /// Clauses that start with a verb: `book a visit`.
    pub imperative: Vec<Template>,
    /// Whole requests.
    pub request: Vec<Template>,
    /// Plural noun phrases.
    pub noun: Vec<Template>,
    /// Messages of the assistant after the call.
    pub done: Vec<Template>,
    /// Phrases by which people search for the API.
    pub search: Vec<String>,
    /// True if users never ask for the API.
    pub unasked: bool,
    /// The reason why users never ask for it, if the document gives one.
    pub no_request: Option<String>,
}

impl Guide {
    /// Reads the phrases of a document.
    pub fn new(doc: &WorldDoc, world: &World) -> Self {
        let domains = doc.to_domains();
        let mut guide =
            Self { apis: (0..world.apis.len()).map(|_| ApiWords::default()).collect(), ..Self::default() };
        for domain in domains.iter() {
            for api in &domain.apis {
                if let Some(id) = world.api_named(&api.name) {
                    guide.apis[id.index()] = ApiWords::new(&api.phrases.cased(domain.domain.casing));
                }
            }
            for (name, resource) in &domain.resources {
                let found = world.resources.iter().position(|candidate| {
                    *candidate.name == **name
                        && *world.domains[candidate.domain.index()].name == *domain.domain.name
                });
                let Some(index) = found else { continue };
                for (field_name, field) in &resource.fields {
                    let Some(field_id) = world.resources[index].field_named(field_name) else { continue };
                    let place = (ResourceId(index as u16), field_id);
                    if !field.ask.is_empty() {
                        guide.asks.insert(place, field.ask.clone());
                    }
                    guide.says.insert(place, field.say.clone());
                }
            }
        }
        for (words, api) in guide.apis.iter_mut().zip(&world.apis) {
            if words.search.is_empty() {
                words.search = plain_names(words, api, world);
            }
        }
        guide
    }

    /// Returns the phrases of an API.
    pub fn api(&self, id: ApiId) -> &ApiWords {
        &self.apis[id.index()]
    }

    /// Returns true if there are questions for any field.
    pub fn has_asks(&self) -> bool {
        !self.asks.is_empty()
    }

    /// Returns the questions for a field.
    pub fn asks(&self, resource: ResourceId, field: FieldId) -> &[String] {
        self.asks.get(&(resource, field)).map_or(&[], Vec::as_slice)
    }

    /// Returns the statements of a field.
    pub fn says(&self, resource: ResourceId, field: FieldId) -> &[String] {
        self.says.get(&(resource, field)).map_or(&[], Vec::as_slice)
    }
}

/// Returns common names of an API whose document gives none: its phrases without values, its name, and its
/// resource.
fn plain_names(words: &ApiWords, api: &Api, world: &World) -> Vec<String> {
    let mut names = Vec::new();
    for template in words.imperative.iter().chain(&words.noun) {
        let texts = template.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<String>();
        let telling = |word: &&str| {
            !matches!(*word, "the" | "a" | "an" | "of" | "with" | "to" | "in" | "from" | "called" | "named")
        };
        let named: Vec<&str> =
            text.split_whitespace().map(|word| word.trim_matches('"')).filter(telling).collect();
        names.push(named.into_iter().filter(|word| !word.is_empty()).take(5).collect::<Vec<_>>().join(" "));
    }
    names.push(split_identifier(&api.name).join(" "));
    let shown = match &api.behaviour.kind {
        BehaviourKind::Get { resource, .. } | BehaviourKind::Lookup { resource, .. } => {
            Some((*resource, false))
        }
        BehaviourKind::List(query) => Some((query.resource, true)),
        _ => None,
    };
    if let Some((resource, several)) = shown {
        let resource = world.resource(resource);
        let noun = if several { &resource.plural } else { &resource.label };
        names.extend([format!("find {noun}"), format!("{noun} details")]);
    }
    names.retain(|name| name.contains(' '));
    names.sort_unstable();
    names.dedup();
    names
}

impl ApiWords {
    fn new(phrases: &PhrasesDoc) -> Self {
        let parse = |sources: &[String]| sources.iter().map(|source| Template::parse(source)).collect();
        Self {
            imperative: parse(&phrases.imperative),
            request: parse(&phrases.request),
            noun: parse(&phrases.noun),
            done: parse(&phrases.done),
            search: phrases.search.clone(),
            unasked: phrases.unasked,
            no_request: phrases.no_request.clone(),
        }
    }
}
