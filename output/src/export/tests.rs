mod back;
mod damaged;
mod ended;
mod shapes;

use std::fs;

use serde_json::{Value as Json, json};

use super::formats::write;
use super::{
    Answers, ExportCounts, Format, ListMutants, Options, RejectedMutant, Source, export, write_lines,
};
use crate::folder::tests::dataset;
use crate::folder::{Folder, Selection};
use crate::row::{Dialogue, Message, Role, Split, ToolCall};
use crate::rows::samples::sample;
use crate::storage::Storage;

/// Returns the row with two calls at once. Its first assistant message is no training target.
fn mistaken_row() -> Dialogue {
    let mut row = row();
    row.messages[2].train = false;
    row
}

/// A row with a refused call, two calls at once, and reasoning.
fn row() -> Dialogue {
    let calls = vec![
        ToolCall::new("call_1", "FindDentist", r#"{"name":"Ann"}"#),
        ToolCall::new("call_2", "FindDentist", r#"{"name":"Tom","near":{"km":2.5}}"#),
    ];
    let wrong = ToolCall::new("call_0", "FindDentist", "{}");
    let replies =
        [Message::reply(&calls[0], r#"{"dentist_id":1}"#), Message::reply(&calls[1], r#"{"dentist_id":2}"#)];
    let mut messages = vec![
        Message::new(Role::System, "You call APIs."),
        Message::new(Role::User, "Where are Ann and Tom?"),
        Message::calling(vec![wrong.clone()]),
        Message::reply(&wrong, r#"{"title":"Bad Request","status":400,"detail":"`name` is missing"}"#),
        Message { reasoning_content: Some("Two names.".into()), ..Message::calling(calls) },
    ];
    messages.extend(replies);
    messages.push(Message::new(Role::Assistant, "At \"1\" and 2."));
    let fact = json!({"kind": "number", "value": 1.0, "tolerance": 0.0});
    let answer = json!([{"about": "number of the dentist", "fact": fact, "evidence": []}]);
    let events = json!([{"user": 0}, {"call": 0}, {"call": 1}, {"call": 2}, {"say": 0}, {"end": "done"}]);
    Dialogue {
        messages,
        checks: json!({"version": 3, "goals": [{"outcome": "done", "answer": answer}]}).to_string(),
        episode: json!({"clock": "2026-03-02T09:00:00Z", "events": events}).to_string(),
        ..sample(0, Split::Train)
    }
}

/// Returns a row of two goals with searches and without a system message. The second goal ends in a refusal.
fn searched_row() -> Dialogue {
    let function = |name: &str, parameter: &str, kind: &str| {
        let properties = json!({parameter: {"type": kind, "description": "Which"}});
        let parameters = json!({"type": "object", "properties": properties, "required": [parameter]});
        json!({"name": name, "description": format!("{name} does it."), "parameters": parameters})
    };
    let book = function("BookRoom", "room", "integer");
    let find = function("FindRoom", "room", "integer");
    let cancel = function("CancelBooking", "booking_id", "string");
    let searcher = json!([{"type": "function", "function": function("ToolSearcher", "keywords", "string")}]);
    let calls = [
        ToolCall::new("call_0", "ToolSearcher", r#"{"keywords":"book a room"}"#),
        ToolCall::new("call_1", "BookRoom", r#"{"room":7}"#),
        ToolCall::new("call_2", "FindRoom", r#"{"room":7}"#),
        ToolCall::new("call_3", "ToolSearcher", r#"{"keywords":"cancel a booking"}"#),
        ToolCall::new("call_4", "CancelBooking", r#"{"booking_id":"B-1"}"#),
    ];
    let problem = json!({"title": "Conflict", "status": 409, "detail": "it's paid"});
    let messages = vec![
        Message::new(Role::User, "Book room 7."),
        Message { content: Some("One moment.".into()), ..Message::calling(vec![calls[0].clone()]) },
        Message::reply(&calls[0], json!({"tools": [book, find]}).to_string()),
        Message::calling(calls[1..3].to_vec()),
        Message::reply(&calls[1], r#"{"booking_id":"B-1","nights":[{"price":80}]}"#),
        Message::reply(&calls[2], r#"{"room":7,"floor":2}"#),
        Message::new(Role::Assistant, "Booked as B-1."),
        Message::new(Role::User, "Cancel it again."),
        Message::calling(vec![calls[3].clone()]),
        Message::reply(&calls[3], json!({"tools": [cancel, book]}).to_string()),
        Message::calling(vec![calls[4].clone()]),
        Message::reply(&calls[4], problem.to_string()),
        Message::new(Role::Assistant, "It can't be: it's paid."),
    ];
    let events = json!([
        {"user": 0}, {"say": 0}, {"call": 0}, {"call": 1}, {"call": 2}, {"say": 1}, {"end": "done"},
        {"user": 1}, {"call": 3}, {"call": 4}, {"say": 2}, {"end": "refused"}
    ]);
    let made = json!({"kind": "made", "new": 0, "field": "booking_id"});
    let refused =
        json!({"kind": "refused", "api": "CancelBooking", "status": 409, "arguments": {"booking_id": "B-1"}});
    let change = json!({"resource": "booking", "kind": "created", "key": {"new": 0}, "fields": {}});
    let goals = json!([
        {"outcome": "done", "answer": [{"about": "id of the booking", "fact": made, "evidence": []}]},
        {"outcome": "refused", "refusal": ["conflict"], "evidence": [refused]}
    ]);
    let fact = json!({"call": 1, "path": "booking_id"});
    Dialogue {
        query: "Book room 7.".into(),
        tools: searcher.to_string(),
        messages,
        checks: json!({"version": 3, "goals": goals, "changes": [change]}).to_string(),
        episode: json!({"clock": "2026-03-02T09:00:00Z", "events": events}).to_string(),
        gold_answer:
            json!({"claims": [{"ends": {"outcome": "done", "facts": [fact]}}, {"ends": {"outcome": "refused"}}]})
                .to_string(),
        gold_calls: json!([
            {"api": "ToolSearcher", "arguments": {"keywords": "book a room"}, "sources": {}},
            {"api": "BookRoom", "arguments": {"room": 7}, "sources": {}},
            {"api": "FindRoom", "arguments": {"room": 7}, "sources": {}},
            {"api": "ToolSearcher", "arguments": {"keywords": "cancel a booking"}, "sources": {}},
            {"api": "CancelBooking", "arguments": {"booking_id": "B-1"},
             "sources": {"booking_id": {"from": "reply", "call": 1, "path": "booking_id"}}}
        ])
        .to_string(),
        gold_plan: Some("CancelBooking(booking_id=BookRoom(room=7)); FindRoom(room=7)".into()),
        ..sample(1, Split::Test)
    }
}

const NO_MUTANTS: ListMutants<'static> = &|_| Vec::new();

/// Returns a mutant that changes the arguments of the first call that has arguments and is no search.
fn change_arguments(row: &Dialogue) -> Vec<RejectedMutant> {
    let calls: Vec<&ToolCall> = row.messages.iter().flat_map(|message| &message.tool_calls).collect();
    let has_arguments =
        |call: &&ToolCall| call.function.name != "ToolSearcher" && call.function.arguments != "{}";
    let Some(call) = calls.iter().position(has_arguments) else { return Vec::new() };
    let mut arguments: serde_json::Map<String, Json> =
        serde_json::from_str(&calls[call].function.arguments).unwrap();
    for value in arguments.values_mut() {
        *value = if value.is_string() { "Eva".into() } else { 9.into() };
    }
    let api = calls[call].function.name.clone();
    vec![RejectedMutant { kind: "change_argument", call, instead: Some((api, arguments)) }]
}

const fn source<'a>(folder: &'a Folder, selection: &'a Selection) -> Source<'a> {
    Source { folder, selection, list_mutants: NO_MUTANTS }
}

/// Returns the parsed lines of a row.
fn read(options: Options, row: &Dialogue) -> Vec<Json> {
    let lines = write(&options.shape().unwrap(), 0, row, &change_arguments).unwrap().lines;
    lines
        .iter()
        .map(|line| {
            assert!(!line.contains('\n'));
            serde_json::from_str(line).unwrap()
        })
        .collect()
}

/// Returns the only line of a row.
fn one(options: Options, row: &Dialogue) -> Json {
    let mut lines = read(options, row);
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

#[test]
fn rows_that_are_not_json_are_named() {
    let wrong_tools = Dialogue { tools: "{}".into(), ..row() };
    let mut wrong_arguments = row();
    wrong_arguments.messages[2].tool_calls[0].function.arguments = "[1]".into();
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Jsonl) {
        let shape = Options::new(format).shape().unwrap();
        let error = write(&shape, 0, &wrong_tools, NO_MUTANTS).unwrap_err().to_string();
        assert_eq!(error, "row `d00000000`: column `tools` is not a list");
        let error = write(&shape, 0, &wrong_arguments, NO_MUTANTS).unwrap_err().to_string();
        let expect = "column `messages` the arguments of `FindDentist` are no JSON object";
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn a_dataset_is_exported_whole_or_by_split() {
    let (guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let out = guard.path().join("rows.jsonl");
    let whole = ExportCounts { rows: 80, lines: 80, left_out: 0, goals_left_out: 0, fault: None };
    assert_eq!(
        export(&source(&folder, &Selection::default()), Options::new(Format::Jsonl), &out).unwrap(),
        whole
    );
    let rows: Vec<Dialogue> =
        fs::read_to_string(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows, folder.rows().map(Result::unwrap).collect::<Vec<_>>());
    let of_test = Selection::of_split(Split::Test);
    let test = Options::new(Format::Trl);
    assert_eq!(
        export(&source(&folder, &of_test), test, &out).unwrap(),
        ExportCounts { rows: 20, lines: 20, left_out: 0, goals_left_out: 0, fault: None }
    );
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 20);
    let test = Options::new(Format::TrlPromptCompletion);
    assert_eq!(
        export(&source(&folder, &of_test), test, &out).unwrap(),
        ExportCounts { rows: 20, lines: 40, left_out: 0, goals_left_out: 0, fault: None }
    );
    let labels = Options::new(Format::ReverseChain);
    assert_eq!(
        export(&source(&folder, &Selection::default()), labels, &out).unwrap(),
        ExportCounts { rows: 80, lines: 40, left_out: 40, goals_left_out: 0, fault: None }
    );
    let error = export(&source(&folder, &of_test), test, guard.path()).unwrap_err().to_string();
    assert!(error.ends_with("is a folder, expected the name of a file"), "{error}");
    let new_folder = guard.path().join("a/new/folder/x.jsonl");
    export(&source(&folder, &of_test), test, &new_folder).unwrap();
    let mut piped = Vec::new();
    write_lines(&source(&folder, &of_test), test, &mut piped).unwrap();
    assert_eq!(fs::read(&new_folder).unwrap(), piped);
    let below_file = new_folder.join("y.jsonl");
    let error = export(&source(&folder, &of_test), test, &below_file).unwrap_err().to_string();
    assert!(error.starts_with("cannot create ") && error.contains("x.jsonl"), "{error}");
}

#[test]
fn rows_that_cannot_be_written_are_left_out() {
    let (guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let out = guard.path().join("rows.jsonl");
    let options = Options { answers: Some(Answers::Structured), ..Options::new(Format::Trl) };
    let done = export(&source(&folder, &Selection::default()), options, &out).unwrap();
    assert_eq!((done.rows, done.lines + done.left_out), (80, 80));
    assert!(done.left_out > 0 && done.fault.is_some(), "{done:?}");
}

#[test]
fn an_export_that_fails_or_has_no_rows_leaves_the_earlier_file() {
    let (guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let out = guard.path().join("rows.jsonl");
    fs::write(&out, "earlier").unwrap();
    let none = Selection { ids: vec!["x".to_owned()], ..Selection::default() };
    let done = export(&source(&folder, &none), Options::new(Format::Jsonl), &out).unwrap();
    assert_eq!((done, fs::read_to_string(&out).unwrap().as_str()), (ExportCounts::default(), "earlier"));
    fs::write(path.join("data/test-00000-of-00001.parquet"), "cut").unwrap();
    let error = export(&source(&folder, &Selection::default()), Options::new(Format::Jsonl), &out)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a readable Parquet file"), "{error}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "earlier");
    let names: Vec<_> = fs::read_dir(guard.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
