//! Turns a tested candidate into a row of a dataset.

use diorama_engine::Base;
use diorama_engine::tools::is_of_solution;
use diorama_output::row::parts::{Episode, Event, Provenance, UserFacts};
use diorama_output::row::{Dialogue, Message, Role, Split, ToolCall, row_id};
use diorama_proof::{GateReport, GroundedCandidate, difficulty};
use diorama_seeds::answer::{Claims, GoldAnswer};
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::task::{Ability, GoldCall, Outcome, nested_calls};
use serde::Serialize;
use serde_json::json;

/// The world of a row, with the facts that the row states of it.
#[derive(Clone, Copy)]
pub struct RowWorld<'a> {
    /// The engine's frozen base.
    pub base: &'a Base,
    /// The identifier of the world in the dataset.
    pub id: &'a str,
    /// Its hash.
    pub hash: &'a str,
    /// The licence of its rows.
    pub license: &'a str,
    /// The source that its rows state.
    pub source: &'a str,
}

/// The properties of a row that the proven candidate does not determine.
pub struct RowProperties<'a> {
    /// The ability that it exercises.
    pub ability: Ability,
    /// The tags that its dialogue shows.
    pub tags: &'a [&'a str],
    /// The domain that its author means; it counts if no API is called.
    pub domain: Option<DomainId>,
    /// The split that it belongs to.
    pub split: Split,
    /// The origin of its parts.
    pub provenance: &'a Provenance,
    /// The model that wrote some of the messages, with its terms; none without a model.
    pub model_terms: Option<&'a str>,
}

/// Builds a row.
#[must_use]
pub fn row(
    world: RowWorld<'_>,
    grounded: &GroundedCandidate,
    gates: &GateReport,
    about: &RowProperties<'_>,
) -> Dialogue {
    let model = world.base.world();
    let counts = difficulty::measure(world.base, grounded, gates, about.tags);
    let depth = counts.depth;
    let provenance = Provenance { difficulty: Some(counts), ..about.provenance.clone() };
    let tools = world.base.shown_tools(&grounded.visible);
    let Transcript { messages, events } = make_transcript(world.base, grounded);
    let clock = diorama_seeds::value::Value::DateTime(grounded.clock);
    let episode = Episode {
        clock: clock.to_text(&model.zone),
        zone: model.zone.name().to_owned(),
        session_seed: grounded.seed,
        identity: None,
        outages: grounded.candidate.outages.clone(),
        search: grounded.search.name().to_owned(),
        visible: grounded.visible.iter().map(|api| model.api(*api).name.to_string()).collect(),
        outcome: grounded.goals.last().map_or(Outcome::Done, |goal| goal.outcome),
        events,
        system_hash: Some(hash_of(messages.iter().filter(|message| message.role == Role::System))),
        dialogue_hash: Some(hash_of(messages.iter().filter(|message| message.role != Role::System))),
    };
    let claims = grounded.candidate.goals.iter();
    let answer = GoldAnswer {
        claims: claims.map(|goal| Claims { when: goal.when.clone(), ends: goal.end() }).collect(),
    };
    Dialogue {
        id: row_id(about.split, about.provenance.row),
        split: about.split,
        ability: about.ability,
        depth,
        rc_level: rc_level(depth),
        tags: about.tags.iter().map(|name| (*name).to_owned()).collect(),
        difficulty: Some(counts.band()),
        world_id: world.id.to_owned(),
        world_hash: world.hash.to_owned(),
        domains: domains(model, &grounded.gold, about.domain),
        query: grounded.script.opening().to_owned(),
        tools: text(&tools),
        messages,
        episode: text(&episode),
        gold_calls: text(&grounded.gold),
        gold_plan: Some(nested(&grounded.gold)),
        gold_answer: text(&answer),
        checks: text(&grounded.checks),
        user_facts: text(&UserFacts::Script(grounded.script.clone())),
        initial_state_hash: grounded.initial.digest().to_string(),
        final_state_hash: grounded.last.digest().to_string(),
        gates: text(gates),
        license: match about.model_terms {
            Some(terms) => format!("{}; words by {terms}", world.license),
            None => world.license.to_owned(),
        },
        source: world.source.to_owned(),
        provenance: text(&provenance),
    }
}

