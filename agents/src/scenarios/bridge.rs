//! Adds the user's reaction between two goals: a remark on the finished one, before a goal of another
//! service.

use diorama_seeds::doc::{ReactionsDoc, ScenarioDoc};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Outcome;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::hand::Hand;

/// The shares of goals of another service that begin with a remark: after a successful goal, and after a
/// refused one.
const REACTS: [f64; 2] = [0.3, 0.6];

/// Returns true if two scenarios may have the same occasion.
pub(crate) fn share_occasion(one: &ScenarioDoc, other: &ScenarioDoc) -> bool {
    one.occasions.iter().any(|occasion| other.occasions.contains(occasion))
}

/// Returns the remark between a finished goal and the next one; empty for none. A conversation repeats no
/// remark.
pub(crate) fn bridge(
    (before, reactions): (&Scenario, &ReactionsDoc),
    outcome: Outcome,
    next: &Scenario,
    (hand, said): (Hand, &[String]),
    rng: &mut ChaCha8Rng,
) -> String {
    let is_done = outcome == Outcome::Done;
    if before.domain == next.domain || !rng.random_bool(REACTS[usize::from(!is_done)]) {
        return String::new();
    }
    let reactions = if is_done { &reactions.done } else { &reactions.refused };
    let is_said = |words: &String| said.iter().any(|said| said.contains(words.as_str()));
    let new: Vec<String> = reactions.iter().filter(|words| !is_said(words)).cloned().collect();
    hand.choose(&new, rng).unwrap_or_default().to_owned()
}
