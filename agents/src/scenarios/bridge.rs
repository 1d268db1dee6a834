//! The user's reaction between two matters: a remark on the one that is settled, before they come to another service.

use diorama_seeds::doc::{ReactionsDoc, ScenarioDoc};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Outcome;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::hand::Hand;

/// Share of the matters of another service before which the user says something of the one that was done, and of the one that could
/// not be.
const REACTS: [f64; 2] = [0.3, 0.6];

/// Returns true if two scenarios may come for the same reason.
pub(crate) fn share_occasion(one: &ScenarioDoc, other: &ScenarioDoc) -> bool {
    one.occasions.iter().any(|occasion| other.occasions.contains(occasion))
}

/// The words between a matter that ended so and the next one; empty where the user comes to it straight away. Nothing is said twice in a
/// conversation.
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
