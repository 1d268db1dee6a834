//! Chooses what the drawn records of a conversation should show: a policy that decides narrowly, and a record
//! on a later page. What no draw shows is given up.

use diorama_seeds::model::{ApiId, ReadingError, World};
use diorama_seeds::scenario::Scenario;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::unplayed::PlayError;

/// The share of allowed requests for which an exception is sought before a near limit.
const PREFERS_EXCEPTION: f64 = 0.5;
/// Draws of records that may lack one wish before the next wish is tried.
const MAX_MISSES: u32 = 8;

/// The wishes for one draw of records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    /// The errors of which one must turn the policy's verdict; none if any verdict will do.
    pub(crate) turns_by: &'static [ReadingError],
    /// True if a list that is read page by page must be read beyond its first page.
    pub(crate) reads_on: bool,
}

/// The wishes for a conversation. Each is kept for some draws of records.
pub(crate) struct Wishes {
    /// The lists of errors, in the order of their use.
    errors: Vec<&'static [ReadingError]>,
    reads_on: bool,
    clear_verdicts: u32,
    first_pages: u32,
}

impl Wishes {
    /// Draws the wishes for a scenario. No error is wished for without a governed call, or where none could turn
    /// the verdict.
    pub(crate) fn draw(
        world: &World,
        scenario: &Scenario,
        (forbids, reads_on): (bool, bool),
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let governed = scenario.doc.calls().filter(|call| call.governed);
        let apis: Vec<ApiId> = governed.filter_map(|call| world.api_named(call.call.as_deref()?)).collect();
        let mut errors: Vec<&'static [ReadingError]> = Vec::new();
        // An exception only ever allows.
        if !apis.is_empty() && !forbids && rng.random_bool(PREFERS_EXCEPTION) {
            errors.push(&[ReadingError::NoException]);
        }
        errors.push(&[ReadingError::ByOne]);
        errors.push(&[ReadingError::ByOne, ReadingError::NextNumber]);
        let is_possible = |errors: &&[ReadingError]| {
            let mut misreadings = apis.iter().flat_map(|api| &world.api(*api).behaviour.misreadings);
            misreadings.any(|misreading| errors.contains(&misreading.error))
        };
        errors.retain(is_possible);
        Self { errors, reads_on, clear_verdicts: 0, first_pages: 0 }
    }

    /// Returns the wishes for the next draw of records.
    pub(crate) fn next(&self) -> Wish {
        let turns_by = self.errors.get((self.clear_verdicts / MAX_MISSES) as usize).copied();
        Wish {
            turns_by: turns_by.unwrap_or_default(),
            reads_on: self.reads_on && self.first_pages < MAX_MISSES,
        }
    }

    /// Counts a draw that missed a wish. Returns false for another reason.
    pub(crate) fn count_miss(&mut self, reason: &PlayError) -> bool {
        match reason {
            PlayError::ClearVerdict => self.clear_verdicts += 1,
            PlayError::FirstPage => self.first_pages += 1,
            _ => return false,
        }
        true
    }
}
