//! Integer scores and their order.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The score of an entry. The best of each ranking has 65,536.
pub type Score = i64;
/// Scores by position.
pub type Scores = BTreeMap<usize, Score>;

/// The score of the best entry of one ranking.
pub const BEST: Score = 65_536;
/// The score of an entry that is the best of both rankings.
pub const BEST_OF_ALL: Score = 2 * BEST;

/// Sorts by descending score, ties by item.
pub fn best_first<T: Copy + Ord>(scored: &mut [(Score, T)]) {
    scored.sort_unstable_by_key(|(score, scored)| (Reverse(*score), *scored));
}
