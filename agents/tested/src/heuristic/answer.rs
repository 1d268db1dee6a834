//! The facts of an ending, from the replies, newest first: the members that they are named after.

use std::collections::BTreeSet;

use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::grade::extract::prose::Prose;
use serde_json::{Map, Value as Json};

use super::slots::Words;
use crate::environment::{Said, View};
use crate::types::{Kind, kind};

/// The facts that a schema of `finish` asks for and the replies give.
pub(super) fn facts(schema: &Json, view: &View, words: &Words) -> Map<String, Json> {
    let asked = schema.pointer("/properties/facts/properties").and_then(Json::as_object);
    let bodies: Vec<&Json> = view
        .conversation
        .iter()
        .rev()
        .filter_map(|said| match said {
            Said::Call(call, reply) if reply.status < 300 && call.api != TOOL_SEARCHER => Some(&reply.body),
            _ => None,
        })
        .collect();
    let fact = |(name, schema): (&String, &Json)| {
        let value = bodies.iter().find_map(|body| fact(name, schema, body, words))?;
        Some((name.clone(), value))
    };
    asked.into_iter().flatten().filter_map(fact).collect()
}

/// How many of the facts asked for share a word with a member of a reply.
pub(super) fn given(reply: &Json, asked: &[String]) -> usize {
    let members = crate::types::members(reply);
    let shares = |fact: &&String| {
        let wanted: BTreeSet<u64> = Prose::stems_of(fact).into_iter().collect();
        members.iter().any(|(member, _)| overlap(member, &wanted) > 0)
    };
    asked.iter().filter(shares).count()
}

fn fact(name: &str, schema: &Json, body: &Json, words: &Words) -> Option<Json> {
    let about = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    let wanted: BTreeSet<u64> = Prose::stems_of(name).into_iter().chain(Prose::stems_of(about)).collect();
    let asked = kind(schema);
    if asked == Kind::List {
        let item = schema.get("items").map_or(Kind::Text, kind);
        let mut found = Vec::new();
        every(body, &mut |member, value| {
            if fits(value, item).is_some() && overlap(member, &wanted) > 0 {
                found.push(value.clone());
            }
        });
        return (!found.is_empty()).then_some(Json::Array(found));
    }
    let mut best = None;
    let mut read = |record: &Map<String, Json>| {
        let named = words.named(&Json::Object(record.clone()));
        let members = record.iter().filter_map(|(member, value)| {
            let value = fits(value, asked)?;
            Some((overlap(member, &wanted), value))
        });
        let (shared, value) = members.max_by_key(|(shared, _)| *shared)?;
        (shared > 0).then_some((shared * 100 + named, value))
    };
    words.best_of(body, &mut read, &mut best);
    best.map(|(_, value)| value).or_else(|| counted(asked, body)).or_else(|| alone(asked, body))
}

/// The only value of a kind that a reply has, whatever its name.
fn alone(asked: Kind, body: &Json) -> Option<Json> {
    if !matches!(asked, Kind::Date | Kind::Time | Kind::Moment | Kind::Boolean | Kind::Number) {
        return None;
    }
    let mut found: Vec<Json> = Vec::new();
    every(body, &mut |_, value| found.extend(fits(value, asked)));
    let [value] = found.as_slice() else { return None };
    Some(value.clone())
}

/// How many there are, where a number is asked for that no member is named after.
fn counted(asked: Kind, body: &Json) -> Option<Json> {
    if asked != Kind::Whole {
        return None;
    }
    let members = body.as_object()?;
    let total = ["total", "count", "total_results", "total_count"].iter().find_map(|name| members.get(*name));
    let listed = || members.values().find_map(Json::as_array).map(|items| Json::from(items.len()));
    total.cloned().or_else(listed)
}

fn overlap(member: &str, wanted: &BTreeSet<u64>) -> usize {
    let stems: BTreeSet<u64> = Prose::stems_of(member).into_iter().collect();
    stems.intersection(wanted).count()
}

/// A value as a kind of fact, where it is one.
fn fits(value: &Json, asked: Kind) -> Option<Json> {
    let text = |length: usize| value.as_str().and_then(|text| text.get(..length)).map(Json::from);
    match asked {
        Kind::Whole => value.is_i64().then(|| value.clone()),
        Kind::Number => value.is_number().then(|| value.clone()),
        Kind::Boolean => value.is_boolean().then(|| value.clone()),
        Kind::Date => text(10).filter(|day| day.as_str().is_some_and(|day| day.as_bytes()[4] == b'-')),
        Kind::Time => value.as_str().filter(|text| text.as_bytes().get(2) == Some(&b':')).map(Json::from),
        Kind::Moment => text(16).filter(|_| value.as_str().is_some_and(|text| text.contains('T'))),
        Kind::Text | Kind::Choice => value.is_string().then(|| value.clone()),
        Kind::List => None,
        Kind::Other => (value.is_string() || value.is_i64()).then(|| value.clone()),
    }
}

/// Calls a function with every leaf and the name of its member.
fn every(value: &Json, found: &mut impl FnMut(&str, &Json)) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| every(item, found)),
        Json::Object(members) => {
            for (name, member) in members {
                if member.is_object() || member.is_array() {
                    every(member, found);
                } else {
                    found(name, member);
                }
            }
        }
        _ => {}
    }
}
