use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::collection::vec;
use proptest::prelude::*;

use super::reader::{load, read_rows};
use super::samples::{arbitrary, sample};
use super::writer::SCHEMA_KEY;
use super::{ReadError, RowFile, RowHead, RowWriter, Rows};
use crate::columns::Table;
use crate::row::{Dialogue, Split};
use crate::storage::Storage;

fn write(rows: &[Dialogue]) -> Vec<u8> {
    let mut writer = RowWriter::new(Vec::new(), Table::Dialogues).unwrap();
    for row in rows {
        writer.write(row.clone()).unwrap();
    }
    writer.finish().unwrap()
}

fn columns(version: u32) -> SchemaRef {
    Table::Dialogues.schema_of_version(version)
}

fn open(bytes: Vec<u8>) -> Result<Rows, ReadError> {
    let path = "x.parquet";
    let bytes = bytes::Bytes::from(bytes);
    let metadata = load(&bytes, path, &columns)?;
    read_rows(bytes, metadata, path, Table::Dialogues, None)
}

fn read(bytes: Vec<u8>) -> Result<Vec<Dialogue>, ReadError> {
    open(bytes)?.collect()
}

fn samples(count: u64) -> Vec<Dialogue> {
    (0..count).map(|row_index| sample(row_index, Split::Train)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_read_back_as_they_were_written(rows in vec(arbitrary(), 0..8)) {
        prop_assert_eq!(read(write(&rows)).unwrap(), rows.clone());
        let json = serde_json::to_string(&rows).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Dialogue>>(&json).unwrap(), rows);
    }
}

#[test]
fn the_same_rows_give_the_same_bytes_over_several_row_groups() {
    let rows = samples(1_200);
    let bytes = write(&rows);
    assert_eq!(bytes, write(&rows));
    let metadata = load(&bytes::Bytes::from(bytes.clone()), "x", &columns).unwrap();
    assert_eq!(metadata.metadata().num_row_groups(), 3);
    assert_eq!(metadata.metadata().file_metadata().created_by(), Some(super::CREATED_BY));
    assert_eq!(read(bytes).unwrap(), rows);
}

#[test]
fn the_heads_of_a_row_group_are_those_of_its_rows() {
    let rows = samples(1_200);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.parquet"), write(&rows)).unwrap();
    let file = RowFile::open(&Storage::local(folder.path()), "x.parquet").unwrap();
    let heads: Vec<RowHead> = (0..file.groups()).flat_map(|group| file.read_heads(group).unwrap()).collect();
    assert_eq!(heads, rows.into_iter().map(RowHead::from).collect::<Vec<_>>());
    assert!(file.read_heads(3).is_err());
}

#[test]
fn a_row_group_ends_by_bytes_when_rows_are_large() {
    let rows: Vec<Dialogue> = (0..5)
        .map(|row_index| Dialogue { query: "x".repeat(20 << 20), ..sample(row_index, Split::Train) })
        .collect();
    let metadata = load(&bytes::Bytes::from(write(&rows)), "x", &columns).unwrap();
    let sizes: Vec<i64> = metadata.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(sizes, [2, 2, 1]);
}

#[test]
fn rows_that_no_reader_could_use_are_refused() {
    let check = |row: Dialogue, expect: &str| {
        let error = RowWriter::new(Vec::new(), Table::Dialogues).unwrap().write(row).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    };
    let row = sample(7, Split::Train);
    check(Dialogue { checks: "{".into(), ..row.clone() }, "row `d00000007`: column `checks` is not JSON");
    check(Dialogue { world_hash: String::new(), ..row.clone() }, "column `world_hash` is empty");
    let mut arguments = row.clone();
    arguments.messages[2].tool_calls[0].function.arguments = "[]".into();
    check(arguments, "arguments of `FindDentist` are no JSON object");
    check(Dialogue { query: "x".repeat(65 << 20), ..row }, "bytes of text, expected at most");
}

#[test]
fn foreign_files_are_named_as_such() {
    let check = |bytes: Vec<u8>, expect: &str| {
        let error = read(bytes).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    };
    check(Vec::new(), "not a readable Parquet file");
    check(b"{\"id\": 1}\n{\"id\": 2}\n".to_vec(), "not a readable Parquet file");
    let batch = super::encode::encode(&samples(2), Table::Dialogues).unwrap();
    let mut other = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    other.write(&batch).unwrap();
    check(other.into_inner().unwrap(), "found no `diorama.schema_version`");
}

/// A file of schema version 3, which had no column `difficulty`.
#[test]
fn files_without_a_later_column_are_read_and_this_version_needs_it() {
    let rows = samples(3);
    let whole = super::encode::encode(&rows, Table::Dialogues).unwrap();
    let earlier = columns(3);
    let names: Vec<&str> = earlier.fields().iter().map(|field| field.name().as_str()).collect();
    assert!(!names.contains(&"difficulty"));
    let kept: Vec<usize> = names.iter().map(|name| whole.schema().index_of(name).unwrap()).collect();
    let batch = whole.project(&kept).unwrap();
    let write_as = |version: &str| {
        let version = KeyValue::new(SCHEMA_KEY.to_owned(), version.to_owned());
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![version])).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&earlier), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    };
    let expected: Vec<Dialogue> = rows.into_iter().map(|row| Dialogue { difficulty: None, ..row }).collect();
    assert_eq!(read(write_as("3")).unwrap(), expected);
    let error = read(write_as("4")).unwrap_err().to_string();
    assert!(error.contains("column `difficulty` is missing"), "{error}");
}

/// For any changed or missing byte, the reader returns rows or an error.
#[test]
fn damaged_files_give_errors_not_panics() {
    let bytes = write(&samples(40));
    let mut errors = 0;
    let mut step = 1;
    let mut at = 0;
    while at < bytes.len() {
        for change in [0xff_u8, 0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            errors += usize::from(read(damaged).is_err());
        }
        // A wrong byte has the most effect in the footer, so every byte of the last two kilobytes is tried.
        step = if at + 2_048 > bytes.len() { 1 } else { step % 17 + 3 };
        at += step;
    }
    assert!(errors > 100, "only {errors} changes were noticed");
    for end in (0..bytes.len()).step_by(97) {
        assert!(read(bytes[..end].to_vec()).is_err(), "cut at {end}");
    }
}

#[test]
fn files_of_schema_version_1_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grading/dataset");
    let rows: Vec<Dialogue> = crate::folder::Folder::open(crate::storage::Storage::local(&folder))
        .unwrap()
        .rows()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(rows.len() > 100);
    for row in &rows {
        row.check().unwrap();
        assert_eq!((row.domains.len(), &*row.source), (1, "unstated"));
        let gates: serde_json::Value = serde_json::from_str(&row.gates).unwrap();
        assert!(gates["solvable"].is_u64() && gates["mutation"].is_object(), "{gates}");
        // Writing a row again uses the present version.
        assert_eq!(read(write(std::slice::from_ref(row))).unwrap(), std::slice::from_ref(row));
    }
    assert!(rows.iter().any(|row| !row.tags.is_empty()));
}
