//! `diorama eval` with a chat model, end to end: a dataset, a scripted model server, and the command.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may end this way"
)]

use diorama_model_server::{Answer, ModelServer, Script};
use diorama_tests::diorama;
use serde_json::{Value as Json, json};

/// Searches where it has to, and then says that it is done.
fn answer(body: &Json) -> Answer {
    let tools = body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"finish"), "{names:?}");
    let user = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == "user").unwrap();
    let (name, arguments) = if names == ["ToolSearcher", "finish"] {
        ("ToolSearcher", json!({"keywords": user["content"]}))
    } else {
        ("finish", json!({"outcome": "done", "message": "It is done."}))
    };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Answer::Message(json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "a", "type": "function", "function": function}]}))
}

#[test]
fn function_calling_runs_against_a_server_and_again_from_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let dataset = path("dataset");
    let made = diorama(["generate", "--out", &dataset, "--dialogues", "12", "--seed", "5"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(Script::new(answer))).unwrap();
    let (url, out, record) = (server.url(), path("run"), path("replies.jsonl"));
    let common =
        ["--json", "eval", "--agent", "function-calling", "--tasks", &dataset, "--model", "scripted"];
    let ran = diorama(common.into_iter().chain(["--base-url", &url, "--out", &out, "--record", &record]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["embedded"], &report["model"]), (&json!(false), &json!("scripted")));
    // Doing nothing solves nothing, and every failure has a cause.
    assert_eq!(report["success"], 0.0);
    let causes: u64 = report["attribution"].as_object().unwrap().values().filter_map(Json::as_u64).sum();
    assert_eq!(causes, report["tasks"].as_u64().unwrap());
    assert_eq!(report["unfinished"], 0);
    let books = server.books();
    assert_eq!(report["books"]["total"]["calls"], books.calls);
    let received = server.received();
    assert!(
        received
            .iter()
            .all(|request| request.body["temperature"] == 0.0 && request.body["model"] == "scripted")
    );

    // Each episode is a line, with its steps.
    let episodes = std::fs::read_to_string(folder.path().join("run/episodes.jsonl")).unwrap();
    let episodes: Vec<Json> = episodes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(episodes.len() as u64, report["tasks"].as_u64().unwrap());
    assert!(episodes.iter().all(|episode| episode["steps"][0]["note"] == "asked"));

    // Graded again, the verdicts are the same; no model is asked.
    let regraded =
        diorama(["--json", "eval", "--tasks", &dataset, "--regrade", &format!("{out}/episodes.jsonl")]);
    assert_eq!(regraded.code, 0, "{}", regraded.err);
    let regraded: Json = serde_json::from_str(&regraded.out).unwrap();
    assert_eq!((&regraded["episodes"], &regraded["changed"]), (&report["tasks"], &json!([])));

    // From the recording alone, the run is the same.
    let again = diorama(common.into_iter().chain(["--replay", &record]));
    let again: Json = serde_json::from_str(&again.out).unwrap();
    for key in ["tasks", "success", "errors", "attribution", "cells", "tokens"] {
        assert_eq!(again[key], report[key], "{key}");
    }
    assert_eq!(again["books"]["total"]["calls"], 0);
    assert_eq!(server.books().calls, books.calls);
}

#[test]
fn a_model_agent_without_a_model_is_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset").display().to_string();
    assert_eq!(diorama(["generate", "--out", &dataset, "--dialogues", "2"]).code, 0);
    let ran = diorama(["eval", "--agent", "react", "--tasks", &dataset]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (2, "error: --model: found none, expected the model's name, as its server has it\n")
    );
    let ran =
        diorama(["eval", "--agent", "react", "--tasks", &dataset, "--model", "m", "--without", "parser"]);
    assert_eq!(ran.code, 2);
}
