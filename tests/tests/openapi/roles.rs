//! Owns the tests of paths whose nouns are roles of records in other collections, and of cascading deletion.

use diorama_tests::diorama;
use serde_json::{Value, json};

use super::imports::{Imports, answers, component, list_of};

/// Makes a document of users who follow users, teams with members, and issues with labels in projects.
fn document() -> Value {
    let body = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let done = json!({"204": {"description": "done"}});
    let key = |name: &str, kind: &str| json!([{"name": name, "in": "path", "required": true, "schema": {"type": kind}}]);
    let mut member = key("team_id", "integer");
    member
        .as_array_mut()
        .expect("a list")
        .extend(key("username", "string").as_array().expect("a list").clone());
    let some = json!({"type": "object", "required": ["title", "project_id"], "properties": {
        "title": {"type": "string"}, "project_id": {"type": "integer"}, "label_ids": {"type": "array", "items": {"type": "integer"}}}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Social", "version": "1"},
        "paths": {
            "/users": {"get": {"responses": answers(list_of("User"))}},
            "/users/{username}": {"parameters": key("username", "string"), "get": {"responses": answers(component("User"))}},
            "/me": {"get": {"responses": answers(component("User"))}},
            "/me/following": {"get": {"responses": answers(list_of("User"))}},
            "/me/following/{username}": {"parameters": key("username", "string"),
                "put": {"responses": done}, "delete": {"responses": done}},
            "/teams": {"get": {"responses": answers(list_of("Team"))}},
            "/teams/{team_id}": {"parameters": key("team_id", "integer"), "get": {"responses": answers(component("Team"))}},
            "/teams/{team_id}/members": {"parameters": key("team_id", "integer"), "get": {"responses": answers(list_of("User"))}},
            "/teams/{team_id}/members/{username}": {"parameters": member,
                "put": {"responses": done}, "delete": {"responses": done}},
            "/projects": {"get": {"responses": answers(list_of("Project"))}},
            "/projects/{project_id}": {"parameters": key("project_id", "integer"),
                "get": {"responses": answers(component("Project"))}, "delete": {"responses": done}},
            "/labels": {"get": {"responses": answers(list_of("Label"))}},
            "/labels/{label_id}": {"parameters": key("label_id", "integer"),
                "get": {"responses": answers(component("Label"))}, "delete": {"responses": done}},
            "/issues": {"get": {"responses": answers(list_of("Issue"))},
                "post": {"requestBody": body(some), "responses": answers(component("Issue"))}},
            "/issues/{issue_id}": {"parameters": key("issue_id", "integer"),
                "get": {"responses": answers(component("Issue"))}, "delete": {"responses": done}},
        },
        "components": {"schemas": {
            "User": {"type": "object", "required": ["username", "node_id"],
                "properties": {"username": {"type": "string"}, "bio": {"type": "string"}, "node_id": {"type": "string"}}},
            "Team": {"type": "object", "required": ["id", "name", "node_id"],
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "node_id": {"type": "string"}}},
            "Project": {"type": "object", "required": ["id", "name"],
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "size": {"type": "integer"}}},
            "Label": {"type": "object", "required": ["id", "name"],
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}},
            "Issue": {"type": "object", "required": ["id", "title", "project_id"], "properties": {
                "id": {"type": "integer"}, "title": {"type": "string"}, "project_id": {"type": "integer"},
                "labels": {"type": "array", "items": component("Label")}}},
        }},
    })
}

fn social() -> Imports {
    Imports::made("social.json", document())
}

/// Returns the names of the users in a list.
fn names(list: &Value) -> Vec<String> {
    let names = list.as_array().expect("a list").iter().filter_map(|user| user["username"].as_str());
    names.map(str::to_owned).collect()
}

#[test]
fn who_is_no_longer_followed_or_in_a_team_is_still_a_user() {
    let mut social = social();
    let users = names(&social.get("/users", json!({})));
    for (list, member, keys) in [
        ("/me/following", "/me/following/{username}", json!({})),
        (
            "/teams/{team_id}/members",
            "/teams/{team_id}/members/{username}",
            json!({"team_id": social.key("team")}),
        ),
    ] {
        let before = names(&social.get(list, keys.clone()));
        let other = users.iter().find(|user| !before.contains(user)).expect("somebody is left").clone();
        let mut arguments = keys.clone();
        arguments["username"] = json!(other);
        for (method, inside) in [("PUT", true), ("DELETE", false)] {
            let (status, body) = social.call(method, member, arguments.clone());
            assert_eq!(status, 204, "{method} {member}: {body}");
            assert_eq!(names(&social.get(list, keys.clone())).contains(&other), inside, "{method} {member}");
        }
        assert_eq!(social.get("/users/{username}", json!({"username": other}))["username"], json!(other));
    }
}

#[test]
fn what_is_deleted_leaves_lists_and_takes_along_what_must_have_it() {
    let mut social = social();
    let issues = social.get("/issues", json!({}));
    let labelled =
        issues.as_array().expect("a list").iter().find(|issue| issue["labels"][0]["id"].is_number());
    let issue = labelled.expect("an issue has labels").clone();
    let label = issue["labels"][0]["id"].clone();
    let (status, body) = social.call("DELETE", "/labels/{label_id}", json!({"label_id": label}));
    assert_eq!(status, 204, "{body}");
    let after = social.get("/issues/{issue_id}", json!({"issue_id": issue["id"]}));
    let left: Vec<&Value> =
        after["labels"].as_array().expect("a list").iter().map(|label| &label["id"]).collect();
    assert!(
        !left.contains(&&label) && left.len() + 1 == issue["labels"].as_array().expect("a list").len(),
        "{after}"
    );
    // Deleting a project also deletes the records that require one.
    let project = issue["project_id"].clone();
    let (status, body) = social.call("DELETE", "/projects/{project_id}", json!({"project_id": project}));
    assert_eq!(status, 204, "{body}");
    let all = social.get("/issues", json!({}));
    assert!(all.as_array().expect("a list").iter().all(|other| other["project_id"] != project), "{all}");
    assert_eq!(social.call("GET", "/issues/{issue_id}", json!({"issue_id": issue["id"]})).0, 404);
}

#[test]
fn the_world_of_roles_has_nothing_to_mend() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = (folder.path().join("social.json"), folder.path().join("world.yaml"));
    std::fs::write(&file, document().to_string()).expect("it is written");
    let (file, out) = (file.to_str().expect("a path"), out.to_str().expect("a path"));
    let ran = diorama(["world", "import", file, "--out", out]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = diorama(["world", "check", out]);
    assert!(
        ran.code == 0 && !format!("{}{}", ran.out, ran.err).contains("warning"),
        "{} {}",
        ran.out,
        ran.err
    );
}
