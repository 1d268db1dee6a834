//! Owns the tests of a whole row in each format, and of the effect of options.

use serde_json::{Value as Json, json};

use super::{mistaken_row, one, read, row, searched_row};
use crate::export::{Answers, Arguments, Content, Format, Options, Parallel, RowId, SearchForm};
use crate::row::Dialogue;

#[test]
fn each_format_has_its_shape() {
    for format in Format::ALL {
        insta::assert_json_snapshot!(format.as_str(), read(Options::new(format), &row()));
    }
}

#[test]
fn each_format_has_its_shape_for_a_row_with_searches() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Jsonl) {
        insta::assert_json_snapshot!(
            format!("{format}_searched"),
            read(Options::new(format), &searched_row())
        );
    }
}

#[test]
fn every_line_has_the_id_of_its_row() {
    for format in Format::ALL {
        for row in [row(), searched_row()] {
            for line in read(Options::new(format), &row) {
                assert_eq!(line["id"], row.id.as_str(), "{format}");
            }
        }
    }
}

#[test]
fn a_line_for_an_upload_has_the_members_of_the_format_alone() {
    let line = one(Options { row_id: Some(RowId::Drop), ..Options::new(Format::Openai) }, &row());
    assert_eq!(line.as_object().unwrap().keys().collect::<Vec<_>>(), ["messages", "tools"]);
}

#[test]
fn no_trainer_learns_from_a_mistake() {
    let mut late = mistaken_row();
    late.messages[2].train = true;
    late.messages[7].train = false;
    for format in [Format::Trl, Format::Sharegpt, Format::LlamaFactory] {
        assert_eq!(read(Options::new(format), &mistaken_row()), Vec::<Json>::new(), "{format}");
        let line = one(Options::new(format), &late);
        let messages = line.get("messages").unwrap_or_else(|| &line["conversations"]).as_array().unwrap();
        let last = messages.last().unwrap();
        assert!(last.get("tool_calls").is_some() || last["from"] == "function_call", "{format}: {last}");
        assert!(!line.to_string().contains("At \\\"1"), "{format}");
    }
    let line = one(Options::new(Format::Openai), &mistaken_row());
    assert_eq!((&line["messages"][2]["weight"], line["messages"][4].get("weight")), (&json!(0), None));
    let lines = read(Options::new(Format::TrlPromptCompletion), &mistaken_row());
    let turns: Vec<&Json> = lines.iter().map(|line| &line["turn"]).collect();
    assert_eq!(turns, [4, 7]);
}

#[test]
fn each_format_is_described() {
    let text = include_str!("../../../../docs/exports.md");
    for format in Format::ALL {
        assert!(text.contains(&format!("\n## {format}\n")), "{format}");
    }
}

/// Returns the tool names and the messages of a row.
fn rendered(searched: SearchForm, row: &Dialogue) -> (Vec<String>, Vec<Json>) {
    let value = one(Options { searched: Some(searched), ..Options::new(Format::Openai) }, row);
    let names = value["tools"].as_array().unwrap().iter();
    let names = names.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    (names, value["messages"].as_array().unwrap().clone())
}

