//! The health of the state folder: if it can be written to, and what is to be put back before it is used again.
//!
//! A full disk passes: what could not be written was not answered, and the folder is opened again once there is room. Where the disk fails
//! to confirm what it took, the kernel may have dropped it, and a second try would succeed without it. Nothing more may be acknowledged
//! then, so the server ends.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::Notify;

use super::entry::Space;
use super::error::StoreError;

/// So much has to fit into the folder before it is opened again.
const PROBE_BYTES: usize = 256 << 10;

/// An entry that a failed change touched, as it was before.
pub(super) struct Undo {
    pub(super) space: Space,
    pub(super) key: Vec<u8>,
    pub(super) value: Option<Vec<u8>>,
}

/// The state of the folder: if it can be written to.
#[derive(Default)]
pub(super) struct Health {
    ailing: AtomicBool,
    broken: Mutex<Broken>,
    /// Why it is not known what the folder holds, if it is not.
    lost: OnceLock<String>,
    told: Notify,
}

#[derive(Default)]
struct Broken {
    why: String,
    undo: Vec<Undo>,
}

impl Health {
    /// The machine's error where the folder cannot be written to.
    pub(super) fn why(&self) -> Option<String> {
        let broken = || self.broken.lock().unwrap_or_else(PoisonError::into_inner).why.clone();
        self.ailing.load(Relaxed).then(broken)
    }

    /// Notes that a change failed.
    pub(super) fn break_down(&self, why: &str, undo: Vec<Undo>) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.ailing.swap(true, Relaxed) {
            tracing::error!(why, "the state folder cannot be written to");
            why.clone_into(&mut broken.why);
        }
        broken.undo.extend(undo);
    }

    /// Notes that it is not known what the folder holds: the server has to end.
    pub(super) fn lose(&self, why: &str) {
        self.break_down(why, Vec::new());
        let _ = self.lost.set(why.to_owned());
        self.told.notify_one();
    }

    /// Returns true if it is not known what the folder holds.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Waits until it is not known what the folder holds, and says why. One caller waits.
    pub(super) async fn lost(&self) -> &str {
        loop {
            if let Some(why) = self.lost.get() {
                return why;
            }
            self.told.notified().await;
        }
    }

    /// Puts back what failed changes touched.
    pub(super) fn undo(
        &self,
        put_back: impl FnOnce(&[Undo]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        put_back(&broken.undo)?;
        broken.undo.clear();
        Ok(())
    }

    /// Notes that the folder can be written to again.
    pub(super) fn recovered(&self) {
        self.ailing.store(false, Relaxed);
    }
}

/// Checks that a file of some size fits into a folder, all the way to the disk.
pub(super) fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join("probe");
    let tried = std::fs::File::create(&path).and_then(|mut file| {
        file.write_all(&vec![1; PROBE_BYTES])?;
        file.sync_all()
    });
    let removed = std::fs::remove_file(&path);
    tried.and(removed)
}
