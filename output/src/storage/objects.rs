//! Object store access: whole puts, multipart uploads above a size, and range reads.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, RetryConfig,
    WriteMultipart,
};
use tokio::runtime::Runtime;

use super::client::Connector;
use super::entry::{Entry, Fingerprint};
use super::error::{Cause, MAX_ENTRIES, StorageError};
use super::location::Provider;
use super::message::{code, plain_http, redacted, secrets, text_of};

/// Larger objects are uploaded in parts of this size.
const PART_BYTES: usize = 8 << 20;
/// Maximum number of parts of one object in flight.
const MAX_PARTS_IN_FLIGHT: usize = 4;
/// Bytes per request when an object is read from start to end.
const READ_BYTES: u64 = 8 << 20;
/// Requests that fail because of the store or the network are retried with growing pauses, up to this time.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 3.0,
    },
    max_retries: 40,
    retry_timeout: Duration::from_secs(150),
};
/// Maximum number of pages of a listing. Stores return up to 1,000 entries per page.
const MAX_PAGES: usize = 10_000;
/// Retries of the first request. A wrong endpoint is reported after a second or two.
const MAX_FIRST_RETRIES: usize = 4;
/// The address where cloud machines get their roles. It is used if no credentials are given.
const INSTANCE_METADATA: &str = "169.254.169.254";

/// A store whose listings are read page by page, so that an endless one is refused.
pub(crate) trait ListedStore: ObjectStore + PaginatedListStore {}

impl<S: ObjectStore + PaginatedListStore> ListedStore for S {}

/// A prefix of an object store.
pub(super) struct Objects {
    store: Arc<dyn ListedStore>,
    location: String,
    prefix: Path,
    /// `None` only during drop.
    runtime: Option<Runtime>,
    /// Values that no message may contain.
    secrets: Vec<String>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Objects").field("location", &self.location).finish_non_exhaustive()
    }
}

impl Objects {
    pub(super) fn open(
        provider: Provider,
        bucket: &str,
        prefix: &str,
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, StorageError> {
        let location = format!("{}://{bucket}", provider.scheme());
        let settings: Vec<(String, String)> =
            settings.into_iter().filter(|(key, _)| key.starts_with(provider.settings_prefix())).collect();
        let wrong = |text: String| StorageError {
            doing: "open",
            place: location.clone(),
            cause: Cause::Setting(text),
        };
        if let Some(what) = plain_http(&settings) {
            return Err(wrong(what));
        }
        let secrets = secrets(&settings);
        let store = |retries| {
            let store = store(provider, bucket, &settings, retries);
            store.map_err(|error| wrong(redacted(&text_of(&error), &secrets)))
        };
        let (first, store) =
            (store(RetryConfig { max_retries: MAX_FIRST_RETRIES, ..RETRIES })?, store(RETRIES)?);
        let mut objects = Self::of_store(first, &location, prefix, secrets)
            .map_err(|error| wrong(format!("cannot start threads for requests: {error}")))?;
        objects.list("")?;
        objects.store = store;
        Ok(objects)
    }

    pub(super) fn of_store(
        store: Arc<dyn ListedStore>,
        bucket: &str,
        prefix: &str,
        secrets: Vec<String>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("storage")
            .enable_all()
            .build()?;
        Ok(Self {
            store,
            location: if prefix.is_empty() { bucket.to_owned() } else { format!("{bucket}/{prefix}") },
            prefix: Path::from(prefix),
            runtime: Some(runtime),
            secrets,
        })
    }

    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StorageError> {
        let Some(size) = self.size(name)? else { return Ok(None) };
        if size > limit {
            return Err(StorageError {
                doing: "read",
                place: self.place(name),
                cause: Cause::TooLarge(limit),
            });
        }
        self.read_range(name, 0..size).map(|bytes| Some(bytes.into()))
    }

    pub(super) fn size(&self, name: &str) -> Result<Option<u64>, StorageError> {
        let (store, path) = (Arc::clone(&self.store), self.path(name));
        match self.wait(async move { store.head(&path).await }) {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error("read", name, &error)),
        }
    }

