//! Near-duplicates: texts whose word 3-shingles have a Jaccard similarity of at least 0.8 or 0.6 with an
//! earlier text.
//!
//! Exact except for collisions of 64-bit hashes. Two such sets share at least one of their few rarest
//! shingles (the prefix filter of Chaudhuri, Ganti and Kaushik, 2006). An inverted index over those gives all
//! candidates, and each candidate is compared in full.

use std::collections::{HashMap, HashSet};

/// The shingle sets of texts, in order.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    sets: Vec<Box<[u64]>>,
}

/// Returns the distinct shingles of a text, sorted.
pub fn shingles(words: &[String]) -> Box<[u64]> {
    let mut set: Vec<u64> = match words {
        [] => Vec::new(),
        [_] | [_, _] => vec![shingle(words)],
        _ => words.windows(3).map(shingle).collect(),
    };
    set.sort_unstable();
    set.dedup();
    set.into_boxed_slice()
}

impl Duplicates {
    /// Adds the words of the next text.
    pub fn add(&mut self, words: &[String]) {
        self.sets.push(shingles(words));
    }

    /// Returns the number of texts that are near-duplicates of an earlier one.
    pub fn count(&self, nearness: Nearness) -> u64 {
        let sets = self.ranked();
        let mut seen: HashSet<&[u32]> = HashSet::new();
        let mut index: HashMap<u32, Vec<usize>> = HashMap::new();
        // For each candidate, the last text that it was compared with, so that each pair is compared once.
        let mut compared: Vec<usize> = vec![usize::MAX; sets.len()];
        let mut count = 0;
        for (number, set) in sets.iter().enumerate() {
            if !seen.insert(set) {
                // An equal set is a duplicate, and the index already has its entries.
                count += 1;
                continue;
            }
            let prefix = set.get(..prefix_length(set.len(), nearness)).unwrap_or_default();
            let mut candidates = prefix.iter().filter_map(|rank| index.get(rank)).flatten().copied();
            let repeats = candidates.any(|earlier| {
                let fresh =
                    compared.get_mut(earlier).is_some_and(|last| std::mem::replace(last, number) != number);
                fresh && sets.get(earlier).is_some_and(|other| are_near(set, other, nearness))
            });
            count += u64::from(repeats);
            for rank in prefix {
                index.entry(*rank).or_default().push(number);
            }
        }
        count
    }

    /// Returns the sets with each shingle replaced by its rank, the rarest first, sorted by rank. Rare
    /// shingles in a prefix give few candidates.
    fn ranked(&self) -> Vec<Vec<u32>> {
        let mut frequency: HashMap<u64, u32> = HashMap::new();
        for shingle in self.sets.iter().flatten() {
            *frequency.entry(*shingle).or_default() += 1;
        }
        let mut order: Vec<(u32, u64)> =
            frequency.iter().map(|(shingle, count)| (*count, *shingle)).collect();
        order.sort_unstable();
        let mut ranks = frequency;
        for (rank, (_, shingle)) in (0_u32..).zip(&order) {
            ranks.insert(*shingle, rank);
        }
        self.sets
            .iter()
            .map(|set| {
                let mut set: Vec<u32> =
                    set.iter().filter_map(|shingle| ranks.get(shingle)).copied().collect();
                set.sort_unstable();
                set
            })
            .collect()
    }
}

/// The minimum similarity: intersection divided by union, in fifths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// 0.6.
    ThreeFifths = 3,
    /// 0.8.
    FourFifths = 4,
}

/// Returns the number of its rarest shingles of which a set shares at least one with every similar set. A
/// similar set has at least three or four fifths of the shingles. So one more than the remaining fifths must
/// include a common one.
const fn prefix_length(size: usize, nearness: Nearness) -> usize {
    if size == 0 { 0 } else { size - (nearness as usize * size).div_ceil(5) + 1 }
}

/// Returns true if the similarity is at least 0.8.
pub fn similar<T: Ord>(left: &[T], right: &[T]) -> bool {
    are_near(left, right, Nearness::FourFifths)
}

/// Returns true if the similarity is at least `nearness`. Uses integers only.
pub fn are_near<T: Ord>(left: &[T], right: &[T], nearness: Nearness) -> bool {
    let fifths = nearness as usize;
    let (small, large) = (left.len().min(right.len()), left.len().max(right.len()));
    if 5 * small < fifths * large {
        return false;
    }
    let mut right = right.iter().peekable();
    let mut common = 0;
    for rank in left {
        while right.next_if(|other| *other < rank).is_some() {}
        common += usize::from(right.next_if_eq(&rank).is_some());
    }
    5 * common >= fifths * (small + large - common)
}

fn shingle(words: &[String]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for word in words {
        hasher.update(word.as_bytes());
        // No word holds a space.
        hasher.update(b" ");
    }
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
