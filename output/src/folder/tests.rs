use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::{Failure, Folder, Tally};
use crate::columns::Table;
use crate::dataset::{BatchRows, DatasetError, DatasetWriter, Options, Start};
use crate::funnel::Funnel;
use crate::manifest::{Identity, Versions, config_hash};
use crate::plan::{Plan, PlanSizes, Shard};
use crate::row::{Dialogue, Split};
use crate::rows::samples::{sample, world_json};
use crate::rows::{RowWriter, WorldWriter};
use crate::storage::Storage;

/// Makes a dataset of 80 rows: three train files and one test file.
pub(crate) fn dataset() -> (TempDir, PathBuf) {
    let guard = TempDir::new().unwrap();
    let path = guard.path().join("dataset");
    let sizes = PlanSizes { rows: 80, rows_per_batch: 10, batches_per_file: 2 };
    let plan = Plan::new(sizes, |batch| if batch % 4 == 3 { Split::Test } else { Split::Train }).unwrap();
    let versions = versions();
    let identity =
        Identity { versions, seed: 1, config: BTreeMap::from([("n".into(), json!(1))]), benchmark: false };
    let options = Options { shard: Shard::WHOLE, start: Start::Fresh };
    let writer = DatasetWriter::open(Storage::local(&path), identity, plan, options).unwrap();
    writer
        .drive(
            2,
            |batch| {
                let rows: Vec<Dialogue> =
                    batch.row_indexes.clone().map(|row_index| sample(row_index, batch.split)).collect();
                let worlds = rows.iter().map(|row| (row.world_id.clone(), world_json(&row.world_id).into()));
                let worlds = worlds.collect();
                Ok::<_, DatasetError>(BatchRows {
                    batch: batch.index,
                    funnel: Funnel { proposed: rows.len() as u64, ..Funnel::default() },
                    rows,
                    worlds,
                    ..BatchRows::default()
                })
            },
            |_| {},
        )
        .unwrap();
    writer.finish().unwrap();
    (guard, path)
}

fn versions() -> Versions {
    Versions { engine: "e/1".into(), grader: "g/1".into(), search: "s/1".into(), generator: "0.1.0".into() }
}

const TRAIN: &str = "data/train-00000-of-00003.parquet";
const STRUCTURED: &str = "structured/train-00000-of-00003.parquet";
const WORLDS: &str = "worlds/train-00000.parquet";
const TEST: &str = "data/test-00000-of-00001.parquet";

/// Damages a fresh dataset and compares all failures.
fn check(damage: impl FnOnce(&Path), expect: &[(&str, Option<&str>, &str)]) {
    let (_guard, path) = dataset();
    damage(&path);
    let failures = Folder::open(Storage::local(&path)).unwrap().check_all();
    let mut left: Vec<&Failure> = failures.iter().collect();
    for (file, row, what) in expect {
        let place = left.iter().position(|failure| {
            failure.file == *file && failure.row.as_deref() == *row && failure.what.contains(what)
        });
        let Some(place) = place else { panic!("no `{what}` for {file} in {failures:#?}") };
        left.remove(place);
    }
    assert!(left.is_empty(), "not expected: {left:#?}");
}

fn edit_manifest(path: &Path, edit: impl FnOnce(&mut Json)) {
    let file = path.join("manifest.json");
    let mut manifest: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    edit(&mut manifest);
    fs::write(&file, serde_json::to_vec(&manifest).unwrap()).unwrap();
}

/// Edits a file's rows and updates its manifest entry.
fn edit_rows(path: &Path, name: &str, edit: impl FnOnce(&mut Vec<Dialogue>)) {
    let file = path.join(name);
    let mut rows: Vec<Dialogue> = Folder::open(Storage::local(path))
        .unwrap()
        .open_rows(name)
        .unwrap()
        .read()
        .unwrap()
        .map(Result::unwrap)
        .collect();
    edit(&mut rows);
    let mut writer = RowWriter::new(Vec::new(), Table::Dialogues).unwrap();
    let count = rows.len();
    for row in rows {
        writer.write(row).unwrap();
    }
    let bytes = writer.finish().unwrap();
    fs::write(&file, &bytes).unwrap();
    edit_manifest(path, |manifest| {
        manifest["files"][name] =
            json!({"size": bytes.len(), "blake3": blake3::hash(&bytes).to_hex().to_string(), "rows": count});
    });
}

