//! Owns the tests with schemathesis, a property-based tester of APIs, against worlds made from OpenAPI
//! documents and worlds of the catalog. They check: no 5xx, no response outside its schema, no accepted
//! request that the document forbids, and no ignored sign-in.
//!
//! The accepted deviations and their reasons are in `data/schemathesis/checks.toml`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use diorama_tests::server::Server;
use diorama_tests::{installed, shared_data};
use reqwest::blocking::{Client, Response};
use serde_json::{Value as Json, json};

/// Number of random requests for each operation, besides those that cover its schema.
const EXAMPLES: &str = "6";

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

fn get(url: &str) -> Json {
    client().get(url).send().and_then(Response::error_for_status).unwrap().json().unwrap()
}

/// Returns a configuration with the session's credentials. It requests OAuth2 tokens if the session issues
/// them.
fn credentials(session: &Json) -> String {
    let mut text = String::new();
    for (name, shown) in session["credentials"].as_object().unwrap() {
        let of = |member: &str| shown[member].as_str().unwrap().to_owned();
        let entry = match of("type").as_str() {
            "apiKey" => format!("api_key = \"{}\"", of("value")),
            "bearer" => format!("bearer = \"{}\"", of("value")),
            "basic" => format!("username = \"{}\"\npassword = \"{}\"", of("username"), of("password")),
            "oauth2" => {
                let form = [
                    ("grant_type", "client_credentials".to_owned()),
                    ("client_id", of("client_id")),
                    ("client_secret", of("client_secret")),
                ];
                let body = form.map(|(name, value)| format!("{name}={value}")).join("&");
                let kind = "application/x-www-form-urlencoded";
                let asked = client().post(of("token_url")).header("content-type", kind).body(body);
                let token: Json = asked.send().unwrap().json().unwrap();
                format!("bearer = \"{}\"", token["access_token"].as_str().unwrap())
            }
            other => panic!("{other}"),
        };
        text.push_str(&format!("[auth.openapi.{name}]\n{entry}\n\n"));
    }
    text
}

/// Returns the APIs that sign in, each with its scheme and path.
fn find_sign_ins(document: &Json) -> Vec<(&String, &String, &Json)> {
    let paths = document["paths"].as_object().unwrap();
    let named = |name: &str| {
        let mut all = paths.iter().flat_map(|(path, item)| {
            item.as_object().unwrap().values().map(move |operation| (path, operation))
        });
        all.find(|(_, operation)| operation["operationId"] == name).unwrap()
    };
    let schemes = document["components"]["securitySchemes"].as_object();
    let signing = schemes.into_iter().flatten().filter_map(|(scheme, shown)| {
        let api = shown["description"].as_str()?.strip_prefix("The token that ")?.split(' ').next()?;
        let (path, operation) = named(api);
        Some((scheme, path, operation))
    });
    signing.collect()
}

/// Returns the required members of a request body.
fn list_required(operation: &Json) -> Vec<&str> {
    let body = &operation["requestBody"]["content"]["application/json"]["schema"]["required"];
    body.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// Returns the signed-in user with the name of its resource: the first record that has all values for the
/// sign-in.
fn find_user<'s>(state: &'s Json, operation: &Json) -> (&'s str, &'s Json) {
    let resources = state["resources"].as_object().unwrap().iter();
    let mut records = resources.flat_map(|(resource, records)| {
        records.as_array().unwrap().iter().map(move |record| (resource.as_str(), record))
    });
    records.find(|(_, record)| list_required(operation).iter().all(|name| !record[*name].is_null())).unwrap()
}

/// Returns keys of existing records for path parameters. Without them every call ends at 404. It omits
/// records of users, because a fixed key would mostly belong to another user. schemathesis takes the user's
/// own keys from lists.
fn keys(state: &Json, document: &Json) -> String {
    let paths = document["paths"].as_object().unwrap().keys();
    let names: BTreeSet<&str> =
        paths.flat_map(|path| path.split('{').skip(1)).filter_map(|rest| rest.split('}').next()).collect();
    let signing = find_sign_ins(document).into_iter();
    let users: Vec<String> =
        signing.map(|(.., operation)| format!("{}_id", find_user(state, operation).0)).collect();
    let is_owned = |record: &Json| users.iter().any(|user| !record[user].is_null());
    let record = |name: &str| {
        let resources = state["resources"].as_object().unwrap();
        let own = resources.iter().find(|(resource, _)| fold_name(name).starts_with(&fold_name(resource)));
        let record = own.and_then(|(_, records)| records.get(0));
        record.map(|record| (true, record)).or_else(|| {
            let mut firsts = resources.values().filter_map(|records| records.get(0));
            firsts.find(|record| !record[name].is_null()).map(|record| (false, record))
        })
    };
    let key = |name: &str| {
        let (is_own, record) = record(name)?;
        let members = record.as_object().unwrap();
        let named = members.iter().find(|(field, _)| fold_name(field) == fold_name(name));
        named.map(|(_, value)| value).or_else(|| members.get("id").filter(|_| is_own)).cloned()
    };
    let (owned, others): (Vec<&str>, Vec<&str>) =
        names.iter().copied().partition(|name| record(name).is_some_and(|(_, record)| is_owned(record)));
    let line = |name: &&str| Some(format!("\"path.{name}\" = {}\n", key(name)?));
    let known: Vec<String> = others.iter().filter_map(line).collect();
    assert!(!known.is_empty() || !owned.is_empty(), "no key of {names:?} is known");
    format!("[parameters]\n{}\n", known.concat())
}

