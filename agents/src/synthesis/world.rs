//! What the pipeline knows of a world before it asks anything of it: a family's sources, its words, and which
//! API can find what.
//!
//! Owns [`Family`] (a compiled source world that units are materialised from), [`UnitWorld`] (one materialised
//! world with its engine) and [`Survey`] (the static analysis). Must not execute calls.

use std::collections::HashMap;
use std::sync::Arc;

use diorama_seeds::doc::{PhrasesDoc, WorldDoc};
use diorama_seeds::materialise::Source;
use diorama_seeds::model::{
    ApiId, BehaviourKind, Comparison, DomainId, FieldId, FilterTest, ParameterId, ResourceId, World,
};
use diorama_seeds::schema::Type;
use diorama_seeds::world::Report;
use diorama_simulator::engine::Base;
use diorama_simulator::grade::Vocabulary;

use super::text::Template;

/// A source world from which the worlds of many units are made: same domains and APIs, other records.
pub struct Family {
    /// The world's name.
    pub name: String,
    /// Licence of its rows.
    pub license: String,
    /// The archetypes of its domains, in order, without duplicates.
    pub archetypes: Vec<String>,
    /// The compiled source.
    pub source: Source,
    /// Words for its APIs and fields.
    pub guide: Guide,
    /// The static analysis.
    pub survey: Survey,
    /// Records of another seed: where values for new records come from.
    pub shadow: World,
}

/// One materialised world of a family.
pub struct UnitWorld {
    /// The family.
    pub family: Arc<Family>,
    /// The engine's frozen base.
    pub base: Arc<Base>,
    /// Names of records, for the grader.
    pub vocabulary: Vocabulary,
    /// Identifier inside a dataset: the family's name and the hash's beginning.
    pub id: String,
    /// The world's hash.
    pub hash: String,
    /// The document as stored.
    pub canonical: Arc<str>,
}

/// Words for APIs and fields, from the source document.
#[derive(Default)]
pub struct Guide {
    apis: Vec<ApiWords>,
    asks: HashMap<(ResourceId, FieldId), Vec<String>>,
    says: HashMap<(ResourceId, FieldId), Vec<String>>,
}

/// Parsed phrases of an API.
#[derive(Default)]
pub struct ApiWords {
    /// Clauses that start with a verb.
    pub imperative: Vec<Template>,
    /// Whole requests.
    pub request: Vec<Template>,
    /// Plural noun phrases.
    pub noun: Vec<Template>,
    /// What the assistant says afterwards.
    pub done: Vec<Template>,
}

/// Which API can find, show and change what.
pub struct Survey {
    /// For each resource, the APIs that give a record's key from what people call it.
    pub finders: Vec<Vec<Finder>>,
    /// For each resource, the APIs that show one record.
    pub readers: Vec<Vec<ApiId>>,
    /// Lists.
    pub lists: Vec<ApiId>,
    /// APIs that change records.
    pub writers: Vec<ApiId>,
    /// APIs with computed or aggregated replies.
    pub computers: Vec<ApiId>,
    /// For each domain, its sign-in API.
    pub sign_in: Vec<Option<ApiId>>,
}

/// A way to a record's key.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// The API.
    pub api: ApiId,
    /// The parameter that takes the display name; without it the API is read through for the record.
    pub by: Option<ParameterId>,
}

impl Family {
    /// Compiles a source document.
    ///
    /// # Errors
    /// The findings of the reader.
    pub fn new(doc: &WorldDoc, shadow_seed: u64) -> Result<Arc<Self>, Report> {
        let source = Source::new(doc.clone())?;
        let world = source.world();
        let guide = Guide::new(doc, world);
        let survey = Survey::new(world);
        let mut archetypes: Vec<String> =
            world.domains.iter().map(|domain| domain.archetype.to_string()).collect();
        archetypes.dedup();
        let shadow = source.run(shadow_seed)?.world;
        let license = doc.license.clone().unwrap_or_else(|| "Apache-2.0".to_owned());
        Ok(Arc::new(Self {
            license,
            name: world.name.to_string(),
            archetypes,
            guide,
            survey,
            shadow,
            source,
        }))
    }

