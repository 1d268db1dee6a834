//! Defines the error of the pipeline.

use diorama_engine::BaseError;
use diorama_seeds::world::Report;

/// The reason for which the rows of a batch cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A world cannot be materialised.
    #[error("{0}")]
    World(#[from] Report),
    /// The engine cannot take a world.
    #[error(transparent)]
    Engine(#[from] BaseError),
}
