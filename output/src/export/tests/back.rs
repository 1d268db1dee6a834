//! Parses exported lines and compares their calls with those of the row.

use serde_json::{Value as Json, json};

use super::{NO_MUTANTS, mistaken_row, one, read, row, searched_row};
use crate::export::formats::write;
use crate::export::{Arguments, Format, Options, SearchForm};
use crate::row::{Dialogue, Role};

/// Calls made together.
type Calls = Vec<(String, Json)>;

fn parse(text: &Json) -> Json {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

/// Returns the calls of a row by message.
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

/// Returns the name and arguments of a call, which may be an object or a string. A call of `call_api` becomes
/// the inner call.
fn call(json: &Json) -> (String, Json) {
    let arguments =
        if json["arguments"].is_string() { parse(&json["arguments"]) } else { json["arguments"].clone() };
    match json["name"].as_str().unwrap() {
        "call_api" => call(&arguments),
        name => (name.to_owned(), arguments),
    }
}

/// Returns the calls of messages.
fn of_messages(messages: &Json) -> Vec<Calls> {
    let calling = messages.as_array().unwrap().iter().filter_map(|message| message["tool_calls"].as_array());
    calling.map(|calls| calls.iter().map(|made| call(&made["function"])).collect()).collect()
}

/// The renderings of whole dialogues.
const WHOLE: [SearchForm; 2] = [SearchForm::Dispatch, SearchForm::Text];

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
    for row in [row(), searched_row(), mistaken_row()] {
        for searched in [SearchForm::Deferred, SearchForm::Dispatch, SearchForm::Text] {
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
        let calling = turns.filter(|turn| turn["from"] == "function_call");
        let values = calling.map(|turn| {
            let text = turn["value"].as_str().unwrap();
            let beside =
                text.split_once("<tool_call>").map(|(_, call)| call.strip_suffix("</tool_call>").unwrap());
            serde_json::from_str::<Json>(beside.unwrap_or(text)).unwrap()
        });
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
        // Text beside a call comes before it.
        let line = one(Options::new(Format::LlamaFactory), &searched_row());
        let said = line["conversations"][1]["value"].as_str().unwrap();
        assert!(said.starts_with("One moment.<tool_call>{"), "{said}");
        // Human and machine alternate.
        let line = one(Options::new(Format::LlamaFactory), &row);
        for (index, turn) in line["conversations"].as_array().unwrap().iter().enumerate() {
            let own = if index % 2 == 0 { ["human", "observation"] } else { ["gpt", "function_call"] };
            assert!(own.contains(&turn["from"].as_str().unwrap()), "{index}: {turn}");
        }
    }
}

#[test]
fn answers_of_xlam_give_the_same_calls() {
    for row in [row(), searched_row()] {
        let line = one(Options::new(Format::Xlam), &row);
        let answers: Calls = parse(&line["answers"]).as_array().unwrap().iter().map(call).collect();
        assert_eq!(answers, flat(&of_row(&row, false)));
    }
}

#[test]
fn labels_are_plans_of_one_goal_each() {
    let check = |row: &Dialogue, expect: &[(&str, &str)]| {
        let lines = read(Options::new(Format::ReverseChain), row);
        let found =
            lines.iter().map(|line| (line["Label"].as_str().unwrap(), line["Query"].as_str().unwrap()));
        assert_eq!(found.collect::<Vec<_>>(), expect);
    };
    check(&row(), &[("FindDentist(name='Ann 0')", "Where are Ann and Tom?")]);
    // The first goal of the other row has two plans.
    let cancelled = "CancelBooking(booking_id=BookRoom(room=7))";
    let mut row = searched_row();
    check(&row, &[(cancelled, "Cancel it again.")]);
    // A value that was said before the goal is not in its query, nor is a value calculated from it.
    let mut gold: Json = serde_json::from_str(&row.gold_calls).unwrap();
    let said = json!({"from": "user", "turn": 0, "start": 0, "end": 1});
    let sum = json!({"from": "arithmetic", "operation": "add", "of": [said, {"from": "default"}]});
    for source in [said, sum] {
        gold[1]["sources"] = json!({"room": source});
        row.gold_calls = gold.to_string();
        check(&row, &[]);
    }
}

#[test]
fn labels_that_were_cut_are_no_plans() {
    let call = |number: u32| match number.checked_sub(1) {
        Some(before) => {
            let source = json!({"from": "reply", "call": before, "path": "id"});
            json!({"api": "BookRoom", "arguments": {"a": 1, "b": 1}, "sources": {"a": source, "b": source}})
        }
        None => json!({"api": "BookRoom", "arguments": {"room": 7}, "sources": {}}),
    };
    let labels = |calls: u32| -> Vec<String> {
        let gold_calls = (0..calls).map(call).collect::<Json>().to_string();
        let row = Dialogue { gold_calls, episode: "{}".into(), ..row() };
        let lines = read(Options::new(Format::ReverseChain), &row);
        lines.iter().map(|line| line["Label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels(2), ["BookRoom(a=BookRoom(room=7), b=BookRoom(room=7))"]);
    // The label of the eleventh call is too long, so the twelfth's would have `BookRoom(...)` twice.
    assert_eq!((labels(10).len(), labels(11).len(), labels(12).len()), (1, 0, 0));
}

#[test]
fn goals_without_a_line_are_counted() {
    let shape = Options::new(Format::ReverseChain).shape().unwrap();
    let mut row = searched_row();
    // The first goal has two plans.
    let written = write(&shape, 0, &row, NO_MUTANTS).unwrap();
    assert_eq!((written.lines.len(), written.goals_left_out), (1, 1));
    // The user opens the second goal without a message, so it has no query.
    let mut episode: Json = serde_json::from_str(&row.episode).unwrap();
    let events = episode["events"].as_array_mut().unwrap();
    let second = events.iter().rposition(|event| event.get("user").is_some()).unwrap();
    let said = events.remove(second);
    row.episode = episode.to_string();
    let second = row.messages.iter().rposition(|message| message.role == Role::User).unwrap();
    row.messages.remove(second);
    assert!(write(&shape, 0, &row, NO_MUTANTS).unwrap().lines.is_empty());
    // More turns than messages are a fault, not a goal without a line.
    let events = episode["events"].as_array_mut().unwrap();
    events.insert(0, said);
    row.episode = episode.to_string();
    let error = write(&shape, 0, &row, NO_MUTANTS).unwrap_err().to_string();
    assert!(error.ends_with("column `episode` has 2 turns of the user, the messages have 1"), "{error}");
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
