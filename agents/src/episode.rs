//! Episodes of a dataset's rows: the worlds they run in, the tasks they hold.
//!
//! Owns reading a row's JSON columns back into types, once, at the edge. `verify`, `eval` and `serve` go through here.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use diorama_output::manifest::world_file;
use diorama_output::row::{Dialogue, Role};
use diorama_seeds::model::ApiId;
use diorama_seeds::task::{Checks, GoldCall};
use diorama_seeds::world::{Report, compile, read};
use diorama_simulator::engine::tools::SearchVersion;
use diorama_simulator::engine::{Base, BaseError};
use diorama_simulator::grade::Vocabulary;
use diorama_simulator::session::{Session, SessionOptions};
use lru::LruCache;

use crate::synthesis::row::{Episode, GoldAnswer, UserFact};
use crate::synthesis::tester::GateReport;

/// A world of a dataset, ready to run.
pub struct World {
    /// The engine's base.
    pub base: Arc<Base>,
    /// Names of records, for the grader.
    pub vocabulary: Vocabulary,
    /// The hash of its canonical form.
    pub hash: String,
}

/// The worlds of a dataset, read when first needed. Those used last are kept: rows of one world stand together.
pub struct Worlds {
    folder: PathBuf,
    kept: Mutex<LruCache<String, Arc<World>>>,
}

/// So many worlds are kept in memory.
const KEPT: NonZeroUsize = match NonZeroUsize::new(16) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};

