//! Tokens of texts, and two measures of their variety.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// `\w+|[^\w\s]` over lower-cased text. If the pattern did not compile, there would be no tokens, and tests
/// would fail.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w+|[^\w\s]").ok());

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    TOKEN.iter().flat_map(|token| token.find_iter(&lower)).map(|found| found.as_str().to_owned()).collect()
}

/// Returns the tokens that are words.
pub fn words(text: &str) -> Vec<String> {
    let mut words = tokens(text);
    words.retain(|token| token.chars().next().is_some_and(is_word));
    words
}

/// Returns `distinct_2` and `distinct_first3` of texts.
pub(super) fn openings_and_bigrams<'a>(texts: impl Iterator<Item = &'a str>) -> (f64, f64) {
    let mut bigrams: HashSet<[String; 2]> = HashSet::new();
    let mut openings: HashSet<Vec<String>> = HashSet::new();
    let (mut all_bigrams, mut all_texts) = (0_u64, 0_u64);
    for text in texts {
        let tokens = tokens(text);
        all_texts += 1;
        for pair in tokens.windows(2) {
            if let [left, right] = pair {
                all_bigrams += 1;
                bigrams.insert([left.clone(), right.clone()]);
            }
        }
        openings.insert(tokens.into_iter().take(3).collect());
    }
    let share = |part: usize, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    (share(bigrams.len(), all_bigrams), share(openings.len(), all_texts))
}

/// Returns true for a word character. A token starts with one or is another single character, so its first
/// character decides.
fn is_word(character: char) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\w$").ok());
    let mut buffer = [0; 4];
    character.is_ascii_alphanumeric()
        || character == '_'
        || (!character.is_ascii()
            && WORD.as_ref().is_some_and(|word| word.is_match(character.encode_utf8(&mut buffer))))
}

/// Returns the share of a part, or 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 / whole as f64) }
}

/// Rounds to six decimals, which hides digits that depend on the order of summation.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
