//! Simplifies an imported world until it runs, and notes each simplification.

use std::sync::Arc;

use diorama_seeds::doc::{
    self, ApiDoc, BehaviourDoc, FieldDoc, PhrasesDoc, RecordsDoc, ReplyDoc, TypeName, WorldDoc,
};
use diorama_seeds::materialise::Source;
use diorama_seeds::model::World;
use diorama_seeds::world::{Finding, Report};
use indexmap::IndexMap;

use super::document::Operation;
use super::{Note, Severity};

/// The greatest number of rounds of simplification.
const ROUNDS: u32 = 24;

/// Simplifies a document until it compiles and its records can be generated, and returns its world.
///
/// # Errors
/// Returns the findings that remain when no simplification helps.
pub(super) fn mend(
    doc: &mut WorldDoc,
    operations: &[Operation],
    notes: &mut Vec<Note>,
) -> Result<World, Report> {
    let mut tried: IndexMap<String, u32> = IndexMap::new();
    let mut round = 0;
    loop {
        // The source borrows the document, because documents are large.
        let shared = Arc::new(std::mem::take(doc));
        let made = Source::new(Arc::clone(&shared)).and_then(|source| source.recorded(0));
        *doc = Arc::unwrap_or_clone(shared);
        let report = match made {
            Ok(world) => return Ok(world),
            Err(report) => report,
        };
        // Compilation reports errors only, but findings about records may repeat one position.
        let mut again = false;
        for finding in &report.findings {
            again |= simpler(doc, operations, finding, &mut tried, notes);
        }
        if !again || round >= ROUNDS {
            return Err(report);
        }
        round += 1;
    }
}

/// Removes the default or limit of a parameter that its own schema refuses. Returns true if there was one.
fn without_limit(doc: &mut WorldDoc, index: usize, path: &str) -> bool {
    let place = path.split_once(".parameters.").and_then(|(_, rest)| rest.rsplit_once('.'));
    let Some((name, limit)) = place else { return false };
    let Some(parameter) = doc.apis.get_mut(index).and_then(|api| api.parameters.get_mut(name)) else {
        return false;
    };
    match limit {
        "default" => {
            parameter.optional = true;
            parameter.default.take().is_some()
        }
        "min_length" => parameter.min_length.take().is_some(),
        "max_length" => parameter.max_length.take().is_some(),
        "pattern" => parameter.pattern.take().is_some(),
        _ => false,
    }
}

