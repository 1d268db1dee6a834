//! Turns every operation of a document into an API: its path assigns it to a collection, its requests are
//! stored, its replies are valid.
//!
//! The steps are `places` (paths to collections), `resources` (collections to resources of the world) and
//! `acts` (operations to behaviours). They use no meaning of names beyond keys, pages and lists.

mod acts;
mod associations;
mod counts;
mod full_names;
mod makers;
mod nameless;
mod places;
mod refers;
mod resources;
mod unsaid;

use std::collections::{BTreeSet, HashSet};

use diorama_seeds::doc::{ApiDoc, GivenDoc, ResourceDoc};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use self::acts::{Act, ApiDraft, lists};
use self::places::{PathValue, Places, form};
use super::contract::Taker;
use super::document::Operation;
use super::hypotheses::{self, Choices, Hypothesis};
use super::nouns::Prose;
use super::operations;
use super::phrases;
use super::{Note, Severity};

/// The header that holds the address of the next page (RFC 8288).
const LINK: &str = "Link";

/// The resources, APIs and schemas that a document becomes.
pub(super) struct Ground {
    pub(super) resources: IndexMap<String, ResourceDoc>,
    pub(super) apis: Vec<ApiDoc>,
    pub(super) schemas: IndexMap<String, Json>,
    /// Values that callers get at the start of a session.
    pub(super) given: IndexMap<String, GivenDoc>,
    /// The importer's guesses; `uses` lists for each API the indices of those it relies on.
    pub(super) hypotheses: Vec<Hypothesis>,
    pub(super) uses: Vec<Vec<usize>>,
}

/// Gives reads without a reply schema the schema that the writes at their paths have.
pub(super) fn say_unsaid(root: &Json, operations: &mut [Operation]) {
    unsaid::say(root, operations);
}

/// Answers a change without a reply schema with the record, in the shape that its own path shows. Callers
/// need the new key.
fn show_changes(root: &Json, apis: &mut [ApiDoc], operations: &[Operation]) {
    let shown: IndexMap<String, Json> = apis
        .iter()
        .filter_map(|api| Some((api.behaviour.get.clone()?, api.contract.as_ref()?.reply.clone()?)))
        .collect();
    for (api, operation) in apis.iter_mut().zip(operations) {
        let behaviour = &api.behaviour;
        let changed = behaviour.create.as_ref().or(behaviour.replace.as_ref()).or(behaviour.patch.as_ref());
        let promise = changed.and_then(|name| shown.get(name));
        if let (Some(contract), Some(promise)) = (&mut api.contract, promise)
            && unsaid::is_silent(root, operation)
        {
            contract.reply = Some(promise.clone());
        }
    }
}

/// Returns the values that the session gives callers, for keys that no reply lists.
fn given(places: &Places, resources: &IndexMap<String, ResourceDoc>) -> IndexMap<String, GivenDoc> {
    let told = |(name, given): (&String, &PathValue)| {
        let given = match given {
            PathValue::Value(value) | PathValue::Sample(value) => GivenDoc::Value(value.clone()),
            PathValue::Member(path, field) => {
                let found = places.all.get(path)?;
                resources.get(&found.name).filter(|known| known.fields.contains_key(field))?;
                GivenDoc::FieldOf(format!("{}.{field}", found.name))
            }
            PathValue::KeyOf(path) => {
                let found = places.all.get(path)?;
                let field = if found.uses.is_some() { resources::OF } else { &found.key };
                resources
                    .get(&found.name)
                    .filter(|known| known.fields.contains_key(field) || known.key == field)?;
                GivenDoc::FieldOf(format!("{}.{field}", found.name))
            }
        };
        Some((name.clone(), given))
    };
    places.given.iter().filter_map(told).collect()
}

/// Runs all steps.
pub(super) fn ground(
    root: &Json,
    operations: &[Operation],
    notes: &mut Vec<Note>,
    choices: &Choices,
) -> Ground {
    let places = Places::of(operations, choices);
    let mut resources = resources::resources(&places);
    associations::add(&places, &mut resources, operations);
    let resource_names: HashSet<String> = resources.keys().cloned().collect();
    let like = |members: &BTreeSet<String>, noun: &str| {
        let name = places.resource_like(members, noun)?;
        resource_names.contains(name).then(|| name.to_owned())
    };
    let mut taker = Taker::new(root, &like);
    let mut taken = IndexSet::new();
    let mut apis = Vec::with_capacity(operations.len());
    let mut silent = 0;
    for operation in operations {
        let mut told = Vec::new();
        let api = operations::plain(operation, &mut taken, &mut told);
        let ApiDraft { mut api, whole, inside, notes: more } =
            Act::new(&places, &mut resources, operation, api).make();
        silent += usize::from(!acts::is_kept(&api.behaviour));
        let mut contract = taker.contract(operation, whole, inside);
        // The header shows the next page where no member of the reply does.
        if api.behaviour.page.is_some()
            && !operation.reply.as_ref().is_some_and(lists::tells_pages)
            && !contract.headers.keys().any(|name| name.eq_ignore_ascii_case(LINK))
        {
            contract.headers.insert(LINK.to_owned(), json!({"type": "string"}));
        }
        api.contract = Some(contract);
        api.errors.clone_from(&operation.errors);
        notes.extend(told.into_iter().chain(more).map(|reason| Note::on(&operation.route(), reason)));
        apis.push(api);
    }
    counts::add(&mut resources, &mut apis);
    makers::add(&resources, &mut apis);
    full_names::add(&places, &mut resources, &mut apis, operations);
    show_changes(root, &mut apis, operations);
    phrases::tell_apart(&mut apis);
    nameless::leave_out(&mut apis, operations, &resources, &Prose::of(root));
    if silent > 0 {
        notes.push(Note::on_all(Severity::Less.says(format!(
            "{silent} of {} operations only answer as their schemas promise; the others keep what they are sent by their paths",
            operations.len()
        ))));
    }
    let mut given = given(&places, &resources);
    full_names::given(&places, operations, &mut given);
    let schemas = taker.finish();
    let hypotheses = places.guesses.all();
    let forms: Vec<String> = operations.iter().map(|operation| form(&places.parts(operation))).collect();
    let uses = hypotheses::uses(&hypotheses, &forms);
    Ground { resources, apis, schemas, given, hypotheses, uses }
}

#[cfg(test)]
mod tests;