#[test]
fn whole_dialogues_render_searches_in_two_ways() {
    let schemas = json!(searched_row().messages[2].content);
    let (tools, messages) = rendered(SearchForm::Dispatch, &searched_row());
    assert_eq!(tools, ["ToolSearcher", "call_api"]);
    assert_eq!(messages[2]["content"], schemas);
    let call = json!({"name": "call_api", "arguments": r#"{"name":"BookRoom","arguments":{"room":7}}"#});
    assert_eq!(messages[3]["tool_calls"][0]["function"], call);
    let (tools, messages) = rendered(SearchForm::Text, &searched_row());
    assert_eq!(tools, ["ToolSearcher"]);
    assert_eq!(messages[2]["content"], schemas);
    assert_eq!(messages[3]["tool_calls"][0]["function"]["name"], "BookRoom");
    // Rows whose tools are visible from the start are unchanged.
    assert_eq!(rendered(SearchForm::Text, &row()), rendered(SearchForm::Dispatch, &row()));
}

#[test]
fn lines_that_end_at_one_message_show_the_tools_found_before_it() {
    let lines = read(Options::new(Format::TrlPromptCompletion), &searched_row());
    let tools = |line: &Json| -> Vec<String> {
        let tools = line["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tools(&lines[0]), ["ToolSearcher"]);
    assert_eq!(tools(&lines[1]), ["ToolSearcher", "BookRoom", "FindRoom"]);
    assert_eq!(tools(&lines[5]), ["ToolSearcher", "BookRoom", "FindRoom", "CancelBooking"]);
    assert_eq!(lines[1]["prompt"][2]["content"], r#"{"tools":[{"name":"BookRoom"},{"name":"FindRoom"}]}"#);
    assert_eq!(lines[1]["completion"][0]["tool_calls"][0]["function"]["name"], "BookRoom");
}

#[test]
fn no_whole_dialogue_shows_at_its_start_what_a_search_finds() {
    let takes =
        |format, searched| Options { searched: Some(searched), ..Options::new(format) }.shape().is_ok();
    let whole = |format: &Format| takes(*format, SearchForm::Text) && !takes(*format, SearchForm::Deferred);
    let formats: Vec<Format> = Format::ALL.into_iter().filter(whole).collect();
    assert!(formats.contains(&Format::Trl) && formats.contains(&Format::Openai), "{formats:?}");
    for format in formats {
        let line = read(Options::new(format), &searched_row()).remove(0);
        let tools = &line["tools"];
        assert!(!tools.to_string().contains("CancelBooking"), "{format}: {tools}");
    }
}

#[test]
fn a_message_that_only_calls_has_the_content_asked_for() {
    let contents = |format: Format, content: Option<Content>| -> Vec<Option<Json>> {
        let value = one(Options { content, ..Options::new(format) }, &searched_row());
        let messages = value["messages"].as_array().unwrap().iter();
        messages.map(|message| message.get("content").cloned()).collect()
    };
    for format in [Format::Openai, Format::Trl] {
        assert_eq!(contents(format, Some(Content::Empty))[3], Some(json!("")));
        assert_eq!(contents(format, Some(Content::Null))[3], Some(Json::Null));
        assert_eq!(contents(format, Some(Content::Absent))[3], None);
        // A message with text and calls keeps its text.
        for content in [Content::Empty, Content::Null, Content::Absent] {
            assert_eq!(contents(format, Some(content))[1], Some(json!("One moment.")));
        }
    }
    assert_eq!(contents(Format::Openai, None)[3], Some(Json::Null));
    assert_eq!(contents(Format::Trl, None)[3], Some(json!("")));
}

#[test]
fn ids_of_calls_are_nine_letters_and_digits() {
    let mut seen = std::collections::BTreeSet::new();
    for row in [row(), searched_row()] {
        for format in [Format::Openai, Format::Trl] {
            let line = one(Options { answers: Some(Answers::Structured), ..Options::new(format) }, &row);
            let mut open: Vec<String> = Vec::new();
            let mut calls = 0;
            for message in line["messages"].as_array().unwrap() {
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let id = call["id"].as_str().unwrap();
                    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
                    open.push(id.to_owned());
                    calls += 1;
                }
                if message["role"] == "tool" {
                    assert_eq!(message["tool_call_id"], open.remove(0).as_str());
                }
            }
            seen.extend(line["messages"].as_array().unwrap().iter().filter_map(|message| {
                Some(
                    message["tool_calls"]
                        .as_array()?
                        .iter()
                        .map(|call| call["id"].to_string())
                        .collect::<Vec<_>>(),
                )
            }));
            assert_eq!(open.len(), 1, "the last call ends the dialogue");
            assert!(calls > 3);
        }
    }
    let ids: Vec<String> = seen.into_iter().flatten().collect();
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
}

#[test]
fn calls_made_together_are_split_into_messages() {
    let options = Options { parallel: Some(Parallel::Split), ..Options::new(Format::Trl) };
    let line = one(options, &row());
    let whole = one(Options::new(Format::Trl), &row());
    let told = |line: &Json| -> Vec<(Json, Vec<Json>, Json)> {
        let messages = line["messages"].as_array().unwrap().iter();
        let calls = |message: &Json| message["tool_calls"].as_array().cloned().unwrap_or_default();
        messages.map(|m| (m["role"].clone(), calls(m), m["tool_call_id"].clone())).collect()
    };
    let (split, kept) = (told(&line), told(&whole));
    let both = kept[4].1.clone();
    let assistant = |call: &Json| (json!("assistant"), vec![call.clone()], Json::Null);
    assert_eq!(split[..4], kept[..4]);
    assert_eq!(split[4..8], [assistant(&both[0]), kept[5].clone(), assistant(&both[1]), kept[6].clone()]);
    assert_eq!(split[8..], kept[7..]);
    // The first of the split messages keeps the reasoning.
    assert_eq!(line["messages"][4]["reasoning_content"], "Two names.");
    assert_eq!(line["messages"][6].get("reasoning_content"), None);
}

#[test]
fn arguments_are_objects_or_text() {
    let arguments = |format: Format, arguments: Option<Arguments>| {
        let value = one(Options { arguments, ..Options::new(format) }, &row());
        (value["messages"][4]["tool_calls"][1]["function"]["arguments"].clone(), value["tools"].is_string())
    };
    let (object, text) =
        (json!({"name": "Tom", "near": {"km": 2.5}}), json!(r#"{"name":"Tom","near":{"km":2.5}}"#));
    assert_eq!(arguments(Format::Openai, None), (text.clone(), false));
    assert_eq!(arguments(Format::Openai, Some(Arguments::Object)), (object.clone(), false));
    assert_eq!(arguments(Format::Trl, None), (object, false));
    // With string arguments the schemas are strings, too, so that no columns are merged.
    assert_eq!(arguments(Format::Trl, Some(Arguments::String)), (text, true));
}

#[test]
fn a_choice_that_a_format_has_no_place_for_is_refused() {
    let check = |options: Options, expect: &str| {
        assert_eq!(options.shape().unwrap_err().to_string(), expect);
    };
    let arguments = Some(Arguments::String);
    check(
        Options { arguments, ..Options::new(Format::Verl) },
        "found --arguments, for which verl has no place; leave it out",
    );
    check(
        Options { content: Some(Content::Null), ..Options::new(Format::Sharegpt) },
        "found --content, for which sharegpt has no place; leave it out",
    );
    check(
        Options { searched: Some(SearchForm::Text), ..Options::new(Format::ReverseChain) },
        "found --searched, for which reverse-chain has no place; leave it out",
    );
    check(
        Options { answers: Some(Answers::Structured), ..Options::new(Format::Xlam) },
        "found --answers, for which xlam has no place; leave it out",
    );
    check(
        Options { answers: Some(Answers::Prose), ..Options::new(Format::Verl) },
        "found --answers, for which verl has no place; leave it out",
    );
    let structured = Options { answers: Some(Answers::Structured), ..Options::new(Format::PromptOnly) };
    assert_eq!(read(structured, &row()), read(Options::new(Format::PromptOnly), &row()));
    check(
        Options { searched: Some(SearchForm::Deferred), ..Options::new(Format::Trl) },
        "found --searched deferred, for which trl has no place; leave it out",
    );
}

#[test]
fn every_prefix_of_a_conversation_is_rendered_to_a_prefix() {
    for row in [row(), searched_row()] {
        for searched in [SearchForm::Dispatch, SearchForm::Text] {
            let (tools, messages) = rendered(searched, &row);
            assert_eq!(messages.len(), row.messages.len());
            for end in 0..=row.messages.len() {
                let prefix = Dialogue { messages: row.messages[..end].to_vec(), ..row.clone() };
                let (first_tools, first) = rendered(searched, &prefix);
                assert_eq!(first, messages[..end], "{searched:?}, {end} messages");
                assert_eq!(first_tools, tools[..first_tools.len()], "{searched:?}, {end} messages");
            }
        }
    }
}
