//! The proof of a task.
//!
//! Owns what a candidate is, the ground its arguments and statements stand on, and the six gates. A candidate holds
//! nothing but what was said and done, whoever wrote it: what the gates need beyond that is derived again from the
//! visible text and the replies. No author of candidates lives here, and nothing here knows of files, datasets or
//! chat models.

pub mod answer;
pub mod binding;
pub mod candidate;
pub mod checks;
pub mod difficulty;
pub mod gates;
pub mod ground;
pub mod measures;
pub mod reason;
mod statements;
pub mod survey;
pub mod verdict;
mod vocabulary;

use diorama_engine::Base;
use diorama_seeds::model::ApiId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use candidate::Candidate;
pub use gates::{Gate, GateReport, Tally, prove};
pub use ground::{Grounded, ground, ground_with};
pub use reason::{Code, Reason};
pub use survey::Survey;
pub use vocabulary::Vocabulary;

/// What a candidate is held against: a frozen world, and what follows from it alone.
#[derive(Clone, Copy)]
pub struct WorldContext<'a> {
    /// The engine's frozen base.
    pub base: &'a Arc<Base>,
    /// The names of its records.
    pub vocabulary: &'a Vocabulary,
    /// Which API finds, shows and changes what.
    pub survey: &'a Survey,
    /// Tells a check that its client has left.
    pub stop: Stop<'a>,
}

/// A wish to stop, looked at between steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// A check that runs to its end.
    pub const NEVER: Self = Self(None);

    /// Stops once this is true.
    #[must_use]
    pub const fn when(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Returns true once the check is to stop.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Relaxed))
    }
}

impl WorldContext<'_> {
    /// The APIs of the world.
    pub(crate) fn apis(&self) -> impl Iterator<Item = ApiId> + use<> {
        let count = u16::try_from(self.base.world().apis.len()).unwrap_or(u16::MAX);
        (0..count).map(ApiId)
    }
}
