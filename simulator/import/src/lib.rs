//! Import with tested guesses: plays draft worlds and replaces the guesses that fail.
//!
//! Owns the loop between the importer and the engine. The importer drafts a world and names its guesses. The
//! engine plays the draft: it opens what lists return and looks up what calls create. If that fails, the
//! weakest guess involved gets its next alternative. The crate reads no document and knows no HTTP. The same
//! document gives the same world.

mod play;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use diorama_engine::Base;
use diorama_openapi::{Choices, Draft, Hypothesis, ImportedWorld, Note, Severity};
use diorama_seeds::world::Report;

pub use self::play::{Failure, play};

/// Maximum number of rounds in which guesses are replaced.
const MAX_ROUNDS: usize = 3;
/// Larger documents are not played. Their first guesses stand.
const MAX_OPERATIONS: usize = 600;

/// A draft with the failures of its play.
struct PlayedDraft {
    imported: ImportedWorld,
    failures: Vec<Failure>,
}

impl PlayedDraft {
    /// Drafts a world and plays it. Returns none if the world does not run.
    fn new(draft: &Draft, choices: &Choices) -> Result<Option<Self>, Report> {
        let (imported, world) = draft.run(choices)?;
        let Ok(base) = Base::new(world) else { return Ok(None) };
        Ok(Some(Self { imported, failures: play(&base) }))
    }

    /// Returns the guesses that the APIs of a failure use, each once.
    fn guesses_behind(&self, failure: &Failure) -> impl Iterator<Item = &Hypothesis> {
        let used = failure.apis.iter().filter_map(|api| self.imported.uses.get(*api)).flatten();
        let used: BTreeSet<usize> = used.copied().collect();
        used.into_iter().filter_map(|guess| self.imported.hypotheses.get(guess))
    }

    /// Counts the failures that involve each guess.
    fn count_failures(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for guess in self.failures.iter().flat_map(|failure| self.guesses_behind(failure)) {
            *counts.entry(guess.name.as_str()).or_default() += 1;
        }
        counts
    }

    /// Returns the weakest guess of each failure that has an alternative left. `tries` counts the
    /// alternatives tried for each guess.
    fn suspects(&self, tries: &BTreeMap<String, usize>) -> BTreeSet<String> {
        let is_open =
            |guess: &&Hypothesis| tries.get(&guess.name).copied().unwrap_or(0) + 1 < guess.alternatives;
        let weakest = self.failures.iter().filter_map(|failure| {
            let open = self.guesses_behind(failure).filter(is_open);
            open.min_by_key(|guess| (guess.strength, &guess.name)).map(|guess| guess.name.clone())
        });
        weakest.collect()
    }

    /// Adds a note for each failure.
    fn finish(self) -> ImportedWorld {
        let Self { mut imported, failures } = self;
        for failure in failures {
            let Some(api) = failure.apis.last().and_then(|api| imported.doc.apis.get(*api)) else { continue };
            let operation = format!("{} {}", api.method.as_str(), api.path);
            let note = Note { operation, reason: failure.what.to_owned(), severity: Severity::Less };
            if !imported.notes.contains(&note) {
                imported.notes.push(note);
            }
        }
        imported
    }
}

/// Imports a document with the guesses that cause the fewest failures in a play.
///
/// # Errors
/// As [`Draft::world`].
pub fn choose_guesses(draft: &Draft) -> Result<ImportedWorld, Report> {
    if draft.operations() > MAX_OPERATIONS {
        return draft.world(&Choices::default());
    }
    let mut choices = Choices::default();
    let Some(mut best) = PlayedDraft::new(draft, &choices)? else { return draft.world(&choices) };
    let mut tries: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        let suspects = best.suspects(&tries);
        if suspects.is_empty() {
            break;
        }
        let mut next = choices.clone();
        for name in &suspects {
            let count = tries.entry(name.clone()).or_default();
            *count += 1;
            next.choose(name, *count);
        }
        let Ok(Some(trial)) = PlayedDraft::new(draft, &next) else { continue };
        // A guess is replaced if the alternative causes fewer failures.
        let (before, after) = (best.count_failures(), trial.count_failures());
        let failed = |counts: &BTreeMap<&str, usize>, name: &str| counts.get(name).copied().unwrap_or(0);
        let better: Vec<&String> =
            suspects.iter().filter(|name| failed(&after, name) < failed(&before, name)).collect();
        if better.is_empty() {
            continue;
        }
        let mut kept = choices.clone();
        for name in &better {
            kept.choose(name, tries.get(*name).copied().unwrap_or(0));
        }
        let all = better.len() == suspects.len();
        let Some(trial) = (if all { Some(trial) } else { PlayedDraft::new(draft, &kept).ok().flatten() })
        else {
            continue;
        };
        if trial.failures.len() < best.failures.len() {
            (choices, best) = (kept, trial);
        }
    }
    Ok(best.finish())
}
