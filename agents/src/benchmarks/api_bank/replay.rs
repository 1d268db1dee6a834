//! Gold calls, made in our world and held against what was recorded of them.

use std::collections::BTreeMap;

use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::session::LogEntry;
use serde::Serialize;
use serde_json::Value as Json;

use super::world::{BankWorld, shows};
use super::{Dialogue, Gold};
use crate::evaluation::shares::{Rate, Share};

/// A gold call that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// The dialogue.
    pub dialogue: String,
    /// The turn, from 0.
    pub turn: usize,
    /// The API.
    pub api: String,
    /// Why it is not equivalent to what was recorded; none where it is.
    pub because: Option<String>,
}

/// How all gold calls went.
#[derive(Clone, Debug, Serialize)]
pub struct Replays {
    /// Dialogues.
    pub dialogues: usize,
    /// Calls that give what was recorded, each on databases initialised anew: the paper's rule.
    pub anew: Rate,
    /// The same without searches.
    pub anew_without_searches: Rate,
    /// Calls that give what was recorded, made in the order of their dialogue in one session.
    pub in_order: Rate,
    /// Calls among them whose answers are recordings of services outside of the system.
    pub from_recordings: usize,
    /// By API: equivalent in order, of all.
    pub apis: BTreeMap<String, Rate>,
    /// Those that are not equivalent on databases initialised anew.
    pub failed_anew: Vec<Replayed>,
    /// Those that are not equivalent in order.
    pub failed_in_order: Vec<Replayed>,
}

/// Replays the gold calls of dialogues.
#[must_use]
pub fn replay(world: &BankWorld, dialogues: &[Dialogue]) -> Replays {
    let (mut anew, mut others, mut in_order) = (Share::default(), Share::default(), Share::default());
    let mut apis: BTreeMap<String, Share> = BTreeMap::new();
    let (mut failed_anew, mut failed_in_order, mut from_recordings) = (Vec::new(), Vec::new(), 0);
    for dialogue in dialogues {
        let mut session = world.session();
        // What was recorded of what a system makes up, and what ours made up instead.
        let mut made_up: BTreeMap<String, Json> = BTreeMap::new();
        for (turn, gold) in dialogue.calls() {
            let replayed =
                |because| Replayed { dialogue: dialogue.id.clone(), turn, api: gold.api.clone(), because };
            let entry = world.session().call(&gold.call());
            let because = held(world, gold, &entry, &BTreeMap::new()).err();
            anew.add(because.is_none());
            if gold.api != TOOL_SEARCHER {
                others.add(because.is_none());
            }
            failed_anew.extend(because.map(|because| replayed(Some(because))));
            let arguments = gold.arguments.iter().map(|(name, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (name.clone(), made_up.get(&text).cloned().unwrap_or_else(|| value.clone()))
            });
            let call = Call { api: gold.api.clone(), arguments: arguments.collect() };
            let held = held(world, gold, &session.call(&call), &made_up);
            in_order.add(held.is_ok());
            apis.entry(gold.api.clone()).or_default().add(held.is_ok());
            from_recordings += usize::from(world.doc.apis.iter().any(|api| {
                api.name == gold.api
                    && api.behaviour.bindings.values().any(|text| text.contains("known_answer"))
            }));
            match held {
                Ok(pairs) => made_up.extend(pairs),
                Err(because) => failed_in_order.push(replayed(Some(because))),
            }
        }
    }
    Replays {
        dialogues: dialogues.len(),
        anew: anew.into(),
        anew_without_searches: others.into(),
        in_order: in_order.into(),
        from_recordings,
        apis: apis.into_iter().map(|(api, share)| (api, share.into())).collect(),
        failed_anew,
        failed_in_order,
    }
}

/// Holds a call's reply against what was recorded: the same values, whatever they are called and however they are nested, but
/// for those that a system makes up, such as the number of an appointment, which `known` gives by what was recorded. Gives what
/// this call made up.
fn held(
    world: &BankWorld,
    gold: &Gold,
    entry: &LogEntry,
    known: &BTreeMap<String, Json>,
) -> Result<Vec<(String, Json)>, String> {
    let mut body = world.body(entry);
    // The engine's own word that an action has succeeded.
    if let Some(members) = body.as_object_mut() {
        members.shift_remove("ok");
    }
    let status = entry.reply.status;
    if gold.api == TOOL_SEARCHER {
        let missing = || format!("the search does not show {}", gold.shown().join(", "));
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

/// The values that a call has made up: keys of new records, and generated fields.
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

/// The values of a reply as texts: numbers by value, texts in lower case. Names of members with a digit that stand for objects are
/// keys of records, which are values too.
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

impl Replays {
    /// A table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text =
            format!("gold calls of {} recorded dialogues that give what was recorded\n", self.dialogues);
        for (name, rate) in [
            ("each on databases initialised anew (the paper)", &self.anew),
            ("the same, without searches", &self.anew_without_searches),
            ("in the order of their dialogue", &self.in_order),
        ] {
            text.push_str(&rate.line(name, 48));
        }
        text.push_str(&format!("  answered from recordings of services outside: {}\n", self.from_recordings));
        for (title, failed) in [("anew", &self.failed_anew), ("in order", &self.failed_in_order)] {
            for call in failed {
                let because = call.because.as_deref().unwrap_or_default();
                text.push_str(&format!(
                    "  not equivalent {title}: {} turn {}: {}: {because}\n",
                    call.dialogue, call.turn, call.api
                ));
            }
        }
        text
    }
}
