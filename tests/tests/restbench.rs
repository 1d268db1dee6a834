//! Owns the test that runs RestBench's reference paths in a world that is made from its document.

use std::path::PathBuf;

use diorama_tests::{diorama, shared_data};
use serde_json::Value as Json;

/// Queries whose reference path needs the id of a record that no earlier reply shows, because the file omits
/// a call. Examples: a search for the company before `GET /company/{company_id}`, a film's credits before its
/// director's.
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

/// Returns a share over all queries: the number that have it, and the number of queries.
fn solved(summary: &Json, measure: &str) -> (u64, u64) {
    let all = &summary["measures"][measure]["all"];
    (all["solved"].as_u64().unwrap(), all["of"].as_u64().unwrap())
}

/// Checks that each path runs as written, except those three.
fn check(summary: &Json) {
    let outcomes = summary["outcomes"].as_array().unwrap().iter();
    let failed: Vec<&Json> = outcomes.filter(|outcome| outcome["faults"] != Json::Array(vec![])).collect();
    let index = |outcome: &&Json| outcome["case"].as_str().unwrap().parse().unwrap();
    assert_eq!(failed.iter().map(index).collect::<Vec<u64>>(), LOOK_UP_LEFT_OUT, "{failed:#?}");
    let fault =
        |outcome: &&Json| outcome["faults"][0].as_str().unwrap().starts_with("no key: no earlier reply");
    assert!(failed.iter().all(fault), "{failed:#?}");
    assert_eq!(["passed", "every_call_succeeded"].map(|name| solved(summary, name)), [(97, 100); 2]);
    let [calls, ids] = ["calls_succeeded", "keys_agree"].map(|name| solved(summary, name));
    assert!(calls.0 == calls.1 && ids.0 == ids.1 && ids.0 > 900, "{calls:?} {ids:?}");
    let lengths = summary["measures"]["passed"].as_object().unwrap().iter();
    let lengths = lengths.filter(|(group, _)| group.starts_with("path ")).map(|(_, rate)| &rate["of"]);
    assert_eq!(lengths.map(|of| of.as_u64().unwrap()).sum::<u64>(), 100);
}

#[test]
fn gold_paths_of_tmdb_run_through_and_ids_keep_their_names() {
    if files().is_none() {
        return;
    }
    check(&run(&[]));
    check(&run(&["--seed", "11"]));
}