/// Folds a name, so that a path and a record agree. Example: `BookId` and `book_id`.
fn fold_name(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

/// Returns a token of the API that signs in, for an existing user. No session credential replaces this token.
fn signed_in(session: &Json, state: &Json, document: &Json) -> String {
    let mut text = String::new();
    for (scheme, path, operation) in find_sign_ins(document) {
        let (_, user) = find_user(state, operation);
        let form: serde_json::Map<String, Json> =
            list_required(operation).iter().map(|name| ((*name).to_owned(), user[*name].clone())).collect();
        let url = format!("{}{path}", session["base_url"].as_str().unwrap());
        let issued: Json = client().post(url).json(&form).send().unwrap().json().unwrap();
        let token = first_text(&issued).unwrap();
        text.push_str(&format!("[auth.openapi.{scheme}]\nbearer = \"{token}\"\n\n"));
    }
    text
}

/// Returns the first string of a reply. A sign-in returns its token first, with or without an envelope.
fn first_text(json: &Json) -> Option<&str> {
    match json {
        Json::String(text) => Some(text),
        Json::Object(members) => members.values().find_map(first_text),
        _ => None,
    }
}

fn check(document: &Path) {
    held(&["--openapi", document.to_str().unwrap(), "--auth", "enforce"], &[false, true], 0.75);
}

/// Tests a world of the catalog with known keys. Few of its records belong to the one signed-in user.
fn check_catalog(name: &str) {
    held(&["--world", name], &[true], 0.5);
}

/// Runs schemathesis without and with known keys. With keys, at least `share` of the operations must succeed
/// at least once.
fn held(arguments: &[&str], runs: &[bool], share: f64) {
    let Some(schemathesis) = installed("venv-schemathesis/bin/st") else { return };
    let server = Server::start(arguments).unwrap();
    for &with_keys in runs {
        let session = server.session().unwrap();
        let base = session["base_url"].as_str().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let served = get(&format!("{base}/openapi.json"));
        let id = session["id"].as_str().unwrap();
        let state = get(&format!("{}/v1/sessions/{id}/state", server.url));
        let keys = if with_keys { keys(&state, &served) } else { String::new() };
        let config = folder.path().join("schemathesis.toml");
        let checks = include_str!("../data/schemathesis/checks.toml");
        let signed_in = signed_in(&session, &state, &served);
        std::fs::write(&config, format!("{keys}{}{signed_in}{checks}", credentials(&session))).unwrap();
        let ran = Command::new(&schemathesis)
            .arg("--config-file")
            .arg(&config)
            .args(["run", &format!("{base}/openapi.json")])
            .args(["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES])
            .args(["--generation-deterministic", "--continue-on-failure", "--warnings", "off"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
        answered(&server, &session, &served, if with_keys { share } else { 0.0 });
    }
}

/// Checks that the run reached every operation, and that at least `share` of them succeeded.
fn answered(server: &Server, session: &Json, document: &Json, share: f64) {
    let id = session["id"].as_str().unwrap();
    let (mut called, mut succeeded) = (BTreeSet::new(), BTreeSet::new());
    for offset in (0..).step_by(1000) {
        let page = get(&format!("{}/v1/sessions/{id}/log?offset={offset}&limit=1000", server.url));
        let calls = page["calls"].as_array().unwrap();
        for call in calls {
            let api = call["api"].as_str().unwrap().to_owned();
            if (200..300).contains(&call["status"].as_u64().unwrap()) {
                succeeded.insert(api.clone());
            }
            called.insert(api);
        }
        if calls.is_empty() {
            break;
        }
    }
    let paths = document["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(called.len(), operations, "operations that were reached: {called:?}");
    let least = ((operations as f64 * share) as usize).max(1);
    assert!(succeeded.len() >= least, "{} of {operations} succeeded: {succeeded:?}", succeeded.len());
    println!("{}", json!({"operations": operations, "succeeded": succeeded.len(), "share": share}));
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/openapi").join(name)
}

#[test]
fn tmdb_holds() {
    if let Some(document) = shared_data("restbench/tmdb_oas.json") {
        check(&document);
    }
}

#[test]
fn a_document_with_writes_and_oauth_holds() {
    check(&own("tunehall.yaml"));
}

#[test]
fn a_document_of_swagger_2_holds() {
    check(&own("parcel_post.json"));
}

#[test]
fn a_document_without_security_holds() {
    check(&own("vet_clinic.yaml"));
}

#[test]
fn a_world_with_sign_in_and_pages_holds() {
    check_catalog("city_library");
}

#[test]
fn a_world_with_money_and_cursors_holds() {
    check_catalog("personal_bank");
}

#[test]
fn a_world_of_writes_without_sign_in_holds() {
    check_catalog("smart_home");
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn every_world_of_the_catalog_holds() {
    let catalog = Server::start(&["--json"]).unwrap().said["worlds"].as_array().unwrap().clone();
    let names: Vec<String> = catalog.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 14, "{names:?}");
    let failed: Vec<String> =
        names.into_iter().filter(|name| std::panic::catch_unwind(|| check_catalog(name)).is_err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
