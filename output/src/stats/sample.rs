//! Seeded draws of rows.

use std::collections::BTreeMap;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Number of draws over which a figure is averaged.
pub(super) const DRAWS: u64 = 20;
/// Number of rows in a draw.
pub(super) const ROWS: u64 = 200;

/// Returns the rows of a draw: at most [`ROWS`] different numbers below `rows`. They depend only on the
/// arguments. The shuffle is written out here, because a library's may change with its version.
pub(super) fn draw(number: u64, rows: u64) -> Vec<u64> {
    let mut stream = ChaCha8Rng::seed_from_u64(number);
    // Fisher-Yates shuffle, stopped early. Only moved positions are stored.
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

/// Returns a number below `bound`, each with equal probability. Values in the incomplete last interval are
/// drawn again.
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
