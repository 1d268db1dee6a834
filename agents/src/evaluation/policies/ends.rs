//! The ends of goals that scripted policies make up, and the values that they pick from replies.

use diorama_baselines::environment::{ConversationEntry, Finish, View};
use diorama_baselines::toolbox::finish_schema;
use diorama_baselines::types::{ValueType, value_type};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::{Outcome, RefusalClass};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json};

/// The way in which facts of the reference are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    /// As the checks have them. It must solve every task.
    AsChecked,
    /// Lists in the opposite order, and the items of maps under another of their names. It must solve every task.
    Reordered,
    /// Each item of a map with the value of the next. It must fail where two of the values differ.
    Exchanged,
}

/// The end of each goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The reference's end.
    Reference(Facts),
    /// Done, with no message.
    Silent,
    /// A refusal.
    Refusal,
    /// The user's words.
    Request,
    /// Every value of the replies.
    EveryValue,
    /// Random facts of their kinds.
    RandomFacts,
    /// The first six values of the replies.
    GuessValues,
    /// Three values of the replies, joined by "or".
    GuessAlternatives,
    /// The last reply as it is.
    GuessJson,
    /// "There is 1 in total."
    GuessOne,
    /// "One, both."
    GuessBoth,
    /// A refusal that fits anything.
    GuessRefusal,
    /// "Done."
    GuessDone,
    /// "Done", and at once that it cannot be.
    GuessBlind,
}

/// The question of `always-ask`.
pub(super) const QUESTION: &str = "Could you give me more details, please?";
/// Values of `guess-values`.
const MAX_VALUES: usize = 6;
/// Values of `guess-alternatives`.
const MAX_ALTERNATIVES: usize = 3;
/// Values in the message beside random facts.
const MAX_RANDOM_WORDS: usize = 20;

impl End {
    /// The end of a goal of so many reference calls.
    pub(super) fn finish(self, view: &View, calls: usize) -> Finish {
        self.finish_with(view, calls, &mut ChaCha8Rng::from_seed([0; 32]))
    }

    /// The same, with the draws for random facts.
    pub(super) fn finish_with(self, view: &View, calls: usize, rng: &mut ChaCha8Rng) -> Finish {
        let replies: Vec<&Json> = view
            .conversation
            .iter()
            .filter_map(|said| match said {
                ConversationEntry::Call(call, reply) if call.api != TOOL_SEARCHER => Some(&reply.body),
                _ => None,
            })
            .collect();
        let own = replies.get(replies.len().saturating_sub(calls)..).unwrap_or_default();
        let mut values = Vec::new();
        own.iter().rev().for_each(|body| leaves(body, &mut values));
        let shown = if self == Self::RandomFacts { seen(view) } else { Vec::new() };
        let facts = asked(view).filter_map(|(name, form)| {
            let fact = match self {
                Self::RandomFacts => Some(value(form, &shown, rng)),
                _ => self.guess(form, &values),
            };
            Some((name.clone(), fact?))
        });
        let facts = facts.collect();
        let (outcome, reason) = match self {
            Self::Refusal | Self::GuessRefusal => (Outcome::Refused, Some(RefusalClass::NotFound)),
            _ => (Outcome::Done, None),
        };
        let about =
            (self == Self::GuessRefusal).then(|| view.user_turns().last().unwrap_or_default().to_owned());
        Finish { outcome, reason, about, facts, message: self.message(view, own, &values) }
    }

    fn message(self, view: &View, own: &[&Json], values: &[&Json]) -> String {
        let joined = |count: usize, joint: &str| {
            values.iter().take(count).map(|value| text(value)).collect::<Vec<_>>().join(joint)
        };
        let fixed = match self {
            Self::Silent | Self::Reference(_) => "",
            Self::Refusal => "I'm sorry, but I can't help with that.",
            Self::GuessOne => "There is 1 in total.",
            Self::GuessBoth => "One, both.",
            Self::GuessRefusal => {
                "I'm sorry, but I can't do that: it was not found, is not allowed, is no longer possible, or the value is out \
                 of range."
            }
            Self::GuessDone => "Done.",
            Self::GuessBlind => "Done. There is 1, yes; otherwise it could not be found, sorry.",
            Self::Request => return view.user_turns().collect::<Vec<_>>().join(" "),
            Self::EveryValue => {
                let mut words = String::new();
                for said in &view.conversation {
                    if let ConversationEntry::Call(_, reply) = said {
                        list_values(&reply.body, "", &mut words);
                    }
                }
                return words;
            }
            Self::RandomFacts => {
                let words: Vec<String> =
                    seen(view).iter().take(MAX_RANDOM_WORDS).map(Json::to_string).collect();
                return words.join(" ");
            }
            Self::GuessValues => return joined(MAX_VALUES, ", "),
            Self::GuessAlternatives => return format!("It is {}.", joined(MAX_ALTERNATIVES, " or ")),
            Self::GuessJson => return own.last().map(ToString::to_string).unwrap_or_default(),
        };
        fixed.to_owned()
    }

