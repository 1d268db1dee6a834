//! Owns materialised worlds: it generates every record of a source world from a seed.
//!
//! It has the providers of generated values, and makes a runnable world from a source world. The same
//! document and seed give the same bytes. A value depends only on the seed, its resource, its field and its
//! record's number. Adding a field or record elsewhere does not change it. The module reads no clock and
//! executes no call.

mod cast;
mod defaults;
mod derive;
mod grammar;
mod house;
mod maker;
mod moment;
mod more;
mod plan;
mod provider;
mod records;
mod rows;
mod sampler;
mod tables;
mod text;
mod value;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;

use self::defaults::names;
pub use self::defaults::names::{ANY_NAME, provider_of_name};
pub use self::sampler::{
    Sampler, provider_of_member, provider_of_noun, range_of_member, slug_of, tells_person,
};
use crate::doc::{RecordsDoc, ResourceDoc, TypeName, WorldDoc};
use crate::english::split_identifier;
use crate::model::{Record, Resource, World};
use crate::value::{Instant, Str};
use crate::world::canonical::{self, Form};
use crate::world::compile::{compile, compile_whole};
use diorama_format::{Finding, Report};

/// Returns the provider that the name of a field denotes, as a whole or by its last words.
///
/// ```
/// use diorama_seeds::materialise::provider_of_field;
///
/// assert_eq!(provider_of_field("billing_email", false), Some("email"));
/// assert_eq!(provider_of_field("billing_email", true), None);
/// ```
pub fn provider_of_field(name: &str, whole: bool) -> Option<&'static str> {
    let words = split_identifier(name);
    if whole { names::of_whole_field(&words) } else { names::of_field(&words) }
}

/// Returns the code format for a field of this name, such as `{AAA}-####` for `sku`.
pub fn code_of_field(name: &str) -> Option<&'static str> {
    defaults::code(&split_identifier(name))
}

/// Returns true if the tables have sentences that people write about the records of a resource. Examples: a
/// review, a ticket.
pub fn is_written_about(resource: &str) -> bool {
    defaults::sentences_of(resource).is_some()
}

/// Returns true if the tables have sentences that describe the records of a resource. Examples: a product, an
/// event, a news story.
pub fn is_described(resource: &str) -> bool {
    defaults::sentences_of(resource).is_some_and(|rule| !rule.starts_with("note"))
}

/// Returns the providers that need no options, in order.
pub(crate) fn plain_providers() -> BTreeSet<&'static str> {
    let made = ["boolean", "date", "date_time", "decimal", "integer", "list", "number", "position", "time"];
    provider::Provider::all_names().chain(made).collect()
}

/// A materialised world.
#[derive(Clone, Debug)]
pub struct MaterialisedWorld {
    /// The model that runs.
    pub world: World,
    /// The canonical JSON, which is hashed and stored with datasets.
    pub canonical: String,
    /// BLAKE3 of the canonical JSON, in lower-case hexadecimal.
    pub hash: Str,
}

/// A source world, parsed and compiled once, from which any number of worlds can be materialised.
///
/// ```
/// use diorama_seeds::{materialise::Source, world};
///
/// let text = b"
/// world: 1
/// name: shop
/// clock: 2026-03-02T09:00
/// resources:
///   book:
///     key: book_id
///     fields: {title: {type: string, unique: true}, price: {type: decimal, currency: EUR}}
///     records: 3
/// ";
/// let source = Source::new(world::read("shop.yaml", text)?)?;
/// let first = source.materialise(1)?;
/// assert_eq!(first.world.resources[0].records.len(), 3);
/// assert_eq!(first.canonical, source.materialise(1)?.canonical);
/// assert_ne!(first.hash, source.materialise(2)?.hash);
/// # Ok::<(), diorama_seeds::world::Report>(())
/// ```
pub struct Source {
    doc: Arc<WorldDoc>,
    form: Form,
    /// The model of `form`, in canonical order and without records.
    world: World,
    /// The model in the order of the source document, in which fields may depend on earlier ones.
    written: World,
    /// Like `written`, with private fields and without APIs. None if no field is private.
    making: Option<World>,
    /// None for a document that is already materialised.
    plan: Option<plan::Plan>,
    /// For each resource of `world`: its position in the model that makes records, and the positions of its
    /// fields there.
    places: Vec<(usize, Vec<usize>)>,
}

