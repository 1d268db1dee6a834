//! Requests that make sessions and come with a key of their sender (`Idempotency-Key`): the same key again gives the
//! same sessions. A key is known as long as one of its sessions.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::problem::{KEY_HEADER, Kind, Problem};

/// A name that a caller gave to a session, within a protocol. No header holds such a key: it has a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey(String);

impl SessionKey {
    /// The name of a session in a protocol.
    #[must_use]
    pub fn new(protocol: &str, name: &str) -> Self {
        Self(format!("{protocol} {name}"))
    }
}

/// The request that made a session, where it came with a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Creation {
    /// The id of the session that was forked, whose keys are its own; none for other new sessions.
    parent: Option<String>,
    key: String,
    /// The hash of the request's body.
    body: String,
    /// The position of the session among those that the request made.
    position: u32,
}

impl Creation {
    /// Returns the creation that a request asks for: its key, and the hash of its body.
    #[must_use]
    pub fn new(parent: Option<&str>, key: &str, body: &[u8]) -> Self {
        let body = blake3::hash(body).to_hex().to_string();
        Self { parent: parent.map(str::to_owned), key: key.to_owned(), body, position: 0 }
    }

    /// Returns the creation of a session under a name that a caller in this process gave, from a request that reads so.
    pub(crate) fn named(key: SessionKey, request: &[u8]) -> Self {
        Self::new(None, &key.0, request)
    }

    /// The same creation, for the session at this position.
    pub(crate) fn with_position(&self, position: u32) -> Self {
        Self { position, ..self.clone() }
    }

    fn name(&self) -> Name {
        (self.parent.clone(), self.key.clone())
    }
}

/// A key, within the session that is forked.
type Name = (Option<String>, String);

/// The sessions of each key.
#[derive(Default)]
pub(crate) struct Creations(HashMap<Name, Made>);

struct Made {
    body: String,
    /// Ids by position; none while the sessions are being made.
    ids: BTreeMap<u32, String>,
}

impl Creations {
    /// Begins a creation. Where a request of the same key made sessions before, their ids are returned instead.
    ///
    /// # Errors
    /// When that request asked for something else, or is still being answered.
    pub(crate) fn begin(&mut self, creation: &Creation) -> Result<Vec<String>, Problem> {
        let Some(made) = self.0.get(&creation.name()) else {
            let made = Made { body: creation.body.clone(), ids: BTreeMap::new() };
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

    /// The id of the session that a key names.
    pub(crate) fn session(&self, key: &SessionKey) -> Option<&str> {
        let made = self.0.get(&(None, key.0.clone()))?;
        made.ids.first_key_value().map(|(_, id)| &**id)
    }

    /// Gives up a creation that came to nothing.
    pub(crate) fn give_up(&mut self, creation: &Creation) {
        let name = creation.name();
        if self.0.get(&name).is_some_and(|made| made.ids.is_empty()) {
            self.0.remove(&name);
        }
    }

    /// Adds a session that a creation made.
    pub(crate) fn add(&mut self, creation: &Creation, id: &str) {
        let new = || Made { body: creation.body.clone(), ids: BTreeMap::new() };
        let made = self.0.entry(creation.name()).or_insert_with(new);
        made.ids.insert(creation.position, id.to_owned());
    }

    /// Takes a session out. The key goes with the last one.
    pub(crate) fn remove(&mut self, creation: &Creation) {
        if let Some(made) = self.0.get_mut(&creation.name()) {
            made.ids.remove(&creation.position);
        }
        self.give_up(creation);
    }
}
