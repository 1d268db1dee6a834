//! Gives rows their turns at subjects, abilities, domains and scenarios.
//!
//! The subjects of a split take turns, batch by batch. Each subject counts its own rows, whatever other
//! subjects exist. Its abilities and domains take turns, row by row, and each (domain, ability) counts its
//! own rows.

use diorama_seeds::model::DomainId;
use diorama_seeds::task::Ability;

use crate::scenarios::weights::{self, ability_weight};
use crate::worlds::template::LazyTemplate;

/// A source that counts its own rows: a domain of the catalog, or a world from outside.
pub struct Subject {
    /// The name, which keys its random streams.
    pub name: String,
    /// The world templates that its batches take turns at; at least one.
    pub templates: Vec<LazyTemplate>,
    /// The number of domains that take turns to begin conversations, from the first of its worlds on.
    pub domains: usize,
}

/// The turn of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The ability that the row exercises.
    pub ability: Ability,
    /// The domain of the first scenario.
    pub domain: DomainId,
    /// The number of earlier rows of the subject with this ability and domain; none where any scenario may be
    /// played.
    pub number: Option<u64>,
}

impl Turn {
    /// Returns the turn of a row; none without a requested ability, or for a subject without domains.
    #[must_use]
    pub fn new(subject: &Subject, abilities: &[Ability], number: u64) -> Option<Self> {
        let weight = |ability: &Ability| ability_weight(*ability);
        let cycle = u64::from(weights::sum(abilities, weight).max(1));
        let in_cycle = (number % cycle) as u32;
        let ability = weights::pick(abilities, weight, in_cycle)?;
        let domain = (number / cycle).checked_rem(subject.domains as u64)?;
        let cycles = number / cycle / subject.domains as u64;
        let before = (0..in_cycle).filter(|other| weights::pick(abilities, weight, *other) == Some(ability));
        let nth = cycles * u64::from(ability_weight(ability)) + before.count() as u64;
        Some(Self { ability, domain: DomainId(domain as u16), number: Some(nth) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn each_domain_and_ability_numbers_its_own_rows() {
        let subject = Subject { name: "a".to_owned(), templates: Vec::new(), domains: 3 };
        let mut counted: HashMap<(u16, Ability), Vec<u64>> = HashMap::new();
        for number in 0..300 {
            let turn = Turn::new(&subject, &Ability::ALL, number).unwrap();
            counted.entry((turn.domain.0, turn.ability)).or_default().extend(turn.number);
        }
        assert_eq!(counted.len(), 3 * 3);
        for ((domain, ability), numbers) in counted {
            let count = 20 * u64::from(ability_weight(ability));
            assert_eq!(numbers, (0..count).collect::<Vec<u64>>(), "{domain} {ability:?}");
        }
    }
}
