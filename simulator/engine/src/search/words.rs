//! Words: splits names and texts for searches. `toolsearch/1` and `toolsearch/3` depend on these functions,
//! so they must never change.

use std::collections::BTreeSet;

use diorama_seeds::english::distance;

/// Maximum number of distinct keywords that count.
const MAX_KEYWORDS: usize = 64;

/// Returns the distinct words of keywords, in their order.
pub fn wanted(keywords: &str) -> Vec<String> {
    let mut wanted: Vec<String> = Vec::new();
    for token in words(keywords) {
        if wanted.len() == MAX_KEYWORDS {
            break;
        }
        if !wanted.contains(&token) {
            wanted.push(token);
        }
    }
    wanted
}

/// Returns the words of a text in lower case and singular, without stop words. Splits at characters other
/// than letters and digits, and inside camel case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    split(text).map(|word| stem(&word.to_lowercase())).filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

/// Returns the words of a text in their original spelling.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphanumeric()).flat_map(split_camel_case);
    words.filter(|word| !word.is_empty())
}

const STOP_WORDS: [&str; 30] = [
    "", "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "i", "in", "is", "it", "me", "my",
    "of", "on", "or", "s", "that", "the", "this", "to", "want", "with", "you", "your", "please",
];

fn split_camel_case(word: &str) -> Vec<&str> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (position, pair) in characters.windows(2).enumerate() {
        let ((_, left), (at, right)) = (pair[0], pair[1]);
        let next_is_lower = characters.get(position + 2).is_some_and(|(_, next)| next.is_lowercase());
        let boundary = (left.is_lowercase() && right.is_uppercase())
            || (left.is_uppercase() && right.is_uppercase() && next_is_lower)
            || (left.is_numeric() != right.is_numeric());
        if boundary {
            parts.extend(word.get(start..at));
            start = at;
        }
    }
    parts.extend(word.get(start..));
    parts
}

/// Returns the stem of a plural: `cities` to `city`, `boxes` to `box`, `rooms` to `room`. `bus`, `glass` and
/// `this` stay. `movie` and `movies` both become `movy`.
pub fn stem(word: &str) -> String {
    let long_enough = word.chars().count() > 3;
    if !long_enough {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ie")) {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    if ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return word.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// Returns the binary logarithm in 256ths, rounded down, or 0 for 0. Integers only, so every machine gets the
/// same result.
pub fn log2(n: u64) -> u32 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    // The mantissa as a fixed-point number from 1 (2^32) to 2; squaring it doubles its logarithm.
    let mut mantissa = if whole <= 32 { n << (32 - whole) } else { n >> (whole - 32) };
    let mut fraction = 0;
    for _ in 0..8 {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 32;
        fraction <<= 1;
        if square >= 1 << 33 {
            fraction |= 1;
            mantissa = (square >> 1) as u64;
        } else {
            mantissa = square as u64;
        }
    }
    whole * 256 + fraction
}

/// Returns the known names nearest to a wrong one, by edit distance. Names that are neither near nor share a
/// word are left out.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name: String = name.chars().take(64).collect();
    let wanted: BTreeSet<String> = words(&name).collect();
    let letters = name.to_lowercase().chars().count();
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|known| {
            let edits = distance(&name, known);
            let shared = words(known).filter(|token| wanted.contains(token)).count();
            let longest = letters.max(known.chars().count());
            // A shared word counts as four edits.
            (edits * 3 <= longest || shared > 0).then(|| ((edits + 64).saturating_sub(shared * 4), known))
        })
        .collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_lowered_and_made_singular() {
        let check = |text: &str, expect: &str| assert_eq!(words(text).collect::<Vec<_>>().join(" "), expect);
        check("PersonName2ID", "person name 2 id");
        check("listTMDBMovies", "list tmdb movy");
        check(
            "The cities, boxes & buses of my glass",
            "city boxe buse glass".replace("boxe", "box").as_str(),
        );
        check("Größe/ÄNDERN_jetzt", "größe ändern jetzt");
        check("", "");
    }

    #[test]
    fn logarithms_are_within_a_256th() {
        for n in [1_u64, 2, 3, 5, 10, 64, 100, 1_000, 65_535, 1 << 40, u64::MAX] {
            let exact = (n as f64).log2() * 256.0;
            assert!((f64::from(log2(n)) - exact).abs() <= 1.0, "{n}: {} {exact}", log2(n));
        }
        assert_eq!(log2(0), 0);
    }

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["BookAppointment", "CancelAppointment", "ListDentists", "GetDentist"];
        let check = |name: &str, expect: &[&str]| assert_eq!(nearest(name, known.into_iter()), expect);
        check("BookApointment", &["BookAppointment"]);
        check("appointment_booking", &["BookAppointment", "CancelAppointment"]);
        check("dentists", &["GetDentist", "ListDentists"]);
        check("Weather", &[]);
        check(&"x".repeat(100_000), &[]);
    }
}
