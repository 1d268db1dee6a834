//! Goals that end with `finish`.

use serde_json::{Value as Json, json};

use super::{one, read, row, searched_row};
use crate::export::formats::write;
use crate::export::{Answers, Format, Options};
use crate::row::Dialogue;

fn structured(row: &Dialogue) -> Json {
    one(Options { answers: Some(Answers::Structured), ..Options::new(Format::Trl) }, row)
}

fn finish(message: &Json) -> &Json {
    let call = &message["tool_calls"][0]["function"];
    assert_eq!(call["name"], "finish");
    &call["arguments"]
}

#[test]
fn rewards_offer_finish_and_others_do_not() {
    let names = |format: Format, place: &str| -> Vec<String> {
        let line = one(Options::new(format), &searched_row());
        let tools = line.pointer(place).unwrap();
        let tools = tools.as_str().map_or_else(|| tools.clone(), |text| serde_json::from_str(text).unwrap());
        let functions =
            tools.as_array().unwrap().iter().map(|tool| tool.get("function").unwrap_or(tool)["name"].clone());
        functions.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    for format in [Format::PromptOnly, Format::Verl] {
        assert_eq!(names(format, "/tools"), ["ToolSearcher", "finish"]);
    }
    let place = "/responses_create_params/tools";
    assert_eq!(names(Format::NemoGym, place), ["ToolSearcher", "call_api", "ask_user", "finish"]);
    assert_eq!(names(Format::Trl, "/tools"), ["ToolSearcher", "call_api"]);
}

#[test]
fn the_message_that_ends_a_goal_becomes_a_call_of_finish() {
    let line = structured(&row());
    let messages = line["messages"].as_array().unwrap();
    assert_eq!(messages.len(), row().messages.len());
    let expect =
        json!({"outcome": "done", "facts": {"number_of_the_dentist": 1}, "message": "At \"1\" and 2."});
    assert_eq!(*finish(&messages[7]), expect);
}

#[test]
fn the_reply_to_finish_holds_what_the_user_says_next_and_the_next_tool() {
    let line = structured(&searched_row());
    let messages = line["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant"
        ]
    );
    let expect =
        json!({"outcome": "done", "facts": {"id_of_the_booking": "B-1"}, "message": "Booked as B-1."});
    assert_eq!(*finish(&messages[6]), expect);
    let reply: Json = serde_json::from_str(messages[7]["content"].as_str().unwrap()).unwrap();
    assert_eq!((&reply["content"], &reply["done"]), (&json!("Cancel it again."), &json!(false)));
    assert_eq!(reply["finish"]["function"]["name"], "finish");
    let expect = json!({
        "outcome": "refused", "reason": "conflict", "about": "B-1", "message": "It can't be: it's paid."
    });
    assert_eq!(*finish(&messages[12]), expect);
}

/// Returns the searched row. Its second goal asks for the number of the first goal's record.
fn asking_again(path: &str) -> Dialogue {
    let mut checks: Json = serde_json::from_str(&searched_row().checks).unwrap();
    checks["goals"][0]["answer"] = json!([]);
    let made = json!({"kind": "made", "new": 0, "field": "booking_id"});
    checks["goals"][1] =
        json!({"outcome": "done", "answer": [{"about": "number", "fact": made, "evidence": []}]});
    let facts = json!([{"call": 1, "path": path}]);
    let claims = json!([{"ends": {"outcome": "done"}}, {"ends": {"outcome": "done", "facts": facts}}]);
    Dialogue {
        checks: checks.to_string(),
        gold_answer: json!({ "claims": claims }).to_string(),
        ..searched_row()
    }
}

#[test]
fn a_made_value_is_read_where_the_claim_names_it() {
    let check = |path: &str, expect: Json| {
        let line = structured(&asking_again(path));
        let messages = line["messages"].as_array().unwrap();
        assert_eq!(finish(&messages[12])["facts"], json!({ "number": expect }), "{path}");
    };
    check("booking_id", json!("B-1"));
    // The API's own name of the field differs from the record's.
    check("nights[0].price", json!(80));
}

/// Returns the facts' schema in the first `finish` tool of a line.
fn facts(line: &Json) -> &Json {
    let tools = line["tools"].as_array().unwrap();
    let finish = tools.iter().find(|tool| tool["function"]["name"] == "finish").unwrap();
    &finish["function"]["parameters"]["properties"]["facts"]
}

#[test]
fn the_tool_of_a_dialogue_takes_the_facts_of_every_goal() {
    // The first goal asks for no fact. The facts of the second are not shown at the start.
    let line = structured(&asking_again("booking_id"));
    assert_eq!(facts(&line).get("additionalProperties"), None);
    assert_eq!(facts(&line)["properties"], json!({}));
    // A name that both goals use accepts the values of both.
    let mut row = searched_row();
    let mut checks: Json = serde_json::from_str(&row.checks).unwrap();
    let count = json!({"kind": "count", "value": 2});
    checks["goals"][1] =
        json!({"outcome": "done", "answer": [{"about": "id of the booking", "fact": count, "evidence": []}]});
    row.checks = checks.to_string();
    let line = structured(&row);
    let expect = json!([{"type": ["string", "integer"]}, {"type": "integer", "minimum": 0}]);
    assert_eq!(facts(&line)["properties"]["id_of_the_booking"]["anyOf"], expect);
    // The tool of a dialogue with one goal is the server's.
    assert_eq!(facts(&structured(&super::row()))["additionalProperties"], json!(false));
}

#[test]
fn a_row_whose_ending_cannot_be_made_is_named() {
    let options = Options { answers: Some(Answers::Structured), ..Options::new(Format::Trl) };
    let shape = options.shape().unwrap();
    let unknown = Dialogue { gold_answer: "{}".into(), ..searched_row() };
    let error = write(&shape, 0, &unknown, super::NO_MUTANTS).unwrap_err().to_string();
    assert_eq!(error, "row `d00000001`: column `checks` asks for a value that no reply of the row shows");
    let fewer = Dialogue { episode: json!({"events": []}).to_string(), ..searched_row() };
    let error = write(&shape, 0, &fewer, super::NO_MUTANTS).unwrap_err().to_string();
    assert_eq!(error, "row `d00000001`: column `episode` has 0 ends, expected 2, one for each goal");
}

#[test]
fn an_api_of_that_name_goes_before_the_tool() {
    let tools = json!([{"type": "function", "function": {"name": "finish", "parameters": {}}}]).to_string();
    let own = Dialogue { tools: tools.clone(), ..row() };
    let line = read(Options::new(Format::PromptOnly), &own).remove(0);
    assert_eq!(line["tools"].to_string(), tools);
}
