//! Owns the health of the state folder: if it can be written, and the entries to restore before it is used
//! again.
//!
//! A full disk is temporary: failed writes were not acknowledged, and the folder is reopened once there is
//! space. A failed flush is permanent. The kernel may have dropped the data, and a second flush would succeed
//! without it. The server may acknowledge nothing after that, so it ends.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::Notify;

use super::entry::Space;
use super::error::StoreError;

/// A file of this size must fit into the folder before it is reopened.
const PROBE_BYTES: usize = 256 << 10;

/// An entry that a failed change touched, with its previous value.
pub(super) struct Undo {
    pub(super) space: Space,
    pub(super) key: Vec<u8>,
    pub(super) value: Option<Vec<u8>>,
}

/// The health of the folder.
#[derive(Default)]
pub(super) struct Health {
    ailing: AtomicBool,
    broken: Mutex<StoreFault>,
    /// The reason for which the content of the folder is unknown, if it is.
    lost: OnceLock<String>,
    told: Notify,
}

#[derive(Default)]
struct StoreFault {
    why: String,
    undo: Vec<Undo>,
}

impl Health {
    /// Returns the system's error if the folder cannot be written.
    pub(super) fn why(&self) -> Option<String> {
        let broken = || self.broken.lock().unwrap_or_else(PoisonError::into_inner).why.clone();
        self.ailing.load(Relaxed).then(broken)
    }

    /// Records that a change failed.
    pub(super) fn break_down(&self, why: &str, undo: Vec<Undo>) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.ailing.swap(true, Relaxed) {
            tracing::error!(why, "the state folder cannot be written to");
            why.clone_into(&mut broken.why);
        }
        broken.undo.extend(undo);
    }

    /// Records that the content of the folder is unknown. The server must end.
    pub(super) fn lose(&self, why: &str) {
        self.break_down(why, Vec::new());
        let _ = self.lost.set(why.to_owned());
        self.told.notify_one();
    }

    /// Returns true if the content of the folder is unknown.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Waits until the content of the folder becomes unknown, and returns the reason. Only one caller may
    /// wait.
    pub(super) async fn lost(&self) -> &str {
        loop {
            if let Some(why) = self.lost.get() {
                return why;
            }
            self.told.notified().await;
        }
    }

    /// Restores the entries that failed changes touched.
    pub(super) fn undo(
        &self,
        put_back: impl FnOnce(&[Undo]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        put_back(&broken.undo)?;
        broken.undo.clear();
        Ok(())
    }

    /// Records that the folder can be written again.
    pub(super) fn recovered(&self) {
        self.ailing.store(false, Relaxed);
    }
}

/// Checks that a file of [`PROBE_BYTES`] can be written to the disk.
pub(super) fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join("probe");
    let tried = std::fs::File::create(&path).and_then(|mut file| {
        file.write_all(&vec![1; PROBE_BYTES])?;
        file.sync_all()
    });
    let removed = std::fs::remove_file(&path);
    tried.and(removed)
}
