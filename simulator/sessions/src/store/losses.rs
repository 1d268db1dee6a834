//! Losses: compares a state folder with its event counts.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::counts::Counts;
use super::error::{StoreError, damaged, short};
use super::opened::OpenStore;

/// Refuses a store with fewer sessions or events than the counts.
pub(super) fn check_all_counted(path: &Path, counts: &Counts, opened: &OpenStore) -> Result<(), StoreError> {
    let ids = opened.heads.iter().map(|entry| Ok(String::from_utf8_lossy(&entry.key()?).into_owned()));
    let ids = ids.collect::<Result<Vec<String>, fjall::Error>>()?;
    check_counted(path, counts, opened, &ids.iter().map(String::as_str).collect())
}

/// Maximum number of damaged sessions that a message names.
const NAMED: usize = 3;

/// Refuses a store with fewer sessions or events than the counts, given the ids of its sessions.
pub(super) fn check_counted(
    path: &Path,
    counts: &Counts,
    opened: &OpenStore,
    known: &HashSet<&str>,
) -> Result<(), StoreError> {
    let counted = counts.read().map_err(|error| StoreError::opening(path, &error))?;
    let (places, counted) = (counted.places, counted.sessions);
    if places <= known.len() {
        let expected = known.len() + 1;
        let what = format!(
            "the counts of its {} sessions' events (places for {expected} or more, found {places}), without which no \
             loss would be noticed",
            known.len()
        );
        return Err(StoreError::Missing { path: path.to_owned(), what });
    }
    let (mut events, mut lacking) = (0, 0);
    let mut named = Vec::new();
    for (id, expected) in &counted {
        events += expected;
        // A session with unreadable events is left out of the restored ones, so it is no loss here.
        let Ok(found) = guarded(|| events_of(opened, id)) else { continue };
        let gone = !known.contains(id.as_str());
        if gone || found < *expected {
            lacking += if gone { *expected } else { expected - found };
            let short = short(id);
            let left = if gone { "is gone".to_owned() } else { format!("has {found} of {expected} events") };
            named.push(format!("{short} {left}"));
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    let (sessions, all) = (named.len(), counted.len());
    let more = if sessions > NAMED { ", ..." } else { "" };
    named.truncate(NAMED);
    let what =
        format!("{lacking} of {events} events, of {sessions} of {all} sessions ({}{more})", named.join(", "));
    Err(StoreError::Missing { path: path.to_owned(), what })
}

/// Runs work that reads the database. The database's parser panics on some damaged files.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let broken =
        || StoreError::Damaged { what: "an entry".to_owned(), found: "a file is damaged".to_owned() };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(broken()))
}

/// Returns the number of a session's own events. Refuses a gap in their numbers.
pub(super) fn events_of(opened: &OpenStore, id: &str) -> Result<u64, StoreError> {
    let mut found = 0;
    for entry in opened.events.prefix(id) {
        found += u64::from(number(&entry.key()?, id)? == found);
    }
    Ok(found)
}

/// Parses the number of an event from its key.
fn number(key: &[u8], id: &str) -> Result<u64, StoreError> {
    let bytes = key.get(id.len()..).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    bytes.map(u64::from_be_bytes).ok_or_else(|| damaged(id, "an event has no number"))
}
