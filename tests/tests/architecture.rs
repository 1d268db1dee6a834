//! Owns the test of dependencies between the top-level folders, and between packages inside a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// The top-level folders, each with the other folders whose packages it may use.
const ROOMS: [(&str, &[&str]); 5] = [
    ("seeds", &[]),
    ("simulator", &["seeds"]),
    ("output", &["seeds"]),
    ("agents", &["seeds", "simulator", "output"]),
    ("tests", &["seeds", "simulator", "output", "agents"]),
];

/// Packages that share a folder with others, each with those of them that it may use.
const INSIDE: [(&str, &[&str]); 19] = [
    ("diorama-catalog", &[]),
    ("diorama-format", &[]),
    ("diorama-seeds", &["diorama-catalog", "diorama-format"]),
    ("diorama-openapi", &["diorama-seeds"]),
    ("diorama-engine", &[]),
    ("diorama-import", &["diorama-engine"]),
    ("diorama-answers", &[]),
    ("diorama-grade", &["diorama-engine", "diorama-answers"]),
    ("diorama-user", &["diorama-answers", "diorama-engine", "diorama-grade"]),
    ("diorama-sessions", &["diorama-engine", "diorama-grade", "diorama-user"]),
    ("diorama-simulator", &["diorama-engine", "diorama-grade", "diorama-sessions"]),
    ("diorama-proof", &["diorama-engine", "diorama-answers", "diorama-grade", "diorama-user"]),
    ("diorama-console", &["diorama-engine", "diorama-user", "diorama-sessions", "diorama-simulator"]),
    ("diorama-gym", &["diorama-grade", "diorama-sessions", "diorama-simulator"]),
    ("diorama-model-server", &[]),
    ("diorama-llm", &["diorama-model-server"]),
    ("diorama-baselines", &["diorama-llm"]),
    ("diorama-benchmarks", &["diorama-llm", "diorama-baselines"]),
    ("diorama-agents", &["diorama-llm", "diorama-model-server", "diorama-baselines", "diorama-benchmarks"]),
];

/// Crates that these packages must not depend on, directly or indirectly.
const FORBIDDEN: [(&str, &[&str]); 8] = [
    ("diorama-seeds", &["tokio", "axum", "reqwest", "hyper"]),
    ("diorama-openapi", &["tokio", "axum", "reqwest", "hyper"]),
    ("diorama-user", &["tokio", "axum", "reqwest", "hyper"]),
    ("diorama-sessions", &["axum", "hyper", "reqwest", "parquet", "arrow-array"]),
    ("diorama-simulator", &["parquet", "arrow-array", "reqwest"]),
    ("diorama-console", &["parquet", "arrow-array", "reqwest"]),
    ("diorama-gym", &["parquet", "arrow-array", "reqwest"]),
    ("diorama-proof", &["tokio", "axum", "parquet", "arrow-array", "reqwest"]),
];

/// A package of the workspace.
struct Package {
    /// Top-level folder that contains the package.
    room: String,
    /// Packages of the workspace that it uses, dev-dependencies included.
    uses: BTreeSet<String>,
}

fn metadata() -> Json {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Json) -> BTreeMap<String, Package> {
    let root = Path::new(metadata["workspace_root"].as_str().unwrap());
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let listed = metadata["packages"].as_array().unwrap();
    let own = || listed.iter().filter(|package| members.contains(package["id"].as_str().unwrap()));
    let names: BTreeSet<&str> = own().map(|package| package["name"].as_str().unwrap()).collect();
    let read = |package: &Json| {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).strip_prefix(root).unwrap();
        let uses =
            package["dependencies"].as_array().unwrap().iter().map(|used| used["name"].as_str().unwrap());
        Package {
            room: folder.iter().next().unwrap().to_str().unwrap().to_owned(),
            uses: uses.filter(|used| names.contains(used)).map(str::to_owned).collect(),
        }
    };
    own().map(|package| (package["name"].as_str().unwrap().to_owned(), read(package))).collect()
}

#[test]
fn packages_use_only_rooms_before_their_own() {
    let packages = packages(&metadata());
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let inside: BTreeMap<&str, &[&str]> = INSIDE.into_iter().collect();
    for (name, package) in &packages {
        let before = rooms.get(&*package.room).unwrap_or_else(|| panic!("{name} lies in no room"));
        let beside = inside.get(&**name).copied().unwrap_or_default();
        for used in &package.uses {
            let room = &*packages[used].room;
            let allowed =
                if room == package.room { beside.contains(&&**used) } else { before.contains(&room) };
            assert!(allowed, "{name} may not depend on {used}");
        }
    }
    let filled: BTreeSet<&str> = packages.values().map(|package| &*package.room).collect();
    assert_eq!(filled, rooms.keys().copied().collect());
    assert!(inside.keys().all(|name| packages.contains_key(*name)));
}

#[test]
fn pure_rooms_reach_no_network_and_no_files_of_datasets() {
    let metadata = metadata();
    let mut names = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        names.insert(package["id"].as_str().unwrap(), package["name"].as_str().unwrap().to_owned());
    }
    // Maps each package to all packages that it depends on, without dev-dependencies.
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
    for (package, forbidden) in FORBIDDEN {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![package.to_owned()];
        while let Some(next) = waiting.pop() {
            for to in edges.get(&next).into_iter().flatten() {
                if reached.insert(to.clone()) {
                    waiting.push(to.clone());
                }
            }
        }
        for name in forbidden {
            assert!(!reached.contains(*name), "{package} reaches {name}");
        }
    }
}
