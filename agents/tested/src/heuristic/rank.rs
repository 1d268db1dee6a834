//! Which API shares most with some words.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::english::split_identifier;
use diorama_simulator::grade::extract::prose::Prose;

use crate::toolbox::Document;

/// First words of names and descriptions of APIs that only read.
const READING: [&str; 24] = [
    "find", "get", "list", "search", "look", "lookup", "show", "check", "view", "fetch", "browse", "read",
    "count", "retrieve", "query", "lists", "gets", "finds", "returns", "shows", "looks", "searches",
    "compute", "counts",
];

/// Whether an API only reads, as far as its name says.
pub(super) fn is_reading(document: &Document) -> bool {
    let name = split_identifier(&document.name);
    let description = document.description.to_lowercase();
    let begins = |word: &str| READING.contains(&word);
    name.first().is_some_and(|word| begins(&word.to_lowercase()))
        || description.split_whitespace().next().is_some_and(begins)
        || document.name.contains('2')
}

/// APIs that share words with a text, those that share most first, ties by name.
pub(super) fn ranked<'a>(documents: &'a [Document], words: &str) -> Vec<&'a Document> {
    let wanted: BTreeSet<u64> = Prose::stems_of(words).into_iter().collect();
    let texts: Vec<(BTreeSet<u64>, BTreeSet<u64>)> = documents
        .iter()
        .map(|document| {
            let name = split_identifier(&document.name).join(" ");
            let stems = |text: &str| Prose::stems_of(text).into_iter().collect();
            (stems(&name), stems(&document.description))
        })
        .collect();
    let mut in_documents: BTreeMap<u64, u32> = BTreeMap::new();
    for (name, description) in &texts {
        for stem in name.union(description) {
            *in_documents.entry(*stem).or_default() += 1;
        }
    }
    // Integers, so that the order is the same everywhere.
    let weight = |stem: &u64| {
        let of = f64::from(in_documents.get(stem).copied().unwrap_or(1));
        ((1.0 + documents.len() as f64 / of).ln() * 1000.0) as u64
    };
    let mut scored: Vec<(u64, &Document)> = texts
        .iter()
        .zip(documents)
        .map(|((name, description), document)| {
            let shared = |stems: &BTreeSet<u64>| stems.intersection(&wanted).map(weight).sum::<u64>();
            let length = (2 * name.len() + description.len()) as u64;
            ((2 * shared(name) + shared(description)) * 100 / (8 + length), document)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
    scored.into_iter().map(|(_, document)| document).collect()
}