/// Returns the domains of called APIs, in the order of their first calls. Without a call it returns the
/// author's domain, else the first.
#[must_use]
pub fn domains(world: &World, gold: &[GoldCall], meant: Option<DomainId>) -> Vec<String> {
    let mut ids = called(world, gold);
    if ids.is_empty() {
        ids.push(meant.unwrap_or(DomainId(0)));
    }
    ids.into_iter().map(|id| world.domains[id.index()].name.to_string()).collect()
}

/// Returns the domains of called APIs, in the order of their first calls; none for a search for tools alone.
#[must_use]
pub fn called(world: &World, gold: &[GoldCall]) -> Vec<DomainId> {
    let mut found = Vec::new();
    for id in gold.iter().filter_map(|call| world.api_named(&call.api)).map(|id| world.api(id).domain) {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// Returns Reverse Chain's level: 1 for a depth of 2, 2 for 3, 3 for more.
#[must_use]
pub fn rc_level(depth: u32) -> Option<u32> {
    (depth >= 2).then(|| (depth - 1).min(3))
}

fn text<T: Serialize>(value: &T) -> String {
    // Every type here consists of strings, numbers and lists, so writing it as JSON cannot fail.
    serde_json::to_string(value).unwrap_or_else(|_| json!(null).to_string())
}

/// Returns the BLAKE3 hash of messages: roles, contents and reasoning.
fn hash_of<'a>(messages: impl Iterator<Item = &'a Message>) -> String {
    let said = messages.map(|message| (message.role, &message.content, &message.reasoning_content));
    blake3::hash(text(&said.collect::<Vec<_>>()).as_bytes()).to_hex().to_string()
}

/// A conversation as messages, and as events.
#[derive(Default)]
struct Transcript {
    messages: Vec<Message>,
    events: Vec<Event>,
}

fn make_transcript(base: &Base, grounded: &GroundedCandidate) -> Transcript {
    let zone = &base.world().zone;
    let mut transcript = Transcript::default();
    transcript.messages.push(Message::new(Role::System, grounded.system.clone()));
    let (mut calls, mut users, mut says) = (0, 0, 0);
    for (goal, proposed) in grounded.candidate.goals.iter().enumerate() {
        transcript.messages.push(Message::new(Role::User, proposed.user.clone()));
        transcript.events.push(Event::User(users));
        users += 1;
        for turn in &proposed.turns {
            if let Some(words) = &turn.user {
                transcript.messages.push(Message::new(Role::User, words.clone()));
                transcript.events.push(Event::User(users));
                users += 1;
                continue;
            }
            if turn.say.is_some() {
                transcript.events.push(Event::Say(says));
                says += 1;
            }
            if turn.confirms > 0 {
                transcript.events.push(Event::Confirm(turn.confirms as u32));
            }
            let first = calls;
            let made: Vec<ToolCall> = turn
                .calls
                .iter()
                .map(|call| {
                    let arguments = text(&call.arguments);
                    let made = ToolCall::new(format!("call_{calls}"), call.api.clone(), arguments);
                    calls += 1;
                    made
                })
                .collect();
            let mut message = Message::new(Role::Assistant, "");
            message.content.clone_from(&turn.say);
            message.reasoning_content.clone_from(&turn.reasoning);
            message.tool_calls.clone_from(&made);
            message.train = turn.calls.iter().all(|call| !call.mistake);
            transcript.messages.push(message);
            for (index, call) in made.iter().enumerate() {
                transcript.events.push(Event::Call((first + index) as u32));
                let entry = grounded.entries.get(first + index);
                let reply = entry.map(|entry| entry.reply.to_json(zone)).unwrap_or_default();
                transcript.messages.push(Message::reply(call, reply));
            }
        }
        let ended = grounded.goals.get(goal).map_or(Outcome::Done, |goal| goal.outcome);
        transcript.events.push(Event::End(ended));
    }
    transcript
}

/// Returns the reference calls as Reverse Chain's nested labels, joined by `; `: one for each call whose
/// reply no other call uses.
#[must_use]
pub fn nested(gold: &[GoldCall]) -> String {
    let calls = nested_calls(gold, 0..gold.len(), is_of_solution);
    calls.into_iter().map(|call| call.label).collect::<Vec<_>>().join("; ")
}
