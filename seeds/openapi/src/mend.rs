//! The last step: an imported world always runs. What its own rules refuse is made simpler, and said so.

use diorama_seeds::doc::{
    self, ApiDoc, BehaviourDoc, FieldDoc, PhrasesDoc, RecordsDoc, ReplyDoc, ReplyFieldDoc, ResourceDoc,
    TypeName, WorldDoc,
};
use diorama_seeds::materialise::Source;
use diorama_seeds::world::{self, Finding, Report};
use indexmap::IndexMap;

use super::constants;
use super::document::Operation;
use super::words::label;
use super::{Note, Severity};

/// Most parts that a record gets so that each value of an enum occurs among them.
const MOST_FOR_VALUES: usize = 8;
/// Rounds in which a document is made simpler before it is given up.
const ROUNDS: u32 = 24;

/// Makes a document simpler until it compiles and its records can be made up.
///
/// # Errors
/// What is left wrong when nothing simpler helps.
pub(super) fn mend(
    doc: &mut WorldDoc,
    operations: &[Operation],
    notes: &mut Vec<Note>,
) -> Result<(), Report> {
    let mut tried: IndexMap<String, u32> = IndexMap::new();
    for round in 0.. {
        let made = Source::new(doc.clone()).and_then(|source| source.materialise(0).map(|_| ()));
        let Err(report) = made else { return Ok(()) };
        // A document that does not compile has errors only, but findings of making up may repeat one place.
        let mut again = false;
        for finding in &report.findings {
            again |= simpler(doc, operations, finding, &mut tried, notes);
        }
        if !again || round >= ROUNDS {
            return Err(report);
        }
    }
    Ok(())
}

/// Takes away the default or limit of a parameter that its own schema refuses. Whether there was one.
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

