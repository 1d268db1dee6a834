//! Statistics: the size and the variety of a dataset, measured from its rows.
//!
//! Definitions:
//!
//! - *Tokens* are the matches of `\w+|[^\w\s]` in the lower-cased text; the text is a row's first user turn.
//! - `distinct_2`: different bigrams / all bigrams over 200 rows drawn without replacement, bigrams within a row;
//!   the mean of 20 draws. `distinct_first3`: different first-three-token openings / rows drawn, over the same draws.
//!   The draws come from fixed seeds. A dataset with fewer than 200 rows is drawn whole.
//! - `duplicate_rate`, `duplicate_rate_at_06`: share of rows whose set of word 3-shingles has a Jaccard similarity of 0.8 (0.6) or more with that of
//!   an earlier row, rows in file order, train first. Words are the tokens made of word characters; a text of fewer than
//!   three words is one shingle. Computed exactly, see [`duplicates`].
//! - `guessable`: of the facts of a kind that rows ask for, and of the classes of reasons that they refuse for, the share that
//!   the most common one is: what somebody passes who always gives it. `weak_checks`: rows that ask for one count, of 1 or
//!   2, and for nothing else.
//! - `skeletons`: different sequences of APIs in the reference calls, searches left out, by the names that rows use; see
//!   [`skeleton`](crate::skeleton). `apis_called`: different names of APIs in the messages.
//! - `distinct_apis`: different fingerprints among the APIs of all worlds that rows name. Fingerprints are the caller's.
//!
//! Shares are rounded to six decimals.

pub mod duplicates;
pub mod guess;
mod sample;
#[cfg(test)]
mod tests;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::folder::{Folder, Selection, WorldError};
use crate::funnel::{Counts, Funnel};
use crate::rows::ReadError;
use crate::skeleton::skeleton;
use duplicates::{Duplicates, Nearness};
use guess::{Guess, Guesses};
use sample::{DRAWS, draw};
use text::{openings_and_bigrams, rounded, share, words};

/// The report of `diorama dataset stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of rows.
    pub dialogues: u64,
    /// Number of different domains.
    pub domains: u64,
    /// Number of APIs in the worlds that rows name. Worlds with a common domain share its APIs.
    pub apis: u64,
    /// Number of different fingerprints among them.
    pub distinct_apis: u64,
    /// Number of different API sequences in reference calls.
    pub skeletons: u64,
    /// Number of different API names that rows call.
    pub apis_called: u64,
    /// Number of calls in messages, including tool searches.
    pub calls: u64,
    /// Number of user turns.
    pub turns: u64,
    /// Rows by ability.
    pub abilities: BTreeMap<String, u64>,
    /// Rows by tag.
    pub tags: BTreeMap<String, u64>,
    /// Rows by band of difficulty.
    pub difficulties: BTreeMap<String, u64>,
    /// Different bigrams divided by all bigrams.
    pub distinct_2: f64,
    /// Different openings divided by rows.
    pub distinct_first3: f64,
    /// Share of near-duplicates of an earlier row, at a similarity of 0.8.
    pub duplicate_rate: f64,
    /// The same at a similarity of 0.6.
    pub duplicate_rate_at_06: f64,
    /// Rows by split.
    pub splits: BTreeMap<String, u64>,
    /// Number of different worlds.
    pub worlds: u64,
    /// Rows by licence.
    pub licenses: BTreeMap<String, u64>,
    /// By kind of check: the share that one fixed answer would pass.
    pub guessable: BTreeMap<String, Guess>,
    /// Number of rows that depend only on a count of one or two.
    pub weak_checks: u64,
    /// The filter funnel from the manifest. `None` for a part of the rows.
    pub funnel: Option<Funnel>,
}

/// An API with the fingerprint by which APIs are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiFingerprint {
    /// Its domain.
    pub domain: String,
    /// Its name.
    pub api: String,
    /// The fingerprint of its behaviour, independent of names and style.
    pub fingerprint: String,
}

