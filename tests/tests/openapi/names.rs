//! Owns the tests of records that paths name by a string although they also have a number: users by login,
//! repositories by owner and name, issues by their visible number. Replies must fit the schema of their own
//! operation.

use serde_json::{Value, json};

use super::imports::{Imports, answers, component, list_of};

fn document() -> Value {
    let get = |schema: Value| json!({"responses": answers(schema)});
    let keys = |names: &[&str]| {
        let kind = |name: &str| if name.ends_with("number") { "integer" } else { "string" };
        let key = |name: &&str| json!({"name": name, "in": "path", "required": true, "schema": {"type": kind(name)}});
        Value::Array(names.iter().map(key).collect())
    };
    let text = json!({"type": "string"});
    let whole = json!({"type": "integer"});
    json!({
        "openapi": "3.0.3", "info": {"title": "Forge", "version": "1"},
        "paths": {
            "/users": {"get": get(list_of("User"))},
            "/users/{username}": {"parameters": keys(&["username"]), "get": get(component("User"))},
            "/repos": {"get": get(list_of("Repo"))},
            "/repos/{owner}/{repo}": {"parameters": keys(&["owner", "repo"]), "get": get(component("Repo"))},
            "/repos/{owner}/{repo}/issues": {"parameters": keys(&["owner", "repo"]), "get": get(list_of("Issue"))},
            "/repos/{owner}/{repo}/issues/{issue_number}": {
                "parameters": keys(&["owner", "repo", "issue_number"]), "get": get(component("Issue"))},
            "/repos/{owner}/{repo}/open": {"parameters": keys(&["owner", "repo"]), "get": get(list_of("OpenIssue"))},
        },
        "components": {"schemas": {
            "User": {"type": "object", "required": ["id", "login", "name"],
                "properties": {"id": whole, "login": text, "name": text}},
            "Repo": {"type": "object", "required": ["id", "name", "owner", "owner_id", "config"], "properties": {
                "id": whole, "name": text, "owner": component("User"), "owner_id": whole,
                "config": {"type": "object", "required": ["colour"], "properties": {"colour": text}}}},
            "Issue": {"type": "object", "required": ["id", "number", "title", "state"], "properties": {
                "id": whole, "number": whole, "title": text, "state": {"type": "string", "enum": ["open", "closed", "stale"]}}},
            "OpenIssue": {"type": "object", "required": ["id", "number", "title", "state"], "properties": {
                "id": whole, "number": whole, "title": text, "state": {"type": "string", "enum": ["open", "stale"]}}},
        }},
    })
}

/// Returns the items of a list, after checking it against its schema.
fn listed(forge: &mut Imports, path: &str, arguments: Value) -> Vec<Value> {
    let body = forge.get(path, arguments);
    assert_eq!(forge.refused("GET", path, &body), [""; 0], "{path} {body}");
    body.as_array().expect("a list").clone()
}

#[test]
fn records_with_numbers_are_found_by_the_names_that_paths_give_them() {
    let mut forge = Imports::made("forge.json", document());
    let users = listed(&mut forge, "/users", json!({}));
    for user in &users {
        let one = forge.get("/users/{username}", json!({"username": user["login"]}));
        assert_eq!(&one, user);
    }
    let mut issues = 0;
    for repo in listed(&mut forge, "/repos", json!({})).iter().take(12) {
        let owner = users.iter().find(|user| user["id"] == repo["owner_id"]).expect("an owner is a user");
        assert_eq!(owner["login"], repo["owner"]["login"]);
        let keys = json!({"owner": owner["login"], "repo": repo["name"]});
        let one = forge.get("/repos/{owner}/{repo}", keys.clone());
        assert_eq!((&one, forge.refused("GET", "/repos/{owner}/{repo}", &one)), (repo, Vec::new()));
        listed(&mut forge, "/repos/{owner}/{repo}/open", keys.clone());
        for issue in listed(&mut forge, "/repos/{owner}/{repo}/issues", keys.clone()) {
            let mut of_issue = keys.clone();
            of_issue["issue_number"] = issue["number"].clone();
            assert_eq!(forge.get("/repos/{owner}/{repo}/issues/{issue_number}", of_issue), issue);
            issues += 1;
        }
    }
    assert!(issues > 12, "only {issues} issues were seen");
}
