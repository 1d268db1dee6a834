//! Which sessions of the Model Context Protocol a socket has joined: one at a time each.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sessions that sockets have joined, by name; true where one is to end with its socket.
#[derive(Debug, Default)]
pub(super) struct Attachments(Mutex<HashMap<String, bool>>);

impl Attachments {
    fn held(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a socket joins a session. False where another one has.
    pub(super) fn attach(&self, name: &str) -> bool {
        let mut held = self.held();
        if held.contains_key(name) {
            return false;
        }
        held.insert(name.to_owned(), false);
        true
    }

    /// Notes that the socket has left. True where the session is to end with it.
    pub(super) fn detach(&self, name: &str) -> bool {
        self.held().remove(name).unwrap_or(false)
    }

    /// Has a session end when its socket leaves. False where no socket has joined it.
    pub(super) fn close_later(&self, name: &str) -> bool {
        self.held().get_mut(name).is_some_and(|closing| {
            *closing = true;
            true
        })
    }
}
