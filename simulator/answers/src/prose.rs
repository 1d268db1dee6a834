//! A text, read once: its typed mentions, its words, and where names stand in it.
//!
//! What grounding reads of what people and assistants say. It must not know which value is looked for.

use super::lexicon::Roles;
use super::tokens::{Kind, Marks, Text, Token};
use super::units::{Currency, Unit};
use super::{Clock, Mention, Stance, What, read, stance};
use crate::names::{Name, Names};
use crate::{word, words};

/// A text that was read.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    source: String,
    text: Text,
    mentions: Vec<Mention>,
}

/// A place in a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Span {
    /// Whether two places have something in common.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl Mention {
    /// Where it stands.
    #[must_use]
    pub const fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }

    /// Returns true if it is told in a unit or a currency.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        match &self.what {
            What::Number(number) => number.unit.is_some(),
            what => matches!(what, What::Money(_)),
        }
    }
}

impl Prose {
    /// Reads a text by a clock.
    #[must_use]
    pub fn read(source: &str, clock: &Clock) -> Self {
        let text = Text::read(source);
        let mentions = read(&text, clock, &[]);
        Self { source: source.to_owned(), text, mentions }
    }

    /// Its tokens.
    pub const fn text(&self) -> &Text {
        &self.text
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

    /// A word as it is spelt.
    pub fn word(&self, token: &Token) -> &str {
        self.words_at(Span { start: token.start as usize, end: token.end as usize })
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
        let wanted = Name::remembered(name);
        let Some(wanted) = &*wanted else { return Vec::new() };
        let mut found = Vec::new();
        for at in 0..self.text.tokens.len() {
            if let Some(end) = wanted.at(&self.text, at, false) {
                found.extend(self.span(at, end));
            }
        }
        found
    }

    /// [`Self::find`], also for words as small as `on`, which are no names.
    pub fn find_word(&self, word: &str) -> Vec<Span> {
        if word.len() > 3 {
            return self.find(word);
        }
        self.words().filter(|(own, _)| own.eq_ignore_ascii_case(word)).map(|(_, span)| span).collect()
    }

    /// Where names of two words and more stand.
    pub fn names(&self, names: &Names) -> impl Iterator<Item = Span> {
        (0..self.text.tokens.len()).filter_map(move |at| self.span(at, names.long_at(&self.text, at)?))
    }

    /// Where a number with many digits stands, however it is grouped: `7302 9425`.
    #[must_use]
    pub fn find_digits(&self, digits: &str) -> Option<Span> {
        let is_one = digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        (0..self.text.tokens.len()).filter(|_| is_one).find_map(|at| {
            let mut rest = digits;
            for (position, token) in self.text.tokens.iter().enumerate().skip(at) {
                match token.kind {
                    Kind::Digits => {
                        let shown = self.word(token);
                        rest = rest.strip_prefix(shown)?;
                        let goes_on = self.text.get(position + 1).is_some_and(|next| {
                            next.has(Marks::GLUED) && (next.is_digits() || next.is_word())
                        });
                        if rest.is_empty() {
                            return (!goes_on).then(|| self.span(at, position + 1)).flatten();
                        }
                    }
                    Kind::Symbol('-' | ' ' | '(' | ')' | '.' | '/' | '\u{a0}') if position > at => {}
                    _ => return None,
                }
            }
            None
        })
    }

    /// The stems of the words with meaning in a text such as a name, a label or a note.
    #[must_use]
    pub fn stems_of(words: &str) -> Vec<u64> {
        let spaced = words.replace('_', " ");
        let text = Text::of_value(&spaced);
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
        words.filter_map(|token| {
            let span = Span { start: token.start as usize, end: token.end as usize };
            Some((self.source.get(span.start..span.end)?, span))
        })
    }

    /// Whether the words before a place, in its sentence, say something of all: `all five are`, `both`.
    pub fn speaks_of_all(&self, span: Span) -> bool {
        let at = self.text.tokens.iter().position(|token| token.start as usize >= span.start).unwrap_or(0);
        let Some(here) = self.text.get(at) else { return false };
        let mut before =
            self.text.tokens[..at].iter().rev().take(6).take_while(|one| one.sentence == here.sentence);
        before.any(|one| words!("all both").contains(&one.hash))
    }

    /// Whether it is said to be possible, asked for or left open: `can be cancelled`, `either on or off`.
    pub fn is_possible(&self, span: Span) -> bool {
        let at = self.text.tokens.iter().position(|token| token.start as usize >= span.start);
        let before = self.text.tokens.iter().take(at.unwrap_or(0)).rev().take(4);
        before
            .into_iter()
            .any(|token| words!("can could may must should only works or either").contains(&token.hash))
    }

    /// Where the sentences stand, in order.
    pub fn sentences(&self) -> impl Iterator<Item = Span> {
        let sentences = self.text.tokens.chunk_by(|one, next| one.sentence == next.sentence);
        sentences.filter_map(|tokens| {
            Some(Span { start: tokens.first()?.start as usize, end: tokens.last()?.end as usize })
        })
    }

    /// The sentence that a place is in.
    pub fn sentence_at(&self, span: Span) -> Span {
        self.sentences().find(|sentence| sentence.overlaps(span)).unwrap_or(span)
    }

    /// Returns true if the sentence at a place is a question.
    pub fn is_question(&self, span: Span) -> bool {
        self.text.tokens.iter().find(|token| token.start as usize >= span.start).is_some_and(|token| self.text.asks(token))
    }

    /// Whether a word that denies stands shortly before a place, in its sentence.
    #[must_use]
    pub fn is_denied(&self, span: Span) -> bool {
        let Some(at) = self.text.tokens.iter().position(|token| token.start as usize >= span.start) else {
            return false;
        };
        let Some(here) = self.text.get(at) else { return false };
        let before = self.text.tokens.iter().take(at).rev().take(4);
        before
            .take_while(|token| token.sentence == here.sentence)
            .any(|token| token.is(Roles::NEGATOR.and(Roles::ZERO)))
    }

    /// Whether a rule is told of it: `only a booked appointment`.
    fn is_limited(&self, span: Span) -> bool {
        let at = self.text.tokens.iter().position(|token| token.start as usize >= span.start);
        let before = self.text.tokens.iter().take(at.unwrap_or(0)).rev().take(2);
        before.into_iter().any(|token| token.hash == word!("only"))
    }

    /// How the words at a place stand in the text.
    #[must_use]
    pub fn stance(&self, span: Span) -> Stance {
        let start = self.text.tokens.iter().position(|token| token.start as usize >= span.start);
        let end = self.text.tokens.iter().position(|token| token.start as usize >= span.end);
        match start {
            Some(start) => stance::of(&self.text, start, end.unwrap_or(self.text.tokens.len())),
            None => Stance::Asserted,
        }
    }

    /// Whether the words at a place say that it is so: asserted, not denied, and no rule.
    pub fn is_stated(&self, span: Span) -> bool {
        self.stance(span) == Stance::Asserted && !self.is_denied(span) && !self.is_limited(span)
    }

    /// Units that the text names, beside a number or alone.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        units_in(&self.text)
    }

