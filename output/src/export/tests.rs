use std::fs;

use serde_json::Value as Json;

use super::formats::line;
use super::{Format, export};
use crate::folder::Folder;
use crate::folder::tests::dataset;
use crate::row::{Dialogue, Message, Role, Split, ToolCall};
use crate::rows::samples::sample;

/// A row with two calls at once, a message not to learn from, and reasoning.
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
        Message { train: false, ..Message::calling(vec![wrong.clone()]) },
        Message::reply(&wrong, r#"{"status":400}"#),
        Message { reasoning_content: Some("Two names.".into()), ..Message::calling(calls) },
    ];
    messages.extend(replies);
    messages.push(Message::new(Role::Assistant, "At \"1\" and 2."));
    Dialogue { messages, ..sample(0, Split::Train) }
}

#[test]
fn each_format_has_its_shape() {
    for format in Format::ALL {
        let text = line(format, &row()).unwrap();
        assert!(!text.contains('\n'));
        let value: Json = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!(format.as_str(), value);
    }
}

#[test]
fn rows_that_are_not_json_are_named() {
    let wrong_tools = Dialogue { tools: "{}".into(), ..row() };
    let mut wrong_arguments = row();
    wrong_arguments.messages[2].tool_calls[0].function.arguments = "[1]".into();
    for format in [Format::Trl, Format::Openai, Format::Sharegpt] {
        let error = line(format, &wrong_tools).unwrap_err().to_string();
        assert_eq!(error, "row `d00000000`: column `tools` is not a list");
    }
    for format in [Format::Trl, Format::Sharegpt] {
        let error = line(format, &wrong_arguments).unwrap_err().to_string();
        assert!(
            error.contains("column `messages` the arguments of `FindDentist` are no JSON object"),
            "{error}"
        );
    }
}

#[test]
fn a_dataset_is_exported_whole_or_by_split() {
    let (guard, path) = dataset();
    let folder = Folder::open(&path).unwrap();
    let out = guard.path().join("rows.jsonl");
    assert_eq!(export(&folder, Format::Jsonl, None, &out).unwrap(), 80);
    let rows: Vec<Dialogue> =
        fs::read_to_string(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows, folder.rows().map(Result::unwrap).collect::<Vec<_>>());
    assert_eq!(export(&folder, Format::Trl, Some(Split::Test), &out).unwrap(), 20);
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 20);
    let error = export(&folder, Format::Trl, None, guard.path()).unwrap_err().to_string();
    assert!(error.ends_with("is a folder, expected the name of a file"), "{error}");
    let nowhere = guard.path().join("no/such/folder/x.jsonl");
    let error = export(&folder, Format::Trl, None, &nowhere).unwrap_err().to_string();
    assert!(error.starts_with("cannot create ") && error.contains("no/such/folder/x.jsonl"), "{error}");
}

#[test]
fn a_failed_export_leaves_the_earlier_file() {
    let (guard, path) = dataset();
    let folder = Folder::open(&path).unwrap();
    let out = guard.path().join("rows.jsonl");
    fs::write(&out, "earlier").unwrap();
    fs::write(path.join("data/test-00000-of-00001.parquet"), "cut").unwrap();
    let error = export(&folder, Format::Jsonl, None, &out).unwrap_err().to_string();
    assert!(error.contains("not a readable Parquet file"), "{error}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "earlier");
    let names: Vec<_> = fs::read_dir(guard.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    let error = "csv".parse::<Format>().unwrap_err().to_string();
    assert_eq!(error, "found format `csv`, expected one of jsonl, trl, openai, sharegpt");
}
