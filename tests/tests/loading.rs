//! What trainers do with a dataset: load it and its exports with the libraries they use, and put dialogues through the chat
//! templates of several model families.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use diorama_tests::{diorama, is_ci};
use serde_json::Value as Json;

const ROWS: u64 = 48;

/// Formats that a dataset library reads as they are, with what makes them so.
const FORMATS: [(&str, &[&str]); 13] = [
    ("jsonl", &[]),
    ("openai", &[]),
    ("trl", &["--arguments", "string"]),
    ("trl-prompt-completion", &["--arguments", "string"]),
    ("trl-preference", &["--arguments", "string"]),
    ("prompt-only", &[]),
    ("sharegpt", &["--arguments", "string"]),
    ("xlam", &["--arguments", "string"]),
    ("bfcl", &[]),
    ("reverse-chain", &[]),
    ("nemo-gym", &[]),
    ("verl", &[]),
    ("llama-factory", &["--arguments", "string"]),
];

/// An interpreter that `.ci/run` sets up; none where a user has not.
fn python(environment: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let python = root.join("target").join(environment).join("bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(!is_ci(), "{} is missing; .ci/run makes it", python.display());
    println!("skipped: {} is missing; .ci/run makes it", python.display());
    None
}

fn run(python: &Path, script: &str, arguments: &[&Path]) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/loading").join(script);
    let ran = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn generate(folder: &Path) -> PathBuf {
    let dataset = folder.join("dataset");
    let rows = ROWS.to_string();
    let made = diorama([
        "generate".as_ref(),
        "--out".as_ref(),
        dataset.as_os_str(),
        "--dialogues".as_ref(),
        rows.as_ref(),
        "--seed".as_ref(),
        "5".as_ref(),
    ]);
    assert_eq!(made.code, 0, "{}", made.err);
    dataset
}

fn export(dataset: &Path, format: &str, options: &[&str], file: &Path) {
    let paths =
        [dataset.as_os_str(), "--format".as_ref(), format.as_ref(), "--out".as_ref(), file.as_os_str()];
    let options = options.iter().map(|option| std::ffi::OsStr::new(*option));
    let made = diorama(std::iter::once("export".as_ref()).chain(paths).chain(options));
    assert_eq!(made.code, 0, "{format}: {}", made.err);
}

#[test]
fn libraries_read_the_dataset_and_its_exports_alike() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = generate(folder.path());
    let exports = folder.path().join("exports");
    std::fs::create_dir(&exports).unwrap();
    for (format, options) in FORMATS {
        export(&dataset, format, options, &exports.join(format).with_extension("jsonl"));
    }
    for (environment, libraries) in [
        ("venv-loading", vec!["datasets", "duckdb", "polars", "pyarrow"]),
        ("venv-loading-old", vec!["datasets", "pyarrow"]),
    ] {
        let Some(python) = python(environment) else { continue };
        let seen = run(&python, "load.py", &[&dataset, &exports]);
        let by: Vec<(&str, Option<u64>)> = seen["by"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, rows)| (name.as_str(), rows.as_u64()))
            .collect();
        let mut by = by;
        by.sort_unstable();
        assert_eq!(by, libraries.iter().map(|name| (*name, Some(ROWS))).collect::<Vec<_>>(), "{environment}");
        for (format, _) in FORMATS {
            let lines = std::fs::read_to_string(exports.join(format).with_extension("jsonl")).unwrap();
            assert_eq!(
                seen["exports"][format!("{format}.jsonl")],
                lines.lines().count(),
                "{environment}: {format}"
            );
        }
    }
}

#[test]
fn calls_come_back_from_the_chat_templates_of_seven_families() {
    let Some(python) = python("venv-loading") else { return };
    let folder = tempfile::tempdir().unwrap();
    let dataset = generate(folder.path());
    let files = ["deferred", "dispatch"].map(|searched| {
        let file = folder.path().join(searched).with_extension("jsonl");
        let options = ["--arguments", "string", "--content", "empty", "--searched", searched];
        export(&dataset, "trl", &options, &file);
        file
    });
    let seen = run(&python, "templates.py", &[&files[0], &files[1]]);
    let families = seen.as_object().unwrap();
    assert_eq!(families.len(), 7);
    for (family, read) in families {
        let (rendered, not) =
            (read["dialogues"].as_u64().unwrap(), read["no_way_to_write"].as_u64().unwrap());
        assert_eq!(rendered + not, 2 * ROWS, "{family}");
        // Two families write one call in a message, as their templates say.
        let one_call = matches!(family.as_str(), "llama3_1" | "gptoss_training");
        assert!(one_call || not == 0, "{family}: {not} not written");
        assert!(read["calls"].as_u64().unwrap() > rendered, "{family}");
    }
}
