//! Owns a file cache of vectors from a slow model.
//!
//! The file has the vectors of one model, by hash of their texts. It is read as a whole. New vectors are
//! written to a temporary file, which then replaces it. A damaged file, or one of another model, counts as
//! empty.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use super::embedder::{EmbedError, Embedder};

const MAGIC: &[u8; 8] = b"diovec1\n";
const HASH: usize = 16;

type VectorsByHash = HashMap<[u8; HASH], Box<[f32]>>;

/// An embedder with a cache.
pub struct CachedEmbedder<E> {
    inner: E,
    file: PathBuf,
    kept: Mutex<VectorsByHash>,
}

impl<E: Embedder> CachedEmbedder<E> {
    /// Makes a cache in a folder. The file's name depends on the model's name.
    pub fn new(inner: E, folder: &Path) -> Self {
        let name = blake3::hash(inner.name().as_bytes()).to_hex();
        let file = folder.join(format!("{}.vectors", name.get(..16).unwrap_or_default()));
        let kept =
            fs::read(&file).ok().and_then(|bytes| parse(&bytes, inner.dimensions())).unwrap_or_default();
        Self { inner, file, kept: Mutex::new(kept) }
    }

    /// Returns the wrapped embedder.
    pub fn into_inner(self) -> E {
        self.inner
    }

    fn write(&self, kept: &VectorsByHash) -> Result<(), EmbedError> {
        let failed = |source: io::Error| EmbedError::Cache {
            file: self.file.display().to_string(),
            source: Arc::new(source),
        };
        let mut sorted: Vec<_> = kept.iter().collect();
        sorted.sort_unstable_by_key(|(hash, _)| **hash);
        let mut bytes = MAGIC.to_vec();
        for (hash, vector) in sorted {
            bytes.extend_from_slice(hash);
            vector.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        let check = *blake3::hash(&bytes).as_bytes();
        bytes.extend_from_slice(&check);
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let temporary = self.file.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&temporary, bytes).map_err(failed)?;
        fs::rename(&temporary, &self.file).map_err(failed)
    }
}

fn parse(bytes: &[u8], dimensions: usize) -> Option<VectorsByHash> {
    let (held, check) = bytes.split_last_chunk::<32>()?;
    if blake3::hash(held).as_bytes() != check {
        return None;
    }
    let mut kept = VectorsByHash::new();
    let entries = held.strip_prefix(MAGIC)?.chunks_exact(HASH + 4 * dimensions);
    if !entries.remainder().is_empty() {
        return None;
    }
    for entry in entries {
        let (hash, vector) = entry.split_first_chunk::<HASH>()?;
        let values = vector.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        kept.insert(*hash, values.collect());
    }
    Some(kept)
}

fn key(text: &str) -> [u8; HASH] {
    let mut out = [0; HASH];
    out.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..HASH]);
    out
}

impl<E: Embedder> Embedder for CachedEmbedder<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    /// A single text is not cached, because search queries would fill the file.
    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        if texts.len() < 2 {
            return self.inner.embed(texts);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> =
            texts.iter().copied().filter(|text| !kept.contains_key(&key(text))).collect();
        if !missing.is_empty() {
            let vectors = self.inner.embed(&missing)?;
            let rows = vectors.chunks(self.dimensions().max(1)).map(Box::from);
            kept.extend(missing.iter().map(|text| key(text)).zip(rows));
            self.write(&kept)?;
        }
        Ok(texts.iter().filter_map(|text| kept.get(&key(text))).flat_map(|row| row.iter().copied()).collect())
    }
}
