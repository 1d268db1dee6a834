//! Owns the episodes of a dataset's rows: the worlds in which they run, and their tasks.
//!
//! It parses a row's JSON columns into types, once. `verify`, `eval` and `serve` use it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use diorama_baselines::environment::EnvironmentError;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::SearchVersion;
use diorama_engine::{Base, BaseError};
use diorama_grade::{Consent, GoalEnd};
use diorama_output::folder::Folder;
use diorama_output::row::parts::{Episode, Event, UserFacts};
use diorama_output::row::{Dialogue, Role};
use diorama_proof::checks::{changed_by_goal, older_change_checks};
use diorama_proof::{GateReport, Stop, Survey, Vocabulary, WorldContext};
use diorama_seeds::answer::GoldAnswer;
use diorama_seeds::ending::{self, Kind};
use diorama_seeds::model::ApiId;
use diorama_seeds::script::Script;
use diorama_seeds::task::{Call, Checks, Fact, GoldCall, Outcome, RefusalClass};
use diorama_seeds::world::{Report, compile, read};
use diorama_user::conversation::FinishData;
use serde_json::Value as Json;

use crate::load_once::LoadOnce;

/// Licence and source that a world states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Licence, or `unstated`.
    pub license: String,
    /// Source, or `unstated`.
    pub source: String,
}

/// World of a dataset, ready to run.
pub struct World {
    /// Frozen world of the engine.
    pub base: Arc<Base>,
    /// Names of records, for the grader.
    pub vocabulary: Vocabulary,
    /// Hash of the world's canonical form.
    pub hash: String,
    /// Licence and source that its rows state. None for a world that was not read from a dataset.
    pub terms: Option<Terms>,
    survey: OnceLock<Survey>,
}

impl World {
    /// Makes a world of its base, the names of its records and the hash of its canonical form.
    #[must_use]
    pub const fn new(base: Arc<Base>, vocabulary: Vocabulary, hash: String) -> Self {
        Self { base, vocabulary, hash, terms: None, survey: OnceLock::new() }
    }

    /// Returns the context for the checks of candidates.
    #[must_use]
    pub fn context(&self) -> WorldContext<'_> {
        let survey = self.survey.get_or_init(|| Survey::new(self.base.world()));
        WorldContext { base: &self.base, vocabulary: &self.vocabulary, survey, stop: Stop::NEVER }
    }
}

/// Worlds of a dataset, loaded on first use. The cache keeps the last used ones, because rows of one world
/// are adjacent.
pub struct Worlds {
    folder: Folder,
    loaded: LoadOnce<String, Arc<World>>,
}

/// Maximum number of worlds in memory.
const KEPT: NonZeroUsize = match NonZeroUsize::new(16) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};

/// Reasons for which a world or a row cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The file of the world is missing or cannot be read.
    #[error("world {world}: {what}; a dataset needs the world of every row under worlds/")]
    Missing {
        /// Id of the world.
        world: String,
        /// Error of the file.
        what: String,
    },
    /// The document of the world has findings.
    #[error("{0}")]
    World(#[from] Report),
    /// The engine refuses the world.
    #[error(transparent)]
    Engine(#[from] BaseError),
    /// A column has an invalid value.
    #[error("row {row}: column {column}: {what}")]
    Column {
        /// Id of the row.
        row: String,
        /// Name of the column.
        column: &'static str,
        /// Description of the fault.
        what: String,
    },
    /// The session server does not run the episode.
    #[error("{0}; --server has to serve the same dataset (`diorama serve --tasks`)")]
    Server(EnvironmentError),
}

/// Parsed task of a row.
pub struct Task {
    /// Id of the row.
    pub id: String,
    /// Setup of the episode.
    pub episode: Episode,
    /// Tags.
    pub tags: Vec<String>,
    /// System message.
    pub system: String,
    /// Script of the user, goal by goal.
    pub script: Script,
    /// Messages of the user in the row, in order.
    pub turns: Vec<String>,
    /// Conditions that the episode must meet.
    pub checks: Checks,
    /// Reference calls.
    pub gold: Vec<GoldCall>,
    /// Claims of the author.
    pub gold_answer: GoldAnswer,
    /// End of each goal in the row.
    pub goals: Vec<GoldGoal>,
    /// Replies to the reference calls, as JSON text.
    pub replies: Vec<String>,
    /// Findings of the gates.
    pub gates: GateReport,
}

/// End of a goal in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldGoal {
    /// Range of its reference calls.
    pub calls: Range<usize>,
    /// Number of user turns up to its end.
    pub user_turns: usize,
    /// Last message of the goal.
    pub answer: String,
    /// Outcome of the goal.
    pub outcome: Outcome,
    /// Reason of a refusal.
    pub reason: Option<RefusalClass>,
    /// Questions for consent to calls.
    pub consents: Vec<GoldConsent>,
}

