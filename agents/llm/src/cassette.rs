//! Replies on disk: lines of JSON in one file that only grows, so that the end of the process loses none that was written.
//!
//! A line says that a request is being sent, that it failed, or what came back. The first is what tells a resumed run which of its
//! calls are repeats. A line leaves the process in one write before the reply is handed on; a cut last line is dropped when
//! the file is opened. Nothing in it depends on the time or on the order of replies, except the order of lines, which
//! [`Cassette::compact`] settles. Replies stay on disk: memory holds about 80 bytes for each.

mod line;

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::line::{Line, Tape, VERSION};
use crate::chat::{ChatReply, ChatRequest, Identity, Place, Usage};

/// What a written line survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, SIGKILL too.
    Process,
    /// The loss of power: every reply is flushed to the disk, which takes milliseconds.
    Machine,
}

/// Why a cassette cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file system.
    #[error("the cassette {path}: {cause}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        cause: io::Error,
    },
    /// Another run has it open.
    #[error("the cassette {path} is in use; wait for the other run, or give this one another file", path = path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line, not the last, that this version does not write.
    #[error("the cassette {path}, line {line}: {found}; expected version {VERSION}; give another file, or restore this one", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What was found.
        found: String,
    },
}

/// Names a reply: the BLAKE3 hash of everything that is sent, and of the place that it is sent for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(blake3::Hash);

impl Key {
    /// Makes the key of a request to a model.
    pub fn new(identity: &Identity, request: &ChatRequest) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("diorama-llm cassette 1");
        // A request is made of strings, numbers and JSON, so writing it down cannot fail; if it did, the key would be of less.
        let _ = serde_json::to_writer(&mut hasher, &(identity, request));
        Self(hasher.finalize())
    }
}

/// What a cassette holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Whole replies.
    pub replies: u64,
    /// What servers reported with them.
    pub usage: Usage,
    /// Replies that came without usage.
    pub unknown: u64,
    /// Requests that were sent and neither answered nor known to have failed.
    pub unanswered: u64,
    /// Bytes of a last line that had been cut, dropped when the file was opened.
    pub cut_bytes: u64,
}

/// Replies on disk, by key.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    durability: Durability,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Where the next line starts.
    end: u64,
    replies: HashMap<Key, Span>,
    /// Sent by an earlier run, and not answered.
    unanswered: HashSet<Key>,
    /// Sent by this one.
    in_flight: HashSet<Key>,
    places: HashSet<u64>,
    contents: Contents,
}

/// Where a line of a reply lies in the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    bytes: usize,
}

impl Cassette {
    /// Opens a cassette, or makes one. A cut last line is dropped; [`Cassette::contents`] says so.
    pub fn open(path: impl Into<PathBuf>, durability: Durability) -> Result<Self, CassetteError> {
        let path = path.into();
        let state = State::open(&path).map_err(|error| error.at(&path))?;
        Ok(Self { path, durability, state: Mutex::new(state) })
    }

    /// Says what it holds.
    pub fn contents(&self) -> Contents {
        let state = self.state();
        let unanswered = (state.unanswered.len() + state.in_flight.len()) as u64;
        Contents { unanswered, ..state.contents }
    }

    /// Finds a reply.
    pub fn find(&self, key: &Key) -> Result<Option<ChatReply>, CassetteError> {
        let mut state = self.state();
        let Some(span) = state.replies.get(key).copied() else { return Ok(None) };
        state.read(span).map(Some).map_err(|error| error.at(&self.path))
    }

    /// Whether there is any reply for a place.
    pub fn knows(&self, place: &Place) -> bool {
        self.state().places.contains(&line::short_hash(place))
    }

    /// Notes that a request is about to be sent, and says whether an earlier run had sent it without getting its reply.
    pub fn ask(&self, key: &Key, place: &Place) -> Result<bool, CassetteError> {
        let mut state = self.state();
        let repeated = state.unanswered.remove(key);
        if state.in_flight.insert(*key) && !repeated {
            state.append(&Line::Asked(Tape::new(key, place))).map_err(|error| error.at(&self.path))?;
        }
        Ok(repeated)
    }

    /// Notes that a request failed, so that asking again is no repeat.
    pub fn fail(&self, key: &Key) -> Result<(), CassetteError> {
        let mut state = self.state();
        if state.in_flight.remove(key) {
            state.append(&Line::Failed(line::hex(key))).map_err(|error| error.at(&self.path))?;
        }
        Ok(())
    }

    /// Writes a reply down, and gives back the one that counts: the first that was written under the key.
    pub fn record(&self, key: &Key, place: &Place, reply: ChatReply) -> Result<ChatReply, CassetteError> {
        let at = |error: Fault| error.at(&self.path);
        let mut state = self.state();
        if let Some(span) = state.replies.get(key).copied() {
            return state.read(span).map_err(at);
        }
        let usage = reply.usage;
        let said = line::Said { tape: Tape::new(key, place), reply: reply.clone() };
        let line = Line::Reply(Box::new(said));
        let span = state.append(&line).map_err(at)?;
        state.learn(*key, place, usage, span);
        if self.durability == Durability::Machine {
            state.file.sync_data().map_err(|cause| at(Fault::File(cause)))?;
        }
        Ok(reply)
    }

