//! Owns the tests of tampered datasets: `verify` finds the change and names it.

use std::collections::BTreeMap;
use std::path::Path;

use diorama_output::columns::Table;
use diorama_output::folder::Folder;
use diorama_output::manifest::Manifest;
use diorama_output::row::{Dialogue, Role};
use diorama_output::rows::{RowWriter, WorldWriter};
use diorama_output::storage::Storage;
use diorama_tests::files;
use serde_json::Value as Json;

use super::{ok, rows, run, text};

/// Rows of the dataset that is changed. Each change has all of them checked.
const ROWS: &str = "60";

fn copy_dataset(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let path = to.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Writes the changed rows of a file and updates the manifest, so that only the replay can find the change.
/// Returns the id of the changed row.
fn rewrite(folder: &Path, change: impl Fn(&mut Dialogue)) -> String {
    let mut by_file: BTreeMap<String, Vec<Dialogue>> = BTreeMap::new();
    for (name, row) in rows(folder) {
        by_file.entry(name).or_default().push(row);
    }
    let (name, mut rows) = by_file.into_iter().next_back().unwrap();
    let at = rows.iter().position(|row| row.initial_state_hash != row.final_state_hash).unwrap();
    change(&mut rows[at]);
    let id = rows[at].id.clone();
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(&mut bytes, Table::Dialogues).unwrap();
    for row in rows {
        writer.write(row).unwrap();
    }
    writer.finish().unwrap();
    std::fs::write(folder.join(&name), bytes).unwrap();
    agree(folder, &name);
    id
}

fn agree(folder: &Path, name: &str) {
    let path = folder.join("manifest.json");
    let mut manifest: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let fingerprint = Storage::local(folder).fingerprint(name).unwrap().unwrap();
    manifest["files"][name]["size"] = fingerprint.size.into();
    manifest["files"][name]["blake3"] = fingerprint.blake3.into();
    std::fs::write(&path, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
}

/// Checks that `verify` fails and names the change.
#[track_caller]
fn check(tampered: &Path, expect: &str) {
    check_all(tampered, &[expect]);
}

/// Checks that `verify` fails and prints all these texts.
#[track_caller]
fn check_all(tampered: &Path, expect: &[&str]) {
    let ran = run(&["dataset", "verify", text(tampered), "--json"]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.out, ran.err);
    for expect in expect {
        assert!(
            ran.out.contains(expect),
            "expected {expect} in\n{}",
            ran.out.chars().take(2000).collect::<String>()
        );
    }
}

#[test]
fn tampering_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    ok(&["generate", "--out", text(&original), "-n", ROWS, "--seed", "7", "--test-share", "0.4"]);
    let fresh = |name: &str| {
        let path = folder.path().join(name);
        copy_dataset(&original, &path);
        path
    };
    let some = |folder: &Path, part: &str| {
        files(folder).into_keys().find(|name| name.starts_with(part)).unwrap().to_str().unwrap().to_owned()
    };

    let flipped = fresh("flipped");
    let name = some(&flipped, "data");
    let mut bytes = std::fs::read(flipped.join(&name)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(flipped.join(&name), bytes).unwrap();
    check(&flipped, &name);

    let argument = fresh("argument");
    let id = rewrite(&argument, |row| {
        row.gold_calls = row.gold_calls.replacen("\"arguments\":{\"", "\"arguments\":{\"un", 1)
    });
    check(&argument, &id);

    let answer = fresh("answer");
    let id = rewrite(&answer, |row| {
        let last = row.messages.iter().rposition(|message| message.role == Role::Tool).unwrap();
        row.messages[last].content = Some("{\"status\":\"fine\"}".to_owned());
    });
    check(&answer, &id);

    // Changes that an updated manifest would hide from a check of hashes.
    let hidden = |name: &str, change: &dyn Fn(&mut Dialogue), expect: &str| {
        let folder = fresh(name);
        let id = rewrite(&folder, change);
        check_all(&folder, &[&id, expect]);
    };
    hidden("level", &|row| row.rc_level = Some(row.rc_level.map_or(2, |level| level % 3 + 1)), "rc_level");
    hidden(
        "gold answer",
        &|row| row.gold_answer = r#"{"goals":[[{"text":"I never said so."}]]}"#.into(),
        "gold_answer",
    );
    hidden("gates", &|row| row.gates = row.gates.replacen("\"solvable\":", "\"solvable\":4", 1), "gates");
    hidden("survived", &|row| row.gates = row.gates.replacen("\"survived\":0", "\"survived\":3", 1), "gates");
    hidden(
        "seed",
        &|row| row.provenance = row.provenance.replacen("\"seed\":", "\"seed\":7", 1),
        "provenance.seed",
    );
    hidden("row", &|row| row.provenance = row.provenance.replacen("\"row\":", "\"row\":1", 1), "the id is");
    hidden("domains", &|row| row.domains[0].push('s'), "domains: found");
    let swapped = fresh("swapped");
    let (name, mut all) =
        rows(&swapped).into_iter().fold((String::new(), Vec::new()), |(_, mut all), (name, row)| {
            all.push((name.clone(), row));
            (name, all)
        });
    all.retain(|(of, _)| *of == name);
    all.swap(0, 1);
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(&mut bytes, Table::Dialogues).unwrap();
    all.into_iter().for_each(|(_, row)| writer.write(row).unwrap());
    writer.finish().unwrap();
    std::fs::write(swapped.join(&name), bytes).unwrap();
    agree(&swapped, &name);
    check(&swapped, "stands after row");
    let manifest = |name: &str, change: &dyn Fn(&mut Json), expect: &str| {
        let folder = fresh(name);
        let path = folder.join("manifest.json");
        let mut manifest: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut manifest);
        std::fs::write(&path, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
        check(&folder, expect);
    };
    manifest("another seed", &|manifest| manifest["seed"] = 99.into(), "provenance.seed");
    manifest("proposed", &|manifest| manifest["funnel"]["proposed"] = 9_999_999.into(), "funnel.proposed");
    manifest("rows", &|manifest| manifest["plan"]["rows"] = 9_999.into(), "plan.rows");
    manifest(
        "version",
        &|manifest| manifest["generator_version"] = "generate/0".into(),
        "provenance.version",
    );

    let missing = fresh("missing");
    let name = some(&missing, "worlds");
    std::fs::remove_file(missing.join(&name)).unwrap();
    check(&missing, &name);

    let record = fresh("record");
    let name = some(&record, "worlds");
    let manifest = Manifest::read(&Storage::local(&record)).unwrap();
    let folder = Folder::open(Storage::local(&record)).unwrap();
    let ids = &manifest.files[&name].worlds;
    let world = String::from_utf8(folder.world(&ids[0]).unwrap()).unwrap();
    let at = world.find("\"records\":[{").unwrap();
    let digit = world[at..].find(|c: char| c.is_ascii_digit() && c != '9').unwrap() + at;
    let edited = format!("{}9{}", &world[..digit], &world[digit + 1..]);
    let mut writer = WorldWriter::new(Vec::new()).unwrap();
    for id in ids {
        let world = String::from_utf8(folder.world(id).unwrap()).unwrap();
        writer.write(id, if *id == ids[0] { &edited } else { &world }).unwrap();
    }
    std::fs::write(record.join(&name), writer.finish().unwrap().0).unwrap();
    agree(&record, &name);
    check(&record, "world");

    let checks = fresh("checks");
    let id = rewrite(&checks, |row| {
        row.checks = row.checks.replacen("\"outcome\":\"done\"", "\"outcome\":\"refused\"", 1)
    });
    check(&checks, &id);

    let stray = fresh("stray");
    std::fs::write(stray.join("data").join("extra.parquet"), b"x").unwrap();
    check(&stray, "extra.parquet");
}
