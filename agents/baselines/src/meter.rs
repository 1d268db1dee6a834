//! Owns the meter: the remaining budget of a running episode, by time and by charges.

use std::time::Instant;

use crate::environment::{Budget, EnvironmentError, View};
use crate::trace::Note;

/// The remaining budget of a running episode.
pub struct Meter {
    left: Budget,
    started: Instant,
    charged_ms: u64,
}

impl Meter {
    /// Starts the clock.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { left: budget, started: Instant::now(), charged_ms: 0 }
    }

    /// Returns the rest of the budget.
    #[must_use]
    pub const fn left(&self) -> Budget {
        self.left
    }

    /// Takes a step, and a call if `is_call` is true.
    ///
    /// # Errors
    /// Returns the exceeded limit, or [`EnvironmentError::Over`] if the conversation is over.
    pub fn take(&mut self, view: &View, is_call: bool) -> Result<(), EnvironmentError> {
        if view.over {
            return Err(EnvironmentError::Over);
        }
        let used_ms = self.used_ms();
        self.left.take(is_call, used_ms)
    }

    /// Charges the tokens of a note.
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn note(&mut self, note: &Note) -> Result<(), EnvironmentError> {
        let used_ms = self.used_ms();
        self.left.note(note, used_ms)
    }

    /// Charges simulated time.
    pub const fn charge(&mut self, ms: u64) {
        self.charged_ms = self.charged_ms.saturating_add(ms);
    }

    fn used_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        elapsed.saturating_add(self.charged_ms)
    }
}