    /// A value of its kind for a fact that is asked for.
    fn guess(self, form: &Json, values: &[&Json]) -> Option<Json> {
        // For a list or a map, the schema of its items.
        let schema = form.get("items").or_else(|| form.get("additionalProperties")).unwrap_or(form);
        let numeric = schema["type"] == "number" || schema["type"] == "integer";
        let mut fitting = values.iter().filter(|value| match schema["type"].as_str() {
            Some("number") => value.is_number(),
            Some("integer") => value.is_u64(),
            Some("boolean") => value.is_boolean(),
            _ => value.is_string(),
        });
        let value = match self {
            Self::GuessOne | Self::GuessBoth | Self::GuessBlind => numeric.then(|| Json::from(1)),
            Self::GuessAlternatives => fitting.nth(1).map(|value| (**value).clone()),
            Self::GuessValues | Self::GuessJson => fitting.next().map(|value| (**value).clone()),
            _ => None,
        }?;
        let item = || values.iter().find_map(|value| value.as_str()).unwrap_or_default();
        Some(match form["type"].as_str() {
            Some("array") => Json::Array(vec![value]),
            Some("object") => Json::Object(Map::from_iter([(item().to_owned(), value)])),
            _ => value,
        })
    }
}

/// The facts that are asked for: name and schema.
fn asked(view: &View) -> impl Iterator<Item = (&String, &Json)> {
    let facts = finish_schema(view).and_then(|schema| schema.pointer("/properties/facts/properties"));
    facts.and_then(Json::as_object).into_iter().flatten()
}

/// Appends the leaves of a reply, in order.
pub(super) fn leaves<'a>(body: &'a Json, out: &mut Vec<&'a Json>) {
    match body {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Json::Object(members) => members.values().for_each(|member| leaves(member, out)),
        leaf => out.push(leaf),
    }
}

/// Appends every value of a reply with its path, a line each.
fn list_values(body: &Json, path: &str, out: &mut String) {
    match body {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| list_values(item, &format!("{path}[{at}]"), out));
        }
        Json::Object(members) => {
            members.iter().for_each(|(name, member)| list_values(member, &format!("{path}.{name}"), out));
        }
        leaf => out.push_str(&format!("{path}: {}\n", text(leaf))),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The leaves of the replies so far, and the words of the request.
pub(super) fn seen(view: &View) -> Vec<Json> {
    let mut found = Vec::new();
    for said in &view.conversation {
        match said {
            ConversationEntry::Call(_, reply) => {
                let mut values = Vec::new();
                leaves(&reply.body, &mut values);
                found.extend(values.into_iter().cloned());
            }
            ConversationEntry::User(words) => found.extend(words.split_whitespace().map(Json::from)),
            ConversationEntry::Agent(_) => {}
        }
    }
    found
}

/// A value of a schema's kind.
pub(super) fn value(schema: &Json, seen: &[Json], rng: &mut ChaCha8Rng) -> Json {
    let of = |test: fn(&Json) -> bool| seen.iter().filter(|value| test(value)).collect::<Vec<_>>();
    let choice = |values: Vec<&Json>, rng: &mut ChaCha8Rng| values.choose(rng).map(|value| (*value).clone());
    match value_type(schema) {
        ValueType::Choice => {
            let values = schema.get("enum").and_then(Json::as_array);
            values.and_then(|values| values.choose(rng)).cloned().unwrap_or_default()
        }
        ValueType::Integer => {
            choice(of(Json::is_i64), rng).unwrap_or_else(|| Json::from(rng.random_range(1..100)))
        }
        ValueType::Number => {
            choice(of(Json::is_number), rng).unwrap_or_else(|| Json::from(rng.random_range(1..100)))
        }
        ValueType::Boolean => Json::Bool(rng.random_bool(0.5)),
        ValueType::Date => Json::from("2026-06-01"),
        ValueType::Time => Json::from("10:00"),
        ValueType::Timestamp => Json::from("2026-06-01T10:00"),
        ValueType::List => Json::Array(Vec::new()),
        ValueType::String | ValueType::Other => {
            choice(of(Json::is_string), rng).unwrap_or_else(|| Json::from("x"))
        }
    }
}