/// Question for consent to reference calls, which the user gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldConsent {
    /// Words of the question.
    pub question: String,
    /// Calls to which the user consents.
    pub calls: Vec<Call>,
    /// Number of reference calls before the question, which is the index of the first of these calls.
    pub at: usize,
}

impl Task {
    /// Returns true if at least one goal is answered and no accepted outcome changes a record.
    #[must_use]
    pub fn is_answer_only(&self) -> bool {
        self.checks.changes.is_empty() && self.goals.iter().any(|goal| goal.outcome == Outcome::Done)
    }

    /// Returns the probability that a random choice among the values of the same kind in the replies gives
    /// each requested fact.
    #[must_use]
    pub fn chance(&self) -> f64 {
        let mut kinds: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for reply in &self.replies {
            if let Ok(body) = serde_json::from_str(reply) {
                add_kinds(&body, &mut kinds);
            }
        }
        let among = |fact: &Fact| {
            let kind = match fact.kind() {
                Kind::Number { .. } | Kind::Money { .. } | Kind::Count => "number",
                Kind::Boolean => return 0.5,
                // A random choice of values gives no list.
                Kind::List(_) | Kind::Map(_) => return 0.0,
                _ => "text",
            };
            1.0 / kinds.get(kind).map_or(1, BTreeSet::len).max(1) as f64
        };
        self.checks.goals.iter().flat_map(|goal| &goal.answer).map(|check| among(&check.fact)).product()
    }

    /// Returns the structured final answer of each goal of the reference solution. `calls` give the values
    /// for new records.
    #[must_use]
    pub fn final_answers(&self, world: &World, calls: &[Arc<LogEntry>]) -> Vec<FinishData> {
        let given = self.goals.iter().enumerate().map(|(number, goal)| {
            let check = self.checks.goals.get(number);
            let made = |new: u32, field: &str| self.new_value(world, calls, new, field);
            FinishData {
                outcome: Some(goal.outcome),
                reason: goal.reason,
                about: check.and_then(ending::subject),
                facts: check.and_then(|check| ending::facts(check, made)).unwrap_or_default(),
            }
        });
        given.collect()
    }

    /// Returns the value of a field of a new record, from the calls that made it.
    fn new_value(&self, world: &World, calls: &[Arc<LogEntry>], new: u32, field: &str) -> Option<Json> {
        let (change, before) = self.checks.creation(new)?;
        let model = world.base.world();
        let resource = model.resource_named(&change.resource)?;
        let field = model.resource(resource).field_named(field)?;
        let changes = calls.iter().flat_map(|entry| &entry.changes);
        let mut created = changes.filter(|made| made.resource == resource && made.before.is_none());
        Some(created.nth(before)?.after.as_ref()?.get(field.index())?.to_json(&model.zone))
    }

