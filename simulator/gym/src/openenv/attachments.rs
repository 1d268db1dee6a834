//! Attachments: which sockets have joined which sessions. Only one socket may join a session at a time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The joined sessions by name. The value is true if the session must end when its socket leaves.
#[derive(Debug, Default)]
pub(super) struct Attachments(Mutex<HashMap<String, bool>>);

impl Attachments {
    fn held(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches a socket to a session. Returns false if another socket is attached.
    pub(super) fn attach(&self, name: &str) -> bool {
        let mut held = self.held();
        if held.contains_key(name) {
            return false;
        }
        held.insert(name.to_owned(), false);
        true
    }

    /// Detaches the socket. Returns true if the session must end now.
    pub(super) fn detach(&self, name: &str) -> bool {
        self.held().remove(name).unwrap_or(false)
    }

    /// Makes a session end when its socket leaves. Returns false if no socket is attached.
    pub(super) fn close_later(&self, name: &str) -> bool {
        self.held().get_mut(name).is_some_and(|closing| {
            *closing = true;
            true
        })
    }
}
