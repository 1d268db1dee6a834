//! Shards that share a location, in a folder and in an object store.

use std::sync::Arc;

use object_store::memory::InMemory;
use tempfile::TempDir;

use super::{bytes, identity, make, open, open_as, run, whole};
use crate::dataset::{DatasetError, Start};
use crate::manifest::Identity;
use crate::merge::{MergeError, merge};
use crate::storage::Storage;
use crate::storage::tests::MemoryStore;

/// Runs a check on a new folder and on a new object store.
fn on_each(check: impl Fn(&Storage)) {
    let folder = TempDir::new().unwrap();
    check(&Storage::local(&folder.path().join("run")));
    check(&Storage::of_store(MemoryStore::new(), "a/run"));
}

#[test]
fn shards_merge_to_the_bytes_of_one_run() {
    let (_folder, expected) = whole();
    on_each(|storage| {
        for shard in ["3/3", "1/3"] {
            run(storage, shard, 2);
            let error = merge(storage).unwrap_err();
            assert!(matches!(error, MergeError::Missing { count: 3, .. }), "{error}");
        }
        let error = merge(storage).unwrap_err().to_string();
        assert_eq!(error, "1 of 3 shards have not finished: 2/3; run them, then merge again");
        run(storage, "2/3", 1);
        assert!(storage.open_file("manifest.json").unwrap().is_none());
        let merged = merge(storage).unwrap();
        assert_eq!((merged.summary.counts.dialogues, merged.shards), (207, Some(3)));
        assert_eq!(bytes(storage), expected);
        assert_eq!(merge(storage).unwrap().shards, None, "a complete dataset is left as it is");
        assert_eq!(bytes(storage), expected);
        assert!(open(storage, "2/3", Start::Fresh).unwrap().pending().is_empty());
    });
}

#[test]
fn a_run_in_one_process_writes_the_same_objects() {
    let (_folder, expected) = whole();
    let storage = Storage::of_store(MemoryStore::new(), "run");
    run(&storage, "1/1", 3);
    assert_eq!(bytes(&storage), expected);
    let error = open(&storage, "1/1", Start::Fresh).unwrap_err().to_string();
    assert!(error.starts_with("s3://bucket/run is not empty (it holds `README.md`)"), "{error}");
}

#[test]
fn a_finished_shard_has_nothing_to_do() {
    on_each(|storage| {
        let first = run(storage, "2/3", 2);
        let before = bytes(storage);
        let again = open(storage, "2/3", Start::Fresh).unwrap();
        assert!(again.pending().is_empty());
        let again = again.finish().unwrap();
        assert_eq!(again.counts, first.counts);
        assert_eq!(again.skeletons, first.skeletons);
        assert_eq!(bytes(storage), before);
    });
}

#[test]
fn a_shard_that_was_killed_counts_for_nothing_and_goes_on() {
    let (_folder, expected) = whole();
    on_each(|storage| {
        run(storage, "1/2", 1);
        let writer = open(storage, "2/2", Start::Fresh).unwrap();
        let stop = |batch: &crate::plan::Batch| {
            if batch.index > 20 { Err(DatasetError::NotAFolder("killed".into())) } else { make(batch) }
        };
        writer.drive(1, stop, |_| {}).unwrap_err();
        let unfinished = writer.pending().len();
        drop(writer);
        assert!(matches!(merge(storage), Err(MergeError::Missing { .. })));
        let writer = open(storage, "2/2", Start::Fresh).unwrap();
        assert_eq!(writer.pending().len(), unfinished, "finished files are kept");
        writer.drive(1, make, |_| {}).unwrap();
        writer.finish().unwrap();
        merge(storage).unwrap();
        assert_eq!(bytes(storage), expected);
    });
}

#[test]
fn another_run_in_the_same_place_is_refused_and_changes_nothing() {
    on_each(|storage| {
        run(storage, "1/3", 1);
        let before = bytes(storage);
        let check = |identity: Identity, shard: &str, expect: &str| {
            let error = open_as(storage, identity, shard, Start::Fresh).unwrap_err();
            assert!(error.is_usage(), "{error}");
            assert!(error.to_string().contains(expect), "{error}");
            assert_eq!(bytes(storage), before);
        };
        check(Identity { seed: 8, ..identity() }, "2/3", "another `seed` (found 7, expected 8)");
        check(identity(), "2/4", "another `shards` (found 3, expected 4)");
        check(identity(), "1/1", "is not empty");
        storage.remove_folder(".progress").unwrap();
        let before = bytes(storage);
        let error = open(storage, "2/3", Start::Fresh).unwrap_err().to_string();
        assert!(error.contains("is not empty"), "{error}");
        assert_eq!(bytes(storage), before);
    });
}

