//! World templates that are composed and compiled when a batch first uses them.

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
    /// A world template that is made in this way.
    pub fn new(make: impl Fn() -> Result<Arc<WorldTemplate>, Report> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), made: OnceLock::new() }
    }

    /// A world template that is made already.
    pub fn from_template(template: Arc<WorldTemplate>) -> Self {
        Self::new(move || Ok(template.clone()))
    }

    /// The world template.
    ///
    /// # Errors
    /// The findings of the reader.
    pub fn get(&self) -> Result<&Arc<WorldTemplate>, Report> {
        self.made.get_or_init(|| (self.make)()).as_ref().map_err(Clone::clone)
    }
}
