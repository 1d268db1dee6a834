//! Full-size models through fastembed: the lane `fastembed` brings the real MiniLM and never skips these.

#![cfg(feature = "fastembed")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test may end this way")]
#![allow(clippy::disallowed_methods, reason = "where the model is, is told by the environment")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diorama_engine::embed::cache::CachedEmbedder;
use diorama_engine::embed::full::{FullEmbedder, find_runtime};
use diorama_engine::embed::{EmbedError, Embedder, embedded};
use diorama_simulator::search::{ApiEntry, ApiIndex, ApiQuery, SearchBy};

/// The model's folder and the runtime's library, or nothing where the user has none.
fn minilm() -> Option<(PathBuf, PathBuf)> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let found = named("DIORAMA_MINILM").zip(named("ORT_DYLIB_PATH"));
    assert!(found.is_some() || std::env::var_os("DIORAMA_CI").is_none(), "benches/minilm.sh was not run");
    if found.is_none() {
        println!("skipped: DIORAMA_MINILM and ORT_DYLIB_PATH are not set; run benches/minilm.sh");
    }
    found
}

fn alike(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[test]
fn minilm_knows_what_texts_mean_and_the_model_in_the_program_follows_it() {
    let Some((folder, runtime)) = minilm() else { return };
    let full = FullEmbedder::from_folder(&folder, &runtime).unwrap();
    assert_eq!(full.dimensions(), 384);
    let texts = [
        "book a table in a restaurant",
        "reserve a seat for dinner",
        "delete the alarm",
        "cancel my reminder",
        "convert kelvin to celsius",
        "what is the temperature in fahrenheit",
    ];
    let vectors = full.embed(&texts).unwrap();
    let rows: Vec<&[f32]> = vectors.chunks(384).collect();
    for row in &rows {
        assert!((alike(row, row) - 1.0).abs() < 1e-4);
    }
    let alone = full.embed(&texts[3..4]).unwrap();
    assert_eq!(alone, rows[3], "a text's vector does not depend on its neighbours");
    let small = embedded().unwrap();
    for (at, pair) in rows.chunks(2).enumerate() {
        let far = rows[(at * 2 + 3) % 6];
        assert!(alike(pair[0], pair[1]) > alike(pair[0], far), "{}", texts[at * 2]);
        let [left, right, other] =
            [at * 2, at * 2 + 1, (at * 2 + 3) % 6].map(|text| small.vector(texts[text]));
        assert!(alike(&left, &right) > alike(&left, &other), "{}", texts[at * 2]);
    }
}

#[test]
fn an_index_takes_it_and_keeps_its_vectors() {
    let Some((folder, runtime)) = minilm() else { return };
    let kept = tempfile::tempdir().unwrap();
    let entry = |api: &str, description: &str| ApiEntry {
        api: api.into(),
        description: description.into(),
        ..ApiEntry::default()
    };
    for _ in 0..2 {
        let full = FullEmbedder::from_folder(&folder, &runtime).unwrap();
        let pool = vec![entry("Pay", "Pays a bill."), entry("Trains", "Lists departures from a station.")];
        let index = ApiIndex::new(pool, Arc::new(CachedEmbedder::new(full, kept.path()))).unwrap();
        let query =
            ApiQuery { text: "railway timetable", k: 1, by: SearchBy::Meaning, ..ApiQuery::default() };
        assert_eq!(index.search(query).unwrap()[0].api, "Trains");
        let files: Vec<_> = std::fs::read_dir(kept.path()).unwrap().collect();
        assert_eq!(files.len(), 1);
    }
}

#[test]
fn what_is_missing_is_named_and_never_a_panic() {
    let missing = find_runtime(Some(Path::new("no-such-library.so"))).unwrap_err();
    assert!(matches!(missing, EmbedError::NoRuntime { .. }));
    assert!(missing.to_string().contains("set ORT_DYLIB_PATH"), "{missing}");
    let Some((folder, runtime)) = minilm() else { return };
    let empty = tempfile::tempdir().unwrap();
    let error = FullEmbedder::from_folder(empty.path(), &runtime).err().unwrap().to_string();
    assert!(error.contains("found no model.onnx"), "{error}");
    for file in ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"] {
        std::fs::copy(folder.join(file), empty.path().join(file)).unwrap();
    }
    std::fs::write(empty.path().join("model.onnx"), b"no model").unwrap();
    assert!(matches!(
        FullEmbedder::from_folder(empty.path(), &runtime).err(),
        Some(EmbedError::Model { .. })
    ));
}
