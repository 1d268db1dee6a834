//! Guessability: the share of checks that one fixed answer would pass.

use std::collections::BTreeMap;

use diorama_seeds::task::{Checks, Fact};
use serde::{Deserialize, Serialize};

use super::text::share;

/// The guessability of the checks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// Number of checks of the kind.
    pub checks: u64,
    /// The fixed answer that passes most of them.
    pub best: String,
    /// The share of them that it passes.
    pub share: f64,
}

/// Counts the values that checks expect.
#[derive(Default)]
pub(super) struct Guesses {
    kinds: BTreeMap<&'static str, BTreeMap<String, u64>>,
    weak: u64,
}

impl Guesses {
    /// Counts the checks of a row.
    pub(super) fn add(&mut self, checks: &Checks) {
        for goal in &checks.goals {
            for check in &goal.answer {
                let (kind, value) = told(&check.fact);
                *self.kinds.entry(kind).or_default().entry(value).or_default() += 1;
            }
            if let Some(class) = goal.refusal.first() {
                let value = serde_json::to_value(class).ok();
                let value = value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned();
                *self.kinds.entry("refusal").or_default().entry(value).or_default() += 1;
            }
        }
        let mut facts = checks.goals.iter().flat_map(|goal| &goal.answer);
        let few = |fact: &Fact| matches!(fact, Fact::Count { value: 1 | 2 });
        let only = facts.next().is_some_and(|check| few(&check.fact)) && facts.next().is_none();
        let refuses = checks.goals.iter().any(|goal| !goal.refusal.is_empty());
        self.weak += u64::from(only && !refuses && checks.changes.is_empty());
    }

    /// Returns the most common value by kind, and the number of rows that depend only on a count of one or
    /// two.
    pub(super) fn finish(self) -> (BTreeMap<String, Guess>, u64) {
        let kinds = self.kinds.into_iter().map(|(kind, values)| {
            let checks = values.values().sum();
            let most =
                values.into_iter().max_by(|(a, one), (b, other)| one.cmp(other).then_with(|| b.cmp(a)));
            let (best, count) = most.unwrap_or_default();
            (kind.to_owned(), Guess { checks, best, share: share(count, checks) })
        });
        (kinds.collect(), self.weak)
    }
}

/// Returns a fact's kind and the text of its value.
fn told(fact: &Fact) -> (&'static str, String) {
    match fact {
        Fact::Number { value, .. } => ("number", value.to_string()),
        Fact::Money { minor, scale, currency, .. } => {
            ("money", format!("{} {currency}", *minor as f64 / 10_f64.powi(i32::from(*scale))))
        }
        Fact::Count { value } => ("count", value.to_string()),
        Fact::Date { value } => ("date", value.clone()),
        Fact::Time { value } => ("time", value.clone()),
        Fact::DateTime { value } => ("date_time", value.clone()),
        Fact::Entity { value, .. } => ("text", value.clone()),
        Fact::Boolean { value, .. } => ("yes_no", if *value { "yes" } else { "no" }.to_owned()),
        Fact::Made { .. } => ("made", "what the reply gives".to_owned()),
        Fact::List { items, .. } => {
            let items: Vec<String> = items.iter().map(|item| told(item).1).collect();
            ("list", items.join(", "))
        }
    }
}
