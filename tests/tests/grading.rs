//! Owns the regression tests of the grader on labelled episodes (`docs/grading.md`).

use std::path::{Path, PathBuf};

use diorama_tests::diorama;
use serde_json::{Value as Json, json};

/// A set of labelled episodes with the counts on the page. `all` counts right and wrong episodes. `misjudged`
/// counts right ones that fail and wrong ones that pass. The structured final answers of the everyday sets
/// are the reference's. Only the calls are judged there, and wrong episodes may pass.
struct Set {
    file: &'static str,
    dataset: &'static str,
    all: (u64, u64),
    misjudged: (u64, Option<u64>),
}

const SETS: [Set; 4] = [
    Set { file: "episodes-worked.jsonl", dataset: "dataset", all: (91, 97), misjudged: (0, None) },
    Set { file: "episodes-held.jsonl", dataset: "dataset", all: (95, 95), misjudged: (0, None) },
    Set {
        file: "scenarios/episodes-worked.jsonl",
        dataset: "scenarios/dataset",
        all: (53, 50),
        misjudged: (0, Some(6)),
    },
    Set {
        file: "scenarios/episodes-held.jsonl",
        dataset: "scenarios/dataset",
        all: (51, 54),
        misjudged: (1, Some(6)),
    },
];

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join("grading");
    folder.join(name).display().to_string()
}

/// Returns the counts of a file: right episodes that fail, all right ones, wrong ones that pass, all wrong
/// ones.
fn errors(file: &str, dataset: &str) -> [u64; 4] {
    let ran = diorama(["task", "grade", file, "--tasks", dataset, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Output that is not JSON has no counts, so the test fails.
    let read: Json = serde_json::from_str(&ran.out).unwrap_or_default();
    let count = |share: &str, name: &str| read[share][name].as_u64().unwrap();
    [
        count("false_reject", "of"),
        count("false_reject", "all"),
        count("false_accept", "of"),
        count("false_accept", "all"),
    ]
}

#[test]
fn labelled_episodes_are_judged_as_well_as_the_page_says() {
    for Set { file, dataset, all, misjudged: (right, wrong) } in SETS {
        let [rejects, all_right, accepts, all_wrong] = errors(&data(file), &data(dataset));
        assert_eq!((all_right, all_wrong), all, "{file}");
        assert!(rejects <= right, "{file}: {rejects} right episodes fail, {right} did");
        assert!(
            wrong.is_none_or(|wrong| accepts <= wrong),
            "{file}: {accepts} wrong episodes pass, {wrong:?} did"
        );
    }
}

/// Tests the episodes beside the project. Their facts were typed from the messages without knowledge of the
/// labels.
#[test]
fn typed_facts_are_judged_as_the_page_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/grading");
    let Ok(episodes) = std::fs::read_to_string(folder.join("episodes.jsonl")) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let typed = std::fs::read_to_string(data("shared-facts.jsonl")).unwrap();
    let typed: Vec<Json> = typed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut plain = String::new();
    for (episode, typed) in episodes.lines().zip(&typed) {
        let episode: Json = serde_json::from_str(episode).unwrap();
        // Skips episodes that a structured final answer cannot express.
        if typed.get("prose_only").is_some() || typed.get("note").is_some() || typed["finish"].is_null() {
            continue;
        }
        let call = |call: &Json| json!({"api": call["api"], "arguments": call["arguments"]});
        let calls: Vec<Json> = episode["calls"].as_array().unwrap().iter().map(call).collect();
        let goal = json!({"calls": calls, "answer": episode["answer"], "finish": typed["finish"]});
        let line = json!({
            "task": episode["task"], "seed": episode["seed"], "label": episode["label"],
            "kind": episode["kind"], "goals": [goal],
        });
        plain.push_str(&format!("{line}\n"));
    }
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("episodes.jsonl");
    std::fs::write(&file, plain).unwrap();
    let dataset = folder.join("dataset").display().to_string();
    let [rejects, right, accepts, wrong] = errors(file.to_str().unwrap(), &dataset);
    assert!(right > 250 && wrong > 180, "{right} right, {wrong} wrong");
    assert!(rejects <= 3 && accepts <= 1, "{rejects} right episodes fail, {accepts} wrong ones pass");
}

#[test]
fn a_line_that_is_no_episode_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("episodes.jsonl");
    std::fs::write(&file, "{\"task\": \"x\"}\n").unwrap();
    let ran = diorama(["task", "grade", file.to_str().unwrap(), "--tasks", &data("dataset")]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("line 1") && ran.err.contains("label"), "{}", ran.err);
}
