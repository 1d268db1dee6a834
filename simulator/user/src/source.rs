//! Defines a text of the user with its typed mentions, and its position in the script.
//!
//! This module must not know what the assistant offers.

use super::mentions::{Mention, Reading, Value};
use super::tokens::{Token, tokens};
use super::vocabulary::{Action, REFERRING, REQUESTING, action};

/// The kind of a text of the user, by its position in the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A line after the opening: it replaces earlier values.
    Line,
    /// The opening of the goal, a detail, or a consent that comes next.
    Goal,
    /// The next line, if it says something new.
    NextLine,
    /// A text of an earlier goal.
    Earlier,
}

#[derive(Debug)]
pub(super) struct Source {
    pub(super) kind: SourceKind,
    pub(super) reading: Reading,
    /// The position of the withheld detail that it is.
    pub(super) detail: Option<usize>,
    /// Stems of the detail's names.
    pub(super) nouns: Vec<String>,
    /// True if it proves the user's identity: its numbers are compared with no others.
    pub(super) is_secret: bool,
    pub(super) folded: String,
}

impl Source {
    /// Returns true if a mention stands in a sentence that requests an action.
    pub(super) fn requests_in(&self, own: &Mention) -> bool {
        self.has_in_sentence(self.reading.sentence(own.span), &REQUESTING)
    }

    /// Returns true if a sentence has one of some words.
    fn has_in_sentence(&self, sentence: usize, words: &[&str]) -> bool {
        let mut tokens = self.reading.tokens.iter().filter(|token| words.contains(&&*token.text));
        tokens.any(|token| self.reading.sentence(token.span) == sentence)
    }

    /// Returns true if a day or time stands apart from the request: `We leave tomorrow. Please cancel my
    /// bookings.`
    pub(super) fn is_background(&self, own: &Mention) -> bool {
        if self.detail.is_some() || !matches!(own.value, Value::Day(_) | Value::Time(_)) {
            return false;
        }
        let requests = || {
            let tokens = self.reading.tokens.iter();
            let asks = |token: &&Token| {
                REQUESTING.contains(&&*token.text)
                    || action(&token.stem).is_some_and(|what| what != Action::Read)
            };
            tokens.filter(asks).map(|token| self.reading.sentence(token.span))
        };
        let sentence = self.reading.sentence(own.span);
        let refers = |at: usize| self.has_in_sentence(at, &REFERRING);
        !refers(sentence)
            && requests().next().is_some()
            && requests().all(|at| at != sentence)
            && !requests().any(refers)
    }

    /// Returns folded words as the text has them, if it has them.
    pub(super) fn quote(&self, words: &str) -> Option<String> {
        // The user writes a code in capitals.
        let mut codes = self.reading.tokens.iter().filter(|token| token.is_code);
        if let Some(code) = codes.find(|token| token.text == words) {
            return Some(self.reading.words_at(code.span).to_owned());
        }
        let stems: Vec<String> = tokens(words).into_iter().map(|token| token.stem).collect();
        let span = self.reading.find_words(&stems).filter(|_| !stems.is_empty())?;
        Some(self.reading.words_at(span).to_owned())
    }

    /// Returns the stems of its names, if it is a withheld detail.
    pub(super) fn names(&self) -> Option<&[String]> {
        self.detail.map(|_| &*self.nouns)
    }
}
