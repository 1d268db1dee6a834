//! Bundles the world of a proof, and the flag that stops a check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use diorama_engine::Base;
use diorama_seeds::model::ApiId;

use crate::survey::Survey;
use crate::vocabulary::Vocabulary;

/// A frozen world, with the indexes that follow from it alone.
#[derive(Clone, Copy)]
pub struct WorldContext<'a> {
    /// The engine's frozen base.
    pub base: &'a Arc<Base>,
    /// The names of its records.
    pub vocabulary: &'a Vocabulary,
    /// The APIs that find, show and change records.
    pub survey: &'a Survey,
    /// The flag of a client that has left.
    pub stop: Stop<'a>,
}

/// A stop flag, which is read between steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// Never stops.
    pub const NEVER: Self = Self(None);

    /// Stops once the flag is true.
    #[must_use]
    pub const fn on_flag(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Returns true once the check must stop.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Relaxed))
    }
}

impl WorldContext<'_> {
    /// Returns the APIs of the world.
    pub(crate) fn apis(&self) -> impl Iterator<Item = ApiId> + use<> {
        let count = u16::try_from(self.base.world().apis.len()).unwrap_or(u16::MAX);
        (0..count).map(ApiId)
    }
}
