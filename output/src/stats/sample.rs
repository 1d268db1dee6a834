//! Seeded draws of rows.

use std::collections::BTreeMap;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Draws that a figure is the mean of.
pub(super) const DRAWS: u64 = 20;
/// Rows in a draw.
pub(super) const ROWS: u64 = 200;

/// The rows of a draw: different numbers below `rows`, at most [`ROWS`] of them. They depend on the two arguments alone:
/// the shuffle is written out here because a library's may change with its version.
pub(super) fn draw(number: u64, rows: u64) -> Vec<u64> {
    let mut stream = ChaCha8Rng::seed_from_u64(number);
    // Fisher and Yates's shuffle, stopped early; only places that have moved are stored.
    let mut moved: BTreeMap<u64, u64> = BTreeMap::new();
    let at = |moved: &BTreeMap<u64, u64>, place: u64| moved.get(&place).copied().unwrap_or(place);
    (0..rows.min(ROWS))
        .map(|place| {
            let other = place + below(&mut stream, rows - place);
            let drawn = at(&moved, other);
            let displaced = at(&moved, place);
            moved.insert(other, displaced);
            drawn
        })
        .collect()
}

/// A number below `bound`, each equally likely: values of the uneven end of the range are drawn again.
fn below(stream: &mut ChaCha8Rng, bound: u64) -> u64 {
    let bound = bound.max(1);
    let uneven = u64::MAX - u64::MAX % bound;
    loop {
        let value = stream.next_u64();
        if value < uneven {
            return value % bound;
        }
    }
}
