//! A text, read once: its typed mentions, its words, and where names stand in it.

use super::names::{Name, Names};
use super::numbers;
use super::stance;
use super::text::{Kind, Text, Token};
use super::units::{Currency, Unit};
use super::{Clock, Mention, Stance, What};

pub use super::Span;

/// A text that was read.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    source: String,
    text: Text,
    mentions: Vec<Mention>,
}

impl Prose {
    /// Reads a text by a clock.
    #[must_use]
    pub fn read(source: &str, clock: &Clock) -> Self {
        let text = Text::read(source);
        let mentions = super::mentions(&text, clock);
        Self { source: source.to_owned(), text, mentions }
    }

    /// The text itself.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The words of a place.
    #[must_use]
    pub fn words_at(&self, span: Span) -> &str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// All numbers, amounts, days and times.
    #[must_use]
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    /// All numbers and amounts, with their places.
    pub fn numbers(&self) -> impl Iterator<Item = (f64, Span)> {
        self.mentions.iter().filter_map(|mention| match &mention.what {
            What::Number(number) => Some((number.value, mention.span())),
            What::Money(money) => Some((money.amount.as_f64(), mention.span())),
            _ => None,
        })
    }

    /// Where a name stands: the same words in the same order, whatever the case, accents, title or article.
    #[must_use]
    pub fn find(&self, name: &str) -> Vec<Span> {
        let Some(name) = Name::read(name) else { return Vec::new() };
        (0..self.text.tokens.len()).filter_map(|at| self.span(at, name.at(&self.text, at, false)?)).collect()
    }

    /// Where names of two words and more stand.
    pub fn names(&self, names: &Names) -> impl Iterator<Item = Span> {
        (0..self.text.tokens.len()).filter_map(move |at| self.span(at, names.long_at(&self.text, at)?))
    }

    /// Where a number with many digits stands, however it is grouped: `7302 9425`.
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

    /// The stems of the words with meaning in a text such as a name, a label or a note: equal for forms of one word.
    #[must_use]
    pub fn stems_of(words: &str) -> Vec<u64> {
        let text = Text::of_value(&words.replace('_', " "));
        text.tokens.iter().filter(|token| tells(token)).map(|token| token.stem).collect()
    }

    /// Where the first word of a stem stands.
    #[must_use]
    pub fn find_stem(&self, stem: u64) -> Option<Span> {
        let at = self.text.tokens.iter().position(|token| tells(token) && token.stem == stem)?;
        self.span(at, at + 1)
    }

    /// The words of the text, as they stand, with their places.
    pub fn words(&self) -> impl Iterator<Item = (&str, Span)> {
        let words = self.text.tokens.iter().filter(|token| token.is_word());
        words.map(|token| {
            let span = span_of(token);
            (self.words_at(span), span)
        })
    }

    /// Where the sentences stand, in order.
    pub fn sentences(&self) -> impl Iterator<Item = Span> {
        self.text.sentences().filter_map(|sentence| self.span(sentence.start, sentence.end))
    }

    /// How the words at a place stand in the text.
    #[must_use]
    pub fn stance(&self, span: Span) -> Stance {
        let end = self.text.tokens.partition_point(|token| (token.end as usize) <= span.end);
        self.token_at(span).map_or(Stance::Asserted, |start| stance::stance(&self.text, start, end))
    }

    /// Units that the text names, beside a number or alone.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        units_in(&self.text)
    }

    /// Currencies that the text names by sign, code or word.
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

/// Units and currencies that a text names, without reading its mentions: a description, a member's name.
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
            // A single letter is a unit only beside a number.
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
