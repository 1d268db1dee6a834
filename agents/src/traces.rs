//! Owns the rows from traces: an agent under test solved a task, and its steps become a dialogue.
//!
//! This is rejection sampling with a proven reward. An episode that the grader passes becomes a candidate,
//! with the claims of its task over its own calls, and must pass the six gates. The stored verdict is not
//! trusted: the episode runs again first.

use std::collections::{BTreeMap, HashMap};

use diorama_engine::tools::SearchVersion;
use diorama_output::dataset::BatchRows;
use diorama_output::funnel::Funnel;
use diorama_output::plan::{Batch, ROWS_PER_BATCH};
use diorama_output::row::parts::Provenance;
use diorama_output::row::{Dialogue, Split};
use diorama_proof::{ground, ground_with, prove};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::episode::{EpisodeError, Task, World, Worlds};
use crate::evaluation::batch::{self, Episode};
use crate::evaluation::judge::Judge;
use crate::models::Protocol;
use crate::models::caller::conversation;
use crate::rows::attempt::count_mutants;
use crate::rows::row::{RowProperties, RowWorld, row as row_of};
use crate::rows::source::RowSource;
use crate::scenarios::tags::OF_THE_WAY;
use crate::verify::candidate_of;

/// Backend in the provenance of these rows.
pub const BACKEND: &str = "traces";
/// Seed of the run. It draws no random values.
pub const SEED: u64 = 0;

/// Reasons for which traces give no rows.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A task or a world cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The asynchronous runtime cannot start.
    #[error("cannot wait for an episode: {0}")]
    Runtime(#[from] std::io::Error),
    /// The dataset lacks the task of an episode.
    #[error("found an episode of the task {0}, expected one of --tasks")]
    Task(String),
}

/// Kept episodes with their tasks.
pub struct Traces {
    /// Episodes of the training split, then those of the test split. `None` fills the training split up to
    /// whole batches.
    episodes: Vec<Option<Episode>>,
    /// Index of the first batch of the test split.
    first_test: u64,
    tasks: HashMap<String, Dialogue>,
    worlds: Worlds,
    /// Terms of the model, for the licence of the rows.
    terms: String,
}

impl Traces {
    /// Returns the split of a batch.
    #[must_use]
    pub const fn split_of(&self, batch: u64) -> Split {
        if batch < self.first_test { Split::Train } else { Split::Test }
    }
}

impl RowSource for Traces {
    type Error = TraceError;

    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, TraceError> {
        let mut made = BatchRows { batch: batch.index, ..BatchRows::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        for index in batch.row_indexes.clone() {
            let Some(Some(episode)) = self.episodes.get(index as usize) else { continue };
            made.funnel.propose();
            match self.row(episode, index, &runtime, &mut made.funnel)? {
                Ok(row) => {
                    if !made.worlds.contains_key(&row.world_id) {
                        made.worlds.insert(row.world_id.clone(), self.worlds.text(&row.world_id)?.into());
                    }
                    made.rows.push(row);
                }
                Err((agent, reason)) => made.funnel.drop_at(agent, &reason),
            }
        }
        Ok(made)
    }
}

/// Reason for which an episode gives no row: the step that rejects it, and the description.
type TraceRejection = (&'static str, String);

impl Traces {
    /// Makes the source of episodes. `tasks` and `worlds` are those of their dataset.
    ///
    /// # Errors
    /// Returns an error if an episode belongs to another dataset.
    pub fn new(
        episodes: Vec<Episode>,
        tasks: Vec<Dialogue>,
        worlds: Worlds,
        terms: &str,
    ) -> Result<Self, TraceError> {
        let tasks: HashMap<String, Dialogue> = tasks.into_iter().map(|row| (row.id.clone(), row)).collect();
        let mut of_split: [Vec<Option<Episode>>; 2] = Default::default();
        for episode in episodes {
            let row = tasks.get(&episode.task).ok_or_else(|| TraceError::Task(episode.task.clone()))?;
            of_split[row.split as usize].push(Some(episode));
        }
        let [mut all, test] = of_split;
        let rows = ROWS_PER_BATCH as usize;
        all.resize_with(all.len().next_multiple_of(rows), || None);
        let first_test = (all.len() / rows) as u64;
        all.extend(test);
        Ok(Self { episodes: all, first_test, tasks, worlds, terms: terms.to_owned() })
    }

    /// Returns the maximum number of rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.episodes.len() as u64
    }

    /// Returns true if there is no episode.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.episodes.iter().all(Option::is_none)
    }

