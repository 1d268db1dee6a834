//! Turns of rows at scenarios and openings: each (scenario, opening) of a domain comes before any of them comes again.
//!
//! The world templates of a split take turns, batch by batch; in a batch the abilities and the domains take turns, row by row.
//! For each domain and ability the rows of all batches are counted through, and row n takes the place n times the golden ratio,
//! modulo 1, in the list of its scenarios and openings: such places fill the list evenly, however many rows there are.

use std::collections::HashMap;

use diorama_output::plan::{Batch, ROWS_PER_BATCH};
use diorama_output::row::Split;
use diorama_seeds::model::DomainId;
use diorama_seeds::task::Ability;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::scenarios::weights::{self, GOLDEN, ability_weight};
use crate::worlds::split::TestShare;
use crate::worlds::template::LazyTemplate;

/// The turns of the world templates of one split.
#[derive(Default)]
pub struct Turns {
    /// Positions of world templates, in the order of their batches.
    order: Vec<usize>,
    /// For each world template and domain of it: the number of world templates before it that have the domain, and of all.
    shared: Vec<Vec<(u64, u64)>>,
}

/// The turn of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The ability that is exercised.
    pub ability: Ability,
    /// The domain of the first scenario.
    pub domain: DomainId,
    /// The place in the list of the domain's scenarios and openings, in `0..1`.
    pub place: f64,
}

impl Turns {
    /// The turns of world templates; their order follows from the stream.
    #[must_use]
    pub fn new(templates: &[LazyTemplate], stream: &mut ChaCha8Rng) -> Self {
        let mut left: Vec<usize> = (0..templates.len()).collect();
        left.shuffle(stream);
        let mut order = Vec::with_capacity(left.len());
        let mut counts: HashMap<String, u64> = HashMap::new();
        let mut shared: Vec<Vec<(u64, u64)>> = vec![Vec::new(); templates.len()];
        // Next comes the world template whose domains have come least often, so that a small dataset has all domains.
        while let Some(next) = (0..left.len()).min_by_key(|at| {
            let names = templates[left[*at]].domains();
            names.iter().map(|name| counts.get(name).copied().unwrap_or(0)).sum::<u64>()
        }) {
            let template = left.remove(next);
            for name in templates[template].domains() {
                let count = counts.entry(name.clone()).or_default();
                shared[template].push((*count, 0));
                *count += 1;
            }
            order.push(template);
        }
        for (template, shared) in templates.iter().zip(&mut shared) {
            for (name, (_, all)) in template.domains().iter().zip(shared) {
                *all = counts.get(name).copied().unwrap_or(1);
            }
        }
        Self { order, shared }
    }

    /// The position of a batch's world template, and how often it had its turn before.
    #[must_use]
    pub fn of_batch(&self, batch: u64, split: Split, share: TestShare) -> (usize, u64) {
        let number = match split {
            Split::Train => batch - share.count_before(batch),
            Split::Test => share.count_before(batch),
        };
        let templates = self.order.len().max(1) as u64;
        let position = self.order.get((number % templates) as usize).copied().unwrap_or(0);
        (position, number / templates)
    }

    /// The turn of a row.
    #[must_use]
    pub fn of_row(
        &self,
        batch: &Batch,
        share: TestShare,
        abilities: &[Ability],
        row_index: u64,
    ) -> Option<Turn> {
        let (template, visit) = self.of_batch(batch.index, batch.split, share);
        let shared = self.shared.get(template).filter(|shared| !shared.is_empty())?;
        let in_batch = row_index.checked_sub(batch.row_indexes.start)?;
        // The last batch may be shorter, and its rows must not follow from that.
        let number = visit * u64::from(ROWS_PER_BATCH) + in_batch;
        let weight = |ability: &Ability| ability_weight(*ability);
        let cycle = u64::from(weights::sum(abilities, weight).max(1));
        let ability = weights::pick(abilities, weight, (number % cycle) as u32)?;
        let domain = (number / cycle % shared.len() as u64) as usize;
        let (before, all) = shared[domain];
        // Of one ability and domain, `number % cycle` and the rounds before tell the rows apart.
        let round = number / (cycle * shared.len() as u64);
        let nth = ((round * cycle + number % cycle) * all + before) as f64;
        Some(Turn { ability, domain: DomainId(domain as u16), place: (nth * GOLDEN).fract() })
    }
}

#[cfg(test)]
mod tests {
    use diorama_seeds::world::{Finding, Report};
    use rand::SeedableRng;

    use super::*;

    /// World templates of rings of three of these domains; none is ever made.
    fn templates(domains: usize) -> Vec<LazyTemplate> {
        let name = |at: usize| format!("domain_{}", at % domains);
        let template = |first: usize| {
            let names = (0..3).map(|step| name(first + step)).collect();
            LazyTemplate::new(names, || Err(Report::one("x", Finding::error("", "never made", ""))))
        };
        (0..domains).map(template).collect()
    }

    #[test]
    fn every_domain_and_ability_has_its_turn_and_places_fill_the_list_evenly() {
        const CELLS: usize = 200;
        let turns = Turns::new(&templates(7), &mut ChaCha8Rng::seed_from_u64(3));
        let mut places: HashMap<(String, Ability), Vec<f64>> = HashMap::new();
        for index in 0..200 {
            let rows = u64::from(ROWS_PER_BATCH);
            let rows = index * rows..(index + 1) * rows;
            let batch = Batch { index, split: Split::Train, row_indexes: rows.clone() };
            let (template, _) = turns.of_batch(index, Split::Train, TestShare::NONE);
            for row in rows {
                let turn = turns.of_row(&batch, TestShare::NONE, &Ability::ALL, row).unwrap();
                let domain = format!("domain_{}", (template + turn.domain.index()) % 7);
                places.entry((domain, turn.ability)).or_default().push(turn.place);
            }
        }
        assert_eq!(places.len(), 7 * 3);
        for ((domain, ability), places) in places {
            let mut uses = vec![0_usize; CELLS];
            places.iter().for_each(|place| uses[(place * CELLS as f64) as usize] += 1);
            let most = uses.iter().copied().max().unwrap_or_default();
            // Drawn at random, some of 200 cells would have three times the mean.
            let mean = places.len() as f64 / CELLS as f64;
            assert!(most as f64 <= mean * 2.0 + 1.0, "{domain} {ability:?}: {most} of {}", places.len());
        }
    }
}
