//! `--openapi DIR` end to end: every document in a process of its own, and the same bytes however a run is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

const ROWS: &str = "60";

fn diorama() -> Command {
    Command::new(env!("CARGO_BIN_EXE_diorama"))
}

fn run(arguments: &[&str]) -> Output {
    diorama().args(arguments).output().unwrap()
}

fn ok(arguments: &[&str]) -> Json {
    let ran = run(arguments);
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap_or_default()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Three providers whose documents give rows, one whose document is broken, and one that nests too deeply.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join("apis").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let material = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("data/openapi");
    for (name, file) in [
        ("parcel.example/post/1.0/openapi.json", "parcel_post.json"),
        ("tunehall.example/v2/openapi.yaml", "tunehall.yaml"),
        ("vet.example/clinic.yaml", "vet_clinic.yaml"),
    ] {
        write(name, &fs::read(material.join(file)).unwrap());
    }
    write("broken.example/api.json", b"{\n  \"openapi\" 3}");
    write(
        "empty.example/api.json",
        br#"{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {}}"#,
    );
    folder
}

fn generate(apis: &Path, out: &Path, more: &[&str]) -> Json {
    let line = ["generate", "--openapi", text(apis), "-n", ROWS, "--seed", "5", "--json", "--out", text(out)];
    ok(&[&line[..], more].concat())
}

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match fs::read(&path) {
                Ok(bytes) => _ = found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes),
                Err(_) => waiting.push(path),
            }
        }
    }
    found
}

#[test]
fn rows_are_spread_over_documents_and_a_bad_document_ends_only_itself() {
    let folder = folder();
    let (apis, out) = (folder.path().join("apis"), folder.path().join("rows"));
    let found = generate(&apis, &out, &[]);
    assert_eq!(found["dialogues"].to_string(), ROWS);
    let documents = found["documents"].as_array().unwrap();
    let names: Vec<&str> = documents.iter().map(|document| document["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["", "", "parcel_example_post", "tunehall_example", "vet_example_clinic"]);
    let number = |document: &Json, name: &str| document[name].as_u64().unwrap_or_default();
    for document in &documents[2..] {
        // The document with the fewest operations has uses for 15 rows, and the others get the rest.
        let share = number(document, "share");
        assert!((15..=30).contains(&share), "{document}");
        let asked = document["asked"].as_object().unwrap().len();
        // Seven of the parcels: users say no code of a depot.
        assert!(number(document, "rows") + 1 >= share && asked >= 7, "{document}");
    }
    let shares: u64 = documents.iter().map(|document| number(document, "share")).sum();
    assert_eq!(shares.to_string(), ROWS);
    let refused = found["refused"].as_array().unwrap();
    assert_eq!((refused.len(), &refused[0]["document"]), (2, &Json::from("broken.example/api.json")));
    assert!(refused[0]["reason"].as_str().unwrap().starts_with("2:"), "{refused:?}");

    // The reports are a file of the dataset, and name what its rows name.
    let kept: Json = serde_json::from_slice(&fs::read(out.join("documents.json")).unwrap()).unwrap();
    assert_eq!(kept, found["documents"]);
    let manifest: Json = serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
    assert!(manifest["files"]["documents.json"]["blake3"].is_string());
    ok(&["dataset", "verify", text(&out), "--json"]);
    let lines = folder.path().join("rows.jsonl");
    ok(&["dataset", "export", text(&out), "--format", "jsonl", "--out", text(&lines)]);
    let mut splits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut searches = 0;
    for line in fs::read_to_string(&lines).unwrap().lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let domains =
            row["domains"].as_array().unwrap().iter().map(|domain| domain.as_str().unwrap().to_owned());
        splits.entry(row["split"].as_str().unwrap().to_owned()).or_default().extend(domains);
        searches += usize::from(line.contains("ToolSearcher"));
        assert!(row["source"].as_str().unwrap().contains("version"), "{}", row["source"]);
        assert!(!row["license"].as_str().unwrap().is_empty());
    }
    assert_eq!(splits["test"].len(), 1, "{splits:?}");
    assert!(splits["train"].is_disjoint(&splits["test"]));
    assert!(searches > 10, "{searches} rows search for tools");
}

#[test]
fn threads_shards_and_interruptions_give_the_same_bytes() {
    let folder = folder();
    let apis = folder.path().join("apis");
    let out = |name: &str| folder.path().join(name);
    generate(&apis, &out("whole"), &["--threads", "1"]);
    let whole = files(&out("whole"));

    for shard in ["2/2", "1/2"] {
        generate(&apis, &out("shards"), &["--shard", shard]);
    }
    ok(&["dataset", "merge", text(&out("shards")), "--json"]);
    assert!(files(&out("shards")) == whole, "shards make other bytes");

    let kept = out("killed").join(".progress").join("documents");
    let mut child = diorama()
        .args([
            "generate",
            "--openapi",
            text(&apis),
            "-n",
            ROWS,
            "--seed",
            "5",
            "--out",
            text(&out("killed")),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while files(&kept).len() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = child.kill();
    child.wait().unwrap();
    generate(&apis, &out("killed"), &["--resume"]);
    assert!(files(&out("killed")) == whole, "a run that went on makes other bytes");
    // The same run reports the existing dataset, and another run is refused.
    assert_eq!(generate(&apis, &out("killed"), &["--resume"])["dialogues"].to_string(), ROWS);
    let other = ["generate", "--openapi", text(&apis), "-n", ROWS, "--seed", "6", "--resume", "--out"];
    let ran = run(&[&other[..], &[text(&out("killed"))]].concat());
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("another `seed`"));
    let other =
        ["generate", "--openapi", text(&apis), "-n", ROWS, "--seed", "5", "--resume", "--first-guesses"];
    let ran = run(&[&other[..], &["--out", text(&out("killed"))]].concat());
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("another `documents`"));
}

#[test]
fn a_folder_is_imported_document_by_document() {
    let folder = folder();
    let (apis, worlds) = (folder.path().join("apis"), folder.path().join("worlds"));
    let found = ok(&["world", "import", text(&apis), "--out", text(&worlds), "--json"]);
    let names: Vec<String> = files(&worlds).into_keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["parcel_example_post.yaml", "tunehall_example.yaml", "vet_example_clinic.yaml"]);
    assert_eq!(found["documents"][0]["provider"], "parcel.example");
    assert_eq!(found["refused"].as_array().unwrap().len(), 2);
    let check: Vec<String> = names.iter().map(|name| worlds.join(name).display().to_string()).collect();
    let line: Vec<&str> = ["world", "show"].into_iter().chain([&*check[0]]).collect();
    assert!(run(&line).status.success());
    let guessed = folder.path().join("guessed");
    ok(&["world", "import", text(&apis), "--first-guesses", "--out", text(&guessed), "--json"]);
    // The first guesses about this document do not hold.
    let world = "tunehall_example.yaml";
    assert_ne!(fs::read(guessed.join(world)).unwrap(), fs::read(worlds.join(world)).unwrap());
    let none = run(&["world", "import", text(&apis)]);
    assert_eq!(none.status.code(), Some(2), "{}", String::from_utf8_lossy(&none.stderr));
    // A bound that no document keeps: none has a world, and each says why.
    let bounded = run(&[
        "generate",
        "--openapi",
        text(&apis),
        "--document-memory",
        "64",
        "--document-seconds",
        "1",
        "--json",
        "--out",
        text(&folder.path().join("none")),
    ]);
    let found: Json = serde_json::from_slice(&bounded.stdout).unwrap();
    assert_eq!(found["documents"].as_array().unwrap().len(), 5, "{found}");
}

