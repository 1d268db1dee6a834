mod shards;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::{BatchRows, DatasetError, DatasetWriter, DriveError, Options, Start, Summary};
use crate::columns::Table;
use crate::dataset::file::at_file;
use crate::folder::Folder;
use crate::funnel::{Funnel, Mutants};
use crate::manifest::{Identity, Versions};
use crate::plan::{Batch, Plan, PlanSizes};
use crate::row::Split;
use crate::rows::RowWriter;
use crate::rows::samples::{sample, world_json};
use crate::storage::local::PartFile;
use crate::storage::{NewFile, Storage};

/// 43 batches of 5 rows, 4 batches per file: 10 train files and 2 test files.
fn plan() -> Plan {
    let sizes = PlanSizes { rows: 212, rows_per_batch: 5, batches_per_file: 4 };
    Plan::new(sizes, |batch| if batch % 8 == 3 { Split::Test } else { Split::Train }).unwrap()
}

fn identity() -> Identity {
    let versions = Versions {
        engine: "engine/1".into(),
        grader: "grade/1".into(),
        search: "toolsearch/1".into(),
        generator: "0.1.0".into(),
    };
    let config =
        BTreeMap::from([("backend".into(), json!("scenarios")), ("abilities".into(), json!(["call"]))]);
    Identity { versions, seed: 7, config, benchmark: false }
}

fn open(storage: &Storage, shard: &str, start: Start) -> Result<DatasetWriter, DatasetError> {
    open_as(storage, identity(), shard, start)
}

fn open_as(
    storage: &Storage,
    identity: Identity,
    shard: &str,
    start: Start,
) -> Result<DatasetWriter, DatasetError> {
    DatasetWriter::open(storage.clone(), identity, plan(), Options { shard: shard.parse().unwrap(), start })
}

/// The rows of a batch: row 17 of every 40 is exhausted.
fn make(batch: &Batch) -> Result<BatchRows, DatasetError> {
    let mut funnel = Funnel::default();
    let (mut rows, mut worlds) = (Vec::new(), BTreeMap::new());
    for row_index in batch.row_indexes.clone() {
        funnel.propose();
        if row_index % 40 == 17 {
            funnel.drop_at("grounded", "argument without a source");
            continue;
        }
        let row = sample(row_index, batch.split);
        worlds.insert(row.world_id.clone(), world_json(&row.world_id).into());
        rows.push(row);
    }
    funnel.mutants.insert("drop_call".into(), Mutants { killed: 1, ..Mutants::default() });
    Ok(BatchRows { batch: batch.index, rows, worlds, funnel, ..BatchRows::default() })
}

fn run(storage: &Storage, shard: &str, threads: usize) -> Summary {
    let writer = open(storage, shard, Start::Fresh).unwrap();
    writer.drive(threads, make, |_| {}).unwrap();
    writer.finish().unwrap()
}

/// Returns the hash of every file at a location.
fn bytes(storage: &Storage) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in storage.list(&folder).unwrap() {
            let name = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            if entry.size.is_some() {
                let hash = storage.fingerprint(&name).unwrap().unwrap().blake3;
                files.insert(name, hash);
            } else {
                folders.push(name);
            }
        }
    }
    files
}

/// Runs the whole dataset in one process into a folder.
fn whole() -> (TempDir, BTreeMap<String, String>) {
    let folder = TempDir::new().unwrap();
    let storage = Storage::local(folder.path());
    run(&storage, "1/1", 1);
    (folder, bytes(&storage))
}

#[test]
fn a_folder_has_rows_worlds_card_and_manifest_whatever_the_threads() {
    let (folder, one) = whole();
    insta::assert_json_snapshot!(one.keys().collect::<Vec<_>>());
    insta::assert_snapshot!(fs::read_to_string(folder.path().join("README.md")).unwrap());
    let many = TempDir::new().unwrap();
    let out = Storage::local(&many.path().join("deep/new"));
    let summary = run(&out, "1/1", 5);
    assert_eq!(bytes(&out), one);
    assert_eq!((summary.counts.dialogues, summary.funnel.written), (207, 207));
    assert_eq!((summary.funnel.proposed, summary.funnel.exhausted), (212, 5));
    assert_eq!(summary.funnel.dropped_by_gate(), BTreeMap::from([("grounded".into(), 5)]));
}

