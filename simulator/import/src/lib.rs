//! Documents as worlds whose guesses were tried.
//!
//! Owns the loop between the importer, which drafts a world and names its guesses, and the engine, in which the draft is played:
//! what a list shows is opened, what is made is found again. Where that fails, the weakest guess behind it is replaced by its next
//! alternative. It reads no document and knows no HTTP. Same document, same world.

mod play;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use diorama_engine::Base;
use diorama_openapi::{Choices, Draft, Imported, Note, Severity};
use diorama_seeds::materialise::Source;
use diorama_seeds::world::Report;

pub use self::play::{Check, play};

/// Rounds in which guesses are replaced.
const MAX_ROUNDS: usize = 3;
/// Operations of a document whose draft is played, at most. Beyond that the first guesses stand.
const MAX_OPERATIONS: usize = 600;

/// A world that was played.
struct Played {
    imported: Imported,
    checks: Vec<Check>,
}

impl Played {
    /// Drafts a world and plays it; nothing where it does not run.
    fn of(draft: &Draft, choices: &Choices) -> Result<Option<Self>, Report> {
        let imported = draft.world(choices)?;
        let made = Source::new(imported.doc.clone()).and_then(|source| source.materialise(0))?;
        let Ok(base) = Base::new(made.world) else { return Ok(None) };
        let checks = play(&base);
        Ok(Some(Self { imported, checks }))
    }

    fn failures(&self) -> usize {
        self.checks.iter().filter(|check| !check.holds).count()
    }

    /// How many failed checks used a guess.
    fn failures_by(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for check in self.checks.iter().filter(|check| !check.holds) {
            let used: BTreeSet<usize> =
                check.apis.iter().filter_map(|api| self.imported.uses.get(*api)).flatten().copied().collect();
            for guess in used.into_iter().filter_map(|guess| self.imported.hypotheses.get(guess)) {
                *counts.entry(guess.name.as_str()).or_default() += 1;
            }
        }
        counts
    }

    /// The weakest guess behind each failed check that has an alternative left.
    fn suspects(&self, tried: &BTreeMap<String, usize>) -> BTreeSet<String> {
        let is_open =
            |name: &str, alternatives: usize| tried.get(name).copied().unwrap_or(0) + 1 < alternatives;
        let failed = self.checks.iter().filter(|check| !check.holds);
        let weakest = failed.filter_map(|check| {
            let used = check.apis.iter().filter_map(|api| self.imported.uses.get(*api)).flatten();
            let guesses = used.filter_map(|guess| self.imported.hypotheses.get(*guess));
            let open = guesses.filter(|guess| is_open(&guess.name, guess.alternatives));
            open.min_by_key(|guess| (guess.strength, &guess.name)).map(|guess| guess.name.clone())
        });
        weakest.collect()
    }
}

/// Makes a document's world, with the guesses that hold when it is played.
///
/// # Errors
/// As [`Draft::world`].
pub fn tried(draft: &Draft) -> Result<Imported, Report> {
    if draft.operations() > MAX_OPERATIONS {
        return draft.world(&Choices::default());
    }
    let mut choices = Choices::default();
    let Some(mut best) = Played::of(draft, &choices)? else { return draft.world(&choices) };
    let mut tried: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        let suspects = best.suspects(&tried);
        if suspects.is_empty() {
            break;
        }
        let mut next = choices.clone();
        for name in &suspects {
            let count = tried.entry(name.clone()).or_default();
            *count += 1;
            next.choose(name, *count);
        }
        let Ok(Some(trial)) = Played::of(draft, &next) else { continue };
        // A guess is replaced where fewer of its own checks fail than before.
        let (before, after) = (best.failures_by(), trial.failures_by());
        let failed = |counts: &BTreeMap<&str, usize>, name: &str| counts.get(name).copied().unwrap_or(0);
        let better: Vec<&String> =
            suspects.iter().filter(|name| failed(&after, name) < failed(&before, name)).collect();
        if better.is_empty() {
            continue;
        }
        let mut kept = choices.clone();
        for name in &better {
            kept.choose(name, tried.get(*name).copied().unwrap_or(0));
        }
        let all = better.len() == suspects.len();
        let Some(trial) = (if all { Some(trial) } else { Played::of(draft, &kept).ok().flatten() }) else {
            continue;
        };
        if trial.failures() < best.failures() {
            (choices, best) = (kept, trial);
        }
    }
    Ok(note(best))
}

/// Notes what still fails.
fn note(played: Played) -> Imported {
    let Played { mut imported, checks } = played;
    let failed = checks.iter().filter(|check| !check.holds);
    for check in failed {
        let Some(api) = check.apis.last().and_then(|api| imported.doc.apis.get(*api)) else { continue };
        let operation = format!("{} {}", api.method.as_str(), api.path);
        let note = Note { operation, reason: check.what.to_owned(), severity: Severity::Less };
        if !imported.notes.contains(&note) {
            imported.notes.push(note);
        }
    }
    imported
}
