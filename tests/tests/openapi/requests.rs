//! What people are made to ask of a document's operations.

use diorama_tests::diorama;
use serde_json::{Value, json};

use super::imports::{answers, component, list_of};

/// Boards with cards, which other cards are related to, and members who are users.
fn document() -> Value {
    let body = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let done = json!({"204": {"description": "done"}});
    let key =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    let card = json!({"type": "object", "properties": {"title": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "is_open": {"type": "boolean"}}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Boards", "version": "1"},
        "paths": {
            "/users": {"get": {"operationId": "ListUsers", "responses": answers(list_of("User"))}},
            "/boards": {"get": {"operationId": "ListBoards", "responses": answers(list_of("Board"))},
                "post": {"operationId": "CreateBoard", "requestBody": body(json!({"type": "object", "properties": {"name": {"type": "string"}}})), "responses": answers(component("Board"))}},
            "/boards/{board_id}/tags": {"parameters": [key("board_id")], "put": {"operationId": "SetTags",
                "requestBody": body(json!({"type": "array", "items": {"type": "string"}})), "responses": done}},
            "/boards/{board_id}/members/{user_id}": {"parameters": [key("board_id"), key("user_id")],
                "put": {"operationId": "AddMember", "responses": done}, "delete": {"operationId": "RemoveMember", "responses": done}},
            "/boards/{board_id}/members": {"parameters": [key("board_id")], "get": {"operationId": "ListMembers", "responses": answers(list_of("User"))}},
            "/boards/{board_id}/cards": {"parameters": [key("board_id")], "get": {"operationId": "ListCards", "responses": answers(list_of("Card"))}},
            "/boards/{board_id}/cards/{card_id}": {"parameters": [key("board_id"), key("card_id")],
                "get": {"operationId": "GetCard", "responses": answers(component("Card"))},
                "patch": {"operationId": "UpdateCard", "requestBody": body(card), "responses": answers(component("Card"))},
                "delete": {"operationId": "ArchiveCard", "responses": done}},
            "/boards/{board_id}/cards/{card_id}/related": {"parameters": [key("board_id"), key("card_id")],
                "get": {"operationId": "ListRelatedCards", "responses": answers(list_of("Card"))}},
        },
        "components": {"schemas": {
            "User": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
            "Board": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
            "Card": {"type": "object", "required": ["id", "title", "type", "max_age", "gloss"], "properties": {
                "id": {"type": "string"}, "title": {"type": "string"}, "type": {"type": "string", "enum": ["card"]},
                "max_age": {"type": "integer"}, "size_bytes": {"type": "integer"}, "gloss": {"type": "string"},
                "created_at": {"type": "string", "format": "date-time"}, "is_open": {"type": "boolean"}}},
        }},
    })
}

#[test]
fn people_ask_in_words_for_what_there_is_to_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = (folder.path().join("boards.json"), folder.path().join("rows"));
    std::fs::write(&file, document().to_string()).expect("it is written");
    let (file, out) = (file.to_str().expect("a path"), out.to_str().expect("a path"));
    let ran = diorama(["generate", "--out", out, "--openapi", file, "--dialogues", "150", "--seed", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = folder.path().join("rows.jsonl");
    let ran = diorama(["export", out, "--format", "jsonl", "--out", rows.to_str().expect("a path")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(rows).expect("rows");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    let said: Vec<(&str, &str)> = rows
        .iter()
        .flat_map(|row| row["messages"].as_array().expect("messages"))
        .filter_map(|message| Some((message["role"].as_str()?, message["content"].as_str()?)))
        .filter(|(role, _)| ["user", "assistant"].contains(role))
        .collect();
    let some = |part: &str| said.iter().any(|(_, text)| text.contains(part));
    // What is always the same, has no unit, or could be anything, is neither asked for nor told; nor is what the
    // server writes, or a yes or no without words, sent.
    for part in ["type of", "max age", "gloss", "created at", "is open", "/boards", "board ID", "card ID"] {
        assert!(!some(part), "{part}: {:?}", said.iter().find(|(_, text)| text.contains(part)));
    }
    // What is made has a name, and its key is told; an operation's own verb is said; owners follow what they own.
    for part in
        ["board called ", "The ID of the new board is ", "rchive the card ", " of the board ", "created on "]
    {
        assert!(some(part), "nobody says {part:?}");
    }
    // Cards are found by their boards, which the request names, also where a list of cards needs a card.
    let calls =
        |row: &Value, name: &str| row["messages"].to_string().contains(&format!("\"name\":\"{name}\""));
    assert!(rows.iter().any(|row| calls(row, "ListCards") && calls(row, "UpdateCard")));
}
