//! The grader against labelled episodes (`docs/grading.md`): it may not become worse.

use std::path::{Path, PathBuf};

use diorama_tests::diorama;
use serde_json::{Value as Json, json};

/// A set of labelled episodes: its file, its dataset, how many are right and wrong, and for each form of final answers
/// how many right ones fail and how many wrong ones pass, as the page says. In the everyday sets the structured final
/// answers are the reference's, so that only the calls are judged.
struct Set {
    file: &'static str,
    dataset: &'static str,
    all: (u64, u64),
    structured: (u64, Option<u64>),
    prose: (u64, u64),
}

const SETS: [Set; 4] = [
    Set {
        file: "episodes-worked.jsonl",
        dataset: "dataset",
        all: (91, 97),
        structured: (0, None),
        prose: (3, 10),
    },
    Set {
        file: "episodes-held.jsonl",
        dataset: "dataset",
        all: (95, 95),
        structured: (0, None),
        prose: (0, 9),
    },
    Set {
        file: "scenarios/episodes-worked.jsonl",
        dataset: "scenarios/dataset",
        all: (53, 50),
        structured: (0, Some(6)),
        prose: (1, 8),
    },
    Set {
        file: "scenarios/episodes-held.jsonl",
        dataset: "scenarios/dataset",
        all: (51, 54),
        structured: (1, Some(5)),
        prose: (9, 7),
    },
];

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join("grading");
    folder.join(name).display().to_string()
}

/// The counts of a file: right episodes that fail, all right ones, wrong ones that pass, all wrong ones.
fn errors(file: &str, dataset: &str, answers: &str) -> [u64; 4] {
    let ran = diorama(["task", "grade", file, "--tasks", dataset, "--answers", answers, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Text that is not JSON has no counts, and the test fails.
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
    for set in SETS {
        for (answers, right, wrong) in
            [("structured", set.structured.0, set.structured.1), ("prose", set.prose.0, Some(set.prose.1))]
        {
            let [rejects, all_right, accepts, all_wrong] =
                errors(&data(set.file), &data(set.dataset), answers);
            assert_eq!((all_right, all_wrong), set.all, "{}", set.file);
            assert!(rejects <= right, "{}, {answers}: {rejects} right episodes fail, {right} did", set.file);
            if let Some(wrong) = wrong {
                assert!(
                    accepts <= wrong,
                    "{}, {answers}: {accepts} wrong episodes pass, {wrong} did",
                    set.file
                );
            }
        }
    }
}

/// The episodes beside the project, with facts that were typed from their messages without sight of the labels.
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
        // What a structured final answer cannot show is not for it to judge.
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
    let [rejects, right, accepts, wrong] = errors(file.to_str().unwrap(), &dataset, "structured");
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
