//! Plays a batch in a world template of the recipe, as the domain agent without a model.

use std::sync::Arc;

use diorama_output::plan::Batch;
use diorama_seeds::model::World;
use diorama_seeds::value::{Date, Instant, Time};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::error::PipelineError;
use super::make::make_world_at;
use super::recipe::Recipe;
use super::world::BatchWorld;

/// The greatest number of days between a world's authored start and a batch's: the season stays.
const MAX_DAYS_APART: i32 = 38;
/// The range of the time of day at which batches begin, in minutes after midnight.
const DAY_MINUTES: std::ops::RangeInclusive<u32> = 7 * 60 + 30..=19 * 60;

/// Makes the world of a batch: a function of the recipe, the batch's subject and the number of the subject's
/// earlier batches.
///
/// # Errors
/// Returns an error if the world cannot be made.
pub fn make_batch_world(recipe: &Recipe, batch: &Batch) -> Result<Arc<BatchWorld>, PipelineError> {
    let world_template = recipe.world_template(batch)?;
    let (subject, visit) = recipe.visit(batch);
    let mut stream = recipe.streams().stream(&format!("world/{}", subject.name), visit);
    let seed = stream.random();
    let mut clock = world_template.world().clock;
    // Scenario records follow from the start, so they fit any day and hour near the authored ones.
    if !world_template.scenario_set.scenarios().is_empty() {
        clock = draw_clock(world_template.world(), &mut stream);
    }
    Ok(Arc::new(make_world_at(world_template, seed, clock)?))
}

/// Draws the start of a batch's world: a day near the authored one, at a time of day at which people make
/// requests.
pub(crate) fn draw_clock(world: &World, stream: &mut ChaCha8Rng) -> Instant {
    let days = stream.random_range(-MAX_DAYS_APART..=MAX_DAYS_APART);
    let time = Time(stream.random_range(DAY_MINUTES) * 60);
    let (zone, clock) = (&world.zone, world.clock);
    zone.instant(Date(zone.date_of(clock).0 + days), time)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::SeedableRng;

    use super::*;

    #[test]
    fn batches_start_on_each_weekday_from_morning_to_evening() {
        let doc = crate::catalog::world("hotel_rooms").unwrap().unwrap();
        let world = diorama_seeds::world::compile(&doc).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let (mut days, mut hours) = (HashSet::new(), HashSet::new());
        for _ in 0..400 {
            let clock = draw_clock(&world, &mut stream);
            let (date, time) = (world.zone.date_of(clock), world.zone.time_of(clock));
            assert!((date.0 - world.zone.date_of(world.clock).0).abs() <= MAX_DAYS_APART);
            assert!(DAY_MINUTES.contains(&(time.0 / 60)), "{time}");
            days.insert(date.0.rem_euclid(7));
            hours.insert(time.0 / 3600);
        }
        assert_eq!((days.len(), hours.len()), (7, 13));
    }
}
