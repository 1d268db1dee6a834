//! What a user says between two matters: of the one that is settled, and why the next one comes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diorama_seeds::doc::{ReactionsDoc, ScenarioDoc};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Outcome;
use diorama_seeds::world::{Finding, read_words};
use rand::RngExt;
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;

use super::hand::Hand;
use serde::Deserialize;

/// Share of the matters of another domain before which the user says something of the one that is settled, where no common reason is
/// told: of those that were done, and of those that could not be.
const REACTS: [f64; 2] = [0.5, 0.8];
/// Share of the later matters whose reason is told, of those that have it in common with the one before.
const TELLS_REASON: f64 = 0.8;

/// By occasion: how users say that the next matter comes for the same reason.
static OCCASIONS: LazyLock<BTreeMap<String, Occasion>> =
    LazyLock::new(|| read_words::<Occasions>(diorama_catalog::OCCASIONS).unwrap_or_default().occasions);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Occasions {
    occasions: BTreeMap<String, Occasion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Occasion {
    /// What the user says right before the next matter, in several wordings.
    next: Vec<String>,
}

/// Returns true if two scenarios may come for the same reason.
pub(super) fn share_occasion(one: &ScenarioDoc, other: &ScenarioDoc) -> bool {
    one.occasions.iter().any(|occasion| other.occasions.contains(occasion))
}

/// The words between a matter that ended so and the next one: a reason that both have in common, or what the user says of the one that
/// ended; empty where the user comes to it straight away. Nothing is said twice in a conversation, nor a reason given twice.
pub(super) fn bridge(
    (before, reactions): (&Scenario, &ReactionsDoc),
    outcome: Outcome,
    next: &Scenario,
    (hand, said): (Hand, &[String]),
    rng: &mut ChaCha8Rng,
) -> String {
    let is_said = |words: &String| said.iter().any(|said| said.contains(words.as_str()));
    let shared = before.doc.occasions.iter().filter(|occasion| next.doc.occasions.contains(occasion));
    let reasons = shared.filter_map(|occasion| OCCASIONS.get(occasion)).map(|occasion| &occasion.next);
    let new_reason = reasons.filter(|wordings| !wordings.iter().any(is_said)).choose(rng);
    if let Some(wordings) = new_reason
        && rng.random_bool(TELLS_REASON)
    {
        return hand.choose(wordings, rng).unwrap_or_default().to_owned();
    }
    let is_done = outcome == Outcome::Done;
    if before.domain == next.domain || !rng.random_bool(REACTS[usize::from(!is_done)]) {
        return String::new();
    }
    let reactions = if is_done { &reactions.done } else { &reactions.refused };
    let new: Vec<String> = reactions.iter().filter(|words| !is_said(words)).cloned().collect();
    hand.choose(&new, rng).unwrap_or_default().to_owned()
}

/// Findings on the occasions of a scenario that are not of the catalog's list.
pub(super) fn check_occasions(doc: &ScenarioDoc, position: usize) -> Option<Finding> {
    let unknown = doc.occasions.iter().find(|occasion| !OCCASIONS.contains_key(*occasion))?;
    let known: Vec<&str> = OCCASIONS.keys().map(String::as_str).collect();
    Some(Finding::error(
        format!("scenarios[{position}].occasions"),
        format!("found `{unknown}`, expected one of {}", known.join(", ")),
        "name one of them, or leave it out",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_occasion_is_told_in_both_hands() {
        assert!(OCCASIONS.len() >= 8);
        for (occasion, Occasion { next: wordings }) in OCCASIONS.iter() {
            for hand in [Hand::Careful, Hand::Hasty] {
                let count = wordings.iter().filter(|words| hand.fits(words)).count();
                assert!(count >= 6, "{occasion} has {count} wordings in one hand, expected 6 or more");
            }
        }
    }
}
