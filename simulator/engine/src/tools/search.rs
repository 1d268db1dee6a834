//! `toolsearch/1`: matches keywords with the words of APIs. Integers only.
//!
//! An API's words come from its name (weight 8), description (3), parameter names (2) and domain title (2). A
//! matching keyword scores its rarity times the weights of its places. The matched part of the name adds a
//! score in proportion. So of two APIs that both match, the one with the more specific name wins. Rarity is
//! `1 + log2(n / df)`, in 256ths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use diorama_seeds::model::{Api, ApiId, World};

use super::hit::Hit;
use crate::search::words::{log2, wanted, words};

/// The weights of name, description, parameters and domain.
const WEIGHTS: [u32; 4] = [8, 3, 2, 2];
const NAME_SHARE: u32 = 4;

/// The words of all APIs and their rarity.
#[derive(Debug)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    rarity: HashMap<String, u32>,
}

#[derive(Debug)]
struct Entry {
    weights: BTreeMap<String, u32>,
    name: BTreeSet<String>,
}

impl Pool {
    pub(super) fn new(world: &World) -> Self {
        let entries: Vec<Entry> = world.apis.iter().map(|api| Entry::new(api, world)).collect();
        let mut uses: HashMap<String, u32> = HashMap::new();
        for word in entries.iter().flat_map(|entry| entry.weights.keys()) {
            *uses.entry(word.clone()).or_default() += 1;
        }
        let all = 256 + log2(entries.len() as u64);
        uses.values_mut().for_each(|uses| *uses = all - log2(u64::from(*uses)));
        Self { entries, rarity: uses }
    }

    /// Returns all APIs that fit, best first, ties by name.
    pub(super) fn ranked(&self, world: &World, keywords: &str) -> Vec<Hit> {
        let wanted = wanted(keywords);
        let known: Vec<(&String, u32)> =
            wanted.iter().filter_map(|word| Some((word, *self.rarity.get(word)?))).collect();
        let scored = self
            .entries
            .iter()
            .zip(0..)
            .map(|(entry, api)| Hit { api: ApiId(api), score: entry.score(&known) });
        let mut hits: Vec<Hit> = scored.filter(|hit| hit.score > 0).collect();
        hits.sort_by_key(|hit| (Reverse(hit.score), &world.api(hit.api).name));
        hits
    }
}

impl Entry {
    fn new(api: &Api, world: &World) -> Self {
        let names: Vec<&str> = api.parameters.iter().map(|parameter| &*parameter.name).collect();
        let title = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.title);
        let mut weights = BTreeMap::new();
        let texts = [&*api.name, &api.description, &names.join(" "), title];
        for (text, weight) in texts.into_iter().zip(WEIGHTS) {
            for word in words(text).collect::<BTreeSet<_>>() {
                *weights.entry(word).or_insert(0) += weight;
            }
        }
        Self { weights, name: words(&api.name).collect() }
    }

    /// Returns the score of keywords, each given with its rarity.
    fn score(&self, keywords: &[(&String, u32)]) -> u32 {
        let (mut score, mut in_name, mut matched) = (0, 0, 0);
        for (word, rarity) in keywords {
            score += rarity * self.weights.get(*word).copied().unwrap_or(0);
            if self.name.contains(*word) {
                in_name += rarity;
                matched += 1;
            }
        }
        score + NAME_SHARE * in_name * matched / (self.name.len() as u32).max(1)
    }
}
