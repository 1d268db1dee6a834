//! Owns the tests of `diorama search`, `diorama bench search`, and the versions of `ToolSearcher` in
//! datasets.

use std::fs;
use std::path::Path;

use diorama_agents::episode::Task;
use diorama_output::folder::Folder;
use diorama_tests::{diorama, shared_data};
use serde_json::{Value as Json, json};

fn ran(arguments: &[&str]) -> Json {
    let ran = diorama(arguments.iter().copied());
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn a_hit_tells_what_each_part_says_and_what_needs_it() {
    let found = ran(&["--json", "search", "make", "an", "appointment", "at", "the", "dentist", "-k", "10"]);
    let hits = found["hits"].as_array().unwrap();
    let of =
        |api: &str| hits.iter().find(|hit| hit["api"] == api).unwrap_or_else(|| panic!("{api}: {found}"));
    assert!(of("BookAppointment")["scores"]["embedding"].as_f64().is_some());
    assert!(of("BookAppointment")["scores"]["lexical"].as_f64().is_some());
    // `BookAppointment` needs the keys of a dentist and a patient, which other APIs return.
    assert_eq!(of("GetAppointment")["scores"]["needed_by"], "BookAppointment");
    let only = ran(&["--json", "search", "appointment", "--domain", "dental_clinic", "--method", "GET"]);
    let hits = only["hits"].as_array().unwrap();
    assert!(
        !hits.is_empty() && hits.iter().all(|hit| hit["method"] == "GET" && hit["domain"] == "dental_clinic")
    );
}

#[test]
fn a_domain_that_no_api_is_of_is_refused() {
    let ran = diorama(["search", "appointment", "--domain", "nosuch"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("found `nosuch`") && ran.err.contains("dental_clinic"), "{}", ran.err);
}

#[test]
fn a_model_that_is_not_there_is_an_error_that_says_what_to_do() {
    let ran = diorama(["search", "x", "--model", "no-such-model"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--features fastembed") || ran.err.contains("ORT_DYLIB_PATH"), "{}", ran.err);
}

#[test]
fn the_benchmark_measures_what_is_in_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &[Json]| {
        let file = folder.path().join(name);
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        file.display().to_string()
    };
    let pool = write(
        "pool",
        &[
            json!({"name": "BookTable", "description": "Reserves a table.", "inputs": ["restaurant_id"]}),
            json!({"name": "NameToId", "description": "Identifies a place.", "inputs": ["name"], "outputs": ["restaurant_id"]}),
            json!({"name": "Translate", "description": "Translates a text."}),
        ],
    );
    let queries = write(
        "queries",
        &[
            json!({"query": "reserve a table for two", "apis": ["BookTable", "NameToId"]}),
            json!({"query": "translate this text", "apis": ["Translate"]}),
        ],
    );
    let found = ran(&["--json", "bench", "search", &queries, "--pool", &pool]);
    assert_eq!(
        (&found["requests"], &found["apis"], &found["baseline"]),
        (&json!(2), &json!(3), &json!("lexical"))
    );
    let mean = |method: &str, measure: &str| found["methods"][method][measure]["mean"].as_f64().unwrap();
    assert_eq!(mean("lexical", "recall_at_1"), 0.75);
    assert_eq!(mean("lexical", "complete_at_10"), 0.5);
    assert_eq!(mean("fused+needs", "complete_at_10"), 1.0, "{found}");
    let unknown = write("unknown", &[json!({"query": "x", "apis": ["Nothing"]})]);
    let failed = diorama(["bench", "search", &unknown, "--pool", &pool]);
    assert!(failed.code == 1 && failed.err.contains("found the API Nothing"), "{}", failed.err);
    // The command refuses a file that it would not read.
    let folder = folder.path().display().to_string();
    for line in [["bench", "search", &folder, "--pool", &pool], ["bench", "search", &queries, "--world", "x"]]
    {
        let unread = diorama(line);
        assert!(unread.code == 2 && unread.err.contains("expected beside"), "{}", unread.err);
    }
}

#[test]
fn the_reverse_chain_sample_is_read_whole() {
    let Some(file) = shared_data("reverse-chain/sample_155.json") else { return };
    let found = ran(&["--json", "bench", "search", &file.display().to_string()]);
    assert_eq!((&found["requests"], &found["apis"]), (&json!(155), &json!(420)));
    let mean = |method: &str, measure: &str| found["methods"][method][measure]["mean"].as_f64().unwrap();
    assert!(mean("fused+needs", "complete_at_10") > mean("lexical", "complete_at_10"), "{found}");
}

/// Checks that a dataset's episodes and manifest name the version of the search, and that the dataset
/// verifies.
#[test]
fn datasets_name_the_search_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rows").display().to_string();
    let asked = ["--dialogues", "60", "--seed", "5", "--ability", "retrieve_call"];
    let made = [&["--json", "generate", "--out", &out][..], &asked].concat();
    assert_eq!(ran(&made)["dialogues"], 60);
    let verified = ran(&["--json", "dataset", "verify", &out]);
    assert_eq!((&verified["rows"], &verified["failed"]), (&json!(60), &json!(0)), "{verified}");
    let opened = Folder::open(diorama_output::storage::Storage::local(Path::new(&out))).unwrap();
    assert_eq!(opened.manifest().search_version, "toolsearch/4");
    for row in opened.rows() {
        assert_eq!(Task::of(&row.unwrap()).unwrap().episode.search, "toolsearch/4");
    }
}

/// Checks that rows of the first version of the search replay with that version.
#[test]
fn rows_of_the_first_version_of_the_search_verify() {
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/grading/dataset");
    // The folder holds only a part of the rows that its manifest counts.
    let found = diorama(["--json", "dataset", "verify", &rows.display().to_string()]);
    let verified: Json = serde_json::from_str(&found.out).unwrap();
    assert_eq!((&verified["failed"], &verified["replayed"]), (&json!(0), &json!(103)), "{verified}");
}
