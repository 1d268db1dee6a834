//! Damage: a message of the reference solution as a worse agent would have it.
//!
//! One of three mutants, chosen by the row's id, so that the same row has the same pair in every export. A mutant's call is
//! one that the API's schema allows. Nothing is run: that the damaged message is worse follows from what was changed.

use serde_json::{Map, Number, Value as Json};

use diorama_seeds::contract::{Schemas, Side};
use diorama_seeds::ending::FINISH;
use diorama_seeds::english;

use super::conversation::{Call, Conversation, TOOL_SEARCHER, Turn, parameters, tool_name, wrapped};
use super::searched::shown;
use crate::row::Role;

/// A damaged turn.
#[derive(Clone, Debug)]
pub(super) struct Damaged {
    /// The turn that it stands in the place of.
    pub(super) at: usize,
    pub(super) turn: Turn,
    pub(super) kind: Damage,
}

/// The change that turns a correct message into a wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// One argument has another value.
    ChangeArgument,
    /// A call is of another API with a similar name or similar parameters.
    OtherApi,
    /// The calls are left out: the message is the next one that the row has without a call of an API.
    DropCall,
}

impl Damage {
    const ALL: [Self; 3] = [Self::ChangeArgument, Self::OtherApi, Self::DropCall];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::ChangeArgument => "change_argument",
            Self::OtherApi => "other_api",
            Self::DropCall => "drop_call",
        }
    }
}

/// Choices that follow from an id alone.
struct Dice {
    hash: [u8; 32],
    next: usize,
}

impl Dice {
    fn of(id: &str) -> Self {
        Self { hash: *blake3::hash(id.as_bytes()).as_bytes(), next: 0 }
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let byte = |at: usize| usize::from(self.hash[at % self.hash.len()]);
        let number = byte(self.next) << 8 | byte(self.next + 1);
        self.next += 2;
        number % end.max(1)
    }
}

/// Damages one of the messages that call an API; none where a conversation has no such message to learn from.
pub(super) fn damage(conversation: &Conversation, id: &str) -> Option<Damaged> {
    let mut dice = Dice::of(id);
    let calling: Vec<usize> = (0..conversation.turns.len())
        .filter(|index| {
            let turn = &conversation.turns[*index];
            turn.train && turn.calls.iter().any(|call| call.name != TOOL_SEARCHER)
        })
        .collect();
    if calling.is_empty() {
        return None;
    }
    let at = calling[dice.below(calling.len())];
    let turn = &conversation.turns[at];
    let able: Vec<usize> =
        (0..turn.calls.len()).filter(|index| turn.calls[*index].name != TOOL_SEARCHER).collect();
    let which = able[dice.below(able.len())];
    let first = dice.below(Damage::ALL.len());
    // A message for which one kind of damage is not possible gets the next.
    (0..Damage::ALL.len()).find_map(|step| {
        let kind = Damage::ALL[(first + step) % Damage::ALL.len()];
        let call = match kind {
            Damage::ChangeArgument => changed(conversation, at, which, &mut dice)?,
            Damage::OtherApi => near(conversation, at, which)?,
            Damage::DropCall => {
                let turn = next_answer(conversation, at)?.clone();
                return Some(Damaged { at, turn: Turn { reasoning: None, ..turn }, kind });
            }
        };
        let mut damaged = turn.clone();
        damaged.reasoning = None;
        damaged.calls[which] = call;
        Some(Damaged { at, turn: damaged, kind })
    })
}

/// The next message of the assistant that calls no API: words, or the end of a goal.
fn next_answer(conversation: &Conversation, at: usize) -> Option<&Turn> {
    let is_answer =
        |turn: &&Turn| turn.role == Role::Assistant && turn.calls.iter().all(|call| call.name == FINISH);
    conversation.turns.get(at + 1..)?.iter().find(is_answer)
}

/// The tools that could be called in a turn.
fn visible(conversation: &Conversation, at: usize) -> Vec<Json> {
    let found = conversation.turns[..at].iter().filter_map(shown).flatten().map(wrapped);
    let mut tools: Vec<Json> = Vec::new();
    for tool in conversation.tools.iter().cloned().chain(found) {
        if !tools.iter().any(|known| tool_name(known) == tool_name(&tool)) {
            tools.push(tool);
        }
    }
    tools
}

/// The call with another value for one argument that must be given. What may be left out often changes only the view.
fn changed(conversation: &Conversation, at: usize, which: usize, dice: &mut Dice) -> Option<Call> {
    let call = &conversation.turns[at].calls[which];
    let tools = visible(conversation, at);
    let parameters = tools.iter().find(|tool| tool_name(tool) == call.name).map(parameters)?;
    let others: Vec<(String, Json)> = values(conversation, at);
    let from: Vec<(&str, Json)> = parameters
        .into_iter()
        .filter(|(.., required)| *required)
        .filter_map(|(name, schema, _)| {
            Some((name, other(name, call.arguments.get(name)?, schema, &others)?))
        })
        .collect();
    let (name, value) = match from.len() {
        0 => return None,
        count => &from[dice.below(count)],
    };
    let mut arguments = call.arguments.clone();
    arguments.insert((*name).to_owned(), value.clone());
    Some(Call::new(call.id.clone(), call.name.clone(), arguments))
}

/// The values that replies and calls before a turn show, by name.
fn values(conversation: &Conversation, at: usize) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    for turn in &conversation.turns[..at] {
        turn.calls.iter().for_each(|call| leaves(&Json::Object(call.arguments.clone()), "", &mut found));
        if turn.role == Role::Tool && turn.name.as_deref() != Some(TOOL_SEARCHER) {
            let reply = turn.content.as_deref().and_then(|text| serde_json::from_str(text).ok());
            leaves(&reply.unwrap_or(Json::Null), "", &mut found);
        }
    }
    found
}

