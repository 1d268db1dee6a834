//! Owns random draws: one ChaCha8 stream for each (seed, resource, field, record).
//!
//! The stream of a value depends on nothing else, so that adding a field or record elsewhere does not change
//! it. This module derives numbers from the stream itself, because `rand`'s distributions may change between
//! versions. ChaCha's words are specified.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The streams of one field: a key, and a stream number for each record.
#[derive(Clone)]
pub(crate) struct Streams([u8; 32]);

/// The draws for one value.
pub(crate) struct Draw(ChaCha8Rng);

impl Streams {
    /// Makes the streams of a field. `purpose` distinguishes several streams of one field, such as value and
    /// presence.
    pub(crate) fn new(seed: u64, resource: &str, field: &str, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"diorama record/1");
        hasher.update(&seed.to_le_bytes());
        for part in [resource, field, purpose] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Returns the draws for record `n`. Each attempt gives other draws.
    pub(crate) fn draw(&self, n: u64, attempt: u32) -> Draw {
        let mut rng = ChaCha8Rng::from_seed(self.0);
        // A world holds fewer than 2^40 records, so number and attempt do not overlap.
        rng.set_stream(n | (u64::from(attempt) << 40));
        Draw(rng)
    }
}

impl Draw {
    /// Returns a number below `n`, or 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Returns an index below `n`, or 0 if `n` is 0.
    pub(crate) fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let span = high.abs_diff(low);
        let offset = if span == u64::MAX { self.0.next_u64() } else { self.below(span + 1) };
        low.wrapping_add_unsigned(offset)
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        // A double has 53 bits of precision.
        ((self.0.next_u64() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// Returns one of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Returns a permutation of `0..n`.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.index(i + 1));
        }
        order
    }

    /// Returns the generator for the `fake` crate.
    pub(crate) fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }
}
