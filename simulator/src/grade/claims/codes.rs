//! Codes: letters and digits in one word, which nothing makes up.

use super::Known;
use crate::grade::extract::prose::measures;

impl Known<'_> {
    /// Whether a place is inside a code that the episode has shown: the 5150 of `AFN-5150` is no amount.
    pub(super) fn is_in_code(&self, at: usize) -> bool {
        let source = self.prose.source();
        let start = source.get(..at).and_then(|before| before.rfind(ends_code)).map_or(0, |at| at + 1);
        let word = source.get(start..).unwrap_or_default().split(ends_code).next().unwrap_or_default();
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        is_code(word) && self.shows(word)
    }

    /// Codes that nothing visible shows.
    pub(super) fn strange_codes(&self) -> impl Iterator<Item = &str> {
        let words = self.prose.source().split(ends_code);
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        // `EUR500` is an amount.
        let amount = |word: &str| {
            word.len() > 3
                && word.is_char_boundary(3)
                && !measures(&word[..3]).1.is_empty()
                && !word.contains('-')
        };
        words.filter(move |word| is_code(word) && !self.shows(word) && !amount(word))
    }

    fn shows(&self, code: &str) -> bool {
        let lower = code.to_lowercase();
        let has = |text: &str| {
            text.get(..code.len()).is_some() && (text.contains(code) || text.to_lowercase().contains(&lower))
        };
        self.shown.turns.iter().any(|turn| has(turn.source()))
            || self.shown.entries.iter().any(|entry| {
                entry.reply.body.values().any(|(value, _)| value.as_str().is_some_and(has))
                    || entry.call.arguments.values().any(|json| json.as_str().is_some_and(has))
            })
    }
}

/// What stands behind and before a code.
fn ends_code(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '*' | '"' | '`')
}

/// Letters and digits in one word, such as `RO-12290` and `K-060`; not `30W`, `9am` or `3rd`.
fn is_code(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_ascii_uppercase()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let starts = word.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    plain && starts && digits >= 2 && letters >= 1 && word.len() >= 4
}