    /// Currencies that the text names by sign, code or word.
    pub fn currencies(&self) -> impl Iterator<Item = Currency> {
        currencies_in(&self.text)
    }

    fn span(&self, at: usize, end: usize) -> Option<Span> {
        let (first, last) = (self.text.get(at)?, self.text.get(end.checked_sub(1)?)?);
        Some(Span { start: first.start as usize, end: last.end as usize })
    }
}

/// Units and currencies that a text names, without reading its mentions: a description, a member's name.
#[must_use]
pub fn measures(text: &str) -> (Vec<Unit>, Vec<Currency>) {
    let text = Text::of_value(&text.replace('_', " "));
    (units_in(&text).collect(), currencies_in(&text).collect())
}

fn units_in(text: &Text) -> impl Iterator<Item = Unit> {
    text.tokens.iter().filter_map(|token| match token.kind {
        // A single letter is a unit only beside a number.
        Kind::Word => token.lex().unit.filter(|_| token.len() > 1),
        Kind::Symbol('%') => Some(super::units::PERCENT),
        Kind::Symbol('°') => Some(super::units::CELSIUS),
        _ => None,
    })
}

fn currencies_in(text: &Text) -> impl Iterator<Item = Currency> {
    text.tokens.iter().filter_map(|token| match token.kind {
        Kind::Word => token.lex().currency.filter(|_| !token.lex().code || token.has(Marks::UPPER)),
        Kind::Symbol(sign) => Currency::sign(sign),
        Kind::Digits => None,
    })
}

fn tells(token: &Token) -> bool {
    token.has_content() || token.is_digits()
}