impl Source {
    /// Compiles a document and parses its providers.
    ///
    /// # Errors
    /// Returns the problems of the document, with their paths.
    pub fn new(doc: impl Into<Arc<WorldDoc>>) -> Result<Self, Report> {
        let doc = doc.into();
        let checked = checkable(&doc);
        let world = compile(&checked)?;
        Self::of(Arc::clone(&doc), &checked, world)
    }

    /// Works like [`Source::new`], for a document that is already compiled.
    ///
    /// # Errors
    /// Returns the problems of the providers and given records, with their paths.
    pub fn compiled(doc: WorldDoc, written: World) -> Result<Self, Report> {
        let doc = Arc::new(doc);
        Self::of(Arc::clone(&doc), &checkable(&doc), written)
    }

    fn of(doc: Arc<WorldDoc>, checked: &WorldDoc, written: World) -> Result<Self, Report> {
        let (mut making, mut plan) = (None, None);
        if doc.materialised.is_none() {
            making = checked.for_making().map(|whole| compile_whole(&whole)).transpose()?;
            plan = Some(plan::Plan::new(&doc, making.as_ref().unwrap_or(&written))?);
        }
        let form = Form::new(&doc, &written);
        let ordered = form.doc().map_err(|error| {
            let finding =
                Finding::error("", error.to_string(), "write keys and values as the format has them");
            Report::one(&doc.name, finding)
        })?;
        let world = compile(&ordered)?;
        let places = places(&world, making.as_ref().unwrap_or(&written));
        Ok(Self { places, doc, form, world, written, making, plan })
    }

    /// Returns the source document, with its phrases.
    pub fn doc(&self) -> &WorldDoc {
        &self.doc
    }

    /// Returns the compiled source world, in canonical order and without records.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Makes the records of a seed. Records of a document that is already materialised stay unchanged.
    ///
    /// # Errors
    /// Returns an error if a value cannot be generated. Examples: a unique field with too few possible
    /// values, a reference without a target.
    pub fn materialise(&self, seed: u64) -> Result<MaterialisedWorld, Report> {
        match house::with_numbers(&self.doc, seed) {
            Some(doc) => Self::new(doc)?.with_records(seed),
            None => self.with_records(seed),
        }
    }

    /// Makes the records of a seed, with the numbers of policies as they are.
    fn with_records(&self, seed: u64) -> Result<MaterialisedWorld, Report> {
        let mut world = self.recorded(seed)?;
        let canonical = self.form.write(&world, Some(self.doc.materialised.unwrap_or(seed)));
        let hash: Str = canonical::hash(&canonical).into();
        world.hash = Some(hash.clone());
        Ok(MaterialisedWorld { world, canonical, hash })
    }

    /// Materialises like [`Source::materialise`], in a world that starts at another time. Records and rules
    /// move along with it.
    ///
    /// # Errors
    /// Returns the errors of [`Source::materialise`].
    pub fn materialise_at(&self, seed: u64, clock: Instant) -> Result<MaterialisedWorld, Report> {
        match house::with_numbers(&self.doc, seed) {
            Some(doc) => Self::new(doc)?.with_records_at(seed, clock),
            None => self.with_records_at(seed, clock),
        }
    }

    fn with_records_at(&self, seed: u64, clock: Instant) -> Result<MaterialisedWorld, Report> {
        if self.doc.materialised.is_some() || clock == self.world.clock {
            return self.with_records(seed);
        }
        let at = |world: &World| World { clock, ..world.clone() };
        let (world, written, making) = (at(&self.world), at(&self.written), self.making.as_ref().map(at));
        let form = Form::new(&self.doc, &written);
        let plan = Some(plan::Plan::new(&self.doc, making.as_ref().unwrap_or(&written))?);
        let places = self.places.clone();
        Self { doc: Arc::clone(&self.doc), form, world, written, making, plan, places }.with_records(seed)
    }

    /// Materialises like [`Source::materialise`], without the canonical form and hash, for callers that only
    /// need records.
    ///
    /// # Errors
    /// Returns the errors of [`Source::materialise`].
    pub fn recorded(&self, seed: u64) -> Result<World, Report> {
        let mut world = self.world.clone();
        let made = self.plan.as_ref().map(|plan| self.made(plan, seed)).transpose()?;
        for (resource, (from, fields)) in world.resources.iter_mut().zip(&self.places) {
            let records = match &made {
                Some(made) => made.get(*from),
                None => self.written.resources.get(*from).map(|resource| &resource.records),
            };
            let moved = |record: &Record| -> Record {
                fields.iter().map(|field| record.get(*field).cloned().unwrap_or_default()).collect()
            };
            resource.records = records.into_iter().flatten().map(moved).collect();
        }
        world.materialised = true;
        Ok(world)
    }

