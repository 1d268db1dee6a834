//! Reading an exported line back gives the calls of the row.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{one, read, row, searched_row};
use crate::export::conversation::Call;
use crate::export::{Arguments, Format, Options, Searched, literal};
use crate::row::{Dialogue, Role};

/// Calls made together.
type Calls = Vec<(String, Json)>;

fn parse(text: &Json) -> Json {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

/// The calls of a row, message by message.
fn of_row(row: &Dialogue, learnt: bool) -> Vec<Calls> {
    let calling = row.messages.iter().filter(|message| !message.tool_calls.is_empty());
    let calling = calling.filter(|message| message.train || !learnt);
    calling
        .map(|message| {
            let calls = message.tool_calls.iter().map(|call| &call.function);
            calls.map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap())).collect()
        })
        .collect()
}

fn flat(calls: &[Calls]) -> Calls {
    calls.iter().flatten().cloned().collect()
}

/// A call with its name, and arguments as an object or as text; those of `call_api` are the call meant.
fn call(json: &Json) -> (String, Json) {
    let arguments =
        if json["arguments"].is_string() { parse(&json["arguments"]) } else { json["arguments"].clone() };
    match json["name"].as_str().unwrap() {
        "call_api" => call(&arguments),
        name => (name.to_owned(), arguments),
    }
}

/// The calls of messages.
fn of_messages(messages: &Json) -> Vec<Calls> {
    let calling = messages.as_array().unwrap().iter().filter_map(|message| message["tool_calls"].as_array());
    calling.map(|calls| calls.iter().map(|made| call(&made["function"])).collect()).collect()
}

/// The renderings of whole dialogues.
const WHOLE: [Searched; 2] = [Searched::Dispatch, Searched::Text];

#[test]
fn messages_give_the_same_calls() {
    for row in [row(), searched_row()] {
        for format in [Format::Openai, Format::Trl] {
            for searched in WHOLE {
                for arguments in [Arguments::Object, Arguments::String] {
                    let options = Options {
                        searched: Some(searched),
                        arguments: Some(arguments),
                        ..Options::new(format)
                    };
                    assert_eq!(of_messages(&one(options, &row)["messages"]), of_row(&row, false));
                }
            }
        }
    }
}

#[test]
fn completions_give_the_calls_to_learn_from() {
    for row in [row(), searched_row()] {
        for searched in [Searched::Deferred, Searched::Dispatch, Searched::Text] {
            let options = Options { searched: Some(searched), ..Options::new(Format::TrlPromptCompletion) };
            let lines = read(options, &row);
            let calls: Vec<Calls> = lines.iter().flat_map(|line| of_messages(&line["completion"])).collect();
            assert_eq!(calls, of_row(&row, true));
            for line in &lines {
                let turn = usize::try_from(line["turn"].as_u64().unwrap()).unwrap();
                assert_eq!(line["prompt"].as_array().unwrap().len(), turn);
                assert!(row.messages[turn].train);
            }
        }
    }
}

#[test]
fn turns_give_the_same_calls() {
    let calls = |line: &Json| -> Vec<Calls> {
        let turns = line["conversations"].as_array().unwrap().iter();
        let values = turns.filter(|turn| turn["from"] == "function_call").map(|turn| parse(&turn["value"]));
        values
            .map(|value| match value {
                Json::Array(calls) => calls.iter().map(call).collect(),
                one => vec![call(&one)],
            })
            .collect()
    };
    for row in [row(), searched_row()] {
        for format in [Format::Sharegpt, Format::LlamaFactory] {
            for searched in WHOLE {
                let line = one(Options { searched: Some(searched), ..Options::new(format) }, &row);
                assert_eq!(calls(&line), of_row(&row, false));
            }
        }
        // Human and machine alternate.
        let line = one(Options::new(Format::LlamaFactory), &row);
        for (index, turn) in line["conversations"].as_array().unwrap().iter().enumerate() {
            let own = if index % 2 == 0 { ["human", "observation"] } else { ["gpt", "function_call"] };
            assert!(own.contains(&turn["from"].as_str().unwrap()), "{index}: {turn}");
        }
    }
}

#[test]
fn answers_of_xlam_and_turns_of_api_bank_give_the_same_calls() {
    for row in [row(), searched_row()] {
        let line = one(Options::new(Format::Xlam), &row);
        let answers: Calls = parse(&line["answers"]).as_array().unwrap().iter().map(call).collect();
        assert_eq!(answers, flat(&of_row(&row, false)));
        let line = one(Options { searched: Some(Searched::Text), ..Options::new(Format::ApiBank) }, &row);
        let turns = line["dialogue"].as_array().unwrap().iter().filter(|turn| turn["role"] == "API");
        let calls: Calls = turns
            .map(|turn| (turn["api_name"].as_str().unwrap().to_owned(), turn["param_dict"].clone()))
            .collect();
        assert_eq!(calls, flat(&of_row(&row, false)));
    }
}

