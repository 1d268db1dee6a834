//! Varies the form of replies: kinds of ids, and envelopes of lists and records.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::doc::{ApiDoc, DomainDoc, FieldDoc, RecordsDoc, ScenarioDoc};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

/// The form of ids where the world does not state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    /// Numbers: `48213`.
    Numbers,
    /// Random UUIDs: `7d0f8a52-…`.
    Uuids,
    /// With the kind of record in front: `mem_1f90c2ab34`.
    Prefixed,
}

/// The form of lists in replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    /// As written.
    Written,
    /// An object whose list and count have these names in each API.
    Named(&'static str, &'static str),
    /// No envelope, where it holds no other value.
    Bare,
}

/// Gives a domain ids of another kind, unless an expression calculates with them.
pub(crate) fn ids(domain: &mut DomainDoc, rng: &mut ChaCha8Rng) {
    const IDS: [Ids; 3] = [Ids::Numbers, Ids::Uuids, Ids::Prefixed];
    let ids = IDS.choose(rng).copied().unwrap_or(Ids::Numbers);
    if ids == Ids::Numbers {
        return;
    }
    let written = serde_json::to_string(domain).unwrap_or_default();
    for (name, resource) in &mut domain.resources {
        let given = match &resource.records {
            RecordsDoc::Given(records) => records.iter().any(|record| record.contains_key(&resource.key)),
            RecordsDoc::Count(_) => false,
        };
        let said = given || resource.fields.contains_key(&resource.key);
        if said || reckons_with(&written, &resource.key) {
            continue;
        }
        let fake = match ids {
            Ids::Uuids => json!("uuid"),
            _ => {
                let kind: String = name.chars().filter(char::is_ascii_lowercase).take(3).collect();
                json!({ "provider": "code", "format": format!("{kind}_{{xxxxxxxxxx}}") })
            }
        };
        let key = json!({ "type": "string", "fake": fake, "description": format!("Id of the {}", name.replace('_', " ")) });
        // The description is written as a file would contain it.
        if let Ok(field) = serde_json::from_value::<FieldDoc>(key) {
            resource.fields.shift_insert(0, resource.key.clone(), field);
        }
    }
}

/// Returns true if an expression uses a key as a number: as an operand, or in `string(..)`.
fn reckons_with(written: &str, key: &str) -> bool {
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    written.match_indices(&format!(".{key}")).any(|(at, found)| {
        let (before, after) = (&written[..at], &written[at + found.len()..]);
        !after.starts_with(part)
            && (before.trim_end_matches(part).ends_with("string(")
                || after.trim_start().starts_with(['%', '+', '-', '*', '/']))
    })
}

/// Gives the replies of a domain other envelopes, and adapts its scenarios and phrases.
pub(crate) fn envelopes(domain: &mut DomainDoc, rng: &mut ChaCha8Rng) {
    const LISTS: [Lists; 6] = [
        Lists::Written,
        Lists::Written,
        Lists::Named("data", "total"),
        Lists::Named("items", "total_count"),
        Lists::Named("results", "count"),
        Lists::Bare,
    ];
    const RECORDS: [Option<&str>; 4] = [None, None, Some("data"), Some("result")];
    let lists = LISTS.choose(rng).copied().unwrap_or(Lists::Written);
    let records = if rng.random_bool(0.5) { RECORDS.choose(rng).copied().flatten() } else { None };
    let DomainDoc { apis, scenarios, resources, .. } = domain;
    let plain = find_plainly_named(scenarios, apis);
    for api in apis.iter_mut().filter(|api| plain.contains(&api.name)) {
        let of_list = api.behaviour.list.as_ref().map(|name| {
            let resource = resources.get(name);
            let noun = resource
                .and_then(|resource| resource.label.clone())
                .unwrap_or_else(|| name.replace('_', " "));
            resource
                .and_then(|resource| resource.plural.clone())
                .unwrap_or_else(|| diorama_seeds::english::plural(&noun))
        });
        let change = match (of_list, lists) {
            (Some(plural), lists) => rename_list(api, &plural, lists, scenarios),
            (None, _) => records.and_then(|name| wrap_record(api, name)),
        };
        if let Some(change) = change {
            follow(api, &change, scenarios);
        }
    }
}