/// Simplifies the part that a finding is about. Returns true if anything changed.
fn simpler(
    doc: &mut WorldDoc,
    operations: &[Operation],
    finding: &Finding,
    tried: &mut IndexMap<String, u32>,
    notes: &mut Vec<Note>,
) -> bool {
    let Some(place) = Place::of(&finding.path) else { return false };
    if let Place::Api(index) = place
        && without_limit(doc, index, &finding.path)
    {
        return true;
    }
    let times = tried.entry(place.to_string()).or_default();
    *times += 1;
    match place {
        Place::Api(index) => {
            let (Some(api), Some(operation)) = (doc.apis.get_mut(index), operations.get(index)) else {
                return false;
            };
            if *times > 3 {
                return false;
            }
            if *times == 1 {
                let reason = format!(
                    "it neither filters nor pages, as its behaviour was refused: {}",
                    finding.message
                );
                notes.push(Note::on(&operation.route(), Severity::Less.says(reason)));
            }
            lower(api, *times > 1);
            if *times > 2 {
                api.parameters.values_mut().for_each(take_anything);
            }
            true
        }
        Place::Field(resource, field) => {
            // Generates the records that a reference lacks; a second failure makes the reference optional.
            let lacking =
                finding.message.strip_prefix("found no record of `").and_then(|rest| rest.split('`').next());
            if let Some(target) = lacking.filter(|target| *times == 1 && *target != resource)
                && let Some(target) = doc.resources.get_mut(target)
            {
                target.each.clear();
                target.records = RecordsDoc::Count(20);
                let refers = |field: &&mut FieldDoc| field.reference.is_some() || field.items.is_some();
                target.fields.values_mut().filter(refers).for_each(|field| field.optional = true);
                return true;
            }
            let Some(field) = doc.resources.get_mut(resource).and_then(|found| found.fields.get_mut(field))
            else {
                return false;
            };
            match *times {
                1 => {
                    (field.fake, field.pattern, field.default, field.unique) = (None, None, None, false);
                    field.nullable |= finding.message == "found no value";
                    (field.min_length, field.max_length) = (None, None);
                }
                2 => *field = FieldDoc { kind: Some(TypeName::Any), optional: true, ..FieldDoc::default() },
                _ => return false,
            }
            true
        }
        Place::Resource(resource) => {
            let Some(resource) = doc.resources.get_mut(resource) else { return false };
            // A cycle ends where a key no longer depends on other records.
            let key = resource.key.clone();
            if finding.message.contains("made from each other's")
                && (!std::mem::take(&mut resource.each).is_empty()
                    || resource.fields.get_mut(&key).is_some_and(|key| key.fake.take().is_some()))
            {
                return true;
            }
            if finding.message.contains("made from each other's") {
                let through =
                    resource.fields.values_mut().filter(|field| field.provider() == Some("through"));
                let ended = through.map(|field| field.fake = None).count();
                if ended > 0 {
                    return true;
                }
            }
            if finding.path.contains("examples") && !resource.examples.is_empty() {
                resource.examples.clear();
                return true;
            }
            resource.unique_together.clear();
            resource.fields.values_mut().for_each(|field| field.unique = false);
            if *times > 1 {
                resource.examples.clear();
            }
            if *times > 2 {
                resource.each.clear();
                resource.records = RecordsDoc::Count(20);
            }
            *times <= 4
        }
    }
}

/// Removes an API's filters and pages; `only_answers` leaves a contract without effects.
fn lower(api: &mut ApiDoc, only_answers: bool) {
    api.behaviour.filters.clear();
    api.behaviour.page = None;
    api.parameters
        .values_mut()
        .filter(|doc| doc.place == Some(doc::Place::Query))
        .for_each(|doc| doc.ignored = true);
    if only_answers {
        api.behaviour = BehaviourDoc { action: Some("none".to_owned()), ..BehaviourDoc::default() };
        api.reply = ReplyDoc { status: api.reply.status, ..ReplyDoc::default() };
        api.parameters.values_mut().for_each(|doc| doc.ignored = true);
        api.phrases = PhrasesDoc::default();
    }
}

/// Makes a parameter accept any value, which the behaviour ignores.
fn take_anything(doc: &mut FieldDoc) {
    *doc = FieldDoc {
        kind: Some(TypeName::Any),
        place: doc.place,
        sent_as: doc.sent_as.take(),
        optional: doc.optional || doc.default.is_some(),
        ignored: true,
        description: doc.description.take(),
        ..FieldDoc::default()
    };
}

/// The part of a document that a finding is about.
enum Place<'a> {
    Api(usize),
    Field(&'a str, &'a str),
    Resource(&'a str),
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Option<Self> {
        if let Some(rest) = path.strip_prefix("apis[") {
            return rest.split(']').next()?.parse().ok().map(Place::Api);
        }
        let rest = path.strip_prefix("resources")?;
        let (resource, rest) = name(rest)?;
        match rest.strip_prefix(".fields").and_then(name) {
            Some((field, _)) => Some(Place::Field(resource, field)),
            None => Some(Place::Resource(resource)),
        }
    }
}

/// Splits off the next name of a path, `.name` or `["name"]`.
fn name(path: &str) -> Option<(&str, &str)> {
    match path.strip_prefix("[\"") {
        Some(rest) => rest.split_once("\"]"),
        None => {
            let rest = path.strip_prefix('.')?;
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            Some((rest.get(..end)?, rest.get(end..)?))
        }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Api(index) => write!(f, "api {index}"),
            Self::Field(resource, field) => write!(f, "field {resource}.{field}"),
            Self::Resource(resource) => write!(f, "resource {resource}"),
        }
    }
}
