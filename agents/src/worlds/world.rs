//! Analyses a world before any call: its sources, its phrases, and the APIs that find each value.
//!
//! Owns [`WorldTemplate`] (a compiled source world that batches are materialised from) and [`BatchWorld`]
//! (one materialised world with its engine). It must not execute calls.

use std::sync::{Arc, OnceLock};

use diorama_engine::{Base, Reading};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::Source;
use diorama_seeds::model::{Field, FieldId, Resource, ResourceId, World};
use diorama_seeds::scenario::{PersonFields, Prior, RecordSource};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use diorama_seeds::world::{Finding, Report};

use diorama_proof::{Stop, Survey, Vocabulary, WorldContext};

use super::guide::Guide;
use crate::rows::row::RowWorld;
use crate::scenarios::names::Names;
use crate::scenarios::set::ScenarioSet;
use crate::scenarios::shares::Shares;

/// A source world from which the worlds of many batches are made: same domains and APIs, other records.
pub struct WorldTemplate {
    /// The world's name.
    pub name: String,
    /// The licence of its rows; `unstated` if its document gives none.
    pub license: String,
    /// The source of its document; `unstated` if that names none.
    pub origin: String,
    /// The compiled source.
    pub source: Source,
    /// The phrases for its APIs and fields.
    pub guide: Guide,
    /// The static analysis of its APIs.
    pub survey: Survey,
    /// Fields that hold names of people.
    pub people: PersonFields,
    /// Conversations written for it.
    pub scenario_set: ScenarioSet,
    alternate_seed: u64,
    alternates: OnceLock<Result<Arc<World>, Report>>,
    names: OnceLock<Names>,
}

/// One materialised world of a world template.
pub struct BatchWorld {
    /// The world template.
    pub world_template: Arc<WorldTemplate>,
    /// The engine's frozen base.
    pub base: Arc<Base>,
    /// Names of records, for the grader.
    pub vocabulary: Vocabulary,
    /// Identifier inside a dataset: the world template's name and the hash's beginning.
    pub id: String,
    /// The world's hash.
    pub hash: String,
    /// The document as stored.
    pub canonical: Arc<str>,
    /// The world template's alternate records.
    pub alternates: Arc<World>,
}

/// The empty prior of a conversation that begins.
static NO_PRIOR: Prior = Prior::NONE;

impl BatchWorld {
    /// Returns the context that candidates are checked against.
    pub fn context(&self) -> WorldContext<'_> {
        let (base, vocabulary, survey) = (&self.base, &self.vocabulary, &self.world_template.survey);
        WorldContext { base, vocabulary, survey, stop: Stop::NEVER }
    }

    /// Returns the records and values that scenario bindings are chosen from, at the start of a conversation.
    pub fn record_source<'a>(&'a self, records: &'a Reading<'a>, clock: Instant) -> RecordSource<'a> {
        RecordSource {
            world: self.base.world(),
            records,
            alternates: &self.alternates,
            clock,
            people: &self.world_template.people,
            prior: &NO_PRIOR,
        }
    }

    /// Returns the facts that rows state of this world.
    pub fn of_rows(&self) -> RowWorld<'_> {
        RowWorld {
            base: &self.base,
            id: &self.id,
            hash: &self.hash,
            license: &self.world_template.license,
            source: &self.world_template.origin,
        }
    }
}

impl WorldTemplate {
    /// Compiles a source document.
    ///
    /// # Errors
    /// Returns the findings of the reader.
    pub fn new(
        doc: &WorldDoc,
        alternate_seed: u64,
        shares: &Shares,
        abilities: &[Ability],
    ) -> Result<Arc<Self>, Report> {
        let world_template = Self::with(doc.clone(), alternate_seed, shares, abilities, ScenarioSet::new)?;
        world_template.alternates()?;
        Ok(world_template)
    }

    /// Does the same as [`WorldTemplate::new`], for a document whose scenario words were checked.
    /// Alternate records are made on first use.
    ///
    /// # Errors
    /// Returns the errors of [`WorldTemplate::new`].
    pub(crate) fn of_read(
        doc: WorldDoc,
        alternate_seed: u64,
        shares: &Shares,
        abilities: &[Ability],
    ) -> Result<Arc<Self>, Report> {
        Self::with(doc, alternate_seed, shares, abilities, ScenarioSet::of_read)
    }

    fn with(
        doc: WorldDoc,
        alternate_seed: u64,
        shares: &Shares,
        abilities: &[Ability],
        scenarios: fn(&WorldDoc, &World) -> (ScenarioSet, Vec<Finding>),
    ) -> Result<Arc<Self>, Report> {
        let source = Source::new(doc.with_sources())?;
        let (doc, world) = (source.doc(), source.world());
        let guide = Guide::new(doc, world);
        let mut survey = Survey::new(world);
        survey.leave_out(|api| guide.api(api).unasked);
        let (mut scenario_set, findings) = scenarios(doc, world);
        if !findings.is_empty() {
            return Err(Report { name: doc.name.clone(), findings });
        }
        scenario_set.weigh(shares, abilities);
        let people = person_fields(doc, world);
        let (license, origin) = (doc.license().to_owned(), doc.source().to_owned());
        Ok(Arc::new(Self {
            license,
            origin,
            name: world.name.to_string(),
            guide,
            survey,
            people,
            scenario_set,
            alternate_seed,
            alternates: OnceLock::new(),
            source,
            names: OnceLock::new(),
        }))
    }

    /// Returns records of another seed, which provide values for new records.
    ///
    /// # Errors
    /// Returns an error if they cannot be made.
    pub fn alternates(&self) -> Result<Arc<World>, Report> {
        self.alternates.get_or_init(|| self.source.alternates(self.alternate_seed).map(Arc::new)).clone()
    }

    /// Returns the words by which people name the actions of its APIs.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(self.world(), &self.guide))
    }

    /// Returns the compiled world without records.
    pub fn world(&self) -> &World {
        self.source.world()
    }
}

/// Returns the fields of a document that hold names of people.
/// Their provider is `person_name`, has a last name, or feeds an e-mail address.
fn person_fields(doc: &WorldDoc, world: &World) -> PersonFields {
    let domains = doc.to_domains();
    let names_person = |resource: &Resource, field: &Field| {
        let domain = domains.get(resource.domain.index())?;
        let fields = &domain.resources.get(&*resource.name)?.fields;
        let doc = fields.get(&*field.name)?;
        let is_in_address = fields.values().any(|other| {
            other.provider() == Some("email")
                && other.fake.as_ref().and_then(|fake| fake.get("from")?.as_str()) == Some(&*field.name)
        });
        let template = doc.fake.as_ref().and_then(|fake| fake.get("text")).and_then(|text| text.as_str());
        let with_name = template.is_some_and(|text| text.contains("{last_name}"));
        // A field that every record has takes its provider from inside the chance.
        let made = doc.fake.as_ref().filter(|fake| fake.get("share").is_some_and(|share| *share == 1.0));
        let always = made.and_then(|fake| fake.get("of")?.as_str());
        Some(always.or(doc.provider()) == Some("person_name") || with_name || is_in_address)
    };
    let resources = world.resources.iter().enumerate();
    let fields = resources.flat_map(|(index, resource)| {
        let fields = resource.fields.iter().enumerate();
        let of_people = fields.filter(move |(_, field)| names_person(resource, field) == Some(true));
        of_people.map(move |(field, _)| (ResourceId(index as u16), FieldId(field as u16)))
    });
    fields.collect()
}