/// The new paths of the members of an API's reply, by the first name of their path.
enum Change {
    /// Another name; the empty one stands for the reply itself.
    Renamed(BTreeMap<String, String>),
    /// A position inside this member.
    Inside(&'static str),
}

/// Gives a list other names; the format's defaults give the old ones.
fn rename_list(api: &mut ApiDoc, plural: &str, lists: Lists, scenarios: &[ScenarioDoc]) -> Option<Change> {
    let items = api.reply.items.clone().unwrap_or_else(|| diorama_seeds::naming::member(plural));
    let total = api.reply.total.clone().unwrap_or_else(|| "total".to_owned());
    if items.is_empty() || api.reply.envelope.is_some() {
        return None;
    }
    let free =
        |name: &str| !api.reply.with.contains_key(name) && !api.reply.paging.values().any(|own| own == name);
    let (new_items, new_total) = match lists {
        Lists::Written => return None,
        Lists::Named(items, total) if free(items) && free(total) => (items, total),
        Lists::Named(..) => return None,
        Lists::Bare => {
            let more = api.behaviour.page.is_some() || !api.reply.with.is_empty();
            let counted = list_reply_names(scenarios, &api.name).any(|(scenario, name)| {
                let reply = format!("{name}.");
                texts(scenario).iter().any(|text| members(text, &reply).any(|(_, member)| member != items))
            });
            if more || counted {
                return None;
            }
            ("", "")
        }
    };
    api.reply.items = Some(new_items.to_owned());
    // An omitted count stays omitted.
    let new_total = if total.is_empty() { "" } else { new_total };
    api.reply.total = Some(new_total.to_owned());
    let pairs = [(items, new_items.to_owned()), (total, new_total.to_owned())];
    Some(Change::Renamed(pairs.into_iter().filter(|(old, _)| !old.is_empty()).collect()))
}

/// Puts a record into an envelope.
fn wrap_record(api: &mut ApiDoc, name: &'static str) -> Option<Change> {
    let behaviour = &api.behaviour;
    let of_record =
        [&behaviour.get, &behaviour.lookup, &behaviour.create, &behaviour.replace, &behaviour.patch];
    if api.reply.envelope.is_some() || of_record.iter().all(|kind| kind.is_none()) {
        return None;
    }
    api.reply.envelope = Some(name.to_owned());
    Some(Change::Inside(name))
}

/// Lists the names that scenarios give to the replies of an API.
fn list_reply_names<'s>(
    scenarios: &'s [ScenarioDoc],
    api: &'s str,
) -> impl Iterator<Item = (&'s ScenarioDoc, String)> {
    scenarios.iter().flat_map(move |scenario| {
        let calls = scenario.calls().filter(move |call| call.call.as_deref() == Some(api));
        calls.filter_map(move |call| Some((scenario, call.name.clone()?)))
    })
}

/// Finds the APIs whose replies have unambiguous names in all scenarios.
/// An ambiguous name covers several replies, or replies of several APIs.
fn find_plainly_named(scenarios: &[ScenarioDoc], apis: &[ApiDoc]) -> BTreeSet<String> {
    let mut plain: BTreeSet<String> = apis.iter().map(|api| api.name.clone()).collect();
    for scenario in scenarios {
        let mut called: BTreeMap<&str, &str> = BTreeMap::new();
        for call in scenario.calls() {
            let (Some(api), Some(name)) = (call.call.as_deref(), call.name.as_deref()) else { continue };
            let first = *called.entry(name).or_insert(api);
            if call.each.is_some() || first != api {
                plain.remove(api);
                plain.remove(first);
            }
        }
    }
    plain
}

