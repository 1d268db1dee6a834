//! RestBench's gold paths run through a world made of its document, in this process and over HTTP.

use std::path::PathBuf;

use diorama_tests::server::Server;
use diorama_tests::{diorama, shared_data};
use serde_json::Value as Json;

/// Queries whose gold path asks for the id of a record of a kind that none of its earlier replies shows: the file
/// leaves a look-up out (a company's before `GET /company/{company_id}`, a film's credits before its director's).
const LOOK_UP_LEFT_OUT: [u64; 3] = [30, 87, 93];

fn files() -> Option<[PathBuf; 2]> {
    Some([shared_data("restbench/tmdb_oas.json")?, shared_data("restbench/tmdb_queries.json")?])
}

fn run(more: &[&str]) -> Json {
    let [document, queries] = files().unwrap();
    let line = ["--json", "bench", "restbench", document.to_str().unwrap(), queries.to_str().unwrap()];
    let ran = diorama(line.iter().chain(more));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// A share over all queries: those that have it, of how many.
fn solved(summary: &Json, measure: &str) -> (u64, u64) {
    let all = &summary["measures"][measure]["all"];
    (all["solved"].as_u64().unwrap(), all["of"].as_u64().unwrap())
}

fn index(outcome: &Json) -> u64 {
    outcome["case"].as_str().unwrap().parse().unwrap()
}

/// Every path runs through; those three with calls that lead to the missing id, and only those.
fn check(summary: &Json) {
    let counts = ["passed", "every_call_succeeded", "passed_as_written"].map(|name| solved(summary, name));
    assert_eq!(counts, [(100, 100), (100, 100), (97, 100)], "{:#}", summary["errors"]);
    let [calls, ids] = ["calls_succeeded", "keys_agree"].map(|name| solved(summary, name));
    assert!(calls.0 == calls.1 && ids.0 == ids.1 && ids.0 > 900, "{calls:?} {ids:?}");
    let lengths = summary["measures"]["passed"].as_object().unwrap().iter();
    let lengths = lengths.filter(|(group, _)| group.starts_with("path ")).map(|(_, rate)| &rate["of"]);
    assert_eq!(lengths.map(|of| of.as_u64().unwrap()).sum::<u64>(), 100);
    let with_inserted = summary["outcomes"].as_array().unwrap().iter().filter_map(|outcome| {
        let inserted = outcome["inserted"].as_array().unwrap();
        let plain = |call: &Json| call.as_str().unwrap().replace(|c: char| c.is_ascii_digit(), "");
        (!inserted.is_empty()).then(|| (index(outcome), inserted.iter().map(plain).collect::<Vec<_>>()))
    });
    let expect = ["GET /search/company?query=Paramount Pictures", "GET /movie/", "GET /movie//credits"];
    let expect = LOOK_UP_LEFT_OUT.into_iter().zip(expect.map(|call| vec![call.to_owned()]));
    assert_eq!(with_inserted.collect::<Vec<_>>(), expect.collect::<Vec<_>>());
}

/// As they are written, three paths fail.
fn check_as_written(summary: &Json) {
    let failed: Vec<&Json> = summary["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|outcome| outcome["faults"] != Json::Array(vec![]))
        .collect();
    let indices: Vec<u64> = failed.iter().map(|outcome| index(outcome)).collect();
    assert_eq!(indices, LOOK_UP_LEFT_OUT, "{failed:#?}");
    let fault =
        |outcome: &&Json| outcome["faults"][0].as_str().unwrap().starts_with("no key: no earlier reply");
    assert!(failed.iter().all(fault), "{failed:#?}");
    let calls = solved(summary, "calls_succeeded");
    assert_eq!((calls.0, solved(summary, "inserted_calls").0), (calls.1, 0));
    assert_eq!(solved(summary, "passed"), (97, 100));
}

#[test]
fn gold_paths_of_tmdb_run_through_and_ids_keep_their_names() {
    if files().is_none() {
        return;
    }
    let first = run(&[]);
    check(&first);
    check(&run(&["--seed", "11"]));
    check_as_written(&run(&["--as-written"]));
}

#[test]
fn gold_paths_of_tmdb_run_through_over_http() {
    let Some([document, _]) = files() else { return };
    let folder = tempfile::tempdir().unwrap();
    let entities = folder.path().join("entities.yaml");
    let [_, queries] = files().unwrap();
    let written = diorama([
        "bench",
        "restbench",
        document.to_str().unwrap(),
        queries.to_str().unwrap(),
        "--write-entities",
        entities.to_str().unwrap(),
    ]);
    assert_eq!(written.code, 0, "{}", written.err);
    let server =
        Server::start(&["--openapi", document.to_str().unwrap(), "--entities", entities.to_str().unwrap()])
            .unwrap();
    let session = server.session().unwrap();
    let base = session["base_url"].as_str().unwrap();
    check(&run(&["--base-url", base, "--with", "api_key=any"]));
    let without = run(&["--base-url", base]);
    let counts = ["passed", "calls_succeeded"].map(|name| solved(&without, name).0);
    assert_eq!(counts, [0, 0], "no key, no call");
}
