//! The domain and API agents: which world a batch plays in.
//!
//! Without a model, the domain agent chooses among the world templates of the recipe and the API agent's work is the catalog's:
//! APIs and behaviours written in advance, records made up from the batch's seed.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_output::plan::Batch;
use diorama_proof::Vocabulary;
use diorama_seeds::value::{Date, Instant};
use rand::RngExt;

use super::error::PipelineError;
use super::recipe::Recipe;
use super::world::{BatchWorld, WorldTemplate};

/// Chooses and makes the world of a batch.
pub trait DomainAgent: Sync + Send {
    /// The world of a batch: a function of the recipe and the batch's number.
    ///
    /// # Errors
    /// When it cannot be made.
    fn world(&self, recipe: &Recipe, batch: &Batch) -> Result<Arc<BatchWorld>, PipelineError>;
}

/// Writes the records of a world template's world.
pub trait ApiAgent: Sync + Send {
    /// A world of the world template from a seed, which starts at the template's clock.
    ///
    /// # Errors
    /// When it cannot be made.
    fn build(&self, world_template: &Arc<WorldTemplate>, seed: u64) -> Result<BatchWorld, PipelineError> {
        self.build_at(world_template, seed, world_template.world().clock)
    }

    /// As [`ApiAgent::build`], for a world that starts at another time.
    ///
    /// # Errors
    /// When it cannot be made.
    fn build_at(
        &self,
        world_template: &Arc<WorldTemplate>,
        seed: u64,
        clock: Instant,
    ) -> Result<BatchWorld, PipelineError>;
}

/// Weeks between a world's authored start and the one drawn for a batch, at most: the season stays.
pub(super) const MAX_WEEKS_APART: i32 = 5;

/// The domain agent without a model: world templates in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioDomain<A> {
    /// The API agent.
    pub apis: A,
}

/// The API agent without a model: the catalog's APIs, records from the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioApis;

impl<A: ApiAgent> DomainAgent for ScenarioDomain<A> {
    fn world(&self, recipe: &Recipe, batch: &Batch) -> Result<Arc<BatchWorld>, PipelineError> {
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
        Ok(Arc::new(self.apis.build_at(world_template, seed, clock)?))
    }
}

impl ApiAgent for ScenarioApis {
    fn build_at(
        &self,
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
}