/// Makes the part that a finding is about simpler. Whether anything changed.
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
            if *times > 2 {
                return false;
            }
            if *times == 1 {
                let lowered = match api.contract {
                    Some(_) => "it neither filters nor pages",
                    None => "it answers with constants",
                };
                let reason = format!("{lowered}, as its behaviour was refused: {}", finding.message);
                notes.push(Note::on(&operation.route(), Severity::Less.says(reason)));
            }
            if api.contract.is_some() {
                lower(api, *times > 1);
            } else {
                *api = constants::api(operation, &api.name, *times > 1);
            }
            true
        }
        Place::Field(resource, field) => {
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
            // A circle ends where a key is made before its records.
            let key = resource.key.clone();
            if finding.message.contains("made from each other's")
                && (!std::mem::take(&mut resource.each).is_empty()
                    || resource.fields.get_mut(&key).is_some_and(|key| key.fake.take().is_some()))
            {
                return true;
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

/// Takes an API's refinements away; at last it only answers as its contract promises.
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

/// What a finding is about.
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

/// The next name of a path, `.name` or `["name"]`, and what follows.
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

/// What `world check` would warn of in a document that runs: resources that no API shows go, parameters that nothing
/// uses are said to have no effect, and values of an enum that no record has are dealt by more records.
pub(super) fn settle(doc: &mut WorldDoc, operations: &[Operation], notes: &mut Vec<Note>) {
    deal_values(doc);
    let before = answer_lists(doc, operations);
    let compiled = world::compile(doc).or_else(|_| {
        for (index, api) in before {
            doc.apis[index] = api;
        }
        world::compile(doc)
    });
    let Ok(compiled) = compiled else { return };
    for finding in world::check(doc, &compiled) {
        let Some(place) = Place::of(&finding.path) else { continue };
        let resource = match place {
            Place::Field(resource, _) | Place::Resource(resource) => resource,
            Place::Api(index) => {
                if let Some(parameter) = unused(doc, index, &finding)
                    && let Some(operation) = operations.get(index)
                {
                    let reason = format!("has no effect on the made-up records: {parameter}");
                    notes.push(Note::on(&operation.route(), Severity::Less.says(reason)));
                }
                continue;
            }
        };
        if finding.message.contains("no API can show") {
            let mut without = doc.clone();
            let listed = list_all(&mut without, resource);
            let key = without.resources.shift_remove(resource).and_then(|mut gone| {
                let key = gone.key.clone();
                gone.fields.shift_remove(&key)
            });
            // A key of nothing is a value like any other.
            let parameters = without.apis.iter_mut().flat_map(|api| api.parameters.values_mut());
            for parameter in parameters.filter(|known| known.reference.as_deref() == Some(resource)) {
                parameter.reference = None;
                parameter.kind = key.as_ref().and_then(|key| key.kind);
                parameter.ignored = true;
            }
            if world::compile(&without).is_ok() {
                *doc = without;
                for operation in listed.into_iter().filter_map(|index| operations.get(index)) {
                    let reason = format!("nothing shows a {}, so the list has all", label(resource));
                    notes.push(Note::on(&operation.route(), Severity::Other.says(reason)));
                }
            }
            continue;
        }
        if !finding.message.contains("which no record has") {
            continue;
        }
        if let Some(resource) = doc.resources.get_mut(resource)
            && let RecordsDoc::Count(count) = &mut resource.records
            && *count > 1
            && *count < 200
        {
            *count *= 2;
        }
    }
}

/// Makes lists that belong to records which nothing shows lists of everything; gives their APIs.
fn list_all(doc: &mut WorldDoc, hidden: &str) -> Vec<usize> {
    let Some(resource) = doc.resources.get(hidden) else { return Vec::new() };
    let mut changed = Vec::new();
    for (index, api) in doc.apis.iter_mut().enumerate() {
        let members = api.behaviour.members.as_deref().and_then(|members| members.split_once('.'));
        let Some((_, field)) = members.filter(|(owner, _)| *owner == hidden) else { continue };
        let target = resource.fields.get(field).and_then(|field| field.items.as_ref()?.reference.clone());
        (api.behaviour.members, api.behaviour.key, api.behaviour.list) = (None, None, target);
        api.phrases = PhrasesDoc::default();
        changed.push(index);
    }
    changed
}

/// Lets operations answer with an empty list that are promised to answer with a list of what nothing is known of, as
/// constants stand in objects only. Gives what those APIs were before.
fn answer_lists(doc: &mut WorldDoc, operations: &[Operation]) -> Vec<(usize, ApiDoc)> {
    let mut before = Vec::new();
    let Some((name, resource)) = doc.resources.iter().find(|(_, resource)| !resource.singleton) else {
        return before;
    };
    for ((index, api), operation) in doc.apis.iter_mut().enumerate().zip(operations) {
        let list = operation.reply.as_ref().is_some_and(|reply| reply.items().is_some());
        let nothing = api.behaviour.compute.len() == 1 && api.behaviour.compute.contains_key("ok");
        if operation.method == "GET" && list && nothing {
            before.push((index, api.clone()));
            api.behaviour.compute.clear();
            api.behaviour.list = Some(name.clone());
            api.behaviour.condition = Some("false".to_owned());
            api.reply.fields = Some(vec![ReplyFieldDoc::Field(resource.key.clone())]);
            api.reply.items = Some(String::new());
            api.phrases = PhrasesDoc::default();
        }
    }
    before
}

/// Gives the only record of its kind as many parts as they have values of an enum: values are dealt in turns.
fn deal_values(doc: &mut WorldDoc) {
    let single = |(_, resource): &(&String, &ResourceDoc)| resource.singleton;
    let singles: Vec<String> = doc.resources.iter().filter(single).map(|(name, _)| name.clone()).collect();
    for resource in doc.resources.values_mut() {
        let none = matches!(&resource.records, RecordsDoc::Given(given) if given.is_empty());
        let values = resource.fields.values().map(|field| field.values.len()).max().unwrap_or(0);
        let enough = u32::try_from(values.min(MOST_FOR_VALUES)).unwrap_or(0);
        for each in resource.each.iter_mut().filter(|each| none && singles.contains(&each.of)) {
            (each.min, each.max) = (each.min.max(enough), each.max.max(enough));
        }
    }
}

/// Says of a parameter that it is ignored, where a finding is that nothing uses it; gives its name.
fn unused(doc: &mut WorldDoc, api: usize, finding: &Finding) -> Option<String> {
    if !finding.message.contains("which the behaviour does not use") {
        return None;
    }
    let (_, rest) = finding.path.split_once(".parameters")?;
    let (parameter, _) = name(rest)?;
    let found = doc.apis.get_mut(api)?.parameters.get_mut(parameter)?;
    found.ignored = true;
    Some(parameter.to_owned())
}