/// Adapts scenarios and phrases to a change.
fn follow(api: &mut ApiDoc, change: &Change, scenarios: &mut [ScenarioDoc]) {
    let phrases = &mut api.phrases.done;
    for phrase in phrases {
        *phrase = apply_change(phrase, "reply:", change);
    }
    let names: Vec<(String, String)> = list_reply_names(scenarios, &api.name)
        .map(|(scenario, name)| (scenario.name.clone(), name))
        .collect();
    for (scenario, name) in names {
        for scenario in scenarios.iter_mut().filter(|own| own.name == scenario) {
            let Ok(mut goals) = serde_json::to_value(&scenario.goals) else { continue };
            each_text(&mut goals, &mut |text| *text = apply_change(text, &format!("{name}."), change));
            if let Ok(goals) = serde_json::from_value(goals) {
                scenario.goals = goals;
            }
        }
    }
}

/// Returns the strings of a scenario's goals.
fn texts(scenario: &ScenarioDoc) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(mut goals) = serde_json::to_value(&scenario.goals) {
        each_text(&mut goals, &mut |text| texts.push(text.clone()));
    }
    texts
}

fn each_text(json: &mut Json, act: &mut dyn FnMut(&mut String)) {
    match json {
        Json::String(text) => act(text),
        Json::Array(items) => items.iter_mut().for_each(|item| each_text(item, act)),
        Json::Object(members) => members.values_mut().for_each(|member| each_text(member, act)),
        _ => {}
    }
}

/// Finds the positions at which a text names a member of a reply, with the member. `reply` is the prefix of
/// members:
/// `found.` in `{found.books}`, `reply:` in `{reply:books}`.
fn members<'t>(text: &'t str, reply: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices(reply).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|before| part(before) || matches!(before, '.' | '\'' | '"')) {
            return None;
        }
        let start = at + reply.len();
        let member = &text[start..];
        let end = member.find(|character| !part(character)).unwrap_or(member.len());
        (end > 0).then(|| (start, &member[..end]))
    })
}

fn apply_change(text: &str, reply: &str, change: &Change) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (start, member) in members(text, reply) {
        out.push_str(&text[done..start]);
        done = start + member.len();
        match change {
            Change::Renamed(names) => match names.get(member).map(String::as_str) {
                // An index or a member that follows belongs to the reply itself.
                Some("") => out.truncate(out.trim_end_matches('.').len()),
                Some(new) => out.push_str(new),
                None => out.push_str(member),
            },
            Change::Inside(envelope) => out.extend([envelope, ".", member]),
        }
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_a_reply_follow_its_new_shape() {
        let renamed = Change::Renamed([("books".to_owned(), "data".to_owned())].into());
        let text = "I found.books: {found.books[0].title}, {profound.books} {% for b in found.books %}{b.books}{% endfor %}";
        let after = "I found.data: {found.data[0].title}, {profound.books} {% for b in found.data %}{b.books}{% endfor %}";
        assert_eq!(apply_change(text, "found.", &renamed), after);
        let bare = Change::Renamed([("books".to_owned(), String::new())].into());
        assert_eq!(apply_change("count(found.books)", "found.", &bare), "count(found)");
        assert_eq!(apply_change("found.books[*].title", "found.", &bare), "found[*].title");
        assert_eq!(
            apply_change("{new.due_on|date}", "new.", &Change::Inside("data")),
            "{new.data.due_on|date}"
        );
        let phrase = "Until {reply:due_on}, from {reply:books[0].branch}";
        let inside = "Until {reply:data.due_on}, from {reply:data.books[0].branch}";
        assert_eq!(apply_change(phrase, "reply:", &Change::Inside("data")), inside);
        assert_eq!(apply_change(phrase, "reply:", &bare), "Until {reply:due_on}, from {reply:[0].branch}");
    }

    #[test]
    fn arithmetic_on_ids_is_detected() {
        assert!(reckons_with("integer(string(record.seat_id)) % 4", "seat_id"));
        assert!(reckons_with("p.seat_id % 4", "seat_id"));
        assert!(!reckons_with("p.seat_id == args.seat_id && p.seat_ids % 2", "seat_id"));
    }
}
