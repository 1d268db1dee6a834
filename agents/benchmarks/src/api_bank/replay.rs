//! Replays gold calls in our world and compares their results with the recorded ones.

use std::collections::BTreeMap;

use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::Call;
use serde_json::Value as Json;

use super::dialogue::{Dialogue, Gold};
use super::world::{BankWorld, shows};
use crate::summary::{Measure, Outcome, Summary};

const MEASURES: &[Measure] = &[
    ("anew", "each on databases initialised anew (the paper)"),
    ("anew_without_searches", "the same, without searches"),
    ("in_order", "in the order of their dialogue"),
    ("nearest", "searches whose nearest API is the recorded one"),
    ("from_recordings", "answered from recordings of services outside"),
];

/// Replays the gold calls of dialogues, and counts those with the recorded result.
#[must_use]
pub fn replay<'a>(world: &BankWorld, dialogues: impl IntoIterator<Item = &'a Dialogue>) -> Summary {
    let mut outcomes = Vec::new();
    for dialogue in dialogues {
        let mut session = world.session();
        // Maps generated values of the recorded system to those of ours.
        let mut made_up: BTreeMap<String, Json> = BTreeMap::new();
        for (turn, gold) in dialogue.calls() {
            let mut outcome = Outcome::new(format!("{} turn {turn}: {}", dialogue.id, gold.api));
            outcome.groups = vec![("level", dialogue.level.to_string()), ("api", gold.api.clone())];
            let anew = held(world, gold, &world.session().call(&gold.call()), &BTreeMap::new());
            outcome.share("anew", anew.is_ok());
            if gold.api == TOOL_SEARCHER {
                outcome.share("nearest", world.nearest(&gold.call()) == gold.found());
            } else {
                outcome.share("anew_without_searches", anew.is_ok());
            }
            let arguments = gold.arguments.iter().map(|(name, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (name.clone(), made_up.get(&text).cloned().unwrap_or_else(|| value.clone()))
            });
            let call = Call { api: gold.api.clone(), arguments: arguments.collect() };
            let in_order = held(world, gold, &session.call(&call), &made_up);
            outcome.share("in_order", in_order.is_ok());
            outcome.share("from_recordings", world.is_recorded(&gold.api));
            let because = |name: &str, because: &String| format!("not equivalent {name}: {because}");
            outcome.notes.extend(anew.as_ref().err().map(|error| because("anew", error)));
            outcome.notes.extend(in_order.as_ref().err().map(|error| because("in order", error)));
            made_up.extend(in_order.unwrap_or_default());
            outcomes.push(outcome);
        }
    }
    Summary::of("gold calls that give what was recorded", None, MEASURES, outcomes)
}

/// Compares a call's reply with the recorded one. Values must be equal, whatever their names and nesting.
/// Generated values, such as an appointment number, may differ; `known` maps recorded ones to ours. Returns
/// the values that this call generated.
fn held(
    world: &BankWorld,
    gold: &Gold,
    entry: &LogEntry,
    known: &BTreeMap<String, Json>,
) -> Result<Vec<(String, Json)>, String> {
    let mut body = world.body(entry);
    // `ok` is the engine's own member for a successful action.
    if let Some(members) = body.as_object_mut() {
        members.shift_remove("ok");
    }
    let status = entry.reply.status;
    if gold.api == TOOL_SEARCHER {
        let missing = || format!("the search does not show {}", gold.found().unwrap_or_default());
        return if shows(&body, gold) { Ok(Vec::new()) } else { Err(missing()) };
    }
    match (&gold.exception, status >= 400) {
        (Some(_), true) => return Ok(Vec::new()),
        (Some(exception), false) => {
            return Err(format!("recorded is an exception ({exception}), ours answers {status}"));
        }
        (None, true) => {
            let detail = body.get("detail").and_then(Json::as_str).unwrap_or_default();
            return Err(format!("recorded is a reply, ours answers {status}: {detail}"));
        }
        (None, false) => {}
    }
    let made_up = made_up(world, entry);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    leaves(&gold.output, &mut theirs);
    for value in &mut theirs {
        if let Some(ours) = known.get(value.as_str()).and_then(Json::as_str) {
            ours.clone_into(value);
        }
    }
    leaves(&body, &mut ours);
    let own: Vec<String> = ours.extract_if(.., |value| made_up.contains(value)).collect();
    for value in &ours {
        match theirs.iter().position(|other| other == value) {
            Some(at) => {
                theirs.remove(at);
            }
            None => return Err(format!("ours gives `{}`, which was not recorded", shortened(value))),
        }
    }
    if theirs.len() != own.len() {
        let left = theirs.first().map(|value| shortened(value)).unwrap_or_default();
        return Err(format!("recorded is `{left}`, which ours does not give"));
    }
    Ok(theirs.into_iter().zip(own.into_iter().map(Json::from)).collect())
}

/// Returns the values that a call generated: keys of new records, and generated fields.
fn made_up(world: &BankWorld, entry: &LogEntry) -> Vec<String> {
    let model = world.base.world();
    let mut found = Vec::new();
    for change in entry.changes.iter().filter(|change| change.before.is_none()) {
        let fields = &model.resource(change.resource).fields;
        let generated = change.after.iter().flat_map(|record| record.iter().zip(fields));
        let values = generated.filter(|(_, field)| field.generated).map(|(value, _)| value);
        for value in values.chain([&change.key]) {
            leaves(&value.to_json(&model.zone), &mut found);
        }
    }
    found
}

/// Collects the values of a reply as texts: numbers by value, strings in lower case. Member names with a
/// digit that hold objects are record keys, so they count as values.
fn leaves(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Null => {}
        Json::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Json::Object(members) => {
            for (name, member) in members {
                if member.is_object() && name.contains(|c: char| c.is_ascii_digit()) {
                    found.push(name.to_lowercase());
                }
                leaves(member, found);
            }
        }
        Json::String(text) => found.push(text.trim().to_lowercase()),
        Json::Number(number) => found.push(number.as_f64().unwrap_or_default().to_string()),
        Json::Bool(value) => found.push(value.to_string()),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