    /// Returns the end of each goal in the grader's form. `calls` returns the number of calls up to the end
    /// of a goal.
    #[must_use]
    pub fn endings<'a>(
        &'a self,
        given: &'a [FinishData],
        calls: impl Fn(&GoldGoal) -> usize,
    ) -> Vec<GoalEnd<'a>> {
        let ended = self.goals.iter().zip(given).map(|(goal, given)| GoalEnd {
            outcome: given.outcome,
            reason: given.reason,
            about: given.about.as_deref(),
            facts: Some(&given.facts),
            calls: calls(goal),
            consents: goal
                .consents
                .iter()
                .map(|asked| Consent { calls: &asked.calls, at: asked.at })
                .collect(),
        });
        ended.collect()
    }
}

impl Worlds {
    /// Makes the cache of a dataset's worlds.
    #[must_use]
    pub fn new(folder: Folder) -> Self {
        Self { folder, loaded: LoadOnce::new(KEPT) }
    }

    /// Returns a world by its id.
    ///
    /// # Errors
    /// Returns an error if the file of the world is missing or invalid.
    pub fn get(&self, id: &str) -> Result<Arc<World>, EpisodeError> {
        self.loaded.get(id.to_owned(), || self.load(id).map(Arc::new))
    }

    /// Returns the canonical JSON of a world.
    ///
    /// # Errors
    /// Returns an error if the file is missing, cannot be read or has another hash.
    pub fn text(&self, id: &str) -> Result<String, EpisodeError> {
        let missing = |what: String| EpisodeError::Missing { world: id.to_owned(), what };
        let text = self.folder.world(id).map_err(|error| missing(error.to_string()))?;
        String::from_utf8(text).map_err(|error| missing(error.to_string()))
    }

    fn load(&self, id: &str) -> Result<World, EpisodeError> {
        let text = self.text(id)?;
        let doc = read(id, text.as_bytes())?;
        let world = compile(&doc)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let base = Base::new(world)?;
        let vocabulary = Vocabulary::new(&base);
        let terms = Terms { license: doc.license().to_owned(), source: doc.source().to_owned() };
        Ok(World { terms: Some(terms), ..World::new(base, vocabulary, hash) })
    }
}

impl Task {
    /// Parses a row.
    ///
    /// # Errors
    /// Returns an error for the first column with an invalid value.
    pub fn of(row: &Dialogue) -> Result<Self, EpisodeError> {
        let said = |role: Role| {
            row.messages
                .iter()
                .filter(move |message| message.role == role)
                .map(|message| message.content.clone().unwrap_or_default())
        };
        let episode: Episode = column(row, "episode", &row.episode)?;
        let mut checks: Checks = column(row, "checks", &row.checks)?;
        let gold: Vec<GoldCall> = column(row, "gold_calls", &row.gold_calls)?;
        checks.name_arguments(&gold);
        let facts: UserFacts = column(row, "user_facts", &row.user_facts)?;
        if row.first_user_turn() != Some(&row.query) {
            let what = "found another text than the first user message".to_owned();
            return Err(EpisodeError::Column { row: row.id.clone(), column: "query", what });
        }
        Ok(Self {
            id: row.id.clone(),
            tags: row.tags.clone(),
            system: said(Role::System).next().unwrap_or_default(),
            turns: said(Role::User).collect(),
            script: facts.script(&row.query),
            goals: goals(row, &episode, &checks, &gold),
            episode,
            checks,
            gold,
            gold_answer: column(row, "gold_answer", &row.gold_answer)?,
            replies: said(Role::Tool).collect(),
            gates: column(row, "gates", &row.gates)?,
        })
    }

    /// Splits the changes of checks of version 2 by goal. It repeats the reference calls for this.
    ///
    /// # Errors
    /// Returns an error if the world does not fit the episode.
    pub fn tell_changes_by_goal(&mut self, world: &World) -> Result<(), EpisodeError> {
        if !self.checks.has_changes_by_goal() {
            let mut session = self.session(world, self.episode.session_seed)?;
            let made = |gold: &GoldCall| Call { api: gold.api.clone(), arguments: gold.arguments.clone() };
            let entries: Vec<Arc<LogEntry>> =
                self.gold.iter().map(|gold| session.call(&made(gold))).collect();
            let logs = self.goals.iter().map(|goal| entries.get(goal.calls.clone()).unwrap_or_default());
            let changed = changed_by_goal(&logs.collect::<Vec<_>>());
            let changes = older_change_checks(world.base.world(), &changed, &session.diff());
            self.checks.set_changes_by_goal(changes);
        }
        Ok(())
    }

