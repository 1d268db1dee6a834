//! Owns the end-to-end tests of `generate`, `merge`, `verify`, `stats` and `eval`: any division of a run
//! gives the same bytes.

mod tampering;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use diorama_output::folder::Folder;
use diorama_output::manifest::Manifest;
use diorama_output::row::Dialogue;
use diorama_output::rows::RowFile;
use diorama_output::storage::Storage;
use diorama_tests::{Ran, diorama, files, shared_data};
use serde_json::Value as Json;

pub(crate) const ROWS: &str = "400";

fn run(arguments: &[&str]) -> Ran {
    diorama(arguments.iter().copied())
}

fn ok(arguments: &[&str]) -> Ran {
    let ran = run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}\n{}\n{}", ran.out, ran.err);
    ran
}

/// Runs a command that must fail with one message and without output.
fn fails(arguments: &[&str], code: u8, expect: &str) {
    let ran = run(arguments);
    assert_eq!(ran.code, code, "{arguments:?}: {}", ran.err);
    assert!(ran.err.contains(expect), "{arguments:?}: {}", ran.err);
    assert!(ran.out.is_empty(), "{}", ran.out);
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a dataset that the tests of this file share. It is generated once and only read.
fn dataset() -> &'static Path {
    static DATASET: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    DATASET
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("dataset");
            ok(&[
                "generate",
                "--out",
                text(&out),
                "--dialogues",
                ROWS,
                "--seed",
                "7",
                "--test-share",
                "0.4",
                "--threads",
                "1",
            ]);
            folder
        })
        .path()
}

pub(crate) fn whole() -> PathBuf {
    dataset().join("dataset")
}

fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn threads_shards_and_merge_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let threads = folder.path().join("threads");
    ok(&[
        "generate",
        "--out",
        text(&threads),
        "--dialogues",
        ROWS,
        "--seed",
        "7",
        "--test-share",
        "0.4",
        "--threads",
        "2",
    ]);
    assert_eq!(files(&threads), files(&whole()));

    let out = folder.path().join("shards");
    let line = |shard: &'static str| {
        [
            "generate",
            "--out",
            text(&out),
            "--dialogues",
            ROWS,
            "--seed",
            "7",
            "--test-share",
            "0.4",
            "--shard",
            shard,
            "--json",
        ]
        .map(str::to_owned)
    };
    for shard in ["3/3", "1/3"] {
        ok(&line(shard).each_ref().map(String::as_str));
    }
    let early = run(&["dataset", "merge", text(&out), "--json"]);
    assert_eq!((early.code, &json(&early)["missing"]), (3, &serde_json::json!(["2/3"])));
    assert!(!out.join("manifest.json").exists());
    fails(
        &[
            "generate",
            "--out",
            text(&out),
            "--dialogues",
            ROWS,
            "--seed",
            "8",
            "--test-share",
            "0.4",
            "--shard",
            "2/3",
        ],
        2,
        "another `seed`",
    );
    fails(
        &[
            "generate",
            "--out",
            text(&out),
            "--dialogues",
            ROWS,
            "--seed",
            "7",
            "--test-share",
            "0.4",
            "--shard",
            "2/4",
        ],
        2,
        "another `shards`",
    );
    ok(&line("2/3").each_ref().map(String::as_str));
    ok(&["dataset", "merge", text(&out)]);
    assert_eq!(files(&out), files(&whole()));
    fails(&["dataset", "merge", text(folder.path())], 2, "holds no run of shards");
}

/// The process that [`a_killed_run_resumes_to_the_same_bytes`] kills.
#[test]
fn child_that_generates() {
    #[expect(clippy::disallowed_methods, reason = "the parent test hands its arguments over here")]
    let Ok(out) = std::env::var("DIORAMA_TEST_CHILD_OUT") else { return };
    ok(&[
        "generate",
        "--out",
        &out,
        "--dialogues",
        ROWS,
        "--seed",
        "7",
        "--test-share",
        "0.4",
        "--threads",
        "2",
        "--resume",
    ]);
}

