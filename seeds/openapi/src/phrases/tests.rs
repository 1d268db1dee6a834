//! Checks the requests of small documents.

use serde_json::{Value as Json, json};

/// Returns the requests for a write at a path, whose body has this schema. `/folders` lists folders with a name.
fn requests(path: &str, id: &str, body: Json) -> Vec<String> {
    let folder =
        json!({"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}});
    let answers = |schema: Json| json!({"200": {"description": "", "content": {"application/json": {"schema": schema}}}});
    let list = answers(json!({"type": "array", "items": folder}));
    let mut paths = json!({"/folders": {"get": {"operationId": "listFolders", "responses": list}},
        "/folders/{id}": {"get": {"operationId": "getFolder", "responses": answers(folder.clone())}}});
    let sent = json!({"required": true, "content": {"application/json": {"schema": body}}});
    paths[path]["post"] = json!({"operationId": id, "requestBody": sent, "responses": answers(folder)});
    let root = json!({"openapi": "3.0.0", "info": {"title": "Files", "version": "1"}, "paths": paths});
    let found = crate::import("files.json", root.to_string().as_bytes(), &Default::default()).unwrap();
    let api = found.doc.apis.into_iter().find(|api| api.method.as_str() == "POST").unwrap();
    api.phrases.imperative
}

fn named() -> Json {
    json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}})
}

#[test]
fn a_thing_is_called_by_its_first_name_and_renamed_to_another() {
    assert!(requests("/folders", "addFolder", named()).contains(&"add a folder called {name}".to_owned()));
    assert_eq!(
        requests("/folders/{id}/rename", "renameFolder", named()),
        ["rename the folder {id} to {name}"]
    );
    let wrapped = json!({"type": "object", "required": ["folder"], "properties": {"folder": named()}});
    assert!(requests("/folders", "addFolder", wrapped).contains(&"add a folder called {folder}".to_owned()));
}