/// Why a world or a row cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The world's file is not there or cannot be read.
    #[error("world {world}: {source}; a dataset needs the world of every row under worlds/")]
    Missing {
        /// The world.
        world: String,
        /// Why.
        source: std::io::Error,
    },
    /// The world's document is wrong.
    #[error("{0}")]
    World(#[from] Report),
    /// The engine cannot take the world.
    #[error(transparent)]
    Engine(#[from] BaseError),
    /// A column does not hold what it should.
    #[error("row {row}: column {column}: {what}")]
    Column {
        /// The row.
        row: String,
        /// The column.
        column: &'static str,
        /// What is wrong.
        what: String,
    },
}

/// A row's task, in types.
pub struct Task {
    /// The row's id.
    pub id: String,
    /// How the episode is set up.
    pub episode: Episode,
    /// The system message.
    pub system: String,
    /// What the user says, in order.
    pub turns: Vec<String>,
    /// What must hold at the end.
    pub checks: Checks,
    /// The reference calls.
    pub gold: Vec<GoldCall>,
    /// The reference answer over the reference calls.
    pub gold_answer: GoldAnswer,
    /// The reference answer as the row tells it.
    pub answer: String,
    /// Replies to the reference calls, as JSON text.
    pub replies: Vec<String>,
    /// What the gates found.
    pub gates: GateReport,
}

impl Worlds {
    /// The worlds of a dataset's folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), kept: Mutex::new(LruCache::new(KEPT)) }
    }

    /// A world by its id.
    ///
    /// # Errors
    /// When its file is missing or wrong.
    pub fn get(&self, id: &str) -> Result<Arc<World>, EpisodeError> {
        if let Some(world) = self.kept().get(id) {
            return Ok(world.clone());
        }
        let world = Arc::new(self.load(id)?);
        self.kept().put(id.to_owned(), world.clone());
        Ok(world)
    }

    fn load(&self, id: &str) -> Result<World, EpisodeError> {
        let missing = |source| EpisodeError::Missing { world: id.to_owned(), source };
        if !diorama_output::manifest::is_world_id(id) {
            return Err(missing(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                "not the id of a world",
            )));
        }
        let text = std::fs::read(self.folder.join(world_file(id))).map_err(missing)?;
        let doc = read(&world_file(id), &text)?;
        let world = compile(&doc)?;
        let hash = blake3::hash(&text).to_hex().to_string();
        let base = Base::new(world)?;
        let vocabulary = Vocabulary::new(&base);
        Ok(World { base, vocabulary, hash })
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, LruCache<String, Arc<World>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// Reads a row.
    ///
    /// # Errors
    /// The first column that does not hold what it should.
    pub fn of(row: &Dialogue) -> Result<Self, EpisodeError> {
        let said = |role: Role| {
            row.messages
                .iter()
                .filter(move |message| message.role == role)
                .map(|message| message.content.clone().unwrap_or_default())
        };
        Ok(Self {
            id: row.id.clone(),
            episode: column(row, "episode", &row.episode)?,
            system: said(Role::System).next().unwrap_or_default(),
            turns: turns(row)?,
            checks: column(row, "checks", &row.checks)?,
            gold: column(row, "gold_calls", &row.gold_calls)?,
            gold_answer: column(row, "gold_answer", &row.gold_answer)?,
            answer: said(Role::Assistant).next_back().unwrap_or_default(),
            replies: said(Role::Tool).collect(),
            gates: column(row, "gates", &row.gates)?,
        })
    }

    /// The APIs that are visible at the start.
    ///
    /// # Errors
    /// When the world has no API of one of the names.
    pub fn visible(&self, world: &World) -> Result<Vec<ApiId>, EpisodeError> {
        let find = |name: &String| {
            world.base.world().api_named(name).ok_or_else(|| EpisodeError::Column {
                row: self.id.clone(),
                column: "episode",
                what: format!("found the visible API {name}, expected one of the row's world"),
            })
        };
        self.episode.visible.iter().map(find).collect()
    }

    /// A session as the episode asks for it, on a seed.
    ///
    /// # Errors
    /// When the world does not fit the episode.
    pub fn session(&self, world: &World, seed: u64) -> Result<Session, EpisodeError> {
        let zone = &world.base.world().zone;
        let wrong = |what: String| EpisodeError::Column { row: self.id.clone(), column: "episode", what };
        if zone.name() != self.episode.zone {
            return Err(wrong(format!(
                "found the zone {}, expected that of the world, {}",
                self.episode.zone,
                zone.name()
            )));
        }
        let clock = zone.parse_instant(&self.episode.clock);
        let clock = clock
            .ok_or_else(|| wrong(format!("found the clock {}, expected a date-time", self.episode.clock)))?;
        let visible = Some(self.visible(world)?);
        let search = SearchVersion::named(&self.episode.search).ok_or_else(|| {
            let names = SearchVersion::ALL.map(SearchVersion::name).join(" or ");
            wrong(format!("found the search {}, expected {names}", self.episode.search))
        })?;
        let options = SessionOptions { seed, clock: Some(clock), visible, search: Some(search) };
        Ok(Session::new(world.base.clone(), options))
    }
}

/// The user's turns: the first from the messages, later ones as the user facts tell them.
fn turns(row: &Dialogue) -> Result<Vec<String>, EpisodeError> {
    let facts: Vec<UserFact> = column(row, "user_facts", &row.user_facts)?;
    let mut turns: Vec<String> = row
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| message.content.clone().unwrap_or_default())
        .collect();
    let wrong = |column, what: String| EpisodeError::Column { row: row.id.clone(), column, what };
    if turns.first() != Some(&row.query) {
        return Err(wrong("query", "found another text than the first user message".to_owned()));
    }
    for fact in facts {
        if turns.get(fact.turn as usize) != Some(&fact.text) {
            return Err(wrong(
                "user_facts",
                format!("found another text for turn {} than the message", fact.turn),
            ));
        }
    }
    turns.retain(|turn| !turn.is_empty());
    Ok(turns)
}

fn column<T: serde::de::DeserializeOwned>(
    row: &Dialogue,
    column: &'static str,
    text: &str,
) -> Result<T, EpisodeError> {
    serde_json::from_str(text).map_err(|error| EpisodeError::Column {
        row: row.id.clone(),
        column,
        what: error.to_string(),
    })
}
