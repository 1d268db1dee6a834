//! Fusion: combines the rankings by words and by meaning with the needs of APIs. Integers only, so every
//! machine gets the same result.
//!
//! A rank `r` (from 0) scores 65,536 · 10 / (10 + `r`), rounded down.

use super::entry::ApiEntry;
use super::needs::{ExchangedScores, Needs};
use super::score::{BEST, Score, Scores, best_first};
use super::vectors::Vectors;
use super::words::split;
use crate::embed::{EmbedError, Embedder};

/// The rank at which half of the score remains.
const HALF_RANK: Score = 10;
/// A smaller cosine is chance. One fifth, in 2^-28ths.
const LEAST: i32 = (1 << 28) / 5;
/// Maximum number of texts per embedding batch.
const BATCH: usize = 1_024;

/// The vectors and needs of the entries.
#[derive(Debug, Default)]
pub struct Fusion {
    vectors: Vectors,
    needs: Needs,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct FusedScores {
    /// The scores from both rankings.
    pub own: Scores,
    /// The scores that hits gave each other.
    pub exchanged: ExchangedScores,
    /// All scores, best first, ties by position.
    pub best: Vec<(Score, usize)>,
}

impl Fusion {
    /// Embeds the texts of entries and finds their needs.
    ///
    /// # Errors
    /// Returns an error if a text cannot be embedded.
    pub fn new(entries: &[ApiEntry], embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let texts: Vec<String> = entries.iter().map(ApiEntry::text).collect();
        let mut values = Vec::with_capacity(texts.len() * embedder.dimensions());
        for batch in texts.chunks(BATCH) {
            values.extend(embedder.embed(&batch.iter().map(String::as_str).collect::<Vec<_>>())?);
        }
        let vectors = Vectors::new(embedder.dimensions(), &values);
        Ok(Self { needs: Needs::new(entries, &vectors), vectors })
    }

    /// Returns the entries nearest to a text in meaning, with cosines in 2^-28ths. The nearest is first; ties
    /// are sorted by position.
    pub fn nearest(
        &self,
        text: &str,
        embedder: &dyn Embedder,
        limit: usize,
        passes: impl Fn(usize) -> bool,
    ) -> Result<Vec<(i32, usize)>, EmbedError> {
        // A query of marks without a word has a vector, but no meaning.
        if split(text).next().is_none() {
            return Ok(Vec::new());
        }
        Ok(self.vectors.nearest(&embedder.embed(&[text])?, LEAST, limit, passes))
    }

    /// Fuses rankings, each best first. With `needs`, hits that fit together rise, and the APIs that the best
    /// hits need are added.
    pub fn fused(
        &self,
        rankings: [&mut dyn Iterator<Item = usize>; 2],
        needs: bool,
        passes: impl Fn(usize) -> bool,
    ) -> FusedScores {
        let mut own = Scores::new();
        for ranking in rankings {
            for (rank, position) in (0..).zip(ranking) {
                *own.entry(position).or_default() += BEST * HALF_RANK / (HALF_RANK + rank);
            }
        }
        let exchanged = if needs { self.needs.exchanged(&own, passes) } else { ExchangedScores::default() };
        let mut all = own.clone();
        let passed = exchanged.passed.iter().map(|(position, passed)| (passed.score, *position));
        for (score, position) in exchanged.fed.iter().copied().chain(passed) {
            let all = all.entry(position).or_default();
            *all = score.max(*all);
        }
        let mut best: Vec<_> = all.into_iter().map(|(position, score)| (score, position)).collect();
        best_first(&mut best);
        FusedScores { own, exchanged, best }
    }
}
