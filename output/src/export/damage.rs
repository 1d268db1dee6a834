//! Preference pairs: a message of the reference solution, and a mutant of it with which the task is not
//! solved.
//!
//! The caller supplies the mutants, because it can run them. This module keeps those whose call fits the
//! API's schema, at most one of each kind. The row's id decides which one, so every export has the same
//! pairs.

use std::collections::HashMap;

use diorama_seeds::contract::{Schemas, Side};
use serde_json::{Map, Value as Json};

use super::conversation::{
    Call, Conversation, TOOL_SEARCHER, Turn, tool_name, unwrap_function, wrap_function,
};
use super::searched::read_shown_tools;
use crate::row::{Dialogue, Role};

/// A mutation of a row's calls after which its task is not solved.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedMutant {
    /// The kind of mutation: `drop_call`, `change_argument`, `other_api` or `add_write`.
    pub kind: &'static str,
    /// Index of the call, including searches and mistakes. The number of calls for a call added at the end.
    pub call: usize,
    /// The API and the arguments of the replacement. None if the call is dropped.
    pub instead: Option<(String, Map<String, Json>)>,
}

/// Lists the mutants of a row with which its task is not solved, each with a different effect.
pub type ListMutants<'a> = &'a dyn Fn(&Dialogue) -> Vec<RejectedMutant>;

/// A rejected version of a message.
#[derive(Clone, Debug)]
pub(super) struct DamagedTurn {
    /// The index of the replaced turn.
    pub(super) at: usize,
    pub(super) turn: Turn,
    pub(super) kind: &'static str,
}

/// Returns the pairs of a conversation, in the order of its turns.
pub(super) fn make_pairs(
    conversation: &Conversation,
    rejected: &[RejectedMutant],
    id: &str,
) -> Vec<DamagedTurn> {
    let mut by_kind: Vec<(&'static str, Vec<DamagedTurn>)> = Vec::new();
    for damaged in rejected.iter().filter_map(|mutant| damage_turn(conversation, mutant)) {
        match by_kind.iter_mut().find(|(kind, _)| *kind == damaged.kind) {
            Some((_, others)) => others.push(damaged),
            None => by_kind.push((damaged.kind, vec![damaged])),
        }
    }
    let hash = blake3::hash(id.as_bytes());
    let chosen = by_kind.into_iter().zip(hash.as_bytes().iter().cycle());
    let mut pairs: Vec<DamagedTurn> = chosen
        .map(|((_, mut all), byte)| {
            let at = usize::from(*byte) % all.len();
            all.swap_remove(at)
        })
        .collect();
    pairs.sort_by_key(|pair| pair.at);
    pairs
}

/// Returns the rejected message of a mutant. Returns none if its call does not fit the schema, or if its
/// message is no training target.
fn damage_turn(conversation: &Conversation, mutant: &RejectedMutant) -> Option<DamagedTurn> {
    let mut calls = conversation.turns.iter().enumerate().flat_map(|(at, turn)| {
        let calls = turn.calls.iter().enumerate();
        let of_world = calls.filter(|(_, call)| !conversation.is_own_tool(&call.name));
        of_world.map(move |(which, _)| (at, which))
    });
    let place = calls.nth(mutant.call);
    let (at, turn) = match (place, &mutant.instead) {
        (Some((at, which)), Some((api, arguments))) => {
            let turn = &conversation.turns[at];
            let call = Call::new(turn.calls[which].id.clone(), api.clone(), arguments.clone());
            let mut changed = Turn { reasoning: None, ..turn.clone() };
            changed.calls[which] = call;
            (at, changed)
        }
        // A message with several calls remains well-formed without one of them, so it makes no pair.
        (Some((at, _)), None) if conversation.turns[at].calls.len() == 1 => {
            (at, Turn { reasoning: None, ..next_answer(conversation, at)?.clone() })
        }
        (None, Some((api, arguments))) => {
            let at = conversation.turns.iter().rposition(|turn| turn.role == Role::Assistant)?;
            let id = conversation.turns[at].calls.first().map_or("000000000", |call| &call.id);
            (at, Turn::assistant(None, vec![Call::new(id.to_owned(), api.clone(), arguments.clone())]))
        }
        _ => return None,
    };
    let chosen = &conversation.turns[at];
    let same = |one: &Call, other: &Call| one.name == other.name && one.arguments == other.arguments;
    let is_same = chosen.calls.len() == turn.calls.len()
        && chosen.calls.iter().zip(&turn.calls).all(|(one, other)| same(one, other))
        && chosen.text() == turn.text();
    let tools = list_visible_tools(conversation, at);
    let is_valid =
        turn.calls.iter().all(|call| conversation.is_own_tool(&call.name) || is_valid(&tools, call));
    (chosen.train && !is_same && is_valid).then_some(DamagedTurn { at, turn, kind: mutant.kind })
}

/// Returns the next assistant message that calls no API: an answer, a question for consent, or the end of a
/// goal.
fn next_answer(conversation: &Conversation, at: usize) -> Option<&Turn> {
    let is_answer = |turn: &&Turn| {
        turn.role == Role::Assistant && turn.calls.iter().all(|call| conversation.is_own_tool(&call.name))
    };
    conversation.turns.get(at + 1..)?.iter().find(is_answer)
}

/// Returns the tools that could be called in a turn, by name.
fn list_visible_tools(conversation: &Conversation, at: usize) -> HashMap<String, Json> {
    let found = conversation.turns[..at].iter().filter_map(read_shown_tools).flatten().map(wrap_function);
    let tools = found.chain(conversation.tools.iter().cloned());
    tools.map(|tool| (tool_name(&tool).to_owned(), tool)).collect()
}

/// Returns true if a visible tool accepts the arguments of a call.
fn is_valid(tools: &HashMap<String, Json>, call: &Call) -> bool {
    if call.name == TOOL_SEARCHER {
        return true;
    }
    let schema = tools.get(&call.name).and_then(|tool| unwrap_function(tool).get("parameters"));
    let arguments = Json::Object(call.arguments.clone());
    schema.is_some_and(|schema| Schemas::default().check(schema, &arguments, Side::Request).is_ok())
}
