//! Owns recorded replies: lines of JSON in a file that only grows, so that a killed process loses no received
//! reply.
//!
//! A line says that a request is being sent, that it failed, or which reply came. The first kind tells a
//! resumed run which of its calls are repeats. Each line is written in one call before the reply is returned.
//! Opening the file drops a cut last line. No line depends on the time. Replies stay on disk: memory holds
//! about 80 bytes for each.

mod line;

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::line::RequestKey;
use self::line::{Line, ReplyLine, RequestLine, VERSION};
use crate::chat::{ChatReply, RequestOrigin, Usage};

/// A recording that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the recording {}: {fault}", path.display())]
pub struct RecordingError {
    /// Path of the recording.
    pub path: PathBuf,
    /// Reason.
    pub fault: RecordingFault,
}

/// Reasons for which a recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingFault {
    /// The file system returns an error.
    #[error(transparent)]
    File(#[from] io::Error),
    /// Another run has the file open.
    #[error("found it in use; wait for the other run, or give this one another file")]
    InUse,
    /// A line before the last one does not match the format of this version.
    #[error("line {line}: {found}; expected version {VERSION}; give another file, or restore this one")]
    Damaged {
        /// Line number, from 1; 0 for a line that changed after the file was opened.
        line: u64,
        /// Found text.
        found: String,
    },
}

/// Replies on disk, by key.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Offset at which the next line starts.
    end: u64,
    replies: HashMap<RequestKey, Span>,
    unanswered: HashMap<RequestKey, Sender>,
    usage: Usage,
}

/// The run that sent a request that has no reply yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    EarlierRun,
    ThisRun,
}

/// Position of a reply's line in the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    bytes: usize,
}

impl Recording {
    /// Opens a recording, or makes one. A cut last line is dropped.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is open in another run, or is no recording of this
    /// version.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RecordingError> {
        let path = path.into();
        let state = State::open(&path).map_err(|fault| RecordingError { path: path.clone(), fault })?;
        Ok(Self { path, state: Mutex::new(state) })
    }

    /// Returns the number of replies.
    pub fn replies(&self) -> u64 {
        self.state().replies.len() as u64
    }

    /// Returns the tokens that servers reported with the replies.
    pub fn usage(&self) -> Usage {
        self.state().usage
    }

    /// Returns the reply of a key, if it is recorded.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn find(&self, key: &RequestKey) -> Result<Option<ChatReply>, RecordingError> {
        let mut state = self.state();
        let Some(span) = state.replies.get(key).copied() else { return Ok(None) };
        state.read(span).map(Some).map_err(|fault| self.error(fault))
    }

    /// Marks a request as sent. Returns true if an earlier run sent it without receiving a reply.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn mark_sent(&self, key: &RequestKey, origin: &RequestOrigin) -> Result<bool, RecordingError> {
        let mut state = self.state();
        let earlier = state.unanswered.insert(*key, Sender::ThisRun);
        if earlier.is_none() {
            let line = Line::Sent(RequestLine::new(key, origin));
            state.append(&line).map_err(|fault| self.error(fault))?;
        }
        Ok(earlier == Some(Sender::EarlierRun))
    }

    /// Marks a request as failed, so that sending it again does not count as a repeat.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn mark_failed(&self, key: &RequestKey) -> Result<(), RecordingError> {
        let mut state = self.state();
        if state.unanswered.remove(key).is_some() {
            state.append(&Line::Failed(*key)).map_err(|fault| self.error(fault))?;
        }
        Ok(())
    }

    /// Records a reply. Returns the first reply that was recorded under the key.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn record(
        &self,
        key: &RequestKey,
        origin: &RequestOrigin,
        reply: ChatReply,
    ) -> Result<ChatReply, RecordingError> {
        let mut state = self.state();
        let recorded = match state.replies.get(key).copied() {
            Some(span) => state.read(span),
            None => {
                let request = RequestLine::new(key, origin);
                let line = Line::Reply(Box::new(ReplyLine { request, reply: reply.clone() }));
                state.append(&line).map(|span| {
                    state.index(*key, reply.usage, span);
                    reply
                })
            }
        };
        recorded.map_err(|fault| self.error(fault))
    }

    fn error(&self, fault: RecordingFault) -> RecordingError {
        RecordingError { path: self.path.clone(), fault }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(path: &Path) -> Result<Self, RecordingFault> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RecordingFault::InUse),
            Err(TryLockError::Error(cause)) => return Err(cause.into()),
        }
        let (replies, unanswered) = (HashMap::new(), HashMap::new());
        let mut state = Self { file, end: 0, replies, unanswered, usage: Usage::default() };
        state.load()?;
        if state.end == 0 {
            state.append(&Line::Recording(VERSION))?;
        }
        Ok(state)
    }

    /// Reads all lines, and drops the last one if it is not whole.
    fn load(&mut self) -> Result<(), RecordingFault> {
        let mut reader = BufReader::new(self.file.try_clone()?);
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            let bytes = reader.read_until(b'\n', &mut text)?;
            if bytes == 0 {
                break;
            }
            match line::parse(&text, number) {
                Ok(line) => self.apply(line, Span { start: self.end, bytes }),
                Err(found) => {
                    // After a loss of power, a last line may have its length but not its bytes.
                    if text.ends_with(b"\n") && (number == 1 || !reader.fill_buf()?.is_empty()) {
                        return Err(RecordingFault::Damaged { line: number, found });
                    }
                    self.file.set_len(self.end)?;
                    break;
                }
            }
            self.end += bytes as u64;
        }
        Ok(())
    }

    fn apply(&mut self, line: Line, span: Span) {
        match line {
            Line::Recording(_) => {}
            Line::Sent(request) => drop(self.unanswered.insert(request.key, Sender::EarlierRun)),
            Line::Failed(key) => drop(self.unanswered.remove(&key)),
            Line::Reply(line) if self.replies.contains_key(&line.request.key) => {}
            Line::Reply(line) => self.index(line.request.key, line.reply.usage, span),
        }
    }

    fn index(&mut self, key: RequestKey, usage: Option<Usage>, span: Span) {
        self.unanswered.remove(&key);
        self.replies.insert(key, span);
        self.usage = self.usage.plus(usage.unwrap_or_default());
    }

    fn append(&mut self, line: &Line) -> Result<Span, RecordingFault> {
        let text = line.text()?;
        if let Err(cause) = self.file.write_all(text.as_bytes()) {
            // Removes the written part of the line, so that the next line does not follow half of it.
            self.file.set_len(self.end)?;
            return Err(cause.into());
        }
        let span = Span { start: self.end, bytes: text.len() };
        self.end += text.len() as u64;
        Ok(span)
    }

    fn read(&mut self, span: Span) -> Result<ChatReply, RecordingFault> {
        // The file is open for appending, so writes go to its end whatever the read position is.
        self.file.seek(SeekFrom::Start(span.start))?;
        let mut bytes = vec![0; span.bytes];
        self.file.read_exact(&mut bytes)?;
        match line::parse(&bytes, 2) {
            Ok(Line::Reply(line)) => Ok(line.reply),
            Ok(_) => Err(RecordingFault::Damaged {
                line: 0,
                found: "another line than when it was opened".to_owned(),
            }),
            Err(found) => Err(RecordingFault::Damaged { line: 0, found }),
        }
    }
}
