//! The grader against labelled episodes (`docs/grading.md`): it may not become worse.

use std::path::PathBuf;

use diorama_tests::diorama;
use serde_json::Value as Json;

/// Right episodes that fail and wrong ones that pass, as the page says.
const WORKED: (u64, u64) = (3, 10);
const HELD: (u64, u64) = (0, 9);
/// Right episodes that fail in either file with structured endings.
const STRUCTURED: u64 = 2;

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join("grading");
    folder.join(name).display().to_string()
}

fn errors(file: &str, answers: &str) -> (Json, Json) {
    let ran =
        diorama(["task", "grade", &data(file), "--tasks", &data("dataset"), "--answers", answers, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Text that is not JSON has no shares, which the tests ask for.
    let read: Json = serde_json::from_str(&ran.out).unwrap_or_default();
    (read["false_reject"].clone(), read["false_accept"].clone())
}

#[test]
fn labelled_episodes_are_judged_as_well_as_the_page_says() {
    for (file, right, wrong, all) in [
        ("episodes-worked.jsonl", WORKED.0, WORKED.1, (91, 97)),
        ("episodes-held.jsonl", HELD.0, HELD.1, (95, 95)),
    ] {
        let (rejects, accepts) = errors(file, "prose");
        assert_eq!((&rejects["all"], &accepts["all"]), (&Json::from(all.0), &Json::from(all.1)), "{file}");
        let misjudged = |share: &Json| share["of"].as_u64().unwrap();
        assert!(misjudged(&rejects) <= right, "{file}: {rejects} right episodes fail, {right} did");
        assert!(misjudged(&accepts) <= wrong, "{file}: {accepts} wrong episodes pass, {wrong} did");
    }
}

/// With the reference solution's facts, what is right about the calls alone is right.
#[test]
fn structured_endings_reject_few_right_episodes() {
    for file in ["episodes-worked.jsonl", "episodes-held.jsonl"] {
        let (rejects, _) = errors(file, "structured");
        assert!(rejects["of"].as_u64().unwrap() <= STRUCTURED, "{file}: {rejects}");
    }
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