#[test]
fn a_merge_takes_only_what_the_markers_say() {
    on_each(|storage| {
        let fails = |expect: &str| {
            let error = merge(storage).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
            assert!(storage.open_file("manifest.json").unwrap().is_none());
        };
        fails("holds no run of shards");
        for shard in ["1/2", "2/2"] {
            run(storage, shard, 1);
        }
        let name = "data/train-00002-of-00010.parquet";
        let content = storage.read(name, 1 << 30).unwrap().unwrap();
        storage.write(name, &content[..100]).unwrap();
        fails("train-00002-of-00010.parquet: found 100 bytes, expected");
        storage.remove(name).unwrap();
        fails("train-00002-of-00010.parquet: it is missing");
        storage.write(name, &content).unwrap();
        storage.write("data/train-00099-of-00100.parquet", b"PAR1").unwrap();
        fails("train-00099-of-00100.parquet: this run did not make it");
        storage.remove("data/train-00099-of-00100.parquet").unwrap();

        let marker = ".progress/shard-00002-of-00002.json";
        let content = storage.read(marker, 1 << 30).unwrap().unwrap();
        let text = String::from_utf8(content.clone()).unwrap();
        storage.write(marker, text.replace("\"seed\": 7", "\"seed\": 8").as_bytes()).unwrap();
        fails("shard-00002-of-00002.json is of another run: it differs in `seed` (found 8, expected 7)");
        storage.write(marker, text.replace("\"scenarios\"", "\"llm\"").as_bytes()).unwrap();
        fails("`config_hash` is not the hash of `config`");
        storage.write(marker, b"{").unwrap();
        fails("shard-00002-of-00002.json: not valid");
        storage.write(marker, &content).unwrap();
        // The merge removes files that a crash left behind.
        storage.write("worlds/nobody.parquet", b"PAR1").unwrap();
        storage.write("data/train-00002-of-00010.parquet.part", b"PAR1").unwrap();
        merge(storage).unwrap();
        assert_eq!(bytes(storage), whole().1);
    });
}

#[test]
fn an_interrupted_run_without_shards_is_not_merged() {
    on_each(|storage| {
        drop(open(storage, "1/1", Start::Fresh).unwrap());
        let error = merge(storage).unwrap_err().to_string();
        assert!(error.contains("an interrupted run without shards"), "{error}");
    });
}

#[test]
fn a_shard_without_files_is_still_a_shard() {
    on_each(|storage| assert_eq!(run(storage, "19/20", 2).counts.dialogues, 0));
}

#[test]
fn a_store_that_refuses_writes_halfway_holds_no_marker_and_no_dataset() {
    let (_folder, expected) = whole();
    let store = Arc::new(InMemory::new());
    for allowed in [0, 1, 2, 9, 23] {
        let refusing = MemoryStore::refusing(Arc::clone(&store), allowed);
        let storage = Storage::of_store(refusing, &format!("after-{allowed}"));
        let failed = open(&storage, "1/1", Start::Fresh).and_then(|writer| {
            let driven = writer.drive(2, make, |_| {});
            driven.map_err(|error| DatasetError::NotAFolder(error.to_string()))?;
            writer.finish()
        });
        let error = failed.unwrap_err().to_string();
        assert!(error.contains("the store refuses the credentials (AccessDenied)"), "{error}");
        let storage = Storage::of_store(
            MemoryStore::refusing(Arc::clone(&store), usize::MAX),
            &format!("after-{allowed}"),
        );
        assert!(storage.open_file("manifest.json").unwrap().is_none());
        let writer = open(&storage, "1/1", Start::Resume).unwrap();
        writer.drive(2, make, |_| {}).unwrap();
        writer.finish().unwrap();
        assert_eq!(bytes(&storage), expected);
    }
}
