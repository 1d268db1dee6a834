//! What an agent searches by that has not read what it searches for.
//!
//! The words are those that were said, sooner those that people commonly use for what is wanted; the description of an
//! API that no search has shown is never looked at. Where they miss, another try uses more of them, and at last a common
//! name that nobody said.

use std::collections::{HashMap, HashSet};

use diorama_seeds::model::ApiId;
use diorama_simulator::grade::extract::prose::Prose;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::synthesis::world::UnitWorld;

/// Words of a search, at most.
const MOST_WORDS: usize = 5;
/// APIs of a domain whose names share a word, at most, for the word to tell them apart.
const MANY: usize = 4;
/// Share of the searches that begin with whatever the request says.
const TOLD: f64 = 0.12;

/// What is known when a search is made.
pub(super) struct Known<'a> {
    /// What opened the stage.
    pub(super) opening: &'a str,
    /// What the user has said.
    pub(super) said: &'a [String],
    /// The system message.
    pub(super) system: &'a str,
}

/// Keywords to search by, in the order in which they are tried.
pub(super) fn attempts(
    world: &UnitWorld,
    api: ApiId,
    known: &Known<'_>,
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    let common = &world.family.guide.api(api).search;
    let stems = |id: ApiId| -> HashSet<u64> {
        world.family.guide.api(id).search.iter().flat_map(|words| Prose::stems_of(words)).collect()
    };
    // What is said of many things (to find, to list) tells none of them apart.
    let model = world.base.world();
    let mut uses: HashMap<u64, usize> = HashMap::new();
    for id in (0..model.apis.len()).map(|at| ApiId(at as u16)) {
        if model.api(id).domain == model.api(api).domain {
            stems(id).into_iter().for_each(|stem| *uses.entry(stem).or_default() += 1);
        }
    }
    let tells = |stem: &u64| uses.get(stem).is_some_and(|uses| *uses <= MANY);
    let own: HashSet<u64> = stems(api).into_iter().filter(tells).collect();
    let of_domain: HashSet<u64> = uses.keys().copied().filter(tells).collect();
    let opening = content(known.opening);
    let all = known.said.iter().rev().map(String::as_str).chain([known.system]);
    let everything: Vec<&str> = opening.iter().copied().chain(all.flat_map(content)).collect();
    let told = opening.iter().take(MOST_WORDS).copied().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut tries = vec![chosen(&opening, &own), chosen(&everything, &own), chosen(&everything, &of_domain)];
    tries.retain(|words| words.contains(' '));
    if rng.random_bool(TOLD) {
        tries.insert(0, told.clone());
    }
    // A common name, where a word of it was said.
    let seen: Vec<u64> =
        known.said.iter().map(String::as_str).chain([known.system]).flat_map(Prose::stems_of).collect();
    let grounded: Vec<&String> =
        common.iter().filter(|words| Prose::stems_of(words).iter().any(|stem| seen.contains(stem))).collect();
    tries.extend(grounded.choose(rng).map(|words| (*words).clone()));
    tries.push(told);
    tries.retain(|words| !words.is_empty());
    let mut different: Vec<String> = Vec::new();
    for words in tries {
        if !different.contains(&words) {
            different.push(words);
        }
    }
    different
}

/// The words that have one of these stems, each once.
fn chosen(words: &[&str], stems: &HashSet<u64>) -> String {
    let mut taken: Vec<u64> = Vec::new();
    let mut chosen: Vec<String> = Vec::new();
    for word in words {
        let Some(stem) = Prose::stems_of(word).first().copied() else { continue };
        if chosen.len() < MOST_WORDS && stems.contains(&stem) && !taken.contains(&stem) {
            taken.push(stem);
            chosen.push(word.to_lowercase());
        }
    }
    chosen.join(" ")
}

/// The words of a text that mean something: no names, no numbers, no small words.
fn content(text: &str) -> Vec<&str> {
    let mut chosen: Vec<&str> = Vec::new();
    let mut starts = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let ends = word.ends_with(['.', '!', '?', ':']);
        let is_name = !starts && bare.starts_with(char::is_uppercase);
        starts = ends;
        let plain = !bare.is_empty() && bare.chars().all(|c| c.is_alphabetic() || c == '-');
        let means = plain && bare.chars().count() > 3 && !Prose::stems_of(bare).is_empty();
        if means && !is_name && !chosen.iter().any(|known| known.eq_ignore_ascii_case(bare)) {
            chosen.push(bare);
        }
    }
    chosen
}