#[test]
fn ground_truth_and_labels_give_the_same_calls() {
    for row in [row(), searched_row()] {
        let line = one(Options { searched: Some(Searched::Text), ..Options::new(Format::Bfcl) }, &row);
        let turns = line["ground_truth"].as_array().unwrap();
        assert_eq!(turns.len(), line["question"].as_array().unwrap().len());
        let said = row.messages.iter().filter(|message| message.role == Role::User).count();
        assert_eq!(turns.len(), said);
        let calls: Calls = turns
            .iter()
            .flat_map(|turn| turn.as_array().unwrap())
            .map(|text| read_call(text.as_str().unwrap()))
            .collect();
        assert_eq!(calls, flat(&of_row(&row, false)));
        let line = one(Options::new(Format::ReverseChain), &row);
        assert_eq!(line["Label"].as_str(), row.gold_plan.as_deref());
        assert_eq!(line["Query"], row.query.as_str());
    }
}

#[test]
fn prompts_end_before_the_first_word_of_the_agent() {
    for row in [row(), searched_row()] {
        let first = row.messages.iter().position(|message| message.role == Role::Assistant).unwrap();
        let expect: Vec<Json> = row.messages[..first]
            .iter()
            .map(|message| json!({"role": message.role.as_str(), "content": message.content}))
            .collect();
        let prompt = |format, place: &str| one(Options::new(format), &row).pointer(place).unwrap().clone();
        assert_eq!(prompt(Format::PromptOnly, "/prompt"), json!(expect));
        assert_eq!(prompt(Format::Verl, "/prompt"), json!(expect));
        assert_eq!(prompt(Format::NemoGym, "/responses_create_params/input"), json!(expect));
        for (format, place) in [(Format::PromptOnly, "/checks"), (Format::Verl, "/reward_model/ground_truth")]
        {
            assert_eq!(prompt(format, place), row.checks.as_str());
        }
    }
}

/// Reads `Name(a='x')`.
fn read_call(text: &str) -> (String, Json) {
    let (name, rest) = text.split_once('(').unwrap();
    let mut rest = rest;
    let mut arguments = Map::new();
    while !rest.starts_with(')') {
        rest = rest.trim_start_matches(", ");
        if let Some(mapping) = rest.strip_prefix("**") {
            let (mapping, after) = read_value(mapping);
            arguments.extend(mapping.as_object().unwrap().clone());
            rest = after;
            continue;
        }
        let (name, after) = rest.split_once('=').unwrap();
        let (value, after) = read_value(after);
        arguments.insert(name.to_owned(), value);
        rest = after;
    }
    assert_eq!(rest, ")");
    (name.to_owned(), Json::Object(arguments))
}

fn read_value(text: &str) -> (Json, &str) {
    for (word, value) in [("None", Json::Null), ("True", json!(true)), ("False", json!(false))] {
        if let Some(rest) = text.strip_prefix(word) {
            return (value, rest);
        }
    }
    match text.chars().next().unwrap() {
        '\'' => {
            let mut read = String::new();
            let mut letters = text[1..].char_indices();
            while let Some((at, letter)) = letters.next() {
                match letter {
                    '\'' => return (Json::String(read), &text[at + 2..]),
                    '\\' => read.push(match letters.next().unwrap().1 {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        other => other,
                    }),
                    other => read.push(other),
                }
            }
            panic!("no end: {text}")
        }
        '[' => {
            let mut items = Vec::new();
            let mut rest = &text[1..];
            while !rest.starts_with(']') {
                let (item, after) = read_value(rest.trim_start_matches(", "));
                items.push(item);
                rest = after;
            }
            (Json::Array(items), &rest[1..])
        }
        '{' => {
            let mut members = Map::new();
            let mut rest = &text[1..];
            while !rest.starts_with('}') {
                let (name, after) = read_value(rest.trim_start_matches(", "));
                let (value, after) = read_value(after.strip_prefix(": ").unwrap());
                members.insert(name.as_str().unwrap().to_owned(), value);
                rest = after;
            }
            (Json::Object(members), &rest[1..])
        }
        _ => {
            let end = text.find([',', ')', ']', '}']).unwrap();
            (serde_json::from_str(&text[..end]).unwrap(), &text[end..])
        }
    }
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn calls_as_text_are_read_back(arguments in prop::collection::btree_map("[a-z_]{1,8}|from|X-[a-z]{1,4}", json_value(), 0..4)) {
        let arguments: Map<String, Json> = arguments.into_iter().collect();
        let call = Call::new("call_0".into(), "Do.It".into(), arguments.clone());
        prop_assert_eq!(read_call(&literal::call(&call)), ("Do.It".to_owned(), Json::Object(arguments)));
    }
}
