//! Owns the derivation of a row: its candidate comes from its messages, its script and its author's claims,
//! and is grounded in its world. Each column that follows is compared with the stored one.
//!
//! Grounding and checks are those of `diorama-proof`, and columns those of [`crate::rows::row`], as in
//! generation.

use std::collections::BTreeMap;
use std::iter::Peekable;

use diorama_engine::tools::{SearchVersion, TOOL_SEARCHER};
use diorama_output::row::parts::{Event, Provenance, UserFacts};
use diorama_output::row::{Dialogue, Message, Role};
use diorama_proof::candidate::{CANDIDATE_VERSION, CandidateCall, CandidateGoal, Turn};
use diorama_proof::{Candidate, GateReport, ground_with};
use diorama_seeds::answer::{Claims, GoldAnswer};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Checks, Difficulty};
use serde_json::Value as Json;

use super::error::{VerifyError, column, same};
use crate::episode::{Task, World};
use crate::rows::row::{RowProperties, RowWorld, row as row_of};

/// Version of the generator whose rows hold no claims.
const WITHOUT_CLAIMS: &str = "generate/1";

/// Columns that rows without claims leave unproven.
pub const OF_OLDER_ROWS: &str = "checks, user_facts and the system message of rows of generate/1, which hold no claims \
                                 to derive them from";

/// Returns the candidate of a row, with the claims of its author.
///
/// # Errors
/// Returns an error if the messages and claims do not fit together.
pub(crate) fn candidate_of(row: &Dialogue, task: &Task) -> Result<Candidate, VerifyError> {
    candidate(row, task, &task.gold_answer.claims)
}

/// Makes a row again and compares it. Returns false for rows of `generate/1`, which lack the claims for it.
///
/// # Errors
/// Returns the first value that differs, with its path.
pub(super) fn compare(row: &Dialogue, task: &Task, world: &World) -> Result<bool, VerifyError> {
    let provenance: Provenance =
        serde_json::from_str(&row.provenance).map_err(|error| column("provenance", error.to_string()))?;
    let claims = &task.gold_answer.claims;
    if claims.is_empty() && provenance.version == WITHOUT_CLAIMS {
        return Ok(false);
    }
    let candidate = candidate(row, task, claims)?;
    let search = SearchVersion::named(&task.episode.search);
    let grounded = ground_with(world.context(), candidate, search)
        .map_err(|error| column("messages", format!("they are no candidate: {error}")))?;
    // How many mutants an API accepts is told by the gate `mutation` alone, which is not run again.
    let traps = provenance.difficulty.map_or(0, |counts| counts.traps);
    let gates = GateReport { traps, ..task.gates.clone() };
    let tags: Vec<&str> = row.tags.iter().map(String::as_str).collect();
    let about = RowProperties {
        ability: row.ability,
        tags: &tags,
        domain: None,
        split: row.split,
        provenance: &provenance,
        model_terms: None,
    };
    let (base, id, hash) = (&*world.base, &*row.world_id, &*world.hash);
    let (license, source) = match &world.terms {
        // If a model wrote words, its terms follow the world's licence.
        Some(terms) if row.license.starts_with(&format!("{}; words by ", terms.license)) => {
            (&*row.license, &*terms.source)
        }
        Some(terms) => (&*terms.license, &*terms.source),
        None => (&*row.license, &*row.source),
    };
    let again = row_of(RowWorld { base, id, hash, license, source }, &grounded, &gates, &about);
    let mut compared = columns(row, &task.checks, &again);
    // Rows before the column have neither a band nor its counts.
    if row.difficulty.is_some() || provenance.difficulty.is_some() {
        compared.extend(difficulty(row, &again));
    }
    for (place, found, expected) in compared {
        if found == expected {
            continue;
        }
        let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
        if let Some((inner, found, expected)) = difference(&json(&found), &json(&expected)) {
            same(&format!("{place}{inner}"), &found, &expected)?;
        }
    }
    match grounded.faults.first() {
        Some(fault) => Err(VerifyError::Checks(format!("the gate {}: {fault}", fault.gate.name()))),
        None => Ok(true),
    }
}

