//! Owns the tests of the user requests that are generated for a document's operations.

use diorama_tests::diorama;
use serde_json::{Value, json};

use super::imports::{answers, component, list_of};

/// Makes a document of boards with cards, which other cards are related to, and members who are users.
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

/// Generates dialogues for a document.
fn rows_of(document: &Value) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = (folder.path().join("api.json"), folder.path().join("rows"));
    std::fs::write(&file, document.to_string()).expect("it is written");
    let (file, out) = (file.to_str().expect("a path"), out.to_str().expect("a path"));
    let ran = diorama(["generate", "--out", out, "--openapi", file, "--dialogues", "150", "--seed", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = folder.path().join("rows.jsonl");
    let ran =
        diorama(["dataset", "export", out, "--format", "jsonl", "--out", rows.to_str().expect("a path")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(rows).expect("rows");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Returns the messages of users and assistants, with their roles.
fn said(rows: &[Value]) -> Vec<(&str, &str)> {
    rows.iter()
        .flat_map(|row| row["messages"].as_array().expect("messages"))
        .filter_map(|message| Some((message["role"].as_str()?, message["content"].as_str()?)))
        .filter(|(role, _)| ["user", "assistant"].contains(role))
        .collect()
}

#[test]
fn people_ask_in_words_for_what_there_is_to_tell() {
    let rows = rows_of(&document());
    let said = said(&rows);
    let some = |part: &str| said.iter().any(|(_, text)| text.contains(part));
    // No message mentions constant values, numbers without a unit, unspecific strings, or values that the
    // server writes.
    for part in ["type of", "max age", "gloss", "created at", "/boards", "board ID", "card ID"] {
        assert!(!some(part), "{part}: {:?}", said.iter().find(|(_, text)| text.contains(part)));
    }
    // Each new record has a name. Messages use the verbs of operations, put owners after their possessions,
    // and express booleans in words.
    for part in ["board called ", "rchive the ", " card of the ", "is open"] {
        assert!(some(part), "nobody says {part:?}");
    }
    // Boards go by their names, also as owners of what stands below them.
    assert!(!some(" of the board "), "{:?}", said.iter().find(|(_, text)| text.contains(" of the board ")));
    let names_owner =
        |text: &str| text.split_once(" of the ").is_some_and(|(_, rest)| rest.contains(" board"));
    assert!(said.iter().any(|(_, text)| names_owner(text)), "nobody names the board of a card");
    // Cards are found through the board that the request names, even if listing cards requires another card.
    let calls =
        |row: &Value, name: &str| row["messages"].to_string().contains(&format!("\"name\":\"{name}\""));
    assert!(rows.iter().any(|row| calls(row, "ListCards") && calls(row, "UpdateCard")));
}

/// Makes a document of repositories with two-part names, three kinds of secrets, and operations whose
/// summaries say more than their methods.
fn hub() -> Value {
    let key =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    let done = json!({"204": {"description": "done"}});
    let repo = [key("owner"), key("repo")];
    let secret = |kind: &str| {
        json!({"parameters": [key("owner"), key("repo"), key("secret_name")],
            "get": {"operationId": format!("{kind}GetSecret"), "summary": "Get a secret", "responses": answers(component("Secret"))},
            "delete": {"operationId": format!("{kind}DeleteSecret"), "summary": "Delete a secret", "responses": done}})
    };
    let members = json!({"name": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "etag": {"type": "string"},
        "trashed_at": {"type": "string", "format": "date-time", "nullable": true}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Hub", "version": "1"},
        "paths": {
            "/repos": {"get": {"operationId": "ListRepos", "responses": answers(list_of("Repo"))}},
            "/repos/{owner}/{repo}": {"parameters": repo, "get": {"operationId": "GetRepo", "responses": answers(component("Repo"))},
                "delete": {"operationId": "DeleteRepo", "responses": done}},
            "/repos/{owner}/{repo}/vault/secrets/{secret_name}": secret("Vault"),
            "/repos/{owner}/{repo}/robots/secrets/{secret_name}": secret("Robots"),
            "/repos/{owner}/{repo}/secrets/{secret_name}": secret("Plain"),
            "/gists": {"get": {"operationId": "ListGists", "responses": answers(list_of("Gist")),
                "parameters": [{"name": "starting", "in": "query", "schema": {"type": "string"}, "description": "Only those whose name starts with this."}]}},
            "/gists/{gist_id}": {"parameters": [key("gist_id")], "get": {"operationId": "GetGist", "responses": answers(component("Gist"))},
                "delete": {"operationId": "DeleteGist", "responses": done}},
            "/gists/{gist_id}/forks": {"parameters": [key("gist_id")], "get": {"operationId": "ListForks", "responses": answers(list_of("Gist"))},
                "post": {"operationId": "GistsFork", "summary": "Fork a gist", "responses": answers(component("Gist"))}},
            "/gists/{gist_id}/tags": {"parameters": [key("gist_id")], "put": {"operationId": "SetTags", "responses": done,
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}}}},
            "/gists/{gist_id}/notes": {"parameters": [key("gist_id")], "get": {"operationId": "ListNotesLegacy", "responses": answers(list_of("Gist"))}},
        },
        "components": {"schemas": {
            "Repo": {"type": "object", "required": ["name"], "properties": members},
            "Secret": {"type": "object", "required": ["name", "created_at"], "properties": members},
            "Gist": {"type": "object", "required": ["id", "name", "created_at"], "properties": {"id": {"type": "string"}, "name": {"type": "string"},
                "created_at": members["created_at"], "etag": members["etag"], "trashed_at": members["trashed_at"]}},
        }},
    })
}

#[test]
fn requests_tell_an_operation_from_its_siblings() {
    let rows = rows_of(&hub());
    let said = said(&rows);
    let some = |part: &str| said.iter().any(|(_, text)| text.contains(part));
    // Messages use the verb and object of a summary. Further words of the path distinguish the kinds of
    // secrets. A two-part key counts as one.
    for part in ["ork the ", " gist", "vault secret ", "robot secret ", "he repo ", "/"] {
        assert!(some(part), "nobody says {part:?}");
    }
    // No request asks for internal fields, or for events that may not have happened. The owner of a
    // repository is not a repository.
    for part in ["etag", "trashed", "add a fork", "owner", "of the repo of"] {
        assert!(!some(part), "{part}: {:?}", said.iter().find(|(_, text)| text.contains(part)));
    }
    let calls = |name: &str| {
        rows.iter().any(|row| row["messages"].to_string().contains(&format!("\"name\":\"{name}\"")))
    };
    assert!(calls("GistsFork") && calls("VaultDeleteSecret") && calls("DeleteGist"));
    // No call uses a deprecated operation, and names are searched with matching operators.
    assert!(!calls("ListNotesLegacy"));
    let all = Value::from(rows).to_string();
    assert!(all.contains("starting"), "no gist is looked up by its name");
}

/// Makes a document of customers with addresses, and tickets whose notes, states and times people change.
fn desk() -> Value {
    let key =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    let body = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let text = json!({"type": "string"});
    let wait = json!({"type": "string", "description": "A duration in ISO 8601", "example": "PT10M"});
    let state = json!({"type": "string", "enum": ["pending", "open", "closed", "deleted"]});
    let flag = json!({"type": "boolean"});
    json!({
        "openapi": "3.0.3", "info": {"title": "Desk", "version": "1"},
        "paths": {
            "/customers": {"get": {"operationId": "ListCustomers", "responses": answers(list_of("Customer"))}},
            "/customers/{customer_id}": {"parameters": [key("customer_id")], "get": {"operationId": "GetCustomer", "responses": answers(component("Customer"))},
                "patch": {"operationId": "UpdateCustomer", "requestBody": body(json!({"type": "object", "properties": {"name": text, "email": text}})),
                    "responses": answers(component("Customer"))}},
            "/tickets": {"get": {"operationId": "ListTickets", "responses": answers(list_of("Ticket"))}},
            "/tickets/search": {"get": {"operationId": "TicketsSearch", "responses": answers(list_of("Ticket"))}},
            "/tickets/{ticket_id}": {"parameters": [key("ticket_id")], "get": {"operationId": "GetTicket", "responses": answers(component("Ticket"))},
                "patch": {"operationId": "UpdateTicket", "requestBody": body(json!({"type": "object", "properties": {"note": text, "state": state, "wait": wait}})),
                    "responses": answers(component("Ticket"))}},
            "/tickets/{ticket_id}/tags": {"parameters": [key("ticket_id")], "put": {"operationId": "SetTags",
                "requestBody": body(json!({"type": "array", "items": text})), "responses": {"204": {"description": "done"}}}},
        },
        "components": {"schemas": {
            "Customer": {"type": "object", "required": ["id", "name", "email"], "properties": {"id": text, "name": text, "email": text}},
            "Ticket": {"type": "object", "required": ["id", "title", "state"], "properties": {
                "id": text, "title": text, "note": text, "state": state, "wait": wait, "is_deleted": flag, "isSystem": flag}},
        }},
    })
}

#[test]
fn what_is_sent_is_what_was_said_and_people_stay_who_they_are() {
    let rows = rows_of(&desk());
    let all = Value::from(rows.clone()).to_string();
    let said = said(&rows);
    for part in ["PT10M", "searches", "to pending", "the name of the customer"] {
        assert!(!said.iter().any(|(_, text)| text.contains(part)), "{part}");
    }
    for part in ["\"is_deleted\":true", "\"isSystem\":true", "\"state\":\"deleted\""] {
        assert!(!all.replace('\\', "").contains(part), "{part}");
    }
    // Each quoted text is either a sent value or the name of a ticket.
    let mut quoted = 0;
    for row in &rows {
        let calls = row["messages"].to_string().replace("\\\"", "\"");
        for (_, text) in row["messages"].as_array().into_iter().flatten().filter_map(|message| {
            Some((message["role"].as_str().filter(|role| *role == "user")?, message["content"].as_str()?))
        }) {
            // The quoted text may contain quotation marks itself.
            let Some(words) = text.split('"').nth(1).filter(|_| text.matches('"').count() == 2) else {
                continue;
            };
            quoted += 1;
            let is_sent = calls.contains(&format!("\"note\":\"{words}\""));
            let is_name = text.contains(&format!("the ticket \"{words}\""));
            assert!(is_sent || is_name, "{words}: {calls}");
        }
    }
    assert!(quoted > 0, "nobody quotes anything");
}