#[test]
fn a_jq_program_that_does_not_end_or_grows_is_stopped() {
    use diorama_agents::isolation::process::Isolation;
    use diorama_baselines::jq::{JqError, JqRunner as _, Program};
    use tokio::runtime::Builder;

    let runner = Isolation::Process(PathBuf::from(env!("CARGO_BIN_EXE_diorama")));
    let input = serde_json::json!({"a": [1, 2, 3], "s": "x"});
    let run = |program: &str| runner.run(&Program::read(program).unwrap(), &input);
    assert_eq!(run(".a | add, length"), Ok(vec![6.into(), 3.into()]));
    assert!(matches!(run(".a | keys | .b"), Err(JqError::Value(_))));
    for program in [
        "[range(1000000000)]",
        "def f: f; f",
        &format!("[{}] | length", vec!["(.a[], .a[])"; 30].join(" as $x | ")),
        &format!("\"xxxxxxxx\" {}", "| . + .".repeat(100)),
        &format!("({} | select(false))", vec!["(1,1)"; 60].join("|")),
    ] {
        let found = run(program);
        assert!(matches!(found, Err(JqError::Stopped(_))), "{program}: {found:?}");
    }
    // Agents run programs on threads of a runtime, of either kind.
    for mut runtime in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = runtime.build().unwrap();
        let (runner, input) = (runner.clone(), input.clone());
        let task = runtime.spawn(async move { runner.run(&Program::read(".s").unwrap(), &input) });
        assert_eq!(runtime.block_on(task).unwrap(), Ok(vec!["x".into()]));
    }
}