#[test]
fn a_dataset_as_it_was_written_has_no_failures() {
    check(|_| {}, &[]);
    check(|path| fs::write(path.join(".gitattributes"), "").unwrap(), &[]);
}

/// Opening a pipe waits for its writer, and some devices have no end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused() {
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let device = |path: &Path| {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    };
    let expect = &[("README.md", None, "found a pipe, a socket or a device")];
    check(|path| pipe(&path.join("README.md")), expect);
    check(|path| device(&path.join("README.md")), expect);
    for replace in [pipe, device] {
        let (_guard, path) = dataset();
        replace(&path.join("manifest.json"));
        let error = Folder::open(Storage::local(&path)).err().unwrap().to_string();
        assert!(error.contains("found a pipe, a socket or a device"), "{error}");
    }
}

#[test]
fn changed_missing_and_added_files_are_found() {
    let write = |name: &'static str, content: &'static str| {
        move |path: &Path| fs::write(path.join(name), content).unwrap()
    };
    check(write("README.md", "hello"), &[("README.md", None, "found 5 bytes, expected")]);
    check(write("notes.txt", "x"), &[("notes.txt", None, "is not in the manifest")]);
    check(write("data/extra.parquet", "x"), &[("data/extra.parquet", None, "is not in the manifest")]);
    check(write("worlds/extra.json", "{}"), &[("worlds/extra.json", None, "is not in the manifest")]);
    let same_size = |path: &Path| {
        let file = path.join(WORLDS);
        let mut bytes = fs::read(&file).unwrap();
        bytes[40] ^= 1;
        fs::write(file, bytes).unwrap();
    };
    check(same_size, &[(WORLDS, None, "found checksum")]);
    check(|path| fs::remove_file(path.join(WORLDS)).unwrap(), &[(WORLDS, None, "is missing")]);
    check(
        |path| fs::remove_file(path.join(STRUCTURED)).unwrap(),
        &[(STRUCTURED, None, "is missing"), (STRUCTURED, None, "parquet is missing")],
    );
    check(
        |path| fs::remove_file(path.join(TEST)).unwrap(),
        &[
            (TEST, None, "is missing"),
            (TEST, None, "parquet is missing"),
            (TEST, None, "found 0 rows, expected 20"),
            ("manifest.json", None, "`counts.dialogues`"),
            ("manifest.json", None, "`counts.calls`"),
            ("manifest.json", None, "`counts.turns`"),
            ("manifest.json", None, "`counts.splits`"),
            ("manifest.json", None, "`counts.abilities`"),
            ("manifest.json", None, "`counts.difficulties`"),
            ("manifest.json", None, "`counts.apis`"),
            ("manifest.json", None, "`counts.sources_called`"),
            ("manifest.json", None, "`counts.domains`"),
            ("manifest.json", None, "`counts.tags`"),
            ("manifest.json", None, "`counts.licenses`"),
            ("manifest.json", None, "`counts.sources`"),
            ("manifest.json", None, "`funnel.written` is 80, expected 60"),
            ("manifest.json", None, "no row names world `test_clinic_0`"),
            ("manifest.json", None, "no row names world `test_clinic_1`"),
        ],
    );
}

