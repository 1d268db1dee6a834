//! Materialised worlds: every record of a source world made up from a seed and written out.
//!
//! Owns the providers of made-up values and the way from a source world to a world that runs. The same document and
//! seed give the same bytes; a value depends on the seed, its resource, its field and its record's number alone, so
//! that adding a field or a record elsewhere leaves it as it was. Nothing here reads a clock or executes a call.

mod cast;
mod defaults;
mod derive;
mod draw;
mod grammar;
mod maker;
mod moment;
mod pattern;
mod plan;
mod records;
mod tables;
mod text;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use self::defaults::names;
use crate::doc::{FieldDoc, RecordsDoc, ResourceDoc, TypeName, WorldDoc};
use crate::english::split_identifier;
use crate::model::{Record, Resource, World};
use crate::value::{Str, Value, Zone};
use crate::world::{self, Report};

/// The provider of made-up values that the name of a field stands for, whole or by its last words.
///
/// ```
/// use diorama_seeds::materialise::provider_of_field;
///
/// assert_eq!(provider_of_field("billing_email", false), Some("email"));
/// assert_eq!(provider_of_field("billing_email", true), None);
/// ```
#[must_use]
pub fn provider_of_field(name: &str, whole: bool) -> Option<&'static str> {
    let words = split_identifier(name);
    if whole { names::of_whole_field(&words) } else { names::of_field(&words) }
}

/// The provider of names of whatever people work on.
pub const ANY_NAME: &str = "work_title";

/// The provider of what the records of a resource are called: that of its name, or [`ANY_NAME`].
#[must_use]
pub fn provider_of_name(resource: &str) -> &'static str {
    let words = split_identifier(resource);
    match names::of_resource(&words) {
        Some(provider) => provider,
        None if names::is_person(&words) => "person_name",
        None => ANY_NAME,
    }
}

/// A materialised world in all its forms.
#[derive(Clone, Debug)]
pub struct Materialised {
    /// The document: all records written out, without phrases (but those of searches), scenarios and providers.
    pub doc: WorldDoc,
    /// The model that runs.
    pub world: World,
    /// The canonical JSON, which is hashed and stored with datasets.
    pub canonical: String,
    /// BLAKE3 of the canonical JSON, in lower-case hexadecimal.
    pub hash: Str,
}

/// A source world, read and compiled once, from which any number of worlds can be materialised.
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
    doc: WorldDoc,
    /// The document in canonical order, without what only makers of requests and records need.
    bare: WorldDoc,
    /// The model of `bare`.
    world: World,
    /// None for a document that is materialised already.
    maker: Option<Maker>,
}

/// Makes records in the order of the document as it was written, in which fields may build on earlier ones.
struct Maker {
    world: World,
    plan: plan::Plan,
    /// For each resource of the canonical order, its place in `world` and the places of its fields there.
    places: Vec<(usize, Vec<usize>)>,
}

/// A world to run, without its document.
#[derive(Clone, Debug)]
pub struct Running {
    /// The model that runs.
    pub world: World,
    /// The canonical JSON.
    pub canonical: String,
    /// BLAKE3 of the canonical JSON, in lower-case hexadecimal.
    pub hash: Str,
}

impl Source {
    /// Compiles a document and reads its providers.
    ///
    /// # Errors
    /// What is wrong with the document, with places.
    pub fn new(doc: WorldDoc) -> Result<Self, Report> {
        let world = world::compile(&checkable(&doc))?;
        Self::compiled(doc, world)
    }

    /// As [`Source::new`], for a document that is compiled already.
    ///
    /// # Errors
    /// What is wrong with the providers and given records, with places.
    pub fn compiled(doc: WorldDoc, written: World) -> Result<Self, Report> {
        let mut bare = bare(&doc);
        name_displays(&mut bare, &written);
        bare.sort_keys();
        let world = world::compile(&bare)?;
        let maker = match doc.materialised {
            Some(_) => None,
            None => Some(Maker {
                plan: plan::Plan::new(&doc, &written)?,
                places: places(&world, &written),
                world: written,
            }),
        };
        Ok(Self { doc, bare, world, maker })
    }

    /// The source document, with its phrases.
    #[must_use]
    pub const fn doc(&self) -> &WorldDoc {
        &self.doc
    }

    /// The compiled source world, in canonical order and without records.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Makes the records of a seed. A document that is materialised already is given back as it is.
    ///
    /// # Errors
    /// What could not be made up: a unique field with too few possible values, a reference to nothing.
    pub fn materialise(&self, seed: u64) -> Result<Materialised, Report> {
        let Running { world, canonical, hash } = self.run(seed)?;
        let mut doc = self.bare.clone();
        if self.maker.is_some() {
            doc.materialised = Some(seed);
            write_records(&mut doc, &world);
        }
        Ok(Materialised { doc, world, canonical, hash })
    }

    /// As [`Source::materialise`], without the document: what mass production needs of it.
    ///
    /// # Errors
    /// As [`Source::materialise`].
    pub fn run(&self, seed: u64) -> Result<Running, Report> {
        let mut world = self.recorded(seed)?;
        let mut head = self.bare.clone();
        head.materialised = head.materialised.or_else(|| self.maker.as_ref().map(|_| seed));
        let canonical = world::canonical_json(&head, &world);
        let hash: Str = world::hash(&canonical).into();
        world.hash = Some(hash.clone());
        Ok(Running { world, canonical, hash })
    }