/// Returns the columns that follow from the calls, the messages and the world: name, stored value, and
/// derived value. Checks of an older version are compared in their converted form.
fn columns(row: &Dialogue, checks: &Checks, again: &Dialogue) -> Vec<(&'static str, String, String)> {
    let stored_checks = if row.checks == again.checks {
        row.checks.clone()
    } else {
        serde_json::to_string(checks).unwrap_or_default()
    };
    let of = |row: &Dialogue, checks: String| {
        let messages = serde_json::to_string(&row.messages).unwrap_or_default();
        [
            ("query", row.query.clone()),
            ("messages", messages),
            ("episode", row.episode.clone()),
            ("tools", row.tools.clone()),
            ("gold_calls", row.gold_calls.clone()),
            ("gold_plan", row.gold_plan.clone().unwrap_or_default()),
            ("user_facts", row.user_facts.clone()),
            ("checks", checks),
            ("gold_answer", claims(&row.gold_answer)),
            ("depth", row.depth.to_string()),
            ("license", row.license.clone()),
            ("source", row.source.clone()),
            ("initial_state_hash", row.initial_state_hash.clone()),
            ("final_state_hash", row.final_state_hash.clone()),
        ]
    };
    let again = of(again, again.checks.clone());
    of(row, stored_checks)
        .into_iter()
        .zip(again)
        .map(|((name, found), (_, made))| (name, found, made))
        .collect()
}

