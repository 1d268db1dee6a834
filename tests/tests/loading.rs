//! Owns the tests with trainers' libraries. They load a dataset and its exports, and render dialogues with
//! the chat templates of several model families.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use diorama_tests::{dataset, diorama, installed};
use serde_json::Value as Json;

const ROWS: u32 = 48;

/// Formats that a dataset library reads unchanged, with the export options that this requires.
const FORMATS: [(&str, &[&str]); 12] = [
    ("jsonl", &[]),
    ("openai", &[]),
    ("trl", &["--arguments", "string"]),
    ("trl-prompt-completion", &["--arguments", "string"]),
    ("trl-preference", &["--arguments", "string"]),
    ("prompt-only", &[]),
    ("sharegpt", &["--arguments", "string"]),
    ("xlam", &["--arguments", "string"]),
    ("reverse-chain", &[]),
    ("nemo-gym", &[]),
    ("verl", &[]),
    ("llama-factory", &["--arguments", "string"]),
];

fn run(python: &Path, script: &str, arguments: &[&Path]) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/loading").join(script);
    let ran = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn export(dataset: &Path, format: &str, options: &[&str], file: &Path) {
    let paths =
        [dataset.as_os_str(), "--format".as_ref(), format.as_ref(), "--out".as_ref(), file.as_os_str()];
    let options = options.iter().map(|option| std::ffi::OsStr::new(*option));
    let made = diorama(
        std::iter::once("dataset".as_ref())
            .chain(std::iter::once("export".as_ref()))
            .chain(paths)
            .chain(options),
    );
    assert_eq!(made.code, 0, "{format}: {}", made.err);
}

#[test]
fn libraries_read_the_dataset_and_its_exports_alike() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), ROWS, 5);
    let exports = folder.path().join("exports");
    std::fs::create_dir(&exports).unwrap();
    for (format, options) in FORMATS {
        export(&dataset, format, options, &exports.join(format).with_extension("jsonl"));
    }
    for (environment, libraries) in [
        ("venv-loading", vec!["datasets", "duckdb", "polars", "pyarrow"]),
        ("venv-loading-old", vec!["datasets", "pyarrow"]),
    ] {
        let Some(python) = installed(&format!("{environment}/bin/python")) else { continue };
        let seen = run(&python, "load.py", &[&dataset, &exports]);
        let expected: Json = libraries.iter().map(|name| (*name, ROWS)).collect();
        assert_eq!(seen["by"], expected, "{environment}");
        // No row of these worlds has an API called `finish`, so each also has a structured form.
        let configs = &seen["configs"];
        assert_eq!(
            (&configs["default"], &configs["structured"]),
            (&ROWS.into(), &ROWS.into()),
            "{environment}"
        );
        assert_eq!(
            configs["worlds"],
            std::fs::read_dir(dataset.join("data")).unwrap().count(),
            "{environment}"
        );
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
    let Some(python) = installed("venv-loading/bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), ROWS, 5);
    let file = folder.path().join("trl.jsonl");
    export(&dataset, "trl", &[], &file);
    let seen = run(&python, "templates.py", &[&file]);
    let families = seen.as_object().unwrap();
    assert_eq!(families.len(), 7);
    for (family, read) in families {
        let (rendered, not) =
            (read["dialogues"].as_u64().unwrap(), read["no_way_to_write"].as_u64().unwrap());
        assert_eq!(rendered + not, u64::from(ROWS), "{family}");
        // The templates of two families allow only one call in a message.
        let one_call = matches!(family.as_str(), "llama3_1" | "gptoss_training");
        assert!(one_call || not == 0, "{family}: {not} not written");
        assert!(read["calls"].as_u64().unwrap() > rendered, "{family}");
    }
}

/// Renders rows with every template of TRL. Returns, by template, the reasons for rows that cannot be
/// rendered.
fn refusals(
    python: &Path,
    dataset: &Path,
    options: &[&str],
    rows: u64,
) -> BTreeMap<String, BTreeSet<String>> {
    let file = dataset.join("trl.jsonl");
    export(dataset, "trl", options, &file);
    let seen = run(python, "refusals.py", &[&file]);
    let templates = seen.as_object().unwrap().iter();
    let refused = templates.map(|(name, outcomes)| {
        let not = outcomes["not"].as_object().unwrap();
        let total =
            outcomes["rendered"].as_u64().unwrap() + not.values().filter_map(Json::as_u64).sum::<u64>();
        assert_eq!(total, rows, "{name}");
        (name.clone(), not.keys().cloned().collect())
    });
    refused.collect()
}

#[test]
fn every_template_of_trl_renders_dialogues_or_says_why_not() {
    const ROWS: u32 = 200;
    let Some(python) = installed("venv-loading/bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), ROWS, 4);
    let kept = refusals(&python, &dataset, &[], ROWS.into());
    let refusing = |reasons: &BTreeSet<String>| !reasons.is_empty();
    let listed =
        include_str!("../data/loading/refusals.txt").lines().filter_map(|line| line.split_once(": "));
    let mut listed: BTreeMap<&str, BTreeSet<&str>> =
        listed.map(|(name, reasons)| (name, reasons.split("; ").collect())).collect();
    for (name, reasons) in kept.iter().filter(|(_, reasons)| refusing(reasons)) {
        let known = listed.remove(name.as_str()).unwrap_or_default();
        let unlisted: Vec<&String> =
            reasons.iter().filter(|reason| !known.contains(reason.as_str())).collect();
        assert!(unlisted.is_empty(), "{name}: {unlisted:?}");
    }
    assert!(listed.is_empty(), "these templates render all rows: {listed:?}");
    // Templates that allow one call in a message render all dialogues after calls are split.
    let split = refusals(&python, &dataset, &["--parallel", "split"], ROWS.into());
    for (name, reasons) in &split {
        assert!(!refusing(reasons) || *reasons == kept[name], "{name}: {reasons:?}");
    }
    for name in ["llama3_1", "llama3_2", "gptoss", "gptoss_training"] {
        assert!(refusing(&kept[name]) && !refusing(&split[name]), "{name}: {:?}", split[name]);
    }
}
