//! What a query's own words decide: numbers, listed values, and whom of a list it asks about.

use serde_json::Value as Json;

use super::sightings::Sighting;

const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
/// Other words for listed values.
const MEANINGS: [(&str, &[&str]); 5] = [
    ("movie", &["movie", "movies", "film", "films"]),
    ("tv", &["tv", "show", "shows", "series"]),
    ("person", &["person", "people", "actor", "actress"]),
    ("day", &["day", "today", "today's"]),
    ("week", &["week", "week's"]),
];

/// The number of a part: `season 3`, `the second season`. The first, when none is said.
pub(super) fn number(query: &str, part: &str) -> i64 {
    let words = words(query);
    // A misspelt noun still begins like it.
    let stem: String = part.chars().take(5).collect();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.starts_with(&stem)) {
        let after = words.get(at + 1).and_then(|next| next.parse::<i64>().ok());
        let ordinal = at.checked_sub(1).and_then(|before| words.get(before));
        let ordinal = ordinal.and_then(|before| ORDINALS.iter().position(|ordinal| ordinal == before));
        if let Some(number) = after.or_else(|| ordinal.map(|position| position as i64 + 1)) {
            debug_assert!(!word.is_empty());
            return number;
        }
    }
    1
}

/// The listed value that the query means; the first, when it names none.
pub(super) fn listed(query: &str, allowed: &[Json]) -> Option<Json> {
    let words = words(query);
    let meant = allowed.iter().find(|value| {
        let text = value.as_str().unwrap_or_default();
        let others = MEANINGS.iter().find(|(name, _)| *name == text).map_or(&[][..], |(_, others)| others);
        words.iter().any(|word| word == text || others.contains(&word.as_str()))
    });
    meant.or_else(|| allowed.first()).cloned()
}

/// The record that a query asks about: a director where it speaks of one and the list has one, else the first.
pub(super) fn asked_for<'a>(query: &str, seen: &[&'a Sighting]) -> Option<&'a Sighting> {
    let directors = words(query).iter().any(|word| word.starts_with("direct"));
    let director = seen.iter().find(|sighting| directors && sighting.role == "Director");
    director.or_else(|| seen.first()).copied()
}

fn words(text: &str) -> Vec<String> {
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_before_and_after_their_noun() {
        let check = |query: &str, expect: (i64, i64)| {
            assert_eq!((number(query, "season"), number(query, "episode")), expect, "{query}");
        };
        check("the guest star from season 3, episode 24 of Kites", (3, 24));
        check("the third episod of the second season", (2, 3));
        check("a poster of Kites", (1, 1));
    }
}
