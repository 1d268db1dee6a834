//! Owns the words of texts and identifiers, and their normal forms for comparison.

use std::cell::RefCell;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use hashbrown::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns the words of a text: runs of letters and digits, in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the words of an identifier in any style, in lower case: `vote_average.gte`, `posterPath`,
/// `GetTVShow`.
///
/// A capital begins a word after a small letter or a digit, and before two small letters. Initialisms
/// therefore stay together: `userIDs` gives `user ids`. Digits belong to the word before them.
///
/// ```
/// use diorama_seeds::english::split_identifier;
///
/// assert_eq!(split_identifier("GET_movie-movieId"), ["get", "movie", "movie", "id"]);
/// assert_eq!(split_identifier("listTMDBMovies"), ["list", "tmdb", "movies"]);
/// ```
pub fn split_identifier(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = ' ';
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        let begins = c.is_uppercase() && {
            let behind = previous.is_lowercase() || previous.is_numeric();
            let small = || rest.clone().take(2).filter(|next| next.is_lowercase()).count() == 2;
            behind || (previous.is_uppercase() && small())
        };
        if begins || !c.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns an identifier as separate words: `starts_at`, `startsAt` and `starts-at` give `starts at`.
pub fn spaced(name: &str) -> String {
    split_identifier(name).join(" ")
}

/// Returns a text without case and accents, for comparison: `Łukasz Müßig` gives `lukasz mussig`. Letters of
/// other scripts stay.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' | 'ẞ' => folded.push_str("ss"),
            'ø' | 'Ø' => folded.push('o'),
            'æ' | 'Æ' => folded.push_str("ae"),
            'œ' | 'Œ' => folded.push_str("oe"),
            'ł' | 'Ł' => folded.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'þ' | 'Þ' => folded.push_str("th"),
            other => folded.extend(other.to_lowercase()),
        }
    }
    folded
}

/// Returns the stem that a word shares with its other forms: `booked`, `books` and `booking` have the stem
/// `book`. It uses the Snowball stemmer for English, also called Porter 2. Stems are for comparison, not for
/// display: the stem of `city` and `cities` is `citi`.
pub fn stem(word: &str) -> String {
    static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
    thread_local! {
        // A few thousand words make up most calls.
        static KNOWN: RefCell<HashMap<Box<str>, Box<str>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(stem) = known.get(word) {
            return (**stem).to_owned();
        }
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let stem = STEMMER.stem(&word.to_lowercase()).into_owned();
        if word.len() <= LONGEST_KNOWN {
            known.insert(word.into(), stem.as_str().into());
        }
        stem
    })
}

/// Maximum number of cached stems. One more clears the cache.
const MOST_KNOWN: usize = 8_192;
/// Maximum length of a word with a cached stem, in bytes.
const LONGEST_KNOWN: usize = 64;

/// Returns a text with its first letter capitalised.
pub fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Returns a text with its first letter in lower case, for use inside a sentence, unless its first word is
/// "I".
pub fn lowered(text: &str) -> String {
    let mut rest = text.chars();
    match (rest.next(), rest.clone().next()) {
        (Some('I'), Some(' ' | '\'' | '’')) | (None, _) => text.to_owned(),
        (Some(first), _) => first.to_lowercase().chain(rest).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        for (input, expect) in [
            ("GET_movie-movie_id", "get movie movie id"),
            ("petIdV2", "pet id v2"),
            ("posterPath", "poster path"),
            ("vote_average.gte", "vote average gte"),
            ("IMDbId", "imdb id"),
            ("listTMDBMovies", "list tmdb movies"),
            ("GetAVideo", "get a video"),
            ("userIDs", "user ids"),
            ("HTTPServer", "http server"),
            ("PersonName2ID", "person name2 id"),
            ("Straßen-Name", "straßen name"),
            ("iso_639_1", "iso 639 1"),
            ("X-Rate Limit", "x rate limit"),
            ("_x-", "x"),
            ("", ""),
            ("@#!", ""),
        ] {
            assert_eq!(spaced(input), expect, "{input}");
        }
    }

    #[test]
    fn texts_are_taken_apart() {
        let found: Vec<String> = words("The dentist's 2 sci-fi Films, à la carte!").collect();
        assert_eq!(found, ["the", "dentist", "s", "2", "sci", "fi", "films", "à", "la", "carte"]);
    }

    #[test]
    fn letters_lose_case_and_accents() {
        for (input, expect) in [
            ("Łukasz Ødegård O’Neill-Müßig", "lukasz odegard o’neill-mussig"),
            ("Ana María", "ana maria"),
            ("ÞÓR Æsir", "thor aesir"),
            ("Анна", "анна"),
        ] {
            assert_eq!(fold(input), expect);
        }
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["book", "books", "booked", "booking", "Booking"][..],
            &["city", "cities"],
            &["movie", "movies"],
            &["cancel", "cancels", "cancelling"],
            &["close", "closes", "closing", "closed"],
        ] {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
        assert_ne!(stem("bus"), stem("busy"));
    }

    #[test]
    fn sentences_begin_with_a_capital() {
        assert_eq!(capitalised("ñandú of the year"), "Ñandú of the year");
        assert_eq!(capitalised(""), "");
        assert_eq!(lowered("Can it wait?"), "can it wait?");
        assert_eq!(lowered("I need it."), "I need it.");
        assert_eq!(lowered("I’m late."), "I’m late.");
    }
}