    pub(super) fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes, StorageError> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (store, path) = (Arc::clone(&self.store), self.path(name));
        let read = self.wait(async move { store.get_range(&path, range).await });
        read.map_err(|error| self.error("read", name, &error))
    }

    pub(super) fn fingerprint(&self, name: &str) -> Result<Option<Fingerprint>, StorageError> {
        let Some(size) = self.size(name)? else { return Ok(None) };
        let mut hasher = blake3::Hasher::new();
        let mut start = 0;
        while start < size {
            let end = size.min(start + READ_BYTES);
            hasher.update(&self.read_range(name, start..end)?);
            start = end;
        }
        Ok(Some(Fingerprint { size, blake3: hasher.finalize().to_hex().to_string() }))
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<Fingerprint, StorageError> {
        let (store, path, payload) =
            (Arc::clone(&self.store), self.path(name), Bytes::copy_from_slice(bytes));
        let put = self.wait(async move { store.put(&path, payload.into()).await });
        put.map_err(|error| self.error("write", name, &error))?;
        Ok(super::local::fingerprint_bytes(bytes))
    }

    pub(super) fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StorageError> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let (store, path, payload) =
            (Arc::clone(&self.store), self.path(name), Bytes::copy_from_slice(bytes));
        match self.wait(async move { store.put_opts(&path, payload.into(), options).await }) {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            // Stores without conditional puts do not detect concurrent writers here. The caller reads the
            // object back.
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                if self.size(name)?.is_some() {
                    return Ok(false);
                }
                self.put(name, bytes).map(|_| true)
            }
            Err(error) => Err(self.error("write", name, &error)),
        }
    }

    pub(super) fn list(&self, folder: &str) -> Result<Vec<Entry>, StorageError> {
        let listed = self.wait(list_pages(Arc::clone(&self.store), self.path(folder)));
        let listed = listed.map_err(|error| self.error("list", folder, &error))?;
        let too_many = || StorageError { doing: "list", place: self.place(folder), cause: Cause::TooMany };
        let (objects, folders): FolderListing = listed.ok_or_else(too_many)?;
        let name = |path: &Path| path.filename().map(str::to_owned);
        let files = objects
            .iter()
            .filter_map(|object| Some(Entry { name: name(&object.location)?, size: Some(object.size) }));
        let folders = folders.iter().filter_map(|path| Some(Entry { name: name(path)?, size: None }));
        Ok(files.chain(folders).collect())
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), StorageError> {
        let (store, path) = (Arc::clone(&self.store), self.path(name));
        match self.wait(async move { store.delete(&path).await }) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error("remove", name, &error)),
        }
    }

    pub(super) fn remove_folder(&self, folder: &str) -> Result<(), StorageError> {
        let (store, path) = (Arc::clone(&self.store), self.path(folder));
        let removed = self.wait(async move {
            let names = store.list(Some(&path)).map(|object| object.map(|object| object.location));
            // Entries of an endless listing beyond this limit remain.
            let names = names.take(MAX_ENTRIES).boxed();
            let mut removed = store.delete_stream(names);
            while let Some(result) = removed.next().await {
                match result {
                    Ok(_) | Err(Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        removed.map_err(|error| self.error("remove", folder, &error))
    }

    /// Runs a step on the runtime's threads and blocks this one. The caller may be inside another runtime.
    fn wait<T: Send + 'static>(
        &self,
        step: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> object_store::Result<T> {
        let ended =
            || Error::Generic { store: "object store", source: "a request ended without a result".into() };
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        let (sender, receiver) = sync_channel(1);
        runtime.spawn(async move {
            let _ = sender.send(step.await);
        });
        // Only a panic in a step can end it without a result.
        receiver.recv().map_err(|_| ended())?
    }

    fn path(&self, name: &str) -> Path {
        name.split('/')
            .filter(|part| !part.is_empty())
            .fold(self.prefix.clone(), |path, part| path.join(part))
    }

    fn place(&self, name: &str) -> String {
        if name.is_empty() { self.location.clone() } else { format!("{}/{name}", self.location) }
    }

    fn error(&self, doing: &'static str, name: &str, error: &Error) -> StorageError {
        let full = text_of(error);
        let text = redacted(&full, &self.secrets);
        // Listings wrap the store's refusals, so their status is only in the text.
        let cause = match error {
            Error::NotFound { .. } => Cause::NotFound,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Cause::Refused(code(&full)),
            _ if text.contains(INSTANCE_METADATA) => {
                Cause::Refused("none in the environment, and no role of this machine".to_owned())
            }
            _ if text.contains("404 Not Found") => Cause::NotFound,
            _ if text.contains("403 Forbidden") || text.contains("401 Unauthorized") => {
                Cause::Refused(code(&full))
            }
            _ => Cause::Store(text),
        };
        StorageError { doing, place: self.place(name), cause }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting here would panic inside another runtime.
            runtime.shutdown_background();
        }
    }
}

/// An unfinished object. Small ones are put as a whole, larger ones in parts.
pub struct ObjectWriter {
    objects: Arc<Objects>,
    name: String,
    buffer: Vec<u8>,
    upload: Option<WriteMultipart>,
    hasher: blake3::Hasher,
    size: u64,
}

impl ObjectWriter {
    pub(super) fn new(objects: Arc<Objects>, name: &str) -> Self {
        Self {
            objects,
            name: name.to_owned(),
            buffer: Vec::new(),
            upload: None,
            hasher: blake3::Hasher::new(),
            size: 0,
        }
    }

    pub(super) fn commit(mut self) -> Result<Fingerprint, StorageError> {
        let fingerprint =
            Fingerprint { size: self.size, blake3: self.hasher.finalize().to_hex().to_string() };
        if self.upload.is_none() {
            self.objects.put(&self.name, &self.buffer)?;
            return Ok(fingerprint);
        }
        self.send_part()?;
        if let Some(upload) = self.upload.take() {
            let finished = self.objects.wait(async move { upload.finish().await });
            finished.map_err(|error| self.objects.error("write", &self.name, &error))?;
        }
        Ok(fingerprint)
    }

    fn send_part(&mut self) -> Result<(), StorageError> {
        let part = Bytes::from(std::mem::take(&mut self.buffer));
        let started = self.upload.take();
        let (store, path) = (Arc::clone(&self.objects.store), self.objects.path(&self.name));
        let sent = self.objects.wait(async move {
            let mut upload = match started {
                Some(upload) => upload,
                None => WriteMultipart::new_with_chunk_size(store.put_multipart(&path).await?, PART_BYTES),
            };
            upload.put(part);
            match upload.wait_for_capacity(MAX_PARTS_IN_FLIGHT).await {
                Ok(()) => Ok(upload),
                Err(error) => {
                    // The first error is reported.
                    let _ = upload.abort().await;
                    Err(error)
                }
            }
        });
        self.upload = Some(sent.map_err(|error| self.objects.error("write", &self.name, &error))?);
        Ok(())
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PART_BYTES.saturating_sub(self.buffer.len()).min(bytes.len());
        let (taken, _) = bytes.split_at(room);
        self.buffer.extend_from_slice(taken);
        self.hasher.update(taken);
        self.size += taken.len() as u64;
        if self.buffer.len() >= PART_BYTES {
            self.send_part().map_err(io::Error::other)?;
        }
        Ok(room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            // Parts that stay behind form no object. The store's rule for unfinished uploads removes them.
            let _ = self.objects.wait(async move { upload.abort().await });
        }
    }
}

/// The objects and the subfolders of a folder.
type FolderListing = (Vec<ObjectMeta>, BTreeSet<Path>);

/// Lists a folder page by page. Returns none if it exceeds the limits of entries or pages, as an endless
/// listing does.
async fn list_pages(
    store: Arc<dyn ListedStore>,
    folder: Path,
) -> object_store::Result<Option<FolderListing>> {
    let prefix = Some(format!("{folder}/")).filter(|prefix| prefix != "/");
    let (mut objects, mut folders) = (Vec::new(), BTreeSet::new());
    let mut page_token = None;
    for _ in 0..MAX_PAGES {
        let options = PaginatedListOptions {
            delimiter: Some("/".into()),
            page_token,
            ..PaginatedListOptions::default()
        };
        let page = store.list_paginated(prefix.as_deref(), options).await?;
        objects.extend(page.result.objects);
        folders.extend(page.result.common_prefixes);
        if objects.len() + folders.len() > MAX_ENTRIES {
            break;
        }
        page_token = page.page_token;
        if page_token.is_none() {
            return Ok(Some((objects, folders)));
        }
    }
    Ok(None)
}

fn store(
    provider: Provider,
    bucket: &str,
    settings: &[(String, String)],
    retries: RetryConfig,
) -> object_store::Result<Arc<dyn ListedStore>> {
    // The library ignores names that it does not know. They belong to other programs.
    macro_rules! configured {
        ($builder:expr) => {{
            let builder = settings.iter().fold($builder, |builder, (key, value)| {
                match key.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            });
            builder.with_retry(retries).with_http_connector(Connector)
        }};
    }
    Ok(match provider {
        Provider::S3 => Arc::new(configured!(AmazonS3Builder::new()).with_bucket_name(bucket).build()?),
        Provider::Gcs => {
            Arc::new(configured!(GoogleCloudStorageBuilder::new()).with_bucket_name(bucket).build()?)
        }
        Provider::Azure => {
            Arc::new(configured!(MicrosoftAzureBuilder::new()).with_container_name(bucket).build()?)
        }
    })
}