fn leaves(json: &Json, name: &str, found: &mut Vec<(String, Json)>) {
    match json {
        Json::Object(members) => members.iter().for_each(|(name, value)| leaves(value, name, found)),
        Json::Array(items) => items.iter().for_each(|item| leaves(item, name, found)),
        leaf => found.push((name.to_owned(), leaf.clone())),
    }
}

/// Another value of the same type: one that the schema lists, one that stood under the same name, or a near one.
fn other(name: &str, value: &Json, schema: &Json, others: &[(String, Json)]) -> Option<Json> {
    let alike =
        |candidate: &&Json| *candidate != value && same_type(candidate, value) && fits(candidate, schema);
    if let Some(listed) = schema.get("enum").and_then(Json::as_array) {
        return listed.iter().find(alike).cloned();
    }
    let seen =
        || others.iter().filter(|(known, _)| known == name).map(|(_, value)| value).find(alike).cloned();
    let other = match value {
        Json::Bool(flag) => Some(Json::Bool(!flag)),
        Json::Number(number) => seen().or_else(|| next_number(number, schema)),
        Json::String(text) => seen().or_else(|| near_text(text)).filter(|other| other != value),
        Json::Array(items) if items.len() > 1 => Some(Json::Array(items[..items.len() - 1].to_vec())),
        Json::Array(_) | Json::Object(_) | Json::Null => None,
    };
    other.filter(|other| fits(other, schema))
}

/// Returns true if a parameter's schema allows a value.
pub(super) fn fits(value: &Json, schema: &Json) -> bool {
    Schemas::default().check(schema, value, Side::Request).is_ok()
}

fn same_type(one: &Json, other: &Json) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// The number after or before, whichever the schema allows.
fn next_number(number: &Number, schema: &Json) -> Option<Json> {
    let bound = |name| schema.get(name).and_then(Json::as_f64);
    let fits = |value: f64| {
        bound("maximum").is_none_or(|most| value <= most)
            && bound("minimum").is_none_or(|least| value >= least)
    };
    if let Some(whole) = number.as_i64() {
        let near = [whole.checked_add(1), whole.checked_sub(1)];
        return near.into_iter().flatten().find(|near| fits(*near as f64)).map(Json::from);
    }
    let value = number.as_f64()?;
    [value + 1.0, value - 1.0].into_iter().find(|near| fits(*near)).map(Json::from)
}

/// A text with another last digit, or without its last word, or without its last letter.
fn near_text(text: &str) -> Option<Json> {
    if let Some((at, digit)) = text.char_indices().rev().find(|(_, letter)| letter.is_ascii_digit()) {
        let next = if digit == '9' { '8' } else { char::from(digit as u8 + 1) };
        return Some(Json::String(format!("{}{next}{}", &text[..at], &text[at + 1..])));
    }
    if let Some((shorter, _)) = text.trim_end().rsplit_once(' ') {
        return Some(Json::String(shorter.to_owned()));
    }
    let mut letters = text.chars();
    letters.next_back();
    let shorter = letters.as_str();
    (!shorter.is_empty()).then(|| Json::String(shorter.to_owned()))
}

/// A call of the visible API that is nearest by its parameters and the words of its name, with the arguments that it takes.
fn near(conversation: &Conversation, at: usize, which: usize) -> Option<Call> {
    let call = &conversation.turns[at].calls[which];
    let tools = visible(conversation, at);
    let words = |name: &str| english::split_identifier(name);
    let own = words(&call.name);
    let likeness = |tool: &Json| {
        let shared = parameters(tool).iter().filter(|(name, ..)| call.arguments.contains_key(*name)).count();
        shared * 2 + words(tool_name(tool)).iter().filter(|word| own.contains(word)).count()
    };
    let candidates =
        tools.iter().filter(|tool| ![&*call.name, TOOL_SEARCHER, FINISH].contains(&tool_name(tool)));
    let mut nearest: Vec<&Json> = candidates.collect();
    // Of equally near ones the first.
    nearest.sort_by_key(|tool| std::cmp::Reverse(likeness(tool)));
    nearest.into_iter().find_map(|tool| called_instead(call, tool))
}

/// A call of another API with the arguments that it takes; none where it needs others.
fn called_instead(call: &Call, tool: &Json) -> Option<Call> {
    let takes = parameters(tool);
    let is_taken = |name: &str| takes.iter().any(|(taken, ..)| *taken == name);
    let (kept, mut spare): (Map<String, Json>, Map<String, Json>) =
        call.arguments.clone().into_iter().partition(|(name, _)| is_taken(name));
    let mut arguments = kept;
    // A required parameter without a value of its name takes a spare value that fits it. A caller that mistakes one API
    // for another would do the same.
    for (name, schema, required) in &takes {
        if *required && !arguments.contains_key(*name) {
            let found = spare.iter().find(|(_, value)| fits(value, schema))?.0.clone();
            arguments.insert((*name).to_owned(), spare.remove(&found)?);
        }
    }
    let schema = |name: &str| takes.iter().find(|(taken, ..)| *taken == name).map(|(_, schema, _)| *schema);
    let is_valid =
        arguments.iter().all(|(name, value)| schema(name).is_some_and(|schema| fits(value, schema)));
    is_valid.then(|| Call::new(call.id.clone(), tool_name(tool).to_owned(), arguments))
}