#[test]
fn an_interrupted_run_resumes_to_the_same_bytes() {
    let (_, expected) = whole();
    for (interrupt_after, files_left) in [(0, 12), (1, 12), (9, 10), (23, 7)] {
        let folder = TempDir::new().unwrap();
        let writer = open(&Storage::local(folder.path()), "1/1", Start::Fresh).unwrap();
        let made = AtomicU64::new(0);
        let failing = |batch: &Batch| {
            if made.fetch_add(1, Ordering::SeqCst) >= interrupt_after {
                return Err(DatasetError::NotAFolder("interrupted".into()));
            }
            make(batch)
        };
        let error = writer.drive(1, failing, |_| {}).unwrap_err();
        assert!(matches!(error, DriveError::Batch(_)), "{error}");
        drop(writer);
        assert!(!folder.path().join("manifest.json").exists());
        let writer = open(&Storage::local(folder.path()), "1/1", Start::Resume).unwrap();
        assert_eq!(writer.pending().len(), files_left, "finished files are kept");
        writer.drive(3, make, |_| {}).unwrap();
        writer.finish().unwrap();
        assert_eq!(bytes(&Storage::local(folder.path())), expected);
    }
}

#[test]
fn resuming_makes_changed_files_and_lost_worlds_anew() {
    let (_, expected) = whole();
    let folder = TempDir::new().unwrap();
    let writer = open(&Storage::local(folder.path()), "1/1", Start::Fresh).unwrap();
    writer.drive(1, make, |_| {}).unwrap();
    drop(writer);
    let file = |name: &str| folder.path().join(name);
    fs::write(file("data/train-00002-of-00010.parquet"), b"PAR1").unwrap();
    fs::remove_file(file("data/train-00003-of-00010.parquet")).unwrap();
    fs::write(file(".progress/train-00004-of-00010.json"), b"{").unwrap();
    fs::remove_file(file("worlds/test-00000.parquet")).unwrap();
    fs::remove_file(file("structured/train-00008-of-00010.parquet")).unwrap();
    fs::write(file("data/train-00006-of-00010.parquet.part"), b"left by a crash").unwrap();
    fs::write(file("worlds/nobody.parquet"), b"PAR1").unwrap();
    let writer = open(&Storage::local(folder.path()), "1/1", Start::Resume).unwrap();
    let pending: Vec<&str> = writer.pending().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        pending,
        [
            "data/train-00002-of-00010.parquet",
            "data/train-00003-of-00010.parquet",
            "data/train-00004-of-00010.parquet",
            "data/train-00008-of-00010.parquet",
            "data/test-00000-of-00002.parquet",
        ]
    );
    writer.drive(2, make, |_| {}).unwrap();
    writer.finish().unwrap();
    assert_eq!(bytes(&Storage::local(folder.path())), expected);
    let complete = open(&Storage::local(folder.path()), "1/1", Start::Resume).unwrap();
    assert!(complete.pending().is_empty());
    assert_eq!(complete.finish().unwrap().counts.dialogues, 207);
    assert_eq!(bytes(&Storage::local(folder.path())), expected);
}

#[test]
fn folders_that_are_not_this_runs_are_refused_and_not_touched() {
    let check = |folder: &Path, identity: Identity, shard: &str, start: Start, expect: &str| {
        let folder = &Storage::local(folder);
        let before = bytes(folder);
        let error = open_as(folder, identity, shard, start).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
        assert_eq!(bytes(folder), before);
    };
    let foreign = TempDir::new().unwrap();
    fs::write(foreign.path().join("thesis.tex"), b"x").unwrap();
    check(
        foreign.path(),
        identity(),
        "1/1",
        Start::Fresh,
        "is not empty (it holds `thesis.tex`); choose a new one",
    );
    check(foreign.path(), identity(), "1/1", Start::Resume, "holds `thesis.tex` but no interrupted run");
    let writer = open(&Storage::local(&foreign.path().join("thesis.tex")), "1/1", Start::Fresh).unwrap_err();
    assert!(matches!(writer, DatasetError::NotAFolder(_)));

    let begun = TempDir::new().unwrap();
    drop(open(&Storage::local(begun.path()), "1/1", Start::Fresh).unwrap());
    let other = Identity { seed: 8, ..identity() };
    check(
        begun.path(),
        other,
        "1/1",
        Start::Resume,
        "another `seed` (found 7, expected 8); use the same settings",
    );
    let mut other = identity();
    other.config.insert("backend".into(), json!("llm"));
    check(
        begun.path(),
        other,
        "1/1",
        Start::Resume,
        "another `backend` (found \"scenarios\", expected \"llm\")",
    );
    let mut other = identity();
    other.config.insert("model".into(), json!("m"));
    check(begun.path(), other, "1/1", Start::Resume, "another `model` (found nothing, expected \"m\")");
    check(begun.path(), identity(), "1/2", Start::Resume, "another `shards` (found 1, expected 2)");
    check(begun.path(), identity(), "1/1", Start::Fresh, "is not empty");
    let writer = open(&Storage::local(begun.path()), "1/1", Start::Resume).unwrap();
    check(begun.path(), identity(), "1/1", Start::Resume, "another process is writing");
    let error = writer.finish().unwrap_err().to_string();
    assert_eq!(
        error,
        "12 of the run's files are not made yet, the first is data/train-00000-of-00010.parquet"
    );
}

