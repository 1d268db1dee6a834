//! Writes the policy of a domain into a system message.

use diorama_seeds::model::Domain;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::speech::{SPEECH, fill};
use crate::draws::choose;

/// Returns the words that refer to the articles of the policy, which a tool searches.
pub(crate) fn refer(tool: &str, rng: &mut ChaCha8Rng) -> String {
    fill(choose(&SPEECH.policy_articles, rng).map_or("", String::as_str), &[("tool", tool)])
}

/// Returns the policy with all its rules, each in one of its wordings, in a random order.
pub(crate) fn document(domain: &Domain, rng: &mut ChaCha8Rng) -> String {
    let mut rules: Vec<&str> = Vec::with_capacity(domain.house.len());
    for rule in &domain.house {
        rules.extend(rule.sentences.choose(rng).map(|sentence| &**sentence));
    }
    rules.shuffle(rng);
    let heading = choose(&SPEECH.policy, rng).map_or("", String::as_str);
    let is_numbered = rng.random_bool(0.4);
    let rules = (1..).zip(rules);
    let rules = rules.map(|(number, rule)| match is_numbered {
        true => format!("{number}. {rule}"),
        false => format!("- {rule}"),
    });
    let mut examples: Vec<&str> =
        domain.house.iter().flat_map(|rule| &rule.examples).map(|text| &**text).collect();
    examples.shuffle(rng);
    examples.truncate(rng.random_range(2..=3));
    let examples: String = examples.iter().map(|example| format!("\nExample: {example}")).collect();
    format!("{heading}\n{}{examples}", rules.collect::<Vec<_>>().join("\n"))
}
