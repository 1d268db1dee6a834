//! Requests that make sessions and come with a key of their sender (`Idempotency-Key`): the same key again gives the
//! same sessions. A key is known as long as one of its sessions.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::incoming::Incoming;
use super::problem::{KEY_HEADER, Problem};

/// Bytes of a key, at most.
const MAX_KEY_BYTES: usize = 255;

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
pub(super) struct Creation {
    /// The id of the session that was forked, whose keys are its own; none for other new sessions.
    parent: Option<String>,
    key: String,
    /// The hash of the request's body.
    body: String,
    /// The position of the session among those that the request made.
    position: u32,
}

impl Creation {
    /// The creation that a request asks for, where it has a key.
    ///
    /// # Errors
    /// When the header is not one key.
    pub(super) fn from_request(
        request: &Incoming<'_>,
        parent: Option<&str>,
    ) -> Result<Option<Self>, Problem> {
        let mut values = request.headers.get_all(KEY_HEADER).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let refused = |found: String| {
            let detail = format!(
                "the header {KEY_HEADER}: expected one key of 1 to {MAX_KEY_BYTES} visible ASCII characters, found {found}"
            );
            Problem::new(400, detail)
        };
        if values.next().is_some() {
            return Err(refused("more than one".to_owned()));
        }
        if !(1..=MAX_KEY_BYTES).contains(&value.len()) {
            return Err(refused(format!("{} bytes", value.len())));
        }
        let key = value.to_str().ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
        let key = key.ok_or_else(|| refused("others".to_owned()))?;
        let body = blake3::hash(request.body).to_hex().to_string();
        Ok(Some(Self { parent: parent.map(str::to_owned), key: key.to_owned(), body, position: 0 }))
    }

    /// The creation of a session under a name that a caller in this process gave, from a request that reads so.
    pub(super) fn named(key: SessionKey, request: &[u8]) -> Self {
        Self { parent: None, key: key.0, body: blake3::hash(request).to_hex().to_string(), position: 0 }
    }

    /// The same creation, for the session at this position.
    pub(super) fn with_position(&self, position: u32) -> Self {
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
pub(super) struct Creations(HashMap<Name, Made>);

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
    pub(super) fn begin(&mut self, creation: &Creation) -> Result<Vec<String>, Problem> {
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
            return Err(Problem::new(422, detail).with("parameter", KEY_HEADER));
        }
        if made.ids.is_empty() {
            let detail = format!(
                "the header {KEY_HEADER}: found the key of a request that is still being answered; try again"
            );
            return Err(Problem::new(409, detail).with("parameter", KEY_HEADER).retry_after(1));
        }
        Ok(made.ids.values().cloned().collect())
    }

    /// The id of the session that a key names.
    pub(super) fn session(&self, key: &SessionKey) -> Option<&str> {
        let made = self.0.get(&(None, key.0.clone()))?;
        made.ids.first_key_value().map(|(_, id)| &**id)
    }

    /// Gives up a creation that came to nothing.
    pub(super) fn give_up(&mut self, creation: &Creation) {
        let name = creation.name();
        if self.0.get(&name).is_some_and(|made| made.ids.is_empty()) {
            self.0.remove(&name);
        }
    }

    /// Adds a session that a creation made.
    pub(super) fn add(&mut self, creation: &Creation, id: &str) {
        let new = || Made { body: creation.body.clone(), ids: BTreeMap::new() };
        let made = self.0.entry(creation.name()).or_insert_with(new);
        made.ids.insert(creation.position, id.to_owned());
    }

    /// Takes a session out. The key goes with the last one.
    pub(super) fn remove(&mut self, creation: &Creation) {
        if let Some(made) = self.0.get_mut(&creation.name()) {
            made.ids.remove(&creation.position);
        }
        self.give_up(creation);
    }
}