/// The band of difficulty, and the counts that it follows from.
fn difficulty(row: &Dialogue, again: &Dialogue) -> [(&'static str, String, String); 2] {
    let counts = |row: &Dialogue| {
        let provenance: Json = serde_json::from_str(&row.provenance).unwrap_or_default();
        provenance["difficulty"].to_string()
    };
    let band = |row: &Dialogue| row.difficulty.map_or("nothing", Difficulty::name).to_owned();
    [("provenance.difficulty", counts(row), counts(again)), ("difficulty", band(row), band(again))]
}

/// Returns the claims in a `gold_answer` as JSON. Rows of an earlier version also hold the words of the
/// answers, which are dropped.
fn claims(gold_answer: &str) -> String {
    let read: Result<GoldAnswer, _> = serde_json::from_str(gold_answer);
    read.map_or_else(|_| gold_answer.to_owned(), |claims| serde_json::to_string(&claims).unwrap_or_default())
}

/// Returns the first path at which two values differ, with both values.
fn difference(found: &Json, expected: &Json) -> Option<(String, String, String)> {
    let nothing = || "nothing".to_owned();
    match (found, expected) {
        (Json::Object(ours), Json::Object(theirs)) => {
            let names: BTreeMap<&String, ()> =
                ours.keys().chain(theirs.keys()).map(|name| (name, ())).collect();
            names.into_keys().find_map(|name| match (ours.get(name), theirs.get(name)) {
                (Some(found), Some(expected)) => difference(found, expected)
                    .map(|(place, found, expected)| (format!(".{name}{place}"), found, expected)),
                (found, expected) => {
                    let shown = |value: Option<&Json>| value.map_or_else(nothing, Json::to_string);
                    Some((format!(".{name}"), shown(found), shown(expected)))
                }
            })
        }
        (Json::Array(ours), Json::Array(theirs)) => {
            let inner = ours.iter().zip(theirs).enumerate().find_map(|(index, (found, expected))| {
                let (place, found, expected) = difference(found, expected)?;
                Some((format!("[{index}]{place}"), found, expected))
            });
            let count = |items: &[Json]| format!("{} items", items.len());
            inner
                .or_else(|| (ours.len() != theirs.len()).then(|| (String::new(), count(ours), count(theirs))))
        }
        _ => (found != expected).then(|| (String::new(), found.to_string(), expected.to_string())),
    }
}

/// Returns the candidate of a row: messages and calls from its messages, withheld details from its script,
/// and goals from its author's claims.
fn candidate(row: &Dialogue, task: &Task, claims: &[Claims]) -> Result<Candidate, VerifyError> {
    let facts: UserFacts =
        serde_json::from_str(&row.user_facts).map_err(|error| column("user_facts", error.to_string()))?;
    let script = facts.script(&row.query);
    let mut said = row.messages.iter().peekable();
    let system = said.next_if(|message| message.role == Role::System);
    let mut goals = Vec::new();
    let mut events = task.episode.events.iter().copied().peekable();
    let mut marks = task.gold.iter().map(|call| (call.mistake, call.care));
    while said.peek().is_some() {
        goals.push(goal(goals.len(), &mut said, (&mut events, &mut marks), &script, claims)?);
    }
    if claims.len() != goals.len() {
        let what = format!("claims: found {}, expected {}, one for each goal", claims.len(), goals.len());
        return Err(column("gold_answer", what));
    }
    let visible = &task.episode.visible;
    Ok(Candidate {
        candidate: CANDIDATE_VERSION,
        world: None,
        clock: Some(task.episode.clock.clone()),
        seed: task.episode.session_seed,
        system: system.and_then(|message| message.content.clone()),
        tools: Some(if visible.is_empty() { vec![TOOL_SEARCHER.to_owned()] } else { visible.clone() }),
        outages: task.episode.outages.clone(),
        patience: script.patience,
        goals,
    })
}

/// Returns a goal: its messages up to the event that ends it.
fn goal<'a>(
    number: usize,
    said: &mut Peekable<impl Iterator<Item = &'a Message>>,
    (events, marks): (&mut Peekable<impl Iterator<Item = Event>>, &mut impl Iterator<Item = (bool, bool)>),
    script: &Script,
    claims: &[Claims],
) -> Result<CandidateGoal, VerifyError> {
    let wrong = |what: &str| column("episode", format!("events: {what}"));
    let mut goal = CandidateGoal::default();
    for detail in script.goals.get(number).into_iter().flat_map(|goal| &goal.withheld) {
        goal.withheld.insert(detail.about.clone(), detail.say.clone());
        if !detail.questions.is_empty() {
            goal.questions.insert(detail.about.clone(), detail.questions.clone());
        }
    }
    goal.pleas = script.goals.get(number).map(|goal| goal.pleas.clone()).unwrap_or_default();
    let mut opened = false;
    while events.next_if(|event| matches!(event, Event::End(_))).is_none() {
        let message = said.next().ok_or_else(|| wrong("found no end of the last goal, expected one"))?;
        let told = match message.role {
            Role::System => None,
            Role::User | Role::Tool => events.next(),
            // Calls have events of their own, which belong to their replies.
            Role::Assistant => message.content.as_ref().and_then(|_| events.next()),
        };
        match (message.role, told) {
            (Role::User, Some(Event::User(_))) if !opened => {
                goal.user = message.content.clone().unwrap_or_default();
                opened = true;
            }
            (Role::User, Some(Event::User(_))) => {
                goal.turns.push(Turn { user: message.content.clone(), ..Turn::default() });
            }
            (Role::Assistant, None | Some(Event::Say(_))) => {
                let asked = events.next_if(|event| matches!(event, Event::Confirm(_)));
                let confirms = if let Some(Event::Confirm(calls)) = asked { calls as usize } else { 0 };
                goal.turns.push(Turn { confirms, ..turn(message, marks)? });
            }
            (Role::Tool, Some(Event::Call(_))) => {}
            (role, told) => {
                let found = told.map_or_else(|| "nothing".to_owned(), |event| format!("{event:?}"));
                return Err(wrong(&format!(
                    "found {found}, expected that of a message of the {}",
                    role.as_str()
                )));
            }
        }
    }
    if let (Some(claims), Some(last)) = (claims.get(number), goal.turns.last_mut()) {
        goal.when.clone_from(&claims.when);
        last.ends = Some(claims.ends.clone());
    }
    Ok(goal)
}

/// Returns a message of the assistant, with the reference's marks of its calls as mistakes or care.
fn turn(message: &Message, marks: &mut impl Iterator<Item = (bool, bool)>) -> Result<Turn, VerifyError> {
    let call = |call: &diorama_output::row::ToolCall| {
        let arguments = serde_json::from_str(&call.function.arguments)
            .map_err(|error| column("messages", format!("arguments of {}: {error}", call.function.name)))?;
        let (mistake, care) = marks.next().unwrap_or_default();
        Ok(CandidateCall { api: call.function.name.clone(), arguments, mistake, care })
    };
    Ok(Turn {
        say: message.content.clone(),
        calls: message.tool_calls.iter().map(call).collect::<Result<_, VerifyError>>()?,
        reasoning: message.reasoning_content.clone(),
        ..Turn::default()
    })
}
