//! Owns the folder of a run: its options and its episodes, so that an interrupted run can be resumed.
//!
//! `run.json` holds the options, and `episodes.jsonl` one episode per line. During the run the lines are in
//! the order in which episodes end. A finished run has them in the order of tasks and trials.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value as Json};

use super::batch::Episode;

const OPTIONS: &str = "run.json";
const EPISODES: &str = "episodes.jsonl";

/// Key of an episode in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Id of the task's row.
    pub task: String,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// True if the run injects faults into the episode.
    pub faulty: bool,
}

impl Key {
    fn of(episode: &Episode) -> Self {
        Self { task: episode.task.clone(), trial: episode.trial, faulty: !episode.faults.is_empty() }
    }
}

/// Handling of a folder that already holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The folder must not hold a run.
    New,
    /// The run continues, or begins if the folder holds none.
    Resume,
}

/// Reasons for which a run cannot be stored or resumed.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The folder holds a run.
    #[error("{} holds a run; --resume goes on with it, and another --out keeps it", folder.display())]
    There {
        /// Path of the folder.
        folder: PathBuf,
    },
    /// The stored run has other options.
    #[error(
        "{}: found {name} {found}, expected {expected}; give the options that the run began with, or another --out",
        file.display()
    )]
    Differs {
        /// Path of the options file.
        file: PathBuf,
        /// Name of the option.
        name: String,
        /// Stored value.
        found: String,
        /// Current value.
        expected: String,
    },
    /// A line is not an episode.
    #[error("{}, line {line}: {what}; expected an episode as `eval --out` writes it", file.display())]
    Line {
        /// Path of the file.
        file: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Description of the fault.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
}

/// Folder of a run.
pub struct RunFolder {
    folder: PathBuf,
    open: Mutex<Lines>,
}

/// The file of the episodes, with the position of each.
struct Lines {
    file: File,
    length: u64,
    places: HashMap<Key, (u64, usize)>,
}

impl RunFolder {
    /// Begins a run, or continues one with the same options.
    ///
    /// # Errors
    /// Returns an error if `mode` forbids it, the options differ, or a file cannot be read or written.
    pub fn open(folder: &Path, options: &Map<String, Json>, mode: Mode) -> Result<Self, StoredError> {
        let (asked, path) = (folder.join(OPTIONS), folder.join(EPISODES));
        std::fs::create_dir_all(folder).map_err(at(folder))?;
        if path.exists() && mode == Mode::New {
            return Err(StoredError::There { folder: folder.to_owned() });
        }
        if path.exists() {
            let text = std::fs::read(&asked).map_err(at(&asked))?;
            let known: Map<String, Json> =
                serde_json::from_slice(&text).map_err(|error| at(&asked)(std::io::Error::other(error)))?;
            same(&asked, &known, options)?;
        } else {
            let text = serde_json::to_vec_pretty(options).unwrap_or_default();
            std::fs::write(&asked, text).map_err(at(&asked))?;
        }
        let mut how = OpenOptions::new();
        let file = how.create(true).truncate(false).read(true).write(true).open(&path).map_err(at(&path))?;
        let (places, length) = whole_lines(&path, &file)?;
        // An interrupted run may leave an unfinished line.
        file.set_len(length).map_err(at(&path))?;
        Ok(Self { folder: folder.to_owned(), open: Mutex::new(Lines { file, length, places }) })
    }

    /// Returns a stored episode.
    ///
    /// # Errors
    /// Returns an error if the episode cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Episode>, StoredError> {
        let mut lines = self.lines();
        let Some(place) = lines.places.get(key).copied() else { return Ok(None) };
        let bytes = lines.read(place).map_err(at(&self.folder))?;
        let line = serde_json::from_slice(&bytes);
        line.map(Some).map_err(|error| at(&self.folder)(std::io::Error::other(error)))
    }

    /// Returns the number of episodes.
    pub fn len(&self) -> usize {
        self.lines().places.len()
    }

    /// Returns true if there are no episodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an episode.
    ///
    /// # Errors
    /// Returns an error if the episode cannot be written.
    pub fn add(&self, episode: &Episode) -> Result<(), StoredError> {
        let failed = at(&self.folder);
        let mut line = serde_json::to_vec(episode).map_err(|error| failed(std::io::Error::other(error)))?;
        line.push(b'\n');
        let mut lines = self.lines();
        let start = lines.length;
        lines.file.seek(SeekFrom::Start(start)).map_err(&failed)?;
        lines.file.write_all(&line).map_err(&failed)?;
        lines.length += line.len() as u64;
        // A resumed run repeats unfinished episodes.
        lines.places.insert(Key::of(episode), (start, line.len()));
        Ok(())
    }

    /// Rewrites the file with the episodes in an order, without repetition.
    ///
    /// # Errors
    /// Returns an error if the episodes cannot be written.
    pub fn finish(&self, order: impl Iterator<Item = Key>) -> Result<(), StoredError> {
        let (path, partial) = (self.folder.join(EPISODES), self.folder.join(format!("{EPISODES}.partial")));
        let mut lines = self.lines();
        let mut out = BufWriter::new(File::create(&partial).map_err(at(&partial))?);
        for key in order {
            if let Some(place) = lines.places.get(&key).copied() {
                let bytes = lines.read(place).map_err(at(&path))?;
                out.write_all(&bytes).map_err(at(&partial))?;
            }
        }
        out.flush().map_err(at(&partial))?;
        std::fs::rename(&partial, &path).map_err(at(&path))
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn read(&mut self, (start, length): (u64, usize)) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> StoredError + '_ {
    |source| StoredError::File { path: path.to_owned(), source }
}

/// Returns an error for the first option that differs.
fn same(file: &Path, found: &Map<String, Json>, expected: &Map<String, Json>) -> Result<(), StoredError> {
    let names = expected.keys().chain(found.keys());
    for name in names {
        let of = |options: &Map<String, Json>| options.get(name).cloned().unwrap_or_default();
        if of(found) != of(expected) {
            let (found, expected) = (of(found).to_string(), of(expected).to_string());
            return Err(StoredError::Differs { file: file.to_owned(), name: name.clone(), found, expected });
        }
    }
    Ok(())
}

type Places = HashMap<Key, (u64, usize)>;

/// Returns the positions of the finished episodes of a file, and the total length of its complete lines in
/// bytes.
fn whole_lines(path: &Path, file: &File) -> Result<(Places, u64), StoredError> {
    let mut places = HashMap::new();
    let mut start = 0;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).map_err(at(path))?;
        if !line.ends_with(b"\n") {
            break;
        }
        let episode: Episode = serde_json::from_slice(&line).map_err(|error| StoredError::Line {
            file: path.to_owned(),
            line: number,
            what: error.to_string(),
        })?;
        if !episode.is_unfinished() {
            places.insert(Key::of(&episode), (start, length));
        }
        start += length as u64;
    }
    Ok((places, start))
}