fn start_child(out: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "generate::child_that_generates", "--nocapture"])
        .env("DIORAMA_TEST_CHILD_OUT", out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill_and_resume(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("killed");
    for kill in 0..kills {
        let mut child = start_child(&out);
        // Kills the child at another point each time: after a number of files, or at its end.
        let wanted = 1 + 5 * kill as usize;
        while files(&out).len() < wanted && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        if !out.join("manifest.json").exists() {
            let verify = run(&["dataset", "verify", text(&out)]);
            assert_ne!(verify.code, 0, "a folder without a manifest is no dataset");
        }
    }
    assert!(!files(&out).is_empty(), "no child has generated anything: is its name another?");
    ok(&[
        "generate",
        "--out",
        text(&out),
        "--dialogues",
        ROWS,
        "--seed",
        "7",
        "--test-share",
        "0.4",
        "--resume",
    ]);
    assert_eq!(files(&out), files(&whole()));
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    kill_and_resume(3);
}

/// Kills a run twenty times. The lane `generate-kills` runs it, because it takes minutes.
#[test]
#[ignore = "takes minutes; a lane runs it"]
fn twenty_kills_resume_to_the_same_bytes() {
    kill_and_resume(20);
}

#[test]
fn every_row_replays_and_abilities_and_changes_are_there() {
    let verified = json(&ok(&["dataset", "verify", text(&whole()), "--json"]));
    assert_eq!([verified["rows"].to_string(), verified["replayed"].to_string()], [ROWS, ROWS]);
    let unproven = verified["unproven"].as_array().unwrap();
    assert!(unproven.iter().any(|what| what == "tags"), "{unproven:?}");
    let stats = json(&ok(&["dataset", "stats", text(&whole()), "--json"]));
    for ability in ["call", "retrieve_call", "plan_retrieve_call"] {
        assert!(stats["abilities"][ability].as_u64().unwrap() > 60, "{ability}");
    }
    let rows = rows(&whole());
    let changing = rows.iter().filter(|(_, row)| row.initial_state_hash != row.final_state_hash).count();
    assert!(3 * changing >= rows.len(), "{changing} of {} rows change state", rows.len());
    assert!(rows.iter().all(|(_, row)| row.license == "CC0-1.0"));
    let card = std::fs::read_to_string(whole().join("README.md")).unwrap();
    assert!(card.contains("license: cc0-1.0"));
    // Training rows share no domain and no skeleton with the test split.
    let domains = |split: &str| -> std::collections::BTreeSet<String> {
        rows.iter()
            .filter(|(_, row)| row.split.to_string() == split)
            .flat_map(|(_, row)| row.domains.clone())
            .collect()
    };
    assert!(domains("test").len() > 1, "{:?}", domains("test"));
    assert!(domains("test").is_disjoint(&domains("train")));
}

#[test]
fn rows_are_as_the_printed_schemas_say() {
    let schema = |of: &str| jsonschema::validator_for(&json(&ok(&["schema", of]))).unwrap();
    let (dialogue, task) = (schema("dialogue"), schema("task"));
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("rows.jsonl");
    ok(&["dataset", "export", text(&whole()), "--format", "jsonl", "--out", text(&lines)]);
    let mut rows = 0;
    for line in std::fs::read_to_string(&lines).unwrap().lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        dialogue.validate(&row).unwrap_or_else(|error| panic!("{error}\n{line}"));
        let column = |name: &str| match &row[name] {
            Json::String(text) => serde_json::from_str(text).unwrap(),
            other => other.clone(),
        };
        let told = serde_json::json!({"checks": column("checks"), "gold_calls": column("gold_calls")});
        task.validate(&told).unwrap_or_else(|error| panic!("{error}\n{told}"));
        rows += 1;
    }
    assert_eq!(rows.to_string(), ROWS);
}

#[test]
fn adversaries_fail_and_the_oracle_succeeds_on_another_seed() {
    let out = whole();
    let success = |agent: &str, key: &str| -> f64 {
        json(&ok(&["eval", "--agent", agent, text(&out), "--json"]))[key].as_f64().unwrap()
    };
    assert_eq!(success("oracle", "success"), 1.0);
    for adversary in ["noop", "dump-all", "write-undo", "late", "exclude", "refuse-first"] {
        let share = success(adversary, "success");
        assert!(share <= 0.01, "{adversary} succeeds on {share}");
    }
    assert!(success("always-refuse", "success_without_refusals") <= 0.01);
}

fn rows(folder: &Path) -> Vec<(String, Dialogue)> {
    let manifest = Manifest::read(&Storage::local(folder)).unwrap();
    let mut rows = Vec::new();
    for name in manifest.files.keys().filter(|name| name.starts_with("data/")) {
        for row in RowFile::open(&Storage::local(folder), name).unwrap().read().unwrap() {
            rows.push((name.clone(), row.unwrap()));
        }
    }
    rows
}

