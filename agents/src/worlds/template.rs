//! World templates that are composed and compiled when a batch first uses them.

use std::sync::{Arc, OnceLock};

use diorama_seeds::world::Report;

use super::world::WorldTemplate;

type Make = Box<dyn Fn() -> Result<Arc<WorldTemplate>, Report> + Send + Sync>;

/// A world template, made at its first use.
pub struct LazyTemplate {
    domains: Vec<String>,
    make: Make,
    made: OnceLock<Result<Arc<WorldTemplate>, Report>>,
}

impl LazyTemplate {
    /// A world template of these domains, in the order of its world.
    pub fn new(
        domains: Vec<String>,
        make: impl Fn() -> Result<Arc<WorldTemplate>, Report> + Send + Sync + 'static,
    ) -> Self {
        Self { domains, make: Box::new(make), made: OnceLock::new() }
    }

    /// A world template that is made already.
    pub fn from_template(template: Arc<WorldTemplate>) -> Self {
        let domains = template.world().domains.iter().map(|domain| domain.name.to_string()).collect();
        Self::new(domains, move || Ok(template.clone()))
    }

    /// The names of its domains, in the order of its world.
    pub fn domains(&self) -> &[String] {
        &self.domains
    }

    /// The world template.
    ///
    /// # Errors
    /// The findings of the reader.
    pub fn get(&self) -> Result<&Arc<WorldTemplate>, Report> {
        self.made.get_or_init(|| (self.make)()).as_ref().map_err(Clone::clone)
    }
}
