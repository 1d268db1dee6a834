//! Owns draws that depend on names and texts, and never on a position in a list or its length.
//!
//! It has the random streams of a run, and the choice among texts: each text gets a score of its own, and the
//! highest wins. A new text takes only the draws that it wins, and all other draws stay.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Random streams that depend on the seed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    seed: u64,
}

/// Key of a row's choices, which does not depend on its position in a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey<'a> {
    /// Name of the domain, world or document that numbers its rows.
    pub subject: &'a str,
    /// Number of the row among those of its subject.
    pub number: u64,
}

/// Turn in the draws from a list of wordings. Its first draws seldom give the same wording twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordingTurn {
    /// Key of the scores.
    pub key: u64,
    /// Number of the draw.
    pub number: u64,
}

/// Draws per block. A wording has one best draw in each block, one second best, and so on.
const DRAWS_PER_BLOCK: u64 = 8;

impl Streams {
    /// Makes the streams of a run.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the seed of the run.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the stream for one purpose and number.
    #[must_use]
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha8Rng {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"diorama row/1");
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(&number.to_le_bytes());
        ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
    }

    /// Returns the stream for one purpose and row.
    #[must_use]
    pub fn make_row_stream(&self, purpose: &str, row: RowKey<'_>) -> ChaCha8Rng {
        self.stream(&format!("{purpose}/{}", row.subject), row.number)
    }

    /// Returns a random number for one purpose and number.
    #[must_use]
    pub fn number(&self, purpose: &str, number: u64) -> u64 {
        self.stream(purpose, number).random()
    }
}

impl WordingTurn {
    /// Draws the key of a new turn.
    pub fn draw(rng: &mut ChaCha8Rng) -> Self {
        Self { key: rng.random(), number: 0 }
    }

    /// Returns the text with the highest score of this turn.
    pub(crate) fn choose<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> Option<T> {
        let (block, draw) = (self.number / DRAWS_PER_BLOCK, (self.number % DRAWS_PER_BLOCK) as usize);
        let score = |text: &T| {
            let hash = hash((self.key, block), text.as_ref());
            let (of_draws, _) = hash.as_chunks::<4>();
            let own = of_draws.get(draw).copied().map(u32::from_le_bytes);
            (of_draws.iter().filter(|other| Some(u32::from_le_bytes(**other)) < own).count(), own)
        };
        texts.into_iter().max_by_key(score)
    }
}

/// Returns one of several texts.
pub(crate) fn choose<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, rng: &mut ChaCha8Rng) -> Option<T> {
    let key = rng.random();
    texts.into_iter().max_by_key(|text| rank(key, text.as_ref()))
}

/// Returns the rank of a name in a random order of all names, which the key selects.
pub(crate) fn rank(key: u64, name: &str) -> u64 {
    let hash = hash((key, u64::MAX), name);
    let (parts, _) = hash.as_chunks::<8>();
    parts.first().copied().map_or(0, u64::from_le_bytes)
}

/// Returns a stream for a name.
pub(crate) fn fork(key: u64, name: &str) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(rank(key, name))
}

fn hash((key, block): (u64, u64), text: &str) -> [u8; 32] {
    let mut whole = [0; 32];
    let (parts, _) = whole.as_chunks_mut::<8>();
    for (part, number) in parts.iter_mut().zip([key, block]) {
        *part = number.to_le_bytes();
    }
    *blake3::keyed_hash(&whole, text.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn texts(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("wording {number}")).collect()
    }

    #[test]
    fn a_new_text_takes_draws_and_changes_no_other() {
        let (old, new) = (texts(11), texts(12));
        let turns = (0..2_000).map(|number| WordingTurn { key: 7, number });
        let taken = turns.filter(|turn| {
            let (before, after) = (turn.choose(&old), turn.choose(&new));
            assert!(after == before || after == new.last());
            after != before
        });
        assert!((110..230).contains(&taken.count()));
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let taken = (0..2_000).filter(|_| {
            let mut same = rng.clone();
            let (before, after) = (choose(&old, &mut rng), choose(&new, &mut same));
            assert!(rng == same && (after == before || after == new.last()));
            after != before
        });
        assert!((110..230).contains(&taken.count()));
    }

    #[test]
    fn the_first_draws_of_wordings_seldom_repeat_one() {
        let texts = texts(11);
        let distinct = |key: u64| {
            let drawn = (0..4).map(|number| WordingTurn { key, number }.choose(&texts));
            drawn.collect::<HashSet<_>>().len()
        };
        let mean = (0..500).map(distinct).sum::<usize>() as f64 / 500.0;
        // Independent draws would give 3.5.
        assert!(mean > 3.7, "{mean}");
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_number() {
        let drawn = |seed, purpose, number| Streams::new(seed).number(purpose, number);
        let all = [drawn(1, "row/a", 0), drawn(2, "row/a", 0), drawn(1, "row/b", 0), drawn(1, "row/a", 1)];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert_eq!(drawn(1, "row/a", 0), drawn(1, "row/a", 0));
    }
}
