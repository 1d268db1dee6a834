//! Codes: letters and digits in one word, which nothing makes up.

use super::Known;
use diorama_answers::prose::{Prose, measures};

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
        // `A4` is one where a reply shows `A5`.
        let is_shown = |wanted: &str| {
            let mut texts = self.shown.replies.all().filter_map(|(value, _)| value.as_str());
            texts.any(|text| text.len() == wanted.len() && shape(text).as_deref() == Some(wanted))
        };
        let like = move |word: &str| shape(word).is_some_and(|shape| is_shown(&shape));
        words.filter(move |word| (is_code(word) || like(word)) && !self.shows(word) && !amount(word))
    }

    fn shows(&self, code: &str) -> bool {
        let texts = || {
            let said = self.shown.turns.iter().map(Prose::source);
            let replies = self.shown.replies.all();
            let sent = self.shown.entries.iter().flat_map(|entry| entry.call.arguments.values());
            let told = replies.filter_map(|(value, _)| value.as_str());
            let all = said.chain(told).chain(sent.filter_map(|json| json.as_str()));
            all.filter(|text| text.get(..code.len()).is_some())
        };
        let lower = code.to_lowercase();
        // Mostly it is spelt as it is shown.
        texts().any(|text| text.contains(code)) || texts().any(|text| text.to_lowercase().contains(&lower))
    }
}

/// How a short code is built: `A9` of `B4`; none for what is none.
fn shape(word: &str) -> Option<String> {
    let plain = word.len() <= 8 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let fits = plain && digits > 0 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    fits.then(|| {
        word.chars()
            .map(|c| {
                if c.is_ascii_digit() {
                    '9'
                } else if c == '-' {
                    c
                } else {
                    'A'
                }
            })
            .collect()
    })
}

/// What stands behind and before a code.
fn ends_code(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '*' | '"' | '`')
}

/// Letters and digits in one word, such as `RO-12290` and `K-060`; not `30W`, `9am` or `3rd`.
fn is_code(word: &str) -> bool {
    word.len() >= 4
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && word.bytes().filter(u8::is_ascii_digit).count() >= 2
}
