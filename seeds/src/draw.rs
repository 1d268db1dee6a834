//! Random draws: one ChaCha8 stream for each (seed, resource, field, record).
//!
//! The stream of a value depends on nothing else, so that adding a field or a record elsewhere leaves it as it was.
//! Numbers are taken from the stream here and not by `rand`'s distributions, because those may change between
//! versions while ChaCha's words are specified.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The streams of one field: a key, and a stream number for each record.
#[derive(Clone)]
pub(crate) struct Streams([u8; 32]);

/// Draws for one value.
pub(crate) struct Draw(ChaCha8Rng);

impl Streams {
    /// `purpose` tells apart the streams that one field has (its value, its presence).
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

    /// The draws for record `n`; a later attempt gives others.
    pub(crate) fn draw(&self, n: u64, attempt: u32) -> Draw {
        let mut rng = ChaCha8Rng::from_seed(self.0);
        // 2^40 records are more than a world can hold, so number and attempt do not meet.
        rng.set_stream(n | (u64::from(attempt) << 40));
        Draw(rng)
    }
}

impl Draw {
    /// A number below `n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// An index below `n`; 0 when `n` is 0.
    pub(crate) fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let span = high.abs_diff(low);
        let offset = if span == u64::MAX { self.0.next_u64() } else { self.below(span + 1) };
        low.wrapping_add_unsigned(offset)
    }

    /// True in this share of the draws.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        // 53 bits fill a double's mantissa exactly.
        ((self.0.next_u64() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// One of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// A permutation of `0..n`.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.index(i + 1));
        }
        order
    }

    /// The generator itself, for the `fake` crate.
    pub(crate) fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }
}
