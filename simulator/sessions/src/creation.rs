//! Idempotent creation: a request with an `Idempotency-Key` that is repeated returns the same sessions. A key
//! lasts as long as one of its sessions.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::problem::{KEY_HEADER, Kind, Problem};

/// The name that a caller gave a session within a protocol. It contains a space, so no header can contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey(String);

impl SessionKey {
    /// Makes the key of a name in a protocol.
    #[must_use]
    pub fn new(protocol: &str, name: &str) -> Self {
        Self(format!("{protocol} {name}"))
    }
}

/// The request that made a session, if it had a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Creation {
    /// The id of the forked session, within which keys are unique. None for sessions that are not forks.
    parent: Option<String>,
    key: String,
    /// The hash of the request body.
    body: String,
    /// Index of the session among those that the request made.
    position: u32,
}

impl Creation {
    /// Makes the creation of a request from its key and body.
    #[must_use]
    pub fn new(parent: Option<&str>, key: &str, body: &[u8]) -> Self {
        let body = blake3::hash(body).to_hex().to_string();
        Self { parent: parent.map(str::to_owned), key: key.to_owned(), body, position: 0 }
    }

    /// Makes the creation of a named session that a caller in this process requested.
    pub(crate) fn named(key: SessionKey, request: &[u8]) -> Self {
        Self::new(None, &key.0, request)
    }

    /// Returns the same creation for the session at this index.
    pub(crate) fn with_position(&self, position: u32) -> Self {
        Self { position, ..self.clone() }
    }

    fn name(&self) -> Name {
        (self.parent.clone(), self.key.clone())
    }
}

/// The id of the forked session, and the key.
type Name = (Option<String>, String);

/// The sessions of each key.
#[derive(Default)]
pub(crate) struct Creations(HashMap<Name, CreatedSessions>);

struct CreatedSessions {
    body: String,
    /// Session ids by index. Empty while the sessions are being made.
    ids: BTreeMap<u32, String>,
}

impl Creations {
    /// Begins a creation. If an earlier request had the same key, returns the ids of its sessions instead.
    ///
    /// # Errors
    /// Returns a conflict if that request had another body, or is still running.
    pub(crate) fn begin(&mut self, creation: &Creation) -> Result<Vec<String>, Problem> {
        let Some(made) = self.0.get(&creation.name()) else {
            let made = CreatedSessions { body: creation.body.clone(), ids: BTreeMap::new() };
            self.0.insert(creation.name(), made);
            return Ok(Vec::new());
        };
        if made.body != creation.body {
            let detail = format!(
                "the header {KEY_HEADER}: found the key of an earlier request with another body; send that body again, \
                 or another key"
            );
            return Err(Problem::new(Kind::Invalid, detail).with("parameter", KEY_HEADER));
        }
        if made.ids.is_empty() {
            let detail = format!(
                "the header {KEY_HEADER}: found the key of a request that is still being answered; try again"
            );
            return Err(Problem::new(Kind::Conflict, detail).with("parameter", KEY_HEADER).retry_in(1));
        }
        Ok(made.ids.values().cloned().collect())
    }

    /// Returns the id of the session with a key.
    pub(crate) fn session(&self, key: &SessionKey) -> Option<&str> {
        let made = self.0.get(&(None, key.0.clone()))?;
        made.ids.first_key_value().map(|(_, id)| &**id)
    }

    /// Drops a creation that made no session.
    pub(crate) fn give_up(&mut self, creation: &Creation) {
        let name = creation.name();
        if self.0.get(&name).is_some_and(|made| made.ids.is_empty()) {
            self.0.remove(&name);
        }
    }

    /// Adds a session to its creation.
    pub(crate) fn add(&mut self, creation: &Creation, id: &str) {
        let new = || CreatedSessions { body: creation.body.clone(), ids: BTreeMap::new() };
        let made = self.0.entry(creation.name()).or_insert_with(new);
        made.ids.insert(creation.position, id.to_owned());
    }

    /// Removes a session. Removing the last one drops the key.
    pub(crate) fn remove(&mut self, creation: &Creation) {
        if let Some(made) = self.0.get_mut(&creation.name()) {
            made.ids.remove(&creation.position);
        }
        self.give_up(creation);
    }
}