#[test]
fn edited_rows_are_found_even_when_checksums_are_made_to_fit() {
    check(
        |path| edit_rows(path, TRAIN, |rows| rows[3].world_hash = "0".repeat(64)),
        &[(TRAIN, Some("d00000003"), "names world `train_clinic_0` with hash 000")],
    );
    check(
        |path| edit_rows(path, TRAIN, |rows| rows[4].world_id = "elsewhere".into()),
        &[(TRAIN, Some("d00000004"), "names world `elsewhere`, which the manifest does not have")],
    );
    check(
        |path| edit_rows(path, TRAIN, |rows| rows[5].id = "d00000004".into()),
        &[
            (TRAIN, Some("d00000004"), "another row has this id"),
            (STRUCTURED, Some("d00000004"), "is not the structured form of its row"),
        ],
    );
    check(
        |path| edit_rows(path, TEST, |rows| rows[0].id = "d00000004".into()),
        &[
            (TEST, Some("d00000004"), "another row has this id"),
            ("structured/test-00000-of-00001.parquet", Some("d00000004"), "is not the structured form"),
        ],
    );
    check(
        |path| edit_rows(path, TRAIN, |rows| rows[6].split = Split::Test),
        &[
            (TRAIN, Some("d00000006"), "found split test in a file of another split"),
            (STRUCTURED, Some("d00000006"), "is not the structured form of its row"),
            ("manifest.json", None, "`counts.splits`"),
            ("data", None, "world `train_clinic_0` is in train and in test"),
            ("data", None, "domain `train_clinic_0` is in train and in test"),
        ],
    );
    check(
        |path| {
            edit_rows(path, TEST, |rows| {
                rows.iter_mut().for_each(|row| row.domains = vec!["train_clinic_0".into()])
            })
        },
        &[
            ("manifest.json", None, "`counts.domains`"),
            ("manifest.json", None, "`counts.sources_called`"),
            ("structured/test-00000-of-00001.parquet", Some("d00000030"), "is not the structured form"),
            ("data", None, "domain `train_clinic_0` is in train and in test"),
        ],
    );
}

