//! Parsed text: its typed mentions, its words, and the search for names in it.

use super::names::{Name, Names};
use super::numbers;
use super::stance;
use super::text::{Kind, Text, Token};
use super::units::{Currency, Unit};
use super::{Clock, Mention, Stance, What};

pub use super::Span;

/// A text with its tokens and mentions.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    source: String,
    text: Text,
    mentions: Vec<Mention>,
}

impl Prose {
    /// Parses a text by a clock.
    #[must_use]
    pub fn read(source: &str, clock: &Clock) -> Self {
        let text = Text::read(source);
        let mentions = super::mentions(&text, clock);
        Self { source: source.to_owned(), text, mentions }
    }

    /// Returns the original text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the text of a span.
    #[must_use]
    pub fn words_at(&self, span: Span) -> &str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// Returns all numbers, amounts, days and times.
    #[must_use]
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    /// Returns all numbers and amounts with their spans.
    pub fn numbers(&self) -> impl Iterator<Item = (f64, Span)> {
        self.mentions.iter().filter_map(|mention| match &mention.what {
            What::Number(number) => Some((number.value, mention.span())),
            What::Money(money) => Some((money.amount.as_f64(), mention.span())),
            _ => None,
        })
    }

    /// Returns the spans of a name. Case, accents, titles and articles are ignored; the order of words is
    /// not.
    #[must_use]
    pub fn find(&self, name: &str) -> Vec<Span> {
        let Some(name) = Name::read(name) else { return Vec::new() };
        (0..self.text.tokens.len()).filter_map(|at| self.span(at, name.at(&self.text, at, false)?)).collect()
    }

    /// Returns the spans of names with at least two words.
    pub fn names(&self, names: &Names) -> impl Iterator<Item = Span> {
        (0..self.text.tokens.len()).filter_map(move |at| self.span(at, names.long_at(&self.text, at)?))
    }

    /// Returns the span of a number with at least four digits, in any grouping. Example: `7302 9425`.
    #[must_use]
    pub fn find_digits(&self, digits: &str) -> Option<Span> {
        if digits.len() < 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let starts = self.text.tokens.iter().filter(|token| matches!(token.kind, Kind::Figure(_)));
        starts.into_iter().find_map(|token| {
            let start = token.start as usize;
            let mut rest = digits;
            for (at, c) in self.source.get(start..)?.char_indices() {
                if c.is_ascii_digit() {
                    rest = rest.strip_prefix(c)?;
                } else if !matches!(c, '-' | ' ' | '(' | ')' | '.' | '/' | ',' | '\u{a0}') {
                    return None;
                }
                if rest.is_empty() {
                    let end = start + at + 1;
                    let goes_on = self.source.get(end..)?.starts_with(char::is_alphanumeric);
                    return (!goes_on).then_some(Span { start, end });
                }
            }
            None
        })
    }

    /// Returns the stems of the meaningful words in a short text. Forms of one word have equal stems.
    #[must_use]
    pub fn stems_of(words: &str) -> Vec<u64> {
        let text = Text::of_value(&words.replace('_', " "));
        text.tokens.iter().filter(|token| tells(token)).map(|token| token.stem).collect()
    }

    /// Returns the span of the first word with a stem.
    #[must_use]
    pub fn find_stem(&self, stem: u64) -> Option<Span> {
        let at = self.text.tokens.iter().position(|token| tells(token) && token.stem == stem)?;
        self.span(at, at + 1)
    }

    /// Returns the words in their original spelling, with their spans.
    pub fn words(&self) -> impl Iterator<Item = (&str, Span)> {
        let words = self.text.tokens.iter().filter(|token| token.is_word());
        words.map(|token| {
            let span = span_of(token);
            (self.words_at(span), span)
        })
    }

    /// Returns the spans of the sentences, in order.
    pub fn sentences(&self) -> impl Iterator<Item = Span> {
        self.text.sentences().filter_map(|sentence| self.span(sentence.start, sentence.end))
    }

    /// Returns the stance of the text towards the words in a span.
    #[must_use]
    pub fn stance(&self, span: Span) -> Stance {
        let end = self.text.tokens.partition_point(|token| (token.end as usize) <= span.end);
        self.token_at(span).map_or(Stance::Asserted, |start| stance::stance(&self.text, start, end))
    }

    /// Returns the units that the text names, with or without a number.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        units_in(&self.text)
    }

    /// Returns the currencies that the text names by sign, code or word.
    pub fn currencies(&self) -> impl Iterator<Item = Currency> {
        currencies_in(&self.text)
    }

    fn token_at(&self, span: Span) -> Option<usize> {
        let at = self.text.tokens.partition_point(|token| (token.start as usize) < span.start);
        (at < self.text.tokens.len()).then_some(at)
    }

    fn span(&self, at: usize, end: usize) -> Option<Span> {
        let (first, last) = (self.text.tokens.get(at)?, self.text.tokens.get(end.checked_sub(1)?)?);
        Some(Span { start: first.start as usize, end: last.end as usize })
    }
}

const fn span_of(token: &Token) -> Span {
    Span { start: token.start as usize, end: token.end as usize }
}

/// Returns the units and currencies that a short text names, without its mentions. Used for descriptions and
/// member names.
#[must_use]
pub fn measures(text: &str) -> (Vec<Unit>, Vec<Currency>) {
    let text = Text::of_value(&text.replace('_', " "));
    (units_in(&text).collect(), currencies_in(&text).collect())
}

fn units_in(text: &Text) -> impl Iterator<Item = Unit> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let token = text.tokens.get(at)?;
            let Some((unit, behind)) = numbers::unit_at(text, at) else {
                at += 1;
                continue;
            };
            // A single letter is a unit only if a number precedes it directly.
            let is_letter = behind == at + 1 && token.kind == Kind::Word && token.end - token.start == 1;
            at = behind;
            if !is_letter || token.glued {
                return Some(unit);
            }
        }
    })
}

fn currencies_in(text: &Text) -> impl Iterator<Item = Currency> {
    text.tokens.iter().filter_map(|token| match token.kind {
        Kind::Word => token.lex.currency.filter(|_| !token.lex.code || token.upper),
        Kind::Sign(sign) => Currency::sign(sign),
        Kind::Figure(_) => None,
    })
}

fn tells(token: &Token) -> bool {
    token.has_content() || matches!(token.kind, Kind::Figure(_))
}
