//! Owns the turns of a row: each argument and each stated fact with its source.

use std::collections::HashMap;

use diorama_console::{Argument, CallTurn, Source, Speaker, Turn};
use diorama_output::row::parts::{Episode, Event};
use diorama_output::row::{Dialogue, Role};
use diorama_seeds::answer::{FactClaim, GoldAnswer};
use diorama_seeds::pointer::from_path;
use diorama_seeds::task::{ArgumentSource, GoldCall};
use serde_json::{Map, Value as Json};

use crate::evaluation::measures::word_of;

/// Maximum depth of nested sources.
const MAX_DEPTH: usize = 4;

/// Positions of the turns to which sources point.
#[derive(Default)]
struct Places {
    system: Option<(usize, String)>,
    /// Turns of the user in order, with their words.
    user: Vec<(usize, String)>,
    /// Calls in order, with their replies.
    calls: Vec<(usize, Json)>,
}

/// Returns the turns of a row.
pub(super) fn turns(row: &Dialogue) -> Vec<Turn> {
    let gold: Vec<GoldCall> = serde_json::from_str(&row.gold_calls).unwrap_or_default();
    let answer: GoldAnswer = serde_json::from_str(&row.gold_answer).unwrap_or_default();
    let goals = goals_by_statement(row);
    let replies: HashMap<&str, &str> = row
        .messages
        .iter()
        .filter_map(|message| Some((message.tool_call_id.as_deref()?, message.content.as_deref()?)))
        .collect();
    let (mut turns, mut places, mut statements) = (Vec::new(), Places::default(), 0);
    for message in &row.messages {
        let content = message.content.as_deref().unwrap_or_default();
        match message.role {
            Role::System => places.system = Some((turns.len(), content.to_owned())),
            Role::User => places.user.push((turns.len(), content.to_owned())),
            Role::Tool => continue,
            Role::Assistant => {}
        }
        if !content.is_empty() {
            turns.push(Turn::Message {
                speaker: speaker(message.role),
                text: content.to_owned(),
                remark: None,
            });
        }
        for call in &message.tool_calls {
            let reply = replies.get(call.id.as_str()).copied().unwrap_or_default();
            let reference = gold.get(places.calls.len()).filter(|gold| gold.api == call.function.name);
            let shown = CallTurn {
                api: call.function.name.clone(),
                arguments: arguments(&call.function.arguments, reference, &places),
                status: None,
                reply: reply.to_owned(),
                remark: reference.filter(|gold| gold.mistake).map(|_| "avoidable error".to_owned()),
            };
            places.calls.push((turns.len(), serde_json::from_str(reply).unwrap_or_default()));
            turns.push(Turn::Call(shown));
        }
        if message.role == Role::Assistant && !content.is_empty() {
            let claims = goals.get(&statements).and_then(|goal| answer.claims.get(*goal));
            let facts: Vec<Argument> = claims
                .into_iter()
                .flat_map(|claims| &claims.ends.facts)
                .map(|fact| fact_argument(fact, &places))
                .collect();
            if !facts.is_empty() {
                turns.push(Turn::Facts(facts));
            }
            statements += 1;
        }
    }
    turns
}

/// Returns the JSON columns of a row that the console shows, by title.
pub(super) fn documents(row: &Dialogue) -> Vec<(String, String)> {
    let columns = [
        ("Checks", &row.checks),
        ("What the user knows", &row.user_facts),
        ("Gates", &row.gates),
        ("Tools", &row.tools),
        ("Episode", &row.episode),
        ("Provenance", &row.provenance),
    ];
    columns.into_iter().map(|(name, text)| (name.to_owned(), text.clone())).collect()
}

const fn speaker(role: Role) -> Speaker {
    match role {
        Role::System => Speaker::System,
        Role::User => Speaker::User,
        Role::Assistant | Role::Tool => Speaker::Assistant,
    }
}

/// Returns the goal that each statement of the assistant ends, by the position of the statement.
fn goals_by_statement(row: &Dialogue) -> HashMap<usize, usize> {
    let Ok(episode) = serde_json::from_str::<Episode>(&row.episode) else { return HashMap::new() };
    let (mut last, mut goals) = (None, 0..);
    let mut found = HashMap::new();
    for event in &episode.events {
        match event {
            Event::Say(number) => last = Some(*number as usize),
            Event::End(_) => {
                let goal = goals.next().unwrap_or_default();
                found.extend(last.take().map(|statement| (statement, goal)));
            }
            Event::User(_) | Event::Call(_) | Event::Confirm(_) => {}
        }
    }
    found
}

fn arguments(text: &str, reference: Option<&GoldCall>, places: &Places) -> Vec<Argument> {
    let arguments: Map<String, Json> = serde_json::from_str(text).unwrap_or_default();
    let with_source = |(name, value): (String, Json)| {
        let source = reference.and_then(|reference| reference.sources.get(&name));
        Argument {
            source: source.map(|source| describe(source, places, MAX_DEPTH)),
            name,
            value: Some(value),
        }
    };
    arguments.into_iter().map(with_source).collect()
}

/// Returns a stated fact, with its value in the reply that shows it.
fn fact_argument(fact: &FactClaim, places: &Places) -> Argument {
    let reply = places.calls.get(fact.call);
    let value = reply.and_then(|(_, json)| json.pointer(&from_path(&fact.path))).cloned();
    let name = fact.about.clone().unwrap_or_else(|| fact.path.clone());
    let origin = format!("reply to call {}, {}", fact.call + 1, fact.path);
    Argument { name, value, source: Some(Source { origin, quote: None, turn: reply.map(|(turn, _)| *turn) }) }
}