    /// Makes alternate records for the world. They are the records of a seed. If the document gives all
    /// records of a resource, it adds others. If no others can be made, because a unique field has few
    /// possible values, it returns the given ones.
    ///
    /// # Errors
    /// Returns the errors of [`Source::materialise`].
    pub fn alternates(&self, seed: u64) -> Result<World, Report> {
        let more = || Self::new(more::with_more_records(&self.doc))?.recorded(seed);
        if self.doc.materialised.is_some() {
            self.recorded(seed)
        } else {
            more().or_else(|_| self.recorded(seed))
        }
    }

    /// Makes the records of one seed. Early draws may leave no valid values, as with pairs that must differ.
    /// Another start then often succeeds.
    fn made(&self, plan: &plan::Plan, seed: u64) -> Result<Vec<Vec<Record>>, Report> {
        let starts = (1..REDRAWS).map(|start| seed ^ start.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let world = self.making.as_ref().unwrap_or(&self.written);
        let make = |start| records::Run::make(world, plan, start);
        starts
            .fold(make(seed), |made, start| made.or_else(|first| make(start).map_err(|_| first)))
            .map_err(|finding| Report::one(&self.doc.name, finding))
    }
}

/// Maximum number of starts for the records of a seed.
const REDRAWS: u64 = 6;

/// Returns, for the resources and fields of one order, their positions in the other.
fn places(ordered: &World, written: &World) -> Vec<(usize, Vec<usize>)> {
    let place = |resource: &Resource| {
        let from =
            written.resources.iter().position(|other| other.qualified == resource.qualified).unwrap_or(0);
        let fields = resource.fields.iter().map(|field| {
            let known = written.resources.get(from).and_then(|other| other.field_named(&field.name));
            known.map_or(usize::MAX, crate::model::FieldId::index)
        });
        (from, fields.collect())
    };
    ordered.resources.iter().map(place).collect()
}

/// Compiles and materialises a document.
///
/// # Errors
/// Returns the errors of [`Source::new`] and [`Source::materialise`].
pub fn materialised(doc: &WorldDoc, seed: u64) -> Result<Arc<MaterialisedWorld>, Report> {
    Source::new(doc.clone())?.materialise(seed).map(Arc::new)
}

/// Returns the document without the given values that only the plan can parse: references by name, and dates
/// relative to the clock.
fn checkable(doc: &WorldDoc) -> Cow<'_, WorldDoc> {
    let gives_nothing = |resource: &ResourceDoc| {
        !matches!(resource.records, RecordsDoc::Given(_))
            && resource.examples.is_empty()
            && resource.each.iter().all(|each| each.set.is_empty())
    };
    let own = doc.domains.iter().flat_map(|domain| domain.resources.values());
    let has_scenarios =
        !doc.scenarios.is_empty() || doc.domains.iter().any(|domain| !domain.scenarios.is_empty());
    // A large document that needs no change is not copied.
    if !has_scenarios && doc.resources.values().chain(own).all(gives_nothing) {
        return Cow::Borrowed(doc);
    }
    let mut doc = doc.without_scenarios();
    if doc.materialised.is_some() {
        return Cow::Owned(doc);
    }
    let resources = doc.domains.iter_mut().flat_map(|domain| domain.resources.values_mut());
    for resource in doc.resources.values_mut().chain(resources) {
        let fields = &resource.fields;
        let own = |name: &str, value: &Json| {
            let Some(field) = fields.get(name) else { return false };
            let refers = field.reference.is_some()
                || field.items.as_ref().is_some_and(|items| items.reference.is_some());
            let dated = matches!(field.kind, Some(TypeName::Date | TypeName::DateTime));
            (refers && !value.is_null()) || (dated && value.as_str().is_some_and(moment::is_relative))
        };
        if let RecordsDoc::Given(rows) = &mut resource.records {
            rows.iter_mut().for_each(|row| row.retain(|name, value| !own(name, value)));
        }
        resource.examples.iter_mut().for_each(|row| row.retain(|name, value| !own(name, value)));
        resource.each.iter_mut().for_each(|each| each.set.retain(|name, value| !own(name, value)));
    }
    Cow::Owned(doc)
}

#[cfg(test)]
mod tests;
