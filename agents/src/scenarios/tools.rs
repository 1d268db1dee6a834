//! Chooses the tools that a conversation shows at its start: the needed ones among others.

use std::ops::RangeInclusive;

use diorama_proof::difficulty::is_confusable;
use diorama_seeds::model::{ApiId, World};
use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

/// The greatest number of tools that are visible at the start.
const MOST_TOOLS: usize = 128;
/// The number of tools of a large pool, up to all tools of the world.
const LARGE_POOL_TOOLS: RangeInclusive<usize> = 30..=200;
/// The greatest share of a large pool that confusable tools take.
const MAX_TWINS_SHARE: f64 = 0.7;

/// The number of tools beside the needed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pool {
    /// None, a few, many, or all tools of the world.
    #[default]
    Usual,
    /// Dozens, beginning with tools that can be mistaken for needed ones.
    Large,
}

/// Returns the needed tools among others, in random order.
pub(crate) fn tools_among(world: &World, needed: Vec<ApiId>, pool: Pool, rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    let others: Vec<ApiId> = world.api_ids().filter(|id| !needed.contains(id)).collect();
    let mut tools = match pool {
        Pool::Usual => choose_some(others, needed.len(), rng),
        Pool::Large => choose_near(world, others, &needed, rng),
    };
    tools.extend(needed);
    tools.shuffle(rng);
    tools
}

fn choose_some(others: Vec<ApiId>, needed: usize, rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    let count = match rng.random_range(0..100) {
        0..10 => 0,
        10..60 => rng.random_range(1..=8),
        60..90 => rng.random_range(8..=24),
        _ => others.len(),
    };
    let count = count.min(MOST_TOOLS.saturating_sub(needed));
    others.into_iter().sample(rng, count)
}

/// Chooses the tools of a large pool: confusable ones of the same domains, confusable ones of others, then
/// any.
fn choose_near(world: &World, mut others: Vec<ApiId>, needed: &[ApiId], rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    let count = rng.random_range(LARGE_POOL_TOOLS).saturating_sub(needed.len());
    others.shuffle(rng);
    let is_near = |id: &ApiId| needed.iter().any(|own| is_confusable(world.api(*id), world.api(*own)));
    let is_beside = |id: &ApiId| needed.iter().any(|own| world.api(*own).domain == world.api(*id).domain);
    let (mut near, mut rest): (Vec<ApiId>, Vec<ApiId>) = others.into_iter().partition(is_near);
    near.sort_by_key(|id| !is_beside(id));
    let twins = near.len().min((count as f64 * MAX_TWINS_SHARE) as usize);
    rest.extend(near.split_off(twins));
    near.extend(rest);
    near.truncate(count);
    near
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_large_pool_has_the_needed_tools_and_all_confusable_ones() {
        let docs: Vec<_> = ["dental_clinic", "city_library", "personal_bank", "hotel_rooms"]
            .into_iter()
            .map(|name| crate::catalog::world(name).unwrap().unwrap())
            .collect();
        let doc = diorama_seeds::compose::compose("several", &docs).unwrap();
        let world = diorama_seeds::world::compile(&doc).unwrap();
        let cancel = world.api_named("CancelAppointment").unwrap();
        let twins: Vec<ApiId> = world
            .api_ids()
            .filter(|id| *id != cancel && is_confusable(world.api(*id), world.api(cancel)))
            .collect();
        assert!(twins.len() > 3, "{} twins", twins.len());
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let tools = tools_among(&world, vec![cancel], Pool::Large, &mut rng);
            assert!(LARGE_POOL_TOOLS.contains(&tools.len()) || tools.len() == world.apis.len());
            assert!(tools.contains(&cancel) && twins.iter().all(|twin| tools.contains(twin)));
            let unique: std::collections::BTreeSet<&ApiId> = tools.iter().collect();
            assert_eq!(unique.len(), tools.len());
        }
    }
}