    /// Returns the APIs that are visible at the start.
    ///
    /// # Errors
    /// Returns an error if the world lacks an API with one of the names.
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

    /// Returns the schemas of the tools that are visible at the start, in OpenAI's function format.
    ///
    /// # Errors
    /// Returns an error if the world lacks an API with one of the names.
    pub fn tools(&self, world: &World) -> Result<Vec<serde_json::Value>, EpisodeError> {
        Ok(world.base.shown_tools(&self.visible(world)?).into_iter().cloned().collect())
    }

    /// Opens a session of the episode with a seed.
    ///
    /// # Errors
    /// Returns an error if the world does not fit the episode.
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
        let outages = self.episode.outages.clone();
        let options = SessionOptions { seed, clock: Some(clock), visible, search: Some(search), outages };
        Ok(Session::new(world.base.clone(), options))
    }
}

/// Adds the values of a reply by kind.
fn add_kinds(body: &serde_json::Value, kinds: &mut BTreeMap<&'static str, BTreeSet<String>>) {
    match body {
        serde_json::Value::Array(items) => items.iter().for_each(|item| add_kinds(item, kinds)),
        serde_json::Value::Object(members) => members.values().for_each(|member| add_kinds(member, kinds)),
        serde_json::Value::Number(number) => {
            kinds.entry("number").or_default().insert(number.to_string());
        }
        serde_json::Value::String(text) => {
            kinds.entry("text").or_default().insert(text.clone());
        }
        _ => {}
    }
}

/// Returns the end of each goal of a row. Rows of the first format have a single goal, which ends with the
/// last message.
fn goals(row: &Dialogue, episode: &Episode, checks: &Checks, gold: &[GoldCall]) -> Vec<GoldGoal> {
    let words: Vec<&str> = row
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .filter_map(|message| message.content.as_deref())
        .collect();
    let mut found: Vec<GoldGoal> = Vec::new();
    let (mut user_turns, mut calls, mut said, mut first) = (0, 0_usize, 0, 0);
    let mut consents: Vec<GoldConsent> = Vec::new();
    let made = |call: &GoldCall| Call { api: call.api.clone(), arguments: call.arguments.clone() };
    let mut end = |user_turns: usize, calls: Range<usize>, answer: &str, outcome: Outcome, consents| {
        let goal = checks.goals.get(found.len());
        let reason = goal.and_then(|goal| goal.refusal.first().copied());
        found.push(GoldGoal { calls, user_turns, answer: answer.to_owned(), outcome, reason, consents });
    };
    for event in &episode.events {
        match event {
            Event::User(_) => user_turns += 1,
            Event::Call(_) => calls += 1,
            Event::Say(_) => said += 1,
            Event::Confirm(count) => {
                let asked = gold.get(calls..calls.saturating_add(*count as usize)).unwrap_or_default();
                let question = words.get(usize::max(said, 1) - 1).copied().unwrap_or_default().to_owned();
                let asked = asked.iter().map(made).collect();
                consents.push(GoldConsent { question, calls: asked, at: calls });
            }
            Event::End(outcome) => {
                let answer = words.get(usize::max(said, 1) - 1).copied().unwrap_or_default();
                end(user_turns, first..calls, answer, *outcome, std::mem::take(&mut consents));
                first = calls;
            }
        }
    }
    if !episode.events.iter().any(|event| matches!(event, Event::End(_))) {
        end(user_turns, 0..calls, words.last().copied().unwrap_or_default(), episode.outcome, consents);
    }
    found
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
