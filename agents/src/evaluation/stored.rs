//! The folder of a run: its options, and its episodes as they end, so that a run can be taken up where it was interrupted.
//!
//! `run.json` holds what the run was asked for, `episodes.jsonl` an episode a line. While the run goes on, lines stand in the
//! order in which episodes end; when it is done, in the order of tasks and trials.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value as Json};

use super::batch::Episode;

const OPTIONS: &str = "run.json";
const EPISODES: &str = "episodes.jsonl";

/// Which episode of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The task.
    pub task: String,
    /// The trial, from 0.
    pub trial: u32,
    /// Faults were switched on.
    pub faulty: bool,
}

impl Key {
    fn of(episode: &Episode) -> Self {
        Self { task: episode.task.clone(), trial: episode.trial, faulty: !episode.faults.is_empty() }
    }
}

/// The treatment of a run that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It must not be there.
    New,
    /// It is gone on with; where it is not there, it begins.
    Resume,
}

/// Why a run cannot be stored, or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// A run is there.
    #[error("{} holds a run; --resume goes on with it, and another --out keeps it", folder.display())]
    There {
        /// The folder.
        folder: PathBuf,
    },
    /// It was asked for in another way.
    #[error(
        "{}: found {name} {found}, expected {expected}; give the options that the run began with, or another --out",
        file.display()
    )]
    Differs {
        /// The file of the options.
        file: PathBuf,
        /// The option.
        name: String,
        /// As it is stored.
        found: String,
        /// As it is now.
        expected: String,
    },
    /// A line that is no episode.
    #[error("{}, line {line}: {what}; expected an episode as `eval --out` writes it", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault found.
        what: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A run's folder.
pub struct RunFolder {
    folder: PathBuf,
    open: Mutex<Lines>,
}

/// The file of the episodes, and where each stands in it.
struct Lines {
    file: File,
    length: u64,
    places: HashMap<Key, (u64, usize)>,
}

impl RunFolder {
    /// Begins a run, or goes on with one that was asked for in the same way.
    ///
    /// # Errors
    /// When it may not, or cannot.
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
        // The rest of a line that was being written when the run was interrupted.
        file.set_len(length).map_err(at(&path))?;
        Ok(Self { folder: folder.to_owned(), open: Mutex::new(Lines { file, length, places }) })
    }

    /// An episode that is there already.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Episode>, StoredError> {
        let mut lines = self.lines();
        let Some(place) = lines.places.get(key).copied() else { return Ok(None) };
        let bytes = lines.read(place).map_err(at(&self.folder))?;
        let line = serde_json::from_slice(&bytes);
        line.map(Some).map_err(|error| at(&self.folder)(std::io::Error::other(error)))
    }

    /// How many episodes there are.
    pub fn len(&self) -> usize {
        self.lines().places.len()
    }

    /// Returns true where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes an episode down.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, episode: &Episode) -> Result<(), StoredError> {
        let failed = at(&self.folder);
        let mut line = serde_json::to_vec(episode).map_err(|error| failed(std::io::Error::other(error)))?;
        line.push(b'\n');
        let mut lines = self.lines();
        let start = lines.length;
        lines.file.seek(SeekFrom::Start(start)).map_err(&failed)?;
        lines.file.write_all(&line).map_err(&failed)?;
        lines.length += line.len() as u64;
        // One that came to no end is run again when the run is gone on with.
        lines.places.insert(Key::of(episode), (start, line.len()));
        Ok(())
    }

    /// Writes the episodes in an order, each once.
    ///
    /// # Errors
    /// When they cannot be written.
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

/// The first option that is another.
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

/// Where the finished episodes of a file stand, and how long its whole lines are together.
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
