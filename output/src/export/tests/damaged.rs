//! Pairs of a message and the same message damaged.

use serde_json::{Value as Json, json};

use super::{read, row, searched_row};
use crate::export::{Format, Options, Searched, damage};
use crate::row::{Dialogue, Message, Role};

fn pair(row: &Dialogue) -> Option<Json> {
    let mut lines = read(Options::new(Format::TrlPreference), row);
    assert!(lines.len() < 2);
    lines.pop()
}

/// The pairs of the same conversation under many ids.
fn pairs(row: &Dialogue) -> Vec<Json> {
    let ids = (0..200).map(|number| Dialogue { id: format!("d{number}"), ..row.clone() });
    ids.filter_map(|row| pair(&row)).collect()
}

#[test]
fn each_kind_of_damage_is_worse_in_its_own_way() {
    let mut seen = std::collections::BTreeSet::new();
    for row in [row(), searched_row()] {
        for line in pairs(&row) {
            let turn = usize::try_from(line["turn"].as_u64().unwrap()).unwrap();
            let (chosen, rejected) = (&line["chosen"][0], &line["rejected"][0]);
            assert_eq!(line["chosen"].as_array().unwrap().len(), 1);
            assert_eq!(line["rejected"].as_array().unwrap().len(), 1);
            assert_eq!(line["prompt"].as_array().unwrap().len(), turn);
            assert!(row.messages[turn].train);
            assert_ne!(chosen["tool_calls"], rejected["tool_calls"]);
            let calls = |message: &Json| message["tool_calls"].as_array().cloned().unwrap_or_default();
            let differing: Vec<(Json, Json)> =
                calls(chosen).into_iter().zip(calls(rejected)).filter(|(one, other)| one != other).collect();
            let kind = line["damage"].as_str().unwrap().to_owned();
            match kind.as_str() {
                "drop_call" => {
                    assert!(calls(rejected).is_empty());
                    let said = rejected["content"].as_str();
                    let later = row.messages[turn..].iter();
                    let said_later = later.clone().any(|message| message.content.as_deref() == said);
                    assert!(said.is_some() && said_later, "{rejected}");
                }
                other => {
                    assert_eq!(calls(chosen).len(), calls(rejected).len());
                    assert_eq!(differing.len(), 1);
                    let (one, changed) = (&differing[0].0["function"], &differing[0].1["function"]);
                    assert_eq!(one["name"] == changed["name"], other == "change_argument");
                    let names =
                        line["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]);
                    assert!(names.into_iter().any(|name| *name == changed["name"]), "{changed}");
                    let tools = line["tools"].as_array().unwrap().iter();
                    let mut tools = tools.filter(|tool| tool["function"]["name"] == changed["name"]);
                    let schema = &tools.next().unwrap()["function"]["parameters"];
                    let arguments = changed["arguments"].as_object().unwrap();
                    for name in schema["required"].as_array().into_iter().flatten() {
                        assert!(arguments.contains_key(name.as_str().unwrap()), "{changed}");
                    }
                    for (name, value) in arguments {
                        assert!(damage::fits(value, &schema["properties"][name]), "{changed}");
                    }
                }
            }
            seen.insert(kind);
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["change_argument", "drop_call", "other_api"]);
}

#[test]
fn the_same_row_has_the_same_pair() {
    assert_eq!(pairs(&row()), pairs(&row()));
    // And the same damage in each rendering.
    let rendered = |searched| {
        let options = Options { searched: Some(searched), ..Options::new(Format::TrlPreference) };
        read(options, &searched_row()).remove(0)
    };
    let (text, dispatch) = (rendered(Searched::Text), rendered(Searched::Dispatch));
    assert_eq!(text["turn"], dispatch["turn"]);
    assert_eq!(text["damage"], dispatch["damage"]);
    let direct = &text["rejected"][0]["tool_calls"][0]["function"];
    let through = &dispatch["rejected"][0]["tool_calls"][0]["function"];
    if direct.is_object() {
        assert_eq!(through["arguments"], json!({"name": direct["name"], "arguments": direct["arguments"]}));
    }
}

#[test]
fn a_row_that_calls_nothing_has_no_pair() {
    let messages = vec![Message::new(Role::User, "Hello."), Message::new(Role::Assistant, "Hello!")];
    assert_eq!(pair(&Dialogue { messages, ..row() }), None);
}

#[test]
fn values_have_the_form_of_their_schema() {
    let check = |value: Json, schema: Json, expect: bool| {
        assert_eq!(damage::fits(&value, &schema), expect, "{value} {schema}");
    };
    check(json!(7), json!({"type": "integer", "maximum": 7}), true);
    check(json!(8), json!({"type": "integer", "maximum": 7}), false);
    check(json!("7"), json!({"type": ["integer", "null"]}), false);
    check(json!("2026-02-28"), json!({"type": "string", "format": "date"}), true);
    check(json!("2026-02-29"), json!({"type": "string", "format": "date"}), false);
    check(json!("AB-2"), json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]$"}), true);
    check(json!("AB-22"), json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]$"}), false);
    check(json!(["a", "b"]), json!({"type": "array", "items": {"enum": ["a"]}}), false);
    check(json!(null), json!({}), true);
}
