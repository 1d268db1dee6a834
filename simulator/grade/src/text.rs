//! Text comparison: decides if two short texts are the same name, title or code.

use diorama_seeds::english::{fold, split_identifier, stem, words};

/// Minimum number of digits in a telephone number.
const MIN_PHONE_DIGITS: usize = 7;

/// Returns true if a given text equals the expected one. Case, accents, surrounding marks, leading articles
/// and nouns of the subject are ignored. Example: `the album Copper Moon` equals the title `Copper Moon`.
/// Codes and telephone numbers are compared without spaces and dashes.
pub(super) fn is_same(expected: &str, given: &str, about: &str) -> bool {
    let (wanted, found) = (normalise(expected), normalise(given));
    if wanted == found || strip_articles(&wanted) == strip_articles(&found) || is_same_code(expected, given) {
        return true;
    }
    let nouns: Vec<String> = split_identifier(about).iter().map(|word| stem(word)).collect();
    let is_noun = |word: &&str| nouns.contains(&stem(word)) || ARTICLES.contains(word);
    let mut words: &[&str] = &found.split(' ').collect::<Vec<_>>();
    while let [first, rest @ ..] = words
        && is_noun(first)
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && is_noun(last)
    {
        words = rest;
    }
    !words.is_empty() && words.join(" ") == strip_articles(&wanted)
}

const ARTICLES: [&str; 3] = ["the", "a", "an"];

/// The text without case, accents, underscores, and marks at its ends.
fn normalise(text: &str) -> String {
    let folded = fold(&text.replace('_', " "));
    let words: Vec<&str> = folded.split_whitespace().collect();
    let is_mark = |c: char| {
        matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '“' | '”' | '‘' | '’' | '`' | '*')
    };
    words.join(" ").trim_matches(is_mark).to_owned()
}

fn strip_articles(text: &str) -> &str {
    let rest = ARTICLES.iter().find_map(|article| text.strip_prefix(article)?.strip_prefix(' '));
    rest.unwrap_or(text)
}

/// Returns true if two texts are the same code or telephone number. Spaces and dashes are ignored.
pub(super) fn is_same_code(expected: &str, given: &str) -> bool {
    // `00` is another spelling of the plus sign of a telephone number.
    let given = given.trim();
    let given = given.strip_prefix("00").filter(|_| expected.starts_with('+')).unwrap_or(given);
    is_code(expected) && letters_and_digits(expected) == letters_and_digits(given)
}

/// Normalises a name for comparison: words without case, accents and marks.
pub(super) fn normalise_name(text: &str) -> String {
    let words: Vec<String> = words(&fold(text)).collect();
    words.join(" ")
}

/// Returns true if a text is a code, such as `GB-115514-00`, or a telephone number: digits, capitals and separators.
fn is_code(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_phone = digits >= MIN_PHONE_DIGITS;
    let fits = |c: char| {
        c.is_ascii_digit()
            || c.is_ascii_uppercase()
            || matches!(c, ' ' | '-')
            || (is_phone && matches!(c, '+' | '(' | ')' | '.' | '/'))
    };
    digits > 0 && text.chars().all(fits)
}

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_other_spellings_alone() {
        let check = |expected: &str, given: &str, about: &str, same: bool| {
            assert_eq!(is_same(expected, given, about), same, "{expected} / {given} ({about})");
        };
        check("Copper Moon", "the album Copper Moon", "title of the album", true);
        check("Copper Moon", "Copper Moon album.", "title of the album", true);
        check("The Old Mill", "old mill", "name of the venue", true);
        check("Zoë Łukasz", "zoe lukasz ", "name of the guest", true);
        check("in_review", "In review", "status of the application", true);
        check("+61730814286", "+61 730 814-286", "phone of the guest", true);
        check("+61730814286", "0061 730 814-286", "phone of the guest", true);
        check("GB-115514-00", "GB 115514 00", "id of the account", true);
        check("1.5", "15", "rate of the plan", false);
        check("Copper Moon", "Copper Moon or Silver Moon", "title of the album", false);
        check("Copper Moon", "Copper", "title of the album", false);
        check("Copper Moon", "the album", "title of the album", false);
        check("Moon", "not Moon", "title of the album", false);
    }
}
