//! The tools that a conversation shows at its start: the needed ones among others.

use diorama_seeds::model::{ApiId, World};
use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Tools that are visible at the start, at most.
const MOST_TOOLS: usize = 128;

/// Needed tools among others, in any order: none, a few, many, or all that the world has.
pub(crate) fn tools_among(world: &World, needed: Vec<ApiId>, rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    let others: Vec<ApiId> = world.api_ids().filter(|id| !needed.contains(id)).collect();
    let count = match rng.random_range(0..100) {
        0..10 => 0,
        10..60 => rng.random_range(1..=8),
        60..90 => rng.random_range(8..=24),
        _ => others.len(),
    };
    let count = count.min(MOST_TOOLS.saturating_sub(needed.len()));
    let mut tools: Vec<ApiId> = others.into_iter().sample(rng, count);
    tools.extend(needed);
    tools.shuffle(rng);
    tools
}