#[test]
fn rows_that_do_not_fit_the_plan_are_refused() {
    let folder = TempDir::new().unwrap();
    let writer = open(&Storage::local(folder.path()), "1/1", Start::Fresh).unwrap();
    let plan = plan();
    let [file, batch] = [&plan.files()[0], &plan.files()[1]];
    let check = |rows: BatchRows, expect: &str| {
        let error = writer.start_file(file).unwrap().submit(rows.into()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let good = make(&file.batches[0]).unwrap();
    let with = |change: &dyn Fn(&mut BatchRows)| {
        let mut rows = good.clone();
        change(&mut rows);
        rows
    };
    check(make(&batch.batches[0]).unwrap(), "batch 5 of data/train-00000-of-00010.parquet: is not expected");
    check(with(&|rows| rows.rows[1].split = Split::Test), "row `d00000001` is of split test, expected train");
    check(with(&|rows| rows.rows[1].id = "d00000000".into()), "has the id of an earlier row");
    check(with(&|rows| rows.rows[1].world_id = "x".into()), "names world `x`");
    check(with(&|rows| rows.rows[0].world_hash = "x".into()), "expected one that came with a batch");
    check(with(&|rows| rows.rows.push(sample(9, Split::Train))), "found 6 rows, expected at most 5");
    check(with(&|rows| rows.rows[2].gates = "?".into()), "column `gates` is not JSON");
    check(make(&file.batches[1]).unwrap(), "it is not the next one of the file");
    let mut twice = writer.start_file(file).unwrap();
    twice.submit(good.clone().into()).unwrap();
    assert!(twice.submit(good.clone().into()).is_err());
    let error = twice.finish().unwrap_err().to_string();
    assert!(error.contains("batch 1 of data/train-00000-of-00010.parquet: is missing"), "{error}");
    let renamed = |id: &str| {
        with(&|rows| {
            rows.rows[0].world_id = id.to_owned();
            rows.worlds.insert(id.to_owned(), "{}".into());
        })
    };
    check(renamed("../x"), "other characters");
    check(renamed(""), "other characters");
    let mut other = writer.start_file(file).unwrap();
    other.submit(good.clone().into()).unwrap();
    let mut next = make(&file.batches[1]).unwrap();
    next.worlds = [("train_clinic_0".to_owned(), "{}".into())].into();
    assert!(other.submit(next.into()).unwrap_err().to_string().contains("another world has this id"));
    drop(other);
    assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0, "no half file is left");
}

#[test]
fn a_panic_while_a_batch_is_made_ends_the_drive() {
    let folder = TempDir::new().unwrap();
    let writer = open(&Storage::local(folder.path()), "1/1", Start::Fresh).unwrap();
    let drive =
        || writer.drive(3, |batch| if batch.index == 6 { panic!("a bug") } else { make(batch) }, |_| {});
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(drive)).is_err());
}

/// `/dev/full` accepts no byte, so it behaves like a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_leaves_no_half_file() {
    let folder = TempDir::new().unwrap();
    let (path, part) = (folder.path().join("rows"), folder.path().join("part"));
    std::os::unix::fs::symlink("/dev/full", &part).unwrap();
    let file = NewFile::Local(Box::new(PartFile::create_as(&path, part).unwrap()));
    let mut writer = RowWriter::new(file, Table::Dialogues).unwrap();
    let name = path.display().to_string();
    let written = (0..4_000).try_for_each(|row| writer.write(sample(row, Split::Train)));
    let error = match written {
        Err(error) => at_file(error, name.clone()).to_string(),
        Ok(()) => writer.finish().unwrap().commit().unwrap_err().to_string(),
    };
    assert!(error.starts_with(&format!("cannot write {name}: No space left on device")), "{error}");
    assert!(error.ends_with("free some space and run the same command again with --resume"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_world_of_all_rows_is_stored_once() {
    let folder = TempDir::new().unwrap();
    let writer = open(&Storage::local(folder.path()), "1/1", Start::Fresh).unwrap();
    let one = |batch: &Batch| {
        let mut made = make(batch)?;
        let id = format!("{}_clinic", batch.split);
        let text = world_json(&id);
        for row in &mut made.rows {
            row.world_hash = blake3::hash(text.as_bytes()).to_hex().to_string();
            row.world_id.clone_from(&id);
        }
        made.worlds = [(id, text.into())].into();
        Ok::<_, DatasetError>(made)
    };
    writer.drive(2, one, |_| {}).unwrap();
    writer.finish().unwrap();
    let worlds = Storage::local(folder.path()).list("worlds").unwrap();
    let names: Vec<&str> = worlds.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["test-00000.parquet", "train-00000.parquet"]);
    assert_eq!(Folder::open(Storage::local(folder.path())).unwrap().check_all(), []);
}
