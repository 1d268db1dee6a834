//! Holds the words of APIs' common names, from which searches are made.

use std::collections::{HashMap, HashSet};

use diorama_answers::prose::Prose;
use diorama_seeds::english;
use diorama_seeds::model::World;

use crate::worlds::guide::Guide;

/// The words of all APIs' common names, once for each world template.
pub struct Names {
    /// By API: stems of content words.
    pub(crate) stems: Vec<HashSet<u64>>,
    /// By domain: the number of its APIs with a stem.
    pub(crate) uses: Vec<HashMap<u64, usize>>,
    /// By domain: the number of its APIs with a word of any kind.
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

/// Returns the stems of all words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    english::words(text).map(|word| english::stem(&word))
}