    /// As [`Source::run`], without the canonical form and so without a hash: for those who only look at records.
    ///
    /// # Errors
    /// As [`Source::materialise`].
    pub fn recorded(&self, seed: u64) -> Result<World, Report> {
        let mut world = self.world.clone();
        if let Some(maker) = &self.maker {
            // What a few draws leave no room for (pairs that must differ) another start often finds.
            let starts = (1..REDRAWS).map(|start| seed ^ start.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let first = records::Run::make(&maker.world, &maker.plan, seed);
            let made = starts
                .fold(first, |made, start| {
                    made.or_else(|first| {
                        records::Run::make(&maker.world, &maker.plan, start).map_err(|_| first)
                    })
                })
                .map_err(|finding| Report::one(&self.doc.name, finding))?;
            for (resource, (from, fields)) in world.resources.iter_mut().zip(&maker.places) {
                let records = made.get(*from).map(Vec::as_slice).unwrap_or_default();
                let moved = |record: &Record| -> Record {
                    fields.iter().map(|field| record.get(*field).cloned().unwrap_or_default()).collect()
                };
                resource.records = records.iter().map(moved).collect();
            }
            world.materialised = true;
        }
        Ok(world)
    }
}

/// How often the records of a seed are begun before they are given up.
const REDRAWS: u64 = 6;

/// Writes the display fields out: the default is the first of some fields, and the order is about to change.
fn name_displays(doc: &mut WorldDoc, world: &World) {
    let long = doc.domains.iter_mut().flat_map(|domain| domain.resources.values_mut());
    for (written, resource) in doc.resources.values_mut().chain(long).zip(&world.resources) {
        written.display = resource.display.map(|field| resource.field(field).name.to_string());
    }
}

/// Where the resources and fields of one order are in the other.
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

/// Writes out all records of a source world: `materialised: seed`, without phrases (but those of searches), providers and examples.
///
/// # Errors
/// As [`Source::materialise`].
pub fn materialise(doc: &WorldDoc, world: &World, seed: u64) -> Result<WorldDoc, Report> {
    Ok(Source::compiled(doc.clone(), world.clone())?.materialise(seed)?.doc)
}

/// Compiles and materialises a document at once.
///
/// # Errors
/// As [`Source::new`] and [`Source::materialise`].
pub fn materialised(doc: &WorldDoc, seed: u64) -> Result<Arc<Materialised>, Report> {
    Source::new(doc.clone())?.materialise(seed).map(Arc::new)
}

/// The document without given values that only the plan can read: references by name, dates relative to the clock.
fn checkable(doc: &WorldDoc) -> WorldDoc {
    let mut doc = doc.without_scenarios();
    if doc.materialised.is_some() {
        return doc;
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
    doc
}

/// The document without what only the makers of requests and records need.
fn bare(doc: &WorldDoc) -> WorldDoc {
    let mut doc = doc.without_scenarios();
    let given = doc.materialised.is_some();
    let resources = doc.domains.iter_mut().flat_map(|domain| domain.resources.values_mut());
    for resource in doc.resources.values_mut().chain(resources) {
        resource.examples.clear();
        resource.each.clear();
        if !given {
            resource.records = RecordsDoc::Given(Vec::new());
        }
        // New records need the format of keys.
        let key = resource.fields.get(&resource.key).and_then(|key| key.fake.clone());
        bare_fields(&mut resource.fields);
        let formats = ["code", "uuid"];
        let gives_format = |fake: &Json| {
            let provider = fake.get("provider").unwrap_or(fake).as_str();
            provider.is_some_and(|provider| formats.contains(&provider))
        };
        if let Some(fake) = key.filter(gives_format)
            && let Some(key) = resource.fields.get_mut(&resource.key)
        {
            key.fake = Some(fake);
        }
    }
    for api in doc.apis.iter_mut().chain(doc.domains.iter_mut().flat_map(|domain| &mut domain.apis)) {
        api.phrases = api.phrases.kept();
        bare_fields(&mut api.parameters);
    }
    doc
}

fn bare_fields(fields: &mut IndexMap<String, FieldDoc>) {
    for field in fields.values_mut() {
        field.fake = None;
        field.ask.clear();
        field.say.clear();
        if let Some(items) = &mut field.items {
            items.fake = None;
            bare_fields(&mut items.fields);
        }
        bare_fields(&mut field.fields);
    }
}

fn write_records(doc: &mut WorldDoc, world: &World) {
    let mut resources = world.resources.iter();
    let short = doc.resources.values_mut();
    let long = doc.domains.iter_mut().flat_map(|domain| domain.resources.values_mut());
    // The model has its resources in the document's order.
    for (written, resource) in short.chain(long).zip(&mut resources) {
        write_resource(written, resource, &world.zone);
    }
}

fn write_resource(doc: &mut ResourceDoc, resource: &Resource, zone: &Zone) {
    let write = |record: &Record| {
        let present =
            resource.fields.iter().zip(record.iter()).filter(|(_, value)| !matches!(value, Value::Absent));
        present.map(|(field, value)| (field.name.to_string(), value.to_json(zone))).collect()
    };
    doc.records = RecordsDoc::Given(resource.records.iter().map(write).collect());
}

/// A text that matches a pattern, as far as look-arounds allow; nothing for a pattern that cannot be read.
pub(crate) fn matching_text(pattern: &str, seed: u64) -> Option<String> {
    thread_local! {
        static READ: RefCell<HashMap<String, Option<pattern::Generator>>> = RefCell::new(HashMap::new());
    }
    READ.with_borrow_mut(|read| {
        if read.len() > MOST_PATTERNS {
            read.clear();
        }
        let known = read.entry(pattern.to_owned()).or_insert_with(|| pattern::Generator::new(pattern));
        let mut out = String::new();
        let mut draw = draw::Streams::new(seed, "", "", "pattern").draw(0, 0);
        known.as_ref()?.write(&mut draw, &mut out);
        Some(out)
    })
}

/// So many patterns are kept as they were read.
const MOST_PATTERNS: usize = 1_000;

#[cfg(test)]
mod tests;
