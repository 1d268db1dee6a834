//! The domain and API agents: which world a batch plays in.
//!
//! Offline, the domain agent chooses among the families of the recipe and the API agent's work is the catalog's:
//! APIs and behaviours written in advance, records made up from the batch's seed.

use std::sync::{Arc, Mutex};

use diorama_output::plan::Batch;
use diorama_simulator::engine::Base;
use diorama_simulator::grade::Vocabulary;
use rand::RngExt;

use super::pipeline::{PipelineError, SharedWorld};
use super::recipe::Recipe;
use super::world::{BatchWorld, Family};

/// Chooses and makes the world of a batch.
pub trait DomainAgent: Sync + Send {
    /// The world of a batch: a function of the recipe and the batch's number.
    ///
    /// # Errors
    /// When it cannot be made.
    fn world(&self, recipe: &Recipe, batch: &Batch) -> Result<SharedWorld, PipelineError>;
}

/// Writes the records of a family's world.
pub trait ApiAgent: Sync + Send {
    /// A world of the family from a seed.
    ///
    /// # Errors
    /// When it cannot be made.
    fn build(&self, family: &Arc<Family>, seed: u64) -> Result<BatchWorld, PipelineError>;
}

/// The domain agent without a model: families in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioDomain<A> {
    /// The API agent.
    pub apis: A,
}

/// The API agent without a model: the catalog's APIs, records from the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioApis;

impl<A: ApiAgent> DomainAgent for ScenarioDomain<A> {
    fn world(&self, recipe: &Recipe, batch: &Batch) -> Result<SharedWorld, PipelineError> {
        let families = recipe.families(batch.split);
        // Every tenth batch is of the other split, so neither numbering may skip families: the stream decides.
        let mut stream = recipe.stream("batch", batch.index);
        let family = &families[stream.random_range(0..families.len())];
        Ok(Arc::new(self.apis.build(family, stream.random())?))
    }
}

impl ApiAgent for ScenarioApis {
    fn build(&self, family: &Arc<Family>, seed: u64) -> Result<BatchWorld, PipelineError> {
        let made = family.source.run(seed)?;
        let base = Base::new(made.world)?;
        let vocabulary = Vocabulary::new(&base);
        let id = format!("{}-{}", family.name, made.hash.get(..12).unwrap_or(&made.hash));
        Ok(BatchWorld {
            family: family.clone(),
            base,
            vocabulary,
            id,
            hash: made.hash.to_string(),
            canonical: made.canonical.into(),
            shadow: family.shadow()?,
            planned: Mutex::default(),
        })
    }
}
