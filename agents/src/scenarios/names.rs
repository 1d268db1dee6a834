//! The words of APIs' common names, which searches are made of.

use std::collections::{HashMap, HashSet};

use diorama_answers::prose::Prose;
use diorama_seeds::english;
use diorama_seeds::model::World;

use crate::worlds::guide::Guide;

/// The words of all APIs' common names, once for a world template of worlds.
pub struct Names {
    /// By API: stems of words that mean something.
    pub(crate) stems: Vec<HashSet<u64>>,
    /// By domain: how many of its APIs have a stem.
    pub(crate) uses: Vec<HashMap<u64, usize>>,
    /// By domain: how many of its APIs have a word, whatever it means.
    pub(crate) spread: Vec<HashMap<String, usize>>,
}

impl Names {
    /// Reads the names of all APIs.
    #[must_use]
    pub fn new(world: &World, guide: &Guide) -> Self {
        let domains = world.domains.len();
        let (mut uses, mut spread) = (vec![HashMap::new(); domains], vec![HashMap::new(); domains]);
        let stems = world.api_ids().map(|id| {
            let (domain, names) = (world.api(id).domain.index(), &guide.api(id).search);
            let stems: HashSet<u64> = names.iter().flat_map(|name| Prose::stems_of(name)).collect();
            let words: HashSet<String> = names.iter().flat_map(|name| words(name)).collect();
            stems.iter().for_each(|stem| *uses[domain].entry(*stem).or_default() += 1);
            words.into_iter().for_each(|word| *spread[domain].entry(word).or_default() += 1);
            stems
        });
        let stems = stems.collect();
        Self { stems, uses, spread }
    }
}

/// The stems of all words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    english::words(text).map(|word| english::stem(&word))
}