    /// The APIs' words and analysis aside, the compiled world without records.
    #[must_use]
    pub fn world(&self) -> &World {
        self.source.world()
    }
}

impl Guide {
    fn new(doc: &WorldDoc, world: &World) -> Self {
        let (_, domains) = doc.clone().into_domains();
        let mut guide =
            Self { apis: (0..world.apis.len()).map(|_| ApiWords::default()).collect(), ..Self::default() };
        for domain in &domains {
            for api in &domain.apis {
                if let Some(id) = world.api_named(&api.name) {
                    guide.apis[id.index()] = ApiWords::new(&api.phrases);
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
                    guide.asks.insert(place, field.ask.clone());
                    guide.says.insert(place, field.say.clone());
                }
            }
        }
        guide
    }

    /// The words of an API.
    #[must_use]
    pub fn api(&self, id: ApiId) -> &ApiWords {
        &self.apis[id.index()]
    }

    /// Questions for a field.
    #[must_use]
    pub fn asks(&self, resource: ResourceId, field: FieldId) -> &[String] {
        self.asks.get(&(resource, field)).map_or(&[], Vec::as_slice)
    }

    /// Statements of a field.
    #[must_use]
    pub fn says(&self, resource: ResourceId, field: FieldId) -> &[String] {
        self.says.get(&(resource, field)).map_or(&[], Vec::as_slice)
    }
}

impl ApiWords {
    fn new(phrases: &PhrasesDoc) -> Self {
        let parse = |sources: &[String]| sources.iter().map(|source| Template::parse(source)).collect();
        Self {
            imperative: parse(&phrases.imperative),
            request: parse(&phrases.request),
            noun: parse(&phrases.noun),
            done: parse(&phrases.done),
        }
    }
}

impl Survey {
    fn new(world: &World) -> Self {
        let mut survey = Self {
            finders: vec![Vec::new(); world.resources.len()],
            readers: vec![Vec::new(); world.resources.len()],
            lists: Vec::new(),
            writers: Vec::new(),
            computers: Vec::new(),
            sign_in: vec![None; world.domains.len()],
        };
        for (index, api) in world.apis.iter().enumerate() {
            let id = ApiId(index as u16);
            if api.writes() {
                survey.writers.push(id);
            }
            match &api.behaviour.kind {
                BehaviourKind::Get { resource, .. } => survey.readers[resource.index()].push(id),
                BehaviourKind::Lookup { resource, by } => {
                    survey.readers[resource.index()].push(id);
                    if let [(field, parameter)] = by.as_slice()
                        && world.resource(*resource).display == Some(*field)
                    {
                        survey.finders[resource.index()].push(Finder { api: id, by: Some(*parameter) });
                    }
                }
                BehaviourKind::List(query) => {
                    survey.lists.push(id);
                    let by = query.filters.iter().find_map(|filter| {
                        let display = world.resource(query.resource).display?;
                        match &filter.test {
                            FilterTest::Compare(
                                field,
                                Comparison::Equal | Comparison::Contains | Comparison::Prefix,
                            ) if *field == display => Some(filter.parameter),
                            FilterTest::Text(fields) if fields.contains(&display) => Some(filter.parameter),
                            _ => None,
                        }
                    });
                    survey.finders[query.resource.index()].push(Finder { api: id, by });
                }
                BehaviourKind::Members { .. } => survey.lists.push(id),
                BehaviourKind::Compute(_) | BehaviourKind::Aggregate { .. } => survey.computers.push(id),
                BehaviourKind::SignIn { .. } => survey.sign_in[api.domain.index()] = Some(id),
                _ => {}
            }
        }
        survey
    }

    /// The sign-in API of a domain.
    #[must_use]
    pub fn sign_in(&self, domain: DomainId) -> Option<ApiId> {
        self.sign_in.get(domain.index()).copied().flatten()
    }
}

/// Whether a parameter takes references of this resource (alone or in a list).
#[must_use]
pub fn refers_to(kind: &Type) -> Option<ResourceId> {
    match kind {
        Type::Reference { resource, .. } => Some(*resource),
        Type::List(item) => refers_to(&item.kind),
        _ => None,
    }
}