#[test]
fn edited_manifests_are_found() {
    check(
        |path| edit_manifest(path, |manifest| manifest["counts"]["calls"] = json!(1)),
        &[("manifest.json", None, "`counts.calls` is not what the rows hold")],
    );
    check(
        |path| edit_manifest(path, |manifest| manifest["funnel"]["written"] = json!(81)),
        &[("manifest.json", None, "`funnel.written` is 81, expected 80")],
    );
    check(
        |path| edit_manifest(path, |manifest| manifest["files"][TRAIN]["rows"] = json!(19)),
        &[(TRAIN, None, "found 20 rows, expected 19")],
    );
    let refuse = |edit: &dyn Fn(&mut Json), expect: &str| {
        let (_guard, path) = dataset();
        edit_manifest(&path, edit);
        let error = Folder::open(Storage::local(&path)).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    refuse(&|manifest| manifest["schema_version"] = json!(5), "found schema version 5, expected 4");
    refuse(&|manifest| manifest["config"]["n"] = json!(2), "`config_hash` is not the hash of `config`");
    refuse(&|manifest| manifest["files"]["../x"] = json!({"size": 1, "blake3": ""}), "file name `../x`");
    refuse(&|manifest| manifest["seed"] = json!("x"), "not valid: invalid type");
    let (_guard, path) = dataset();
    fs::remove_file(path.join("manifest.json")).unwrap();
    let error = Folder::open(Storage::local(&path)).unwrap_err().to_string();
    assert!(error.contains("holds no manifest.json; a dataset is complete when it has one"), "{error}");
}

#[test]
fn a_file_taken_out_of_folder_and_manifest_leaves_a_gap() {
    let (_guard, path) = dataset();
    fs::remove_file(path.join(TRAIN)).unwrap();
    edit_manifest(&path, |manifest| {
        manifest["files"].as_object_mut().unwrap().remove(TRAIN);
    });
    let failures = Folder::open(Storage::local(&path)).unwrap().check_files();
    assert_eq!(failures.len(), 1);
    assert!(failures[0].what.contains("its train files are not a whole series"), "{failures:?}");
}

#[test]
fn versions_that_cannot_be_reproduced_are_named() {
    let (_guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    assert!(folder.check_versions(&Versions { generator: "9".into(), ..versions() }).is_empty());
    let failures = folder.check_versions(&Versions { grader: "g/2".into(), ..versions() });
    assert_eq!(failures.len(), 1);
    assert!(failures[0].what.starts_with("found grader version g/1, this release has g/2"), "{failures:?}");
}

#[test]
fn parts_hold_every_row_once_and_tallies_add_up() {
    let (_guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let mut ids = Vec::new();
    let mut tally = Tally::default();
    for part in folder.parts().unwrap() {
        let mut own = Tally::default();
        for row in folder.read(&part).unwrap() {
            let row = row.unwrap();
            own.count(&part.file, &row);
            ids.push(row.id);
        }
        tally.add(own);
    }
    assert_eq!(folder.check_tally(&tally), []);
    assert_eq!(tally.rows(), 80);
    let test: Vec<Split> = folder.rows_of_split(Some(Split::Test)).map(|row| row.unwrap().split).collect();
    assert_eq!(test, [Split::Test; 20]);
    let in_order: Vec<String> = folder.rows().map(|row| row.unwrap().id).collect();
    assert_eq!(ids, in_order);
    let mut twice = tally.clone();
    twice.add(tally);
    let repeated = folder.check_tally(&twice);
    assert_eq!(repeated.iter().filter(|failure| failure.what == "another row has this id").count(), 80);
}

#[test]
fn worlds_are_checked_when_they_are_read() {
    let (_guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    assert_eq!(folder.world("train_clinic_0").unwrap(), world_json("train_clinic_0").into_bytes());
    let error = |id: &str| folder.world(id).unwrap_err().to_string();
    assert_eq!(error("../manifest"), "the manifest has no world `../manifest`");
    let write = |id: &str, text: &str| {
        let mut writer = WorldWriter::new(Vec::new()).unwrap();
        writer.write(id, text).unwrap();
        fs::write(path.join(WORLDS), writer.finish().unwrap().0).unwrap();
    };
    write("train_clinic_0", "{}");
    assert!(error("train_clinic_0").starts_with("world `train_clinic_0`: found hash"));
    write("train_clinic_9", "{}");
    assert!(error("train_clinic_0").starts_with("found world `train_clinic_9`, expected `train_clinic_0`"));
    fs::remove_file(path.join(WORLDS)).unwrap();
    assert!(error("train_clinic_0").ends_with("worlds/train-00000.parquet is missing"));
    assert_eq!(config_hash(&BTreeMap::from([("n".into(), json!(1))])), folder.manifest().config_hash);
}

/// Makes a dataset of version 2: one JSON file per world, and no structured rows.
#[test]
fn worlds_in_files_of_their_own_are_still_read() {
    let (_guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let worlds: Vec<(String, Vec<u8>)> =
        folder.manifest().worlds.keys().map(|id| (id.clone(), folder.world(id).unwrap())).collect();
    for part in ["worlds", "structured"] {
        fs::remove_dir_all(path.join(part)).unwrap();
    }
    fs::create_dir(path.join("worlds")).unwrap();
    edit_manifest(&path, |manifest| {
        manifest["schema_version"] = json!(2);
        let files = manifest["files"].as_object_mut().unwrap();
        files.retain(|name, _| !name.starts_with("worlds/") && !name.starts_with("structured/"));
        for (id, text) in &worlds {
            let hash = blake3::hash(text).to_hex().to_string();
            files.insert(format!("worlds/{id}.json"), json!({"size": text.len(), "blake3": hash}));
            fs::write(path.join(format!("worlds/{id}.json")), text).unwrap();
        }
    });
    let folder = Folder::open(Storage::local(&path)).unwrap();
    assert_eq!(folder.check_all(), []);
    assert_eq!(folder.world("train_clinic_0").unwrap(), world_json("train_clinic_0").into_bytes());
    fs::write(path.join("worlds/train_clinic_0.json"), "{}").unwrap();
    assert!(folder.world("train_clinic_0").unwrap_err().to_string().contains("found hash"));
    fs::remove_file(path.join("worlds/train_clinic_0.json")).unwrap();
    let error = folder.world("train_clinic_0").unwrap_err().to_string();
    assert_eq!(error, "worlds/train_clinic_0.json is missing");
}
