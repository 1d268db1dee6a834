//! The arrows between the rooms: dependencies point one way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Crates of the workspace and those they may use; dev-dependencies count.
const ARROWS: [(&str, &[&str]); 5] = [
    ("diorama-seeds", &[]),
    ("diorama-simulator", &["diorama-seeds"]),
    ("diorama-output", &["diorama-seeds"]),
    ("diorama-agents", &["diorama-seeds", "diorama-simulator", "diorama-output"]),
    ("diorama-tests", &["diorama-seeds", "diorama-simulator", "diorama-output", "diorama-agents"]),
];

/// Crates that the pure rooms must not reach, directly or not.
const FORBIDDEN: [(&str, &[&str]); 2] = [
    ("diorama-seeds", &["tokio", "axum", "reqwest", "hyper"]),
    ("diorama-simulator", &["parquet", "arrow-array", "reqwest"]),
];

#[test]
fn dependencies_point_one_way() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();

    let mut names = BTreeMap::new();
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap().to_owned();
        names.insert(package["id"].as_str().unwrap().to_owned(), name.clone());
        let uses = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["name"].as_str().unwrap().to_owned());
        declared.insert(name, uses.filter(|used| used.starts_with("diorama-")).collect());
    }
    for (name, allowed) in ARROWS {
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        let beyond: Vec<&String> = declared[name].difference(&allowed).collect();
        assert!(beyond.is_empty(), "{name} may not depend on {beyond:?}");
    }
    assert_eq!(declared.keys().filter(|name| name.starts_with("diorama-")).count(), ARROWS.len());

    // What a room reaches in the end, dev-dependencies aside.
    let mut edges: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let from = names[node["id"].as_str().unwrap()].clone();
        let to = node["deps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dep| dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null()));
        edges.insert(from, to.map(|dep| names[dep["pkg"].as_str().unwrap()].clone()).collect());
    }
    for (room, forbidden) in FORBIDDEN {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![room.to_owned()];
        while let Some(next) = waiting.pop() {
            for to in edges.get(&next).into_iter().flatten() {
                if reached.insert(to.clone()) {
                    waiting.push(to.clone());
                }
            }
        }
        for name in forbidden {
            assert!(!reached.contains(*name), "{room} reaches {name}");
        }
    }
}
