//! The domain and API agents: which world a batch plays in.
//!
//! Without a model, the domain agent chooses among the world templates of the recipe and the API agent's work is the catalog's:
//! APIs and behaviours written in advance, records made up from the batch's seed.

use std::sync::{Arc, Mutex};

use diorama_engine::Base;
use diorama_grade::Vocabulary;
use diorama_output::plan::Batch;
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
    /// A world of the world template from a seed.
    ///
    /// # Errors
    /// When it cannot be made.
    fn build(&self, world_template: &Arc<WorldTemplate>, seed: u64) -> Result<BatchWorld, PipelineError>;
}

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
        let world_templates = recipe.world_templates(batch.split);
        // Every tenth batch is of the other split, so neither numbering may skip world templates: the stream decides.
        let mut stream = recipe.stream("batch", batch.index);
        let world_template = &world_templates[stream.random_range(0..world_templates.len())];
        Ok(Arc::new(self.apis.build(world_template, stream.random())?))
    }
}

impl ApiAgent for ScenarioApis {
    fn build(&self, world_template: &Arc<WorldTemplate>, seed: u64) -> Result<BatchWorld, PipelineError> {
        let made = world_template.source.materialise(seed)?;
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
            planned: Mutex::default(),
        })
    }
}
