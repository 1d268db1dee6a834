//! Objects as files, and a store that starts to refuse writes.

use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use parquet::file::reader::ChunkReader as _;
use tempfile::TempDir;

use super::objects::Objects;
use super::{Entry, Storage};

/// An in-memory store, which may refuse writes or invent listings.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    store: Arc<InMemory>,
    /// Number of writes before all others are refused.
    allowed: AtomicUsize,
    made_up: Option<Pages>,
}

impl MemoryStore {
    pub(crate) fn new() -> Arc<Self> {
        Self::refusing(Arc::default(), usize::MAX)
    }

    /// Refuses all writes after the first few.
    pub(crate) fn refusing(store: Arc<InMemory>, allowed: usize) -> Arc<Self> {
        Arc::new(Self { store, allowed: AtomicUsize::new(allowed), made_up: None })
    }

    fn check(&self, path: &Path) -> Result<()> {
        match self.allowed.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::PermissionDenied {
                path: path.to_string(),
                source: "<Error><Code>AccessDenied</Code></Error>".into(),
            }),
        }
    }
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MemoryStore")
    }
}

#[async_trait]
impl ObjectStore for MemoryStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.check(path)?;
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.check(path)?;
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.store.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.check(to)?;
        self.store.copy_opts(from, to, options).await
    }
}

/// Invented listings: objects per page, and the number of pages, or none for an endless listing.
#[derive(Debug)]
struct Pages {
    objects: u64,
    pages: Option<usize>,
}

#[async_trait]
impl PaginatedListStore for MemoryStore {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let Some(pages) = &self.made_up else {
            let result = self.store.list_with_delimiter(prefix.map(Path::from).as_ref()).await?;
            return Ok(PaginatedListResult { result, page_token: None });
        };
        assert_eq!(prefix, Some("a/data/"));
        let page: usize = options.page_token.map_or(0, |token| token.parse().unwrap());
        let object = |number: u64| ObjectMeta {
            location: Path::from(format!("a/data/{page}-{number}")),
            last_modified: Default::default(),
            size: 1,
            e_tag: None,
            version: None,
        };
        let objects = (0..pages.objects).map(object).collect();
        let common_prefixes = vec![Path::from("a/data/below")];
        let result = ListResult { common_prefixes, objects, extensions: Default::default() };
        let is_last = pages.pages == Some(page + 1);
        Ok(PaginatedListResult { result, page_token: (!is_last).then(|| (page + 1).to_string()) })
    }
}

#[test]
fn a_listing_is_read_to_its_end_and_one_without_an_end_is_refused() {
    let listed = |objects, pages| {
        let (store, allowed) = (Arc::default(), AtomicUsize::default());
        let store = MemoryStore { store, allowed, made_up: Some(Pages { objects, pages }) };
        Objects::of_store(Arc::new(store), "s3://bucket", "a", Vec::new()).unwrap().list("data")
    };
    let mut found: Vec<Entry> = listed(2, Some(2)).unwrap();
    found.sort();
    let entry = |name: &str, size| Entry { name: name.to_owned(), size };
    let expected = [("0-0", Some(1)), ("0-1", Some(1)), ("1-0", Some(1)), ("1-1", Some(1)), ("below", None)];
    assert_eq!(found, expected.map(|(name, size)| entry(name, size)));
    for objects in [0, 300_000] {
        let error = listed(objects, None).unwrap_err().to_string();
        let expected =
            "cannot list s3://bucket/a/data: it has more than 1000000 entries, or a listing of it has no end";
        assert_eq!(error, expected);
    }
}

/// Runs a check on a folder and on a store.
fn on_each(check: impl Fn(&Storage)) {
    let folder = TempDir::new().unwrap();
    check(&Storage::local(folder.path()));
    check(&Storage::of_store(MemoryStore::new(), "a"));
}

#[test]
fn files_are_written_listed_read_and_removed() {
    on_each(|storage| {
        storage.make_folders(&["data"]).unwrap();
        assert_eq!(storage.read("data/a", 10).unwrap(), None);
        assert_eq!(storage.fingerprint("data/a").unwrap(), None);
        let written = storage.write("data/a", b"abc").unwrap();
        assert_eq!(written.size, 3);
        assert_eq!(storage.fingerprint("data/a").unwrap(), Some(written));
        assert_eq!(storage.read("data/a", 3).unwrap(), Some(b"abc".to_vec()));
        let error = storage.read("data/a", 2).unwrap_err().to_string();
        assert!(error.ends_with("data/a: it is larger than 2 bytes"), "{error}");
        storage.write("data/b", b"later").unwrap();
        assert!(storage.write_new("top", b"first").unwrap());
        assert!(!storage.write_new("top", b"second").unwrap());
        assert_eq!(storage.read("top", 10).unwrap(), Some(b"first".to_vec()));
        let entry = |name: &str, size| Entry { name: name.to_owned(), size };
        assert_eq!(storage.list("").unwrap(), [entry("data", None), entry("top", Some(5))]);
        assert_eq!(storage.list("data").unwrap(), [entry("a", Some(3)), entry("b", Some(5))]);
        assert_eq!(storage.list("none").unwrap(), []);
        storage.remove("data/a").unwrap();
        storage.remove("data/a").unwrap();
        storage.remove_folder("data").unwrap();
        storage.remove_folder("data").unwrap();
        assert_eq!(storage.list("").unwrap(), [entry("top", Some(5))]);
    });
}

#[test]
fn a_file_is_there_when_it_is_committed_and_never_before() {
    on_each(|storage| {
        // The content has more than two parts of an object.
        let content: Vec<u8> = (0..20_000_000_u32).map(|number| (number % 251) as u8).collect();
        let mut dropped = storage.create("x").unwrap();
        dropped.write_all(&content).unwrap();
        drop(dropped);
        assert_eq!(storage.list("").unwrap(), []);
        let mut file = storage.create("x").unwrap();
        file.write_all(&content).unwrap();
        let written = file.commit().unwrap();
        assert_eq!(written.blake3, blake3::hash(&content).to_hex().to_string());
        assert_eq!(storage.fingerprint("x").unwrap(), Some(written));
        let stored = storage.open_file("x").unwrap().unwrap();
        let chunks = stored.chunks(1_000..2_000).unwrap();
        for (start, length) in [(1_000, 1_000), (1_500, 10), (0, 10), (1_990, 20), (19_999_990, 10)] {
            let bytes = chunks.get_bytes(start, length).unwrap();
            assert_eq!(bytes, content[start as usize..start as usize + length]);
        }
        assert!(chunks.get_bytes(19_999_990, 11).is_err());
    });
}

#[test]
fn a_write_that_fails_is_reported() {
    let storage = Storage::of_store(MemoryStore::refusing(Arc::default(), 1), "a");
    storage.write("one", b"1").unwrap();
    let error = storage.write("two", b"2").unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write s3://bucket/a/two: the store refuses the credentials"),
        "{error}"
    );
}

#[test]
fn a_store_can_be_used_inside_another_runtime() {
    let storage = Storage::of_store(MemoryStore::new(), "a");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async move {
        storage.write("one", b"1").unwrap();
        assert_eq!(storage.read("one", 10).unwrap(), Some(b"1".to_vec()));
    });
}