/// Describes a source in words, with the text to which it points.
fn describe(source: &ArgumentSource, places: &Places, depth: usize) -> Source {
    let plain = |origin: String| Source { origin, quote: None, turn: None };
    let slice = |text: &str, start: u32, end: u32| text.get(start as usize..end as usize).map(str::to_owned);
    let call_turn = |call: u32| places.calls.get(call as usize).map(|(turn, _)| *turn);
    match source {
        ArgumentSource::User { turn, start, end, by } => {
            let found = places.user.get(*turn as usize);
            Source {
                origin: format!("user, turn {}, {}", turn + 1, word_of(by).replace('_', " ")),
                quote: found.and_then(|(_, text)| slice(text, *start, *end)),
                turn: found.map(|(turn, _)| *turn),
            }
        }
        ArgumentSource::System { start, end } => Source {
            origin: "system message".to_owned(),
            quote: places.system.as_ref().and_then(|(_, text)| slice(text, *start, *end)),
            turn: places.system.as_ref().map(|(turn, _)| *turn),
        },
        ArgumentSource::Reply { call, path } => Source {
            origin: format!("reply to call {}, {path}", call + 1),
            quote: None,
            turn: call_turn(*call),
        },
        ArgumentSource::Replies { places: parts } => {
            let parts: Vec<String> =
                parts.iter().map(|(call, path)| format!("call {}, {path}", call + 1)).collect();
            plain(format!("replies to {}", parts.join("; ")))
        }
        ArgumentSource::Keywords { turns, calls } => {
            plain(format!("keywords from {}", several(turns, calls)))
        }
        ArgumentSource::Dictated { turns, calls } => {
            plain(format!("the user's words in {}", several(turns, calls)))
        }
        ArgumentSource::Default => plain("default of the parameter".to_owned()),
        ArgumentSource::Choice => plain("a documented value, to look closer".to_owned()),
        ArgumentSource::Clock { by } => plain(format!("clock, {}", word_of(by).replace('_', " "))),
        ArgumentSource::Arithmetic { operation, of } => {
            let Some(depth) = depth.checked_sub(1) else { return plain(operation.clone()) };
            let parts: Vec<String> = of.iter().map(|part| describe(part, places, depth).origin).collect();
            plain(format!("{operation} of {}", parts.join(" and ")))
        }
    }
}

/// Describes user turns and calls in words.
fn several(turns: &[u32], calls: &[u32]) -> String {
    let turns = turns.iter().map(|turn| format!("user turn {}", turn + 1));
    let calls = calls.iter().map(|call| format!("reply to call {}", call + 1));
    turns.chain(calls).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use diorama_output::row::{Message, Split, ToolCall};
    use diorama_seeds::task::Ability;
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_and_facts_show_their_sources() {
        let system = "Signed in: token t1.";
        let user = "Cancel visit 7, and say when it was.";
        let call = ToolCall::new("c0", "Cancel", r#"{"visit": 7, "token": "t1"}"#);
        let messages = vec![
            Message::new(Role::System, system),
            Message::new(Role::User, user),
            Message::calling(vec![call.clone()]),
            Message::reply(&call, r#"{"visits": [{"at": "9:00"}]}"#),
            Message::new(Role::Assistant, "It was at 9:00."),
        ];
        let gold = json!([{"api": "Cancel", "arguments": {"visit": 7, "token": "t1"}, "sources": {
            "visit": {"from": "user", "turn": 0, "start": 13, "end": 14},
            "token": {"from": "system", "start": 17, "end": 19},
        }}]);
        let episode = json!({
            "clock": "", "zone": "", "session_seed": 0, "identity": null, "search": "", "visible": [], "outcome": "done",
            "events": [{"user": 0}, {"call": 0}, {"say": 0}, {"end": "done"}],
        });
        let answer = json!({"claims": [{"ends": {"outcome": "done", "facts": [{"call": 0, "path": "visits[0].at"}]}}]});
        let row = Dialogue {
            id: "r".into(),
            split: Split::Train,
            ability: Ability::Call,
            depth: 1,
            rc_level: None,
            tags: Vec::new(),
            difficulty: None,
            world_id: String::new(),
            world_hash: String::new(),
            domains: Vec::new(),
            query: user.into(),
            tools: "[]".into(),
            messages,
            episode: episode.to_string(),
            gold_calls: gold.to_string(),
            gold_plan: None,
            gold_answer: answer.to_string(),
            checks: "{}".into(),
            user_facts: "{}".into(),
            initial_state_hash: String::new(),
            final_state_hash: String::new(),
            gates: "{}".into(),
            license: String::new(),
            source: String::new(),
            provenance: "{}".into(),
        };
        let found = turns(&row);
        let sources: Vec<_> = found
            .iter()
            .flat_map(|turn| match turn {
                Turn::Call(call) => call.arguments.clone(),
                Turn::Facts(facts) => facts.clone(),
                _ => Vec::new(),
            })
            .map(|argument| {
                let source = argument.source.unwrap();
                (source.origin, argument.value, source.quote, source.turn)
            })
            .collect();
        let expect = [
            ("user, turn 1, verbatim", json!(7), Some("7"), 1),
            ("system message", json!("t1"), Some("t1"), 0),
            ("reply to call 1, visits[0].at", json!("9:00"), None, 2),
        ];
        let expect = expect.map(|(origin, value, quote, turn)| {
            (origin.to_owned(), Some(value), quote.map(str::to_owned), Some(turn))
        });
        assert_eq!(sources, expect);
        assert_eq!(found.len(), 5);
    }
}
