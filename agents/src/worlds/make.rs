//! Makes worlds of a template: APIs and behaviours were written in advance, and a seed generates the records.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_proof::Vocabulary;
use diorama_seeds::value::Instant;

use super::error::PipelineError;
use super::world::{BatchWorld, WorldTemplate};

/// Makes a world of a template from a seed. It starts at the template's clock.
///
/// # Errors
/// Returns an error if the world cannot be made.
pub fn make_world(world_template: &Arc<WorldTemplate>, seed: u64) -> Result<BatchWorld, PipelineError> {
    make_world_at(world_template, seed, world_template.world().clock)
}

/// Makes a world of a template from a seed. It starts at the given time.
///
/// # Errors
/// Returns an error if the world cannot be made.
pub fn make_world_at(
    world_template: &Arc<WorldTemplate>,
    seed: u64,
    clock: Instant,
) -> Result<BatchWorld, PipelineError> {
    let made = world_template.source.materialise_at(seed, clock)?;
    let base = Base::new(made.world)?;
    let vocabulary = Vocabulary::new(&base);
    let id = format!("{}-{}", world_template.name, made.hash.get(..12).unwrap_or(&made.hash));
    Ok(BatchWorld {
        world_template: world_template.clone(),
        base,
        vocabulary,
        id,
        hash: made.hash.to_string(),
        canonical: made.canonical.into(),
        alternates: world_template.alternates()?,
    })
}
