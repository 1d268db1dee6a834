//! What an agent searches by that has not read what it searches for.
//!
//! The words are the user's, or what people commonly call the thing; the description of an API that no search has shown
//! is never looked at.

use diorama_seeds::model::ApiId;
use diorama_simulator::grade::extract::prose::Prose;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::synthesis::world::UnitWorld;

/// Words that say nothing of what is wanted.
const MOST_WORDS: usize = 6;

/// Keywords to search by, in the order in which they are tried.
pub(super) fn attempts(
    world: &UnitWorld,
    api: ApiId,
    said: &[String],
    system: &str,
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    let seen: Vec<u64> = said.iter().map(String::as_str).chain([system]).flat_map(Prose::stems_of).collect();
    let mut common: Vec<String> = world.family.guide.api(api).search.clone();
    common.shuffle(rng);
    let mut tries: Vec<String> = common.into_iter().filter(|words| is_grounded(words, &seen)).collect();
    let of_user = said.last().map(|words| content(words)).unwrap_or_default();
    if !of_user.is_empty() {
        // Some search by what they were told, some by what such a service is called.
        let at = if rng.random_bool(0.4) { 0 } else { tries.len().min(1) };
        tries.insert(at, of_user);
    }
    tries.truncate(4);
    tries
}

fn is_grounded(words: &str, seen: &[u64]) -> bool {
    let stems = Prose::stems_of(words);
    let known = stems.iter().filter(|stem| seen.contains(stem)).count();
    known > 0 && known * 2 >= stems.len()
}

/// The words of a sentence that mean something: no names, no numbers, no small words.
fn content(sentence: &str) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    let mut starts = true;
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let ends = word.ends_with(['.', '!', '?', ':']);
        let is_name = !starts && bare.starts_with(char::is_uppercase);
        starts = ends;
        let plain = !bare.is_empty() && bare.chars().all(|c| c.is_alphabetic() || c == '-');
        let means = plain && bare.chars().count() > 3 && !Prose::stems_of(bare).is_empty();
        if means && !is_name && !chosen.iter().any(|known| known.eq_ignore_ascii_case(bare)) {
            chosen.push(bare);
        }
        if chosen.len() == MOST_WORDS {
            break;
        }
    }
    chosen.join(" ").to_lowercase()
}
