//! Owns the tests of row selection: by options of `view`, `export`, `stats` and `eval`, by split, and as
//! pairs.

use std::path::Path;

use diorama_tests::{Ran, diorama};
use serde_json::Value as Json;

use crate::generate::whole;

fn run(arguments: &[&str]) -> Json {
    let ran = diorama(arguments.iter().copied());
    assert_eq!(ran.code, 0, "{arguments:?}\n{}\n{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

fn fails(arguments: &[&str], code: u8, expect: &str) {
    let Ran { code: found, err, .. } = diorama(arguments.iter().copied());
    assert!(found == code && err.contains(expect), "{arguments:?}: {found} {err}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn lines(file: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn four_commands_take_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, file) = (whole(), folder.path().join("rows.jsonl"));
    let chosen = ["--split", "train", "--ability", "call", "--ability", "retrieve_call", "--tag", "refusal"];
    let with = |first: &[&'static str], last: &[&str]| {
        let first = first.iter().copied().chain([text(&rows)]);
        run(&first.chain(chosen).chain(last.iter().copied()).chain(["--json"]).collect::<Vec<_>>())
    };
    let stats = with(&["dataset", "stats"], &[]);
    let exported = with(&["dataset", "export"], &["--format", "jsonl", "--out", text(&file)]);
    let lines = lines(&file);
    assert!(lines.len() > 5 && exported["rows"] == lines.len());
    assert_eq!((&stats["dialogues"], &stats["tags"]["refusal"]), (&exported["rows"], &exported["rows"]));
    assert_eq!(stats["funnel"], Json::Null);
    for row in &lines {
        assert!(row["split"] == "train" && row["ability"] != "plan_retrieve_call", "{}", row["id"]);
        assert!(row["tags"].as_array().unwrap().iter().any(|tag| tag == "refusal"), "{}", row["id"]);
    }
    let viewed = with(&["dataset", "view"], &["--limit", "4"]);
    assert_eq!(viewed.as_array().unwrap()[..], lines[..4]);
    let eval = with(&["eval"], &["--agent", "oracle", "--limit", "4"]);
    assert_eq!((&eval["tasks"], &eval["success"]), (&4.into(), &1.0.into()));
    let (id, domain) = (lines[0]["id"].as_str().unwrap(), lines[0]["domains"][0].as_str().unwrap());
    let one = run(&["dataset", "view", text(&rows), "--id", id, "--domain", domain, "--json"]);
    assert_eq!(one.as_array().unwrap()[..], lines[..1]);
    for command in [
        vec!["dataset", "view", text(&rows)],
        vec!["dataset", "stats", text(&rows)],
        vec!["dataset", "export", text(&rows), "--format", "trl", "--out", text(&file)],
        vec!["eval", text(&rows), "--agent", "oracle"],
    ] {
        let with =
            |more: &[&'static str]| command.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
        fails(&with(&["--domain", "nosuch"]), 1, "no row of the dataset has the domain `nosuch`; it has ");
        fails(&with(&["--tag", "nosuch"]), 1, "no row of the dataset has the tag `nosuch`; it has ");
        fails(&with(&["--id", "nosuch"]), 1, "has no row with all that is asked for");
        fails(&with(&["--ability", "nosuch"]), 2, "plan_retrieve_call");
    }
}

#[test]
fn worlds_of_ones_own_have_a_test_split_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("two");
    let worlds = ["generate", "dental_clinic", "city_library", "-n", "200", "--out", text(&out)];
    let with = |more: &[&'static str]| worlds.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    run(&with(&["--test-domains", "city_library", "--test-share", "0.5", "--json"]));
    let splits = |split: &str| run(&["dataset", "stats", text(&out), "--split", split, "--json"]);
    let (train, test) = (splits("train"), splits("test"));
    assert!(train["dialogues"] == 100 && test["dialogues"] == 100, "{train} {test}");
    let held = run(&["dataset", "verify", text(&out), "--json"]);
    assert_eq!((&held["rows"], &held["failed"]), (&200.into(), &0.into()), "{held}");
    fails(&["dataset", "view", text(&out), "--split", "test", "--domain", "dental_clinic"], 1, "has no row");

    let alone = folder.path().join("alone");
    let one = ["generate", "dental_clinic", "-n", "60", "--out", text(&alone)];
    fails(&[&one[..], &["--test-share", "0.2"]].concat(), 1, "cannot be split");
    let made = diorama(one);
    let expect = "All rows are of the split train: --test-domains and --test-share give the split test";
    assert!(made.code == 0 && made.out.contains(expect), "{}{}", made.out, made.err);
    fails(
        &["eval", text(&alone), "--agent", "oracle", "--split", "test"],
        1,
        "--test-domains or --test-share",
    );
    fails(&with(&["--test-domains", "moon"]), 1, "no world has the domain `moon`");
}

/// Checks that rejected calls fit the schema of a tool of the row, and that no two of them are equal.
#[test]
fn rejected_calls_are_valid_in_form_and_answered_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, file) = (whole(), folder.path().join("pairs.jsonl"));
    let line =
        ["dataset", "export", text(&rows), "--format", "trl-preference", "--out", text(&file), "--json"];
    run(&line);
    let pairs = lines(&file);
    let count = |kind: &str| pairs.iter().filter(|pair| pair["damage"] == kind).count();
    for kind in ["change_argument", "other_api", "drop_call", "add_write"] {
        assert!(count(kind) > 50, "{kind}: {}", count(kind));
    }
    for pair in &pairs {
        assert_ne!(pair["chosen"], pair["rejected"], "{}", pair["id"]);
        let tools = pair["tools"].as_array().unwrap();
        for call in pair["rejected"][0]["tool_calls"].as_array().into_iter().flatten() {
            let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            let tool = tools.iter().find(|tool| tool["function"]["name"] == *name);
            let schema = &tool.unwrap_or_else(|| panic!("{pair}"))["function"]["parameters"];
            assert!(jsonschema::is_valid(schema, arguments), "{}: {name} {arguments}", pair["id"]);
        }
    }
}