    /// Writes a cassette anew: whole replies only, sorted by stage, slot, attempt and key, so that equal runs give equal files.
    pub fn compact(path: &Path) -> Result<Contents, CassetteError> {
        let at = |error: Fault| error.at(path);
        let mut state = State::open(path).map_err(at)?;
        let mut lines = Vec::with_capacity(state.replies.len());
        for (key, span) in state.replies.clone() {
            let text = state.text(span).map_err(at)?;
            let tape = line::tape(&text).map_err(|found| at(Fault::Damaged { line: 0, found }))?;
            lines.push((tape.place, line::hex(&key), span));
        }
        lines.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let beside = path.with_extension("compacting");
        let write = |state: &mut State| -> Result<(), Fault> {
            let mut file = BufWriter::new(File::create(&beside)?);
            file.write_all(line::header().as_bytes())?;
            for (_, _, span) in &lines {
                file.write_all(state.text(*span)?.as_bytes())?;
            }
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            Ok(std::fs::rename(&beside, path)?)
        };
        write(&mut state).map_err(at)?;
        Ok(Contents { unanswered: 0, ..state.contents })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(path: &Path) -> Result<Self, Fault> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Fault::InUse),
            Err(TryLockError::Error(cause)) => return Err(cause.into()),
        }
        let mut state = Self {
            file,
            end: 0,
            replies: HashMap::new(),
            unanswered: HashSet::new(),
            in_flight: HashSet::new(),
            places: HashSet::new(),
            contents: Contents::default(),
        };
        state.load()?;
        if state.end == 0 {
            state.write(&line::header())?;
        }
        Ok(state)
    }

    /// Reads all lines, and drops a last one that is not whole.
    fn load(&mut self) -> Result<(), Fault> {
        let mut reader = BufReader::new(self.file.try_clone()?);
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            let bytes = reader.read_until(b'\n', &mut text)?;
            if bytes == 0 {
                break;
            }
            match line::read(&text, number) {
                Ok(line) => self.take(line, Span { start: self.end, bytes }),
                Err(found) => {
                    // Without power a last line may be there in length only.
                    if text.ends_with(b"\n") && !reader.fill_buf()?.is_empty() {
                        return Err(Fault::Damaged { line: number, found });
                    }
                    if number == 1 && text.ends_with(b"\n") {
                        return Err(Fault::Damaged { line: number, found });
                    }
                    self.contents.cut_bytes = bytes as u64;
                    self.file.set_len(self.end)?;
                    break;
                }
            }
            self.end += bytes as u64;
        }
        Ok(())
    }

    fn take(&mut self, line: Line, span: Span) {
        match line {
            Line::Cassette(_) => {}
            Line::Asked(tape) => {
                if let Some(key) = tape.key() {
                    self.unanswered.insert(key);
                }
            }
            Line::Failed(key) => {
                if let Some(key) = line::key(&key) {
                    self.unanswered.remove(&key);
                }
            }
            Line::Reply(said) => {
                if let Some(key) = said.tape.key()
                    && !self.replies.contains_key(&key)
                {
                    self.learn(key, &said.tape.place, said.reply.usage, span);
                }
            }
        }
    }

    fn learn(&mut self, key: Key, place: &Place, usage: Option<Usage>, span: Span) {
        self.unanswered.remove(&key);
        self.in_flight.remove(&key);
        self.replies.insert(key, span);
        self.places.insert(line::short_hash(place));
        self.contents.replies += 1;
        match usage {
            Some(usage) => self.contents.usage = self.contents.usage.plus(usage),
            None => self.contents.unknown += 1,
        }
    }

    fn append(&mut self, line: &Line) -> Result<Span, Fault> {
        let text = line.text()?;
        let span = Span { start: self.end, bytes: text.len() };
        self.write(&text)?;
        Ok(span)
    }

    fn write(&mut self, text: &str) -> Result<(), Fault> {
        if let Err(cause) = self.file.write_all(text.as_bytes()) {
            // What was written of the line goes, so that the next one does not stand behind half of it.
            self.file.set_len(self.end)?;
            return Err(cause.into());
        }
        self.end += text.len() as u64;
        Ok(())
    }

    fn read(&mut self, span: Span) -> Result<ChatReply, Fault> {
        let text = self.text(span)?;
        match line::read(text.as_bytes(), 2) {
            Ok(Line::Reply(said)) => Ok(said.reply),
            Ok(_) => {
                Err(Fault::Damaged { line: 0, found: "another line than when it was opened".to_owned() })
            }
            Err(found) => Err(Fault::Damaged { line: 0, found }),
        }
    }

    fn text(&mut self, span: Span) -> Result<String, Fault> {
        // The file is open for appending: writes go to its end wherever reading has left it.
        self.file.seek(SeekFrom::Start(span.start))?;
        let mut bytes = vec![0; span.bytes];
        self.file.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Fault::Damaged { line: 0, found: "no text".to_owned() })
    }
}

/// An error that does not say in which file yet.
enum Fault {
    File(io::Error),
    InUse,
    Damaged { line: u64, found: String },
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Self {
        Self::File(cause)
    }
}

impl Fault {
    fn at(self, path: &Path) -> CassetteError {
        let path = path.to_owned();
        match self {
            Self::File(cause) => CassetteError::File { path, cause },
            Self::InUse => CassetteError::InUse { path },
            Self::Damaged { line, found } => CassetteError::Damaged { path, line, found },
        }
    }
}
