//! The domain agent without a model: a batch plays in a world template of the recipe.

use std::sync::Arc;

use diorama_output::plan::Batch;
use diorama_seeds::value::Date;
use rand::RngExt;

use super::error::PipelineError;
use super::make::make_world_at;
use super::recipe::Recipe;
use super::world::BatchWorld;

/// Weeks between a world's authored start and the one drawn for a batch, at most: the season stays.
pub(crate) const MAX_WEEKS_APART: i32 = 5;

/// Makes the world of a batch, a function of the recipe and the batch's number: world templates take turns.
///
/// # Errors
/// When it cannot be made.
pub fn batch_world(recipe: &Recipe, batch: &Batch) -> Result<Arc<BatchWorld>, PipelineError> {
    let world_template = recipe.world_template(batch)?;
    let mut stream = recipe.stream("batch", batch.index);
    let seed = stream.random();
    let mut clock = world_template.world().clock;
    // The records of scenarios fit any week near the authored one: the day of the week and the hour stay.
    if !world_template.scenario_set.scenarios().is_empty() {
        let weeks = stream.random_range(-MAX_WEEKS_APART..=MAX_WEEKS_APART);
        let zone = &world_template.world().zone;
        let date = zone.date_of(clock);
        clock = zone.instant(Date(date.0 + weeks * 7), zone.time_of(clock));
    }
    Ok(Arc::new(make_world_at(world_template, seed, clock)?))
}
