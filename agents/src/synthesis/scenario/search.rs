//! What an agent searches by that has not read what it searches for.
//!
//! A search is a phrase: words of one sentence that the user said, as they follow each other, or a common name of what is
//! wanted, sooner one whose words were said. The description of an API that no search has shown is never looked at.

use std::collections::{HashMap, HashSet};

use diorama_seeds::model::{ApiId, DomainId};
use diorama_simulator::grade::extract::prose::Prose;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::synthesis::world::UnitWorld;

/// Words of a phrase, at most.
const MOST_WORDS: usize = 6;
/// APIs of a domain whose names share a word, at most, for the word to tell them apart.
const MANY: usize = 4;
/// What a word of the API's own common names weighs; one of another API's weighs 1.
const OWN: usize = 2;
/// Share of the searches that begin with a common name, where its words were said.
const NAMED_FIRST: f64 = 0.4;

/// What is known when a search is made.
pub(super) struct Known<'a> {
    /// What the user has said, the last first.
    pub(super) said: Vec<&'a str>,
    /// The system message.
    pub(super) system: &'a str,
}

/// Keywords to search by for what no API does: what the user said of it, in the words of the domain.
pub(super) fn in_vain(world: &UnitWorld, domain: DomainId, opening: &str) -> Option<String> {
    let model = world.base.world();
    let of_domain = model.api_ids().filter(|api| model.api(*api).domain == domain);
    let words: HashSet<u64> = of_domain.flat_map(|api| stems(world, api)).collect();
    phrases(&[opening], |stem| if words.contains(&stem) { OWN } else { 0 }).into_iter().next()
}

/// Keywords to search by, in the order in which they are tried.
pub(super) fn attempts(
    world: &UnitWorld,
    api: ApiId,
    known: &Known<'_>,
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    // What is said of many things (to find, to list) tells none of them apart.
    let model = world.base.world();
    let mut uses: HashMap<u64, usize> = HashMap::new();
    for id in model.api_ids().filter(|id| model.api(*id).domain == model.api(api).domain) {
        stems(world, id).into_iter().for_each(|stem| *uses.entry(stem).or_default() += 1);
    }
    uses.retain(|_, uses| *uses <= MANY);
    let own = stems(world, api);
    let weigh = |stem: u64| match (own.contains(&stem), uses.contains_key(&stem)) {
        (true, true) => OWN,
        (false, true) => 1,
        _ => 0,
    };

    let seen: HashSet<u64> =
        known.said.iter().copied().chain([known.system]).flat_map(Prose::stems_of).collect();
    let idle = |word: &str| {
        Prose::stems_of(word).iter().all(|stem| !seen.contains(stem) && !uses.contains_key(stem))
    };
    let common = world.family.guide.api(api).search.iter();
    let mut names: Vec<String> = common.map(|name| without(name, idle)).collect();
    names.shuffle(rng);
    let unsaid = |name: &String| Prose::stems_of(name).iter().filter(|stem| !seen.contains(stem)).count();
    names.sort_by_key(unsaid);
    let said_names = names.iter().take_while(|name| unsaid(name) == 0).count();

    let (mut tries, words): (Vec<String>, Vec<String>) =
        phrases(&known.said, weigh).into_iter().partition(|phrase| phrase.contains(' '));
    let at = if rng.random_bool(NAMED_FIRST) { 0 } else { tries.len() };
    tries.splice(at..at, names.drain(..said_names));
    tries.extend(words);
    tries.extend(names);
    tries
}

/// The words of an API's common names.
fn stems(world: &UnitWorld, api: ApiId) -> HashSet<u64> {
    world.family.guide.api(api).search.iter().flat_map(|words| Prose::stems_of(words)).collect()
}

/// A name without words at its beginning that are not needed, as long as two that mean something are left.
fn without(name: &str, idle: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let means = |words: &[&str]| words.iter().filter(|word| !Prose::stems_of(word).is_empty()).count();
    let from = words.iter().take_while(|word| idle(word)).count();
    let rest = words.get(from..).unwrap_or_default();
    if means(rest) < 2 { name.to_owned() } else { rest.join(" ") }
}

/// The phrases of texts that weigh something, the heaviest first; of two equals the one said first in the list.
fn phrases(texts: &[&str], weigh: impl Fn(u64) -> usize) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for text in texts {
        for part in text.split_inclusive(['.', ',', '!', '?', ':', ';', '(', ')']) {
            found.extend(phrase(part, &weigh));
        }
    }
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found.into_iter().take(2).map(|(_, words)| words).collect()
}

/// The heaviest run of plain words in a part of a sentence, from a word that weighs to a word that weighs.
fn phrase(part: &str, weigh: impl Fn(u64) -> usize) -> Option<(usize, String)> {
    let words: Vec<&str> = part.split_whitespace().collect();
    let weights: Vec<Option<usize>> =
        words.iter().enumerate().map(|(at, word)| plain(at, word, &weigh)).collect();
    let mut best: Option<(usize, &[&str])> = None;
    for (from, first) in weights.iter().enumerate() {
        let mut weight = 0;
        for (until, last) in weights.iter().enumerate().skip(from).take(MOST_WORDS) {
            let Some(last) = *last else { break };
            weight += last;
            let whole = *first > Some(0) && last > 0;
            let alone = until == from && weight < OWN;
            if whole && !alone && best.is_none_or(|(known, _)| weight > known) {
                best = Some((weight, &words[from..=until]));
            }
        }
    }
    let (weight, run) = best?;
    let bare = run.iter().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    Some((weight, bare.collect::<Vec<_>>().join(" ")))
}

/// What a plain word weighs: no name, no number.
fn plain(at: usize, word: &str, weigh: impl Fn(u64) -> usize) -> Option<usize> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_name = at > 0 && bare.starts_with(char::is_uppercase);
    let plain =
        !bare.is_empty() && !is_name && bare.chars().all(|c| c.is_alphabetic() || "-'\u{2019}".contains(c));
    let short = bare.chars().count() < 4;
    plain.then(|| Prose::stems_of(bare).first().map_or(0, |stem| if short { 0 } else { weigh(*stem) }))
}
