//! Defers the composition and compilation of world templates until a batch first uses them.

use std::sync::{Arc, OnceLock};

use diorama_seeds::world::Report;

use super::world::WorldTemplate;

type Make = Box<dyn Fn() -> Result<Arc<WorldTemplate>, Report> + Send + Sync>;

/// A world template, made at its first use.
pub struct LazyTemplate {
    make: Make,
    made: OnceLock<Result<Arc<WorldTemplate>, Report>>,
}

impl LazyTemplate {
    /// Creates a world template that `make` builds on first use.
    pub fn new(make: impl Fn() -> Result<Arc<WorldTemplate>, Report> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), made: OnceLock::new() }
    }

    /// Wraps an existing world template.
    pub fn from_template(template: Arc<WorldTemplate>) -> Self {
        Self::new(move || Ok(template.clone()))
    }

    /// Returns the world template; the first call builds it.
    ///
    /// # Errors
    /// Returns the findings of the reader.
    pub fn get(&self) -> Result<&Arc<WorldTemplate>, Report> {
        self.made.get_or_init(|| (self.make)()).as_ref().map_err(Clone::clone)
    }
}
