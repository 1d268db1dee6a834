//! Event counts: a file beside the database with the number of events of each session.
//!
//! A database that lost the end of its journal looks intact. This file reveals the loss. It is written after
//! the database, and before it when events are deleted. So a count never exceeds the stored events when the
//! process is killed. A session with fewer events than counted has lost some.
//!
//! The file has a place for each session before the database has the session, and one spare place. A file
//! with fewer places was emptied, cut or deleted, and can prove no loss.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::node::RANDOM_CHARS;

/// The name of the file.
pub(super) const FILE: &str = "events.count";
/// Bytes of a place: the random part of an id, then its number of events plus one as 8 bytes. A free place
/// has 0.
const PLACE: usize = ID + 8;
const ID: usize = RANDOM_CHARS;

/// The counts of all sessions.
pub(super) struct Counts(Mutex<Places>);

/// The content of the file.
pub(super) struct CountsFile {
    /// The counted sessions with their numbers of events.
    pub(super) sessions: Vec<(String, u64)>,
    /// Number of places, including free ones.
    pub(super) places: usize,
}

struct Places {
    file: File,
    /// The common start of all ids, which places leave out.
    prefix: String,
    /// True if places must reach the disk before their sessions do.
    fsync: bool,
    /// True if some places may not be on the disk yet.
    unsynced: bool,
    of: HashMap<String, u64>,
    free: Vec<u64>,
    end: u64,
}

impl Counts {
    /// Opens the file of a folder. In a new folder, creates it before the database.
    pub(super) fn open(folder: &Path, is_new: bool, fsync: bool, prefix: String) -> io::Result<Self> {
        let path = folder.join(FILE);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let (of, free) = (HashMap::new(), Vec::new());
        let places = Places { file, prefix, fsync, unsynced: false, of, free, end: 0 };
        let counts = Self(Mutex::new(places));
        if is_new {
            counts.restart(std::iter::empty())?;
        }
        Ok(counts)
    }

    /// Reads the file.
    pub(super) fn read(&self) -> io::Result<CountsFile> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        places.file.seek(SeekFrom::Start(0))?;
        places.file.read_to_end(&mut bytes)?;
        let mut sessions = Vec::new();
        for place in bytes.chunks_exact(PLACE) {
            let (id, count) = place.split_at(ID);
            let count = count.try_into().map_or(0, u64::from_be_bytes);
            if let (Some(count), Ok(id)) = (count.checked_sub(1), std::str::from_utf8(id)) {
                sessions.push((format!("{}{id}", places.prefix), count));
            }
        }
        Ok(CountsFile { sessions, places: bytes.len() / PLACE })
    }

    /// Replaces the content by these sessions.
    pub(super) fn restart<'a>(&self, counts: impl Iterator<Item = (&'a str, u64)>) -> io::Result<()> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (places.of, places.free, places.end) = (HashMap::new(), Vec::new(), 0);
        let mut bytes = Vec::new();
        for (id, count) in counts {
            let end = places.end;
            places.of.insert(id.to_owned(), end);
            places.end += 1;
            bytes.extend(places.place(id, count + 1));
        }
        bytes.extend([0; PLACE]);
        let spare = places.end;
        places.free.push(spare);
        places.end += 1;
        // Existing entries belong to the same sessions or to none, so an interruption here loses no count.
        places.file.seek(SeekFrom::Start(0))?;
        places.file.write_all(&bytes)?;
        places.file.set_len(bytes.len() as u64)?;
        places.file.sync_all()
    }

    /// Gives each of these sessions a place, and keeps a spare one. A session gets its place before the
    /// database has it, so setting its count cannot fail. [`Counts::clear`] frees the place.
    pub(super) fn hold<'a>(&self, ids: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<&str> = ids.filter(|id| !places.of.contains_key(*id)).collect();
        let lacking = (ids.len() + 1).saturating_sub(places.free.len());
        if lacking > 0 {
            let end = places.end;
            places.file.seek(SeekFrom::Start(end * PLACE as u64))?;
            places.file.write_all(&vec![0; lacking * PLACE])?;
            places.unsynced = places.fsync;
            places.end += lacking as u64;
            places.free.extend(end..end + lacking as u64);
        }
        for id in ids {
            if let Some(at) = places.free.pop() {
                places.of.insert(id.to_owned(), at);
            }
        }
        Ok(())
    }

    /// Flushes new places to the disk, if `fsync` is set.
    ///
    /// # Errors
    /// Returns an I/O error if the disk does not confirm the flush. The content of the file is then unknown.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut places.unsynced) { places.file.sync_all() } else { Ok(()) }
    }

    /// Sets the count of a session.
    pub(super) fn set(&self, id: &str, events: u64) {
        self.put(id, events + 1);
    }

    /// Removes a session, including one with a place that never reached the database.
    pub(super) fn clear(&self, id: &str) {
        self.put(id, 0);
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.of.remove(id);
        places.free.extend(place);
    }

    fn put(&self, id: &str, count: u64) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = places.of.get(id).copied();
        let Some(at) = known.or_else(|| places.free.pop()) else { return };
        if known.is_none() {
            places.of.insert(id.to_owned(), at);
        }
        let start = at * PLACE as u64;
        // A count that is not written is too low, so a loss may go unnoticed. It causes no other harm.
        let place = places.place(id, count);
        let written = places.file.seek(SeekFrom::Start(start)).and_then(|_| places.file.write_all(&place));
        if let Err(error) = written {
            tracing::warn!(%error, "the count of a session's events cannot be written");
        }
    }
}

impl Places {
    fn place(&self, id: &str, count: u64) -> [u8; PLACE] {
        let mut place = [0; PLACE];
        let bytes = id.strip_prefix(&self.prefix).unwrap_or(id).as_bytes();
        for (to, from) in place.iter_mut().take(ID).zip(bytes) {
            *to = *from;
        }
        for (to, from) in place.iter_mut().skip(ID).zip(count.to_be_bytes()) {
            *to = from;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_are_made_at_once_have_a_place_each_and_one_is_spare() {
        let folder = tempfile::tempdir().unwrap();
        let counts = Counts::open(folder.path(), true, false, String::new()).unwrap();
        let places = || counts.read().unwrap().places;
        assert_eq!(places(), 1);
        // Both sessions are on their way into the database and have no count yet.
        counts.hold(["a", "b"].into_iter()).unwrap();
        counts.hold(["c"].into_iter()).unwrap();
        assert_eq!(places(), 4);
        counts.hold(["c"].into_iter()).unwrap();
        assert_eq!(places(), 4);
        ["a", "b", "c"].into_iter().for_each(|id| counts.set(id, 0));
        assert_eq!((places(), counts.read().unwrap().sessions.len()), (4, 3));
        counts.clear("b");
        counts.hold(["d"].into_iter()).unwrap();
        assert_eq!(places(), 4);
    }
}