    fn row(
        &self,
        episode: &Episode,
        index: u64,
        runtime: &tokio::runtime::Runtime,
        funnel: &mut Funnel,
    ) -> Result<Result<Dialogue, TraceRejection>, TraceError> {
        let lost = |agent, reason: &str| Ok(Err((agent, reason.to_owned())));
        let row = self.tasks.get(&episode.task).ok_or_else(|| TraceError::Task(episode.task.clone()))?;
        let world = self.worlds.get(&row.world_id)?;
        if !episode.grade.success || !episode.counts() {
            return lost("caller", "not solved");
        }
        if !episode.faults.is_empty() {
            return lost("caller", "faults were switched on");
        }
        let judge = Judge::new(Task::of(row)?, world.clone())?;
        let (again, judged) = runtime.block_on(batch::regrade(episode, &judge))?;
        if !again.grade.success {
            return lost("caller", "not solved when it is run again");
        }
        let task = judge.task();
        let search = SearchVersion::named(&task.episode.search);
        let planned = match candidate_of(row, task) {
            Ok(planned) => ground_with(world.context(), planned, search),
            Err(_) => return lost("query", "its task holds no claims"),
        };
        let Ok(planned) = planned else { return lost("query", "its task cannot be run") };
        // Only function calling has words beside calls. In other protocols the words are thoughts.
        let protocol = match &*episode.agent {
            "function-calling" => Protocol::Tools,
            _ => Protocol::Text,
        };
        let mut candidate = match conversation(&planned, &episode.steps, &judged.log, protocol) {
            Ok(candidate) => candidate,
            Err(unsolved) => return lost("caller", &unsolved.class),
        };
        candidate.seed = episode.seed;
        let Ok(grounded) = ground(world.context(), candidate) else {
            return lost("caller", "not of the form of a candidate");
        };
        let mut rng = ChaCha8Rng::seed_from_u64(episode.seed);
        let report = match prove(world.context(), &grounded, &mut rng) {
            Ok(report) => report,
            Err(reason) => return lost(reason.gate.name(), reason.code.name()),
        };
        count_mutants(funnel, &report);
        Ok(Ok(self.make_row(episode, row, &world, index, (&grounded, &report))))
    }

    /// Makes the row of a proven trace.
    fn make_row(
        &self,
        episode: &Episode,
        task: &Dialogue,
        world: &World,
        index: u64,
        (grounded, report): (&diorama_proof::GroundedCandidate, &diorama_proof::GateReport),
    ) -> Dialogue {
        let provenance = Provenance {
            backend: BACKEND.to_owned(),
            model: episode.model.clone(),
            prompt_hash: None,
            seed: SEED,
            row: index,
            attempt: episode.trial,
            version: crate::GENERATOR_VERSION.to_owned(),
            authors: BTreeMap::from([("assistant".to_owned(), episode.agent.clone())]),
            difficulty: None,
        };
        let terms = episode.model.as_ref().map(|model| format!("{model} ({})", self.terms));
        let tags: Vec<&str> =
            task.tags.iter().map(String::as_str).filter(|tag| !OF_THE_WAY.contains(tag)).collect();
        let about = RowProperties {
            ability: task.ability,
            tags: &tags,
            domain: None,
            split: task.split,
            provenance: &provenance,
            model_terms: terms.as_deref(),
        };
        let of_rows = RowWorld {
            base: &world.base,
            id: &task.world_id,
            hash: &world.hash,
            license: world.terms.as_ref().map_or(&task.license, |terms| &terms.license),
            source: world.terms.as_ref().map_or(&task.source, |terms| &terms.source),
        };
        row_of(of_rows, grounded, report, &about)
    }
}