#[test]
fn bad_input_ends_with_one_message_and_nothing_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let fails = |arguments: &[&str], code: u8, expect: &str| {
        fails(arguments, code, expect);
        assert!(!out.join("manifest.json").exists());
    };
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("notes.txt"), b"mine").unwrap();
    fails(&["generate", "--out", text(&full)], 2, "not empty");
    assert_eq!(files(&full).len(), 1);
    fails(&["generate", "--out", text(&full.join("notes.txt"))], 2, "notes.txt");
    fails(&["generate", "--out", text(&out), "--shard", "4/3"], 2, "4/3");
    fails(&["generate", "--out", text(&out), "--shard", "0/3"], 2, "0/3");
    fails(&["generate", "--out", text(&out), "--threads", "0"], 2, "--threads");
    fails(&["world", "show", "dental_clinc"], 2, "dental_clinic");
    fails(&["world", "check", "/dev/zero"], 1, "expected a document");
    fails(&["generate", "--out", text(&out), "--dialogues", "0"], 2, "dialogues");
    fails(&["generate", "--out", text(&out), "--nonsense"], 2, "--nonsense");
    fails(&["generate", "--out", text(&out), "--world", "/nowhere/world.yaml"], 2, "/nowhere/world.yaml");
    let broken = folder.path().join("broken.yaml");
    std::fs::write(&broken, "world: 1\nname: x\nclock: 2026-03-02T09:00\nresources:\n  a: {key: id, fields: {b: {type: integr}}}\n").unwrap();
    fails(&["generate", "--out", text(&out), "--world", text(&broken)], 1, "integr");
    let other = folder.path().join("version.yaml");
    std::fs::write(&other, "world: 2\nname: x\nclock: 2026-03-02T09:00\n").unwrap();
    fails(&["generate", "--out", text(&out), "--world", text(&other)], 1, "2");
    let document = folder.path().join("api.json");
    std::fs::write(&document, "{\"openapi\": \"3.0.0\",\n \"paths\": {").unwrap();
    fails(&["generate", "--out", text(&out), "--openapi", text(&document)], 1, "api");
    fails(&["dataset", "verify", text(&folder.path().join("nothing"))], 1, "found no folder");
    // Another seed makes another run. Resuming it in the same folder fails, and the message names the seed.
    let cut = folder.path().join("cut");
    ok(&["generate", "--out", text(&cut), "--dialogues", "20", "--seed", "1"]);
    fails(&["generate", "--out", text(&cut), "--dialogues", "20", "--seed", "2", "--resume"], 2, "seed");
    // All twenty dialogues belong to one split.
    let lines = folder.path().join("test.jsonl");
    let export =
        ["dataset", "export", text(&cut), "--format", "jsonl", "--split", "test", "--out", text(&lines)];
    fails(&export, 1, "train (20)");
    assert!(!lines.exists());
    // No request asks for the only API of this world.
    let wordless = folder.path().join("wordless.yaml");
    let world = "world: 1\nname: x\nclock: 2026-03-02T09:00\nresources:\n  \
        a: {key: id, fields: {n: {type: integer}}, records: 3}\napis:\n  \
        - {name: ListA, method: GET, path: /a, description: Lists., phrases: {unasked: true}, behaviour: {list: a}}\n";
    std::fs::write(&wordless, world).unwrap();
    let three = [
        "generate",
        "--dialogues",
        "3",
        "--ability",
        "retrieve_call",
        "--out",
        text(&out),
        "--world",
        text(&wordless),
    ];
    let ran = run(&three);
    assert!(ran.code == 1 && ran.err.contains("no dialogue passed"), "{ran:?}");
}