/// The reason for which a dataset cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum StatsError<E> {
    /// Rows cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A world cannot be read.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The fingerprints of a world cannot be calculated.
    #[error("world `{world}`: {source}")]
    Fingerprint {
        /// The world.
        world: String,
        /// The reason.
        source: E,
    },
}

/// Measures the selected rows in one pass. A selection needs another pass to count them. Memory use is eight
/// bytes per shingle. `apis` returns all APIs of a world from its id and its canonical JSON.
///
/// # Errors
/// Returns an error if rows or worlds cannot be read.
pub fn measure<E>(
    folder: &Folder,
    selection: &Selection,
    mut apis: impl FnMut(&str, &[u8]) -> Result<Vec<ApiFingerprint>, E>,
) -> Result<Stats, StatsError<E>> {
    let mut rows = 0;
    if selection.is_all() {
        for name in folder.row_files() {
            rows += folder.open_rows(name)?.rows();
        }
    } else {
        for row in folder.select(selection) {
            row?;
            rows += 1;
        }
    }
    let draws: Vec<Vec<u64>> = (0..DRAWS).map(|number| draw(number, rows)).collect();
    let drawn: BTreeSet<u64> = draws.iter().flatten().copied().collect();

    let mut counts = Counts::default();
    let mut skeletons: BTreeSet<String> = BTreeSet::new();
    let mut worlds: BTreeSet<String> = BTreeSet::new();
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    let mut duplicates = Duplicates::default();
    let mut guesses = Guesses::default();
    for (number, row) in (0_u64..).zip(folder.select(selection)) {
        let row = row?;
        counts.count(&row);
        skeletons.insert(skeleton(&row));
        if let Ok(checks) = serde_json::from_str(&row.checks) {
            guesses.add(&checks);
        }
        let text = row.first_user_turn().unwrap_or_default();
        duplicates.add(&words(text));
        if drawn.contains(&number) {
            texts.insert(number, text.to_owned());
        }
        if !worlds.contains(&row.world_id) {
            worlds.insert(row.world_id);
        }
    }

    let mut known: BTreeSet<ApiFingerprint> = BTreeSet::new();
    for world in &worlds {
        let canonical = folder.world(world)?;
        let wrong = |source| StatsError::Fingerprint { world: world.clone(), source };
        known.extend(apis(world, &canonical).map_err(wrong)?);
    }
    let prints: BTreeSet<&String> = known.iter().map(|api| &api.fingerprint).collect();
    let (distinct_2, distinct_first3) = diversity(&draws, &texts);
    let (guessable, weak_checks) = guesses.finish();
    Ok(Stats {
        dialogues: counts.dialogues,
        domains: counts.domains.len() as u64,
        apis: known.len() as u64,
        distinct_apis: prints.len() as u64,
        skeletons: skeletons.len() as u64,
        apis_called: counts.apis.len() as u64,
        calls: counts.calls,
        turns: counts.turns,
        distinct_2,
        distinct_first3,
        duplicate_rate: share(duplicates.count(Nearness::FourFifths), counts.dialogues),
        duplicate_rate_at_06: share(duplicates.count(Nearness::ThreeFifths), counts.dialogues),
        worlds: worlds.len() as u64,
        abilities: counts.abilities,
        tags: counts.tags,
        difficulties: counts.difficulties,
        splits: counts.splits,
        licenses: counts.licenses,
        guessable,
        weak_checks,
        funnel: selection.is_all().then(|| folder.manifest().funnel.clone()),
    })
}

/// Returns the means of `distinct_2` and `distinct_first3` over the draws.
fn diversity(draws: &[Vec<u64>], texts: &BTreeMap<u64, String>) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for draw in draws {
        let texts = draw.iter().filter_map(|row| texts.get(row)).map(String::as_str);
        let (distinct_2, distinct_first3) = openings_and_bigrams(texts);
        sums.0 += distinct_2;
        sums.1 += distinct_first3;
    }
    let count = draws.len().max(1) as f64;
    (rounded(sums.0 / count), rounded(sums.1 / count))
}