#[test]
fn an_imported_document_makes_rows_that_hold() {
    let Some(document) = shared_data("restbench/tmdb_oas.json") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tmdb");
    ok(&["generate", "--openapi", text(&document), "--dialogues", "500", "--out", text(&out)]);
    let verified = json(&ok(&["dataset", "verify", text(&out), "--json"]));
    assert_eq!((verified["rows"].as_u64(), verified["replayed"].as_u64()), (Some(500), Some(500)));
    // A dataset of one domain has no test split, and `eval` reports it.
    let ran = run(&["eval", "--agent", "oracle", text(&out), "--split", "test"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no row of the dataset has the split `test`"), "{}", ran.err);
    let oracle = json(&ok(&["eval", "--agent", "oracle", text(&out), "--json"]));
    assert_eq!(oracle["success"].as_f64(), Some(1.0));
}

#[test]
fn many_domains_in_a_world_make_rows_that_verify() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let line =
        ["generate", "--dialogues", "40", "--seed", "3", "--domains-per-world", "6", "--out", text(&out)];
    ok(&line);
    let verified = json(&ok(&["--json", "dataset", "verify", text(&out)]));
    assert_eq!((&verified["rows"], &verified["failed"]), (&Json::from(40), &Json::from(0)), "{verified}");
    let rows = Folder::open(Storage::local(&out)).unwrap();
    let row = rows.rows().map(Result::unwrap).find(|row| row.split.to_string() == "train").unwrap();
    assert!(row.world_id.contains("-more-") && row.world_id.len() <= 80, "{}", row.world_id);
}

/// Returns the path of a candidate from the documentation.
fn example(name: &str) -> String {
    format!("{}/data/candidates/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_catalog_is_listed_and_rows_are_printed_as_conversations() {
    let worlds = json(&ok(&["world", "list", "--json"]));
    let worlds = worlds.as_array().unwrap();
    assert!(worlds.len() >= 14);
    for world in worlds {
        let counts = ["resources", "apis", "scenarios"].map(|key| world[key].as_u64().unwrap());
        assert!(counts.iter().all(|count| *count > 0) && world["title"] != "", "{world}");
    }
    let rows = json(&ok(&["dataset", "view", text(&whole()), "-n", "2", "--split", "test", "--json"]));
    let id = rows[1]["id"].as_str().unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["split"]), (2, &"test".into()));
    let shown = ok(&["dataset", "view", text(&whole()), "--id", id]).out;
    assert!(shown.starts_with(id) && shown.contains("  USER: "), "{shown}");
    let none = run(&["dataset", "view", text(&whole()), "--id", "none"]);
    assert!(none.code == 1 && none.err.contains("has no row with all that is asked for"), "{}", none.err);
}

#[test]
fn the_candidates_of_the_documentation_pass_every_gate() {
    let ran = diorama(["task", "check", &example("dental_move"), &example("bank_transfer")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches(": passes\n").count(), 2, "{}", ran.out);
}

#[test]
fn a_candidate_that_fails_says_where_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("candidate.json");
    let text = std::fs::read_to_string(example("dental_move")).unwrap();
    std::fs::write(&file, text.replace("2026-03-06T14:30", "2026-03-07T14:30")).unwrap();
    let ran = diorama(["task", "check", "--json", file.to_str().unwrap()]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let verdicts: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let gates = verdicts["candidates"][0]["gates"].as_array().unwrap();
    let grounded = gates.iter().find(|gate| gate["gate"] == "grounded").unwrap();
    assert_eq!(grounded["findings"][0]["code"], "argument_unsupported", "{grounded}");
    assert_eq!(grounded["findings"][0]["goal"], 0);
    for (text, expect) in [
        ("{}", "missing field"),
        (r#"{"candidate": 2, "goals": []}"#, "version 2, expected 1"),
        (r#"{"candidate": 1, "goals": []}"#, "found none"),
        (r#"{"candidate": 1, "goals": [{"user": "Hi.", "turns": []}]}"#, "goals[0]"),
        (
            r#"{"candidate": 1, "world": "moon", "goals": [{"user": "Hi.", "turns": [{"say": "Hi.", "ends": {"outcome": "done"}}]}]}"#,
            "expected one of",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let ran = diorama(["task", "check", file.to_str().unwrap()]);
        assert!(ran.code == 1 && ran.err.contains(expect), "{text}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn messages_of_another_project_become_a_candidate() {
    let script = format!("{}/data/candidates/from_messages.py", env!("CARGO_MANIFEST_DIR"));
    let made = std::process::Command::new("python3")
        .args([&script, &example("bank_messages"), "personal_bank"])
        .output();
    let Ok(made) = made else {
        assert!(!diorama_tests::is_ci(), "python3 is missing");
        println!("skipped: python3 is not here");
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let expected = std::fs::read(example("bank_transfer")).unwrap();
    assert_eq!(String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&expected));
}
