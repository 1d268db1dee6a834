//! Reads a text as words and typed mentions: each with its value, and the role that the words around it give.
//!
//! `diorama-answers` reads numbers, money, days and times, and this module reads names and codes. It must not
//! know who says the text, nor what the other side wants.

use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::{Dimension, Unit};
use diorama_answers::{Clock, Clocktime, Day, NumberRole, What};
use diorama_seeds::english::stem;

use super::tokens::{Token, tokens};
use super::vocabulary::{
    BOUNDS_ABOVE, BOUNDS_BELOW, DETERMINERS, LINKS, Link, PERSONS, RETRACTIONS, SET_ASIDE, TITLES, is_common,
    is_one_of,
};

/// The greatest number of words of a counted noun: `3 [second class seats]`.
const MAX_NOUN_WORDS: usize = 3;
/// The greatest number of words between a preposition and its name: `at the [restaurant] Iron and Fire`.
const MAX_WORDS_TO_NAME: usize = 3;

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number, with its unit.
    Number {
        value: f64,
        /// The other reading of its digits.
        other: Option<f64>,
        unit: Option<Unit>,
    },
    /// An amount of money.
    Money(f64),
    /// A day.
    Day(Day),
    /// A time of day.
    Time(Clocktime),
    /// A code: letters and digits as they are written.
    Code(String),
    /// A name: its folded words.
    Name(Vec<String>),
    /// A thing that has an owner, in small letters: `for my [family laptop]`.
    Phrase(Vec<String>),
}

impl Value {
    /// Returns true if two values are of one type.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) value: Value,
    pub(super) link: Link,
    /// Stems of the noun that a number counts, or of the label before it.
    pub(super) nouns: Vec<String>,
    /// The stem of the word before the preposition: `a [voucher] for $80`.
    pub(super) head: Option<String>,
    /// True if the text negates it.
    pub(super) is_denied: bool,
    /// The words of the mention, with the noun that a number counts.
    pub(super) words: String,
    pub(super) span: Span,
}

impl Mention {
    /// Creates a mention that counts nothing and is not denied.
    const fn new(value: Value, link: Link, words: String, span: Span) -> Self {
        Self { value, link, nouns: Vec::new(), head: None, is_denied: false, words, span }
    }
}

/// A text, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) source: String,
    pub(super) tokens: Vec<Token>,
    pub(super) mentions: Vec<Mention>,
}

impl Reading {
    /// Reads a text by a clock.
    pub(super) fn read(source: &str, clock: &Clock) -> Self {
        let tokens = tokens(source);
        let mut reading = Self { source: source.to_owned(), tokens, mentions: Vec::new() };
        let prose = Prose::read(source, clock);
        reading.add_codes();
        for mention in prose.mentions() {
            reading.add(&mention.what, mention.span());
        }
        reading.add_single_units();
        reading.add_names();
        reading.add_phrases();
        reading.retract();
        reading
    }

    /// Returns true if a word of a stem is in the text.
    pub(super) fn has(&self, stem: &str) -> bool {
        self.tokens.iter().any(|token| token.stem == stem)
    }

    /// Returns true if one of some folded words is in the text.
    pub(super) fn has_any(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.tokens.iter().any(|token| token.text == *word))
    }

    /// Returns the span of consecutive words with these stems.
    pub(super) fn find_words(&self, stems: &[String]) -> Option<Span> {
        let mut runs = self.tokens.windows(stems.len().max(1));
        let run = runs.find(|run| run.iter().zip(stems).all(|(token, stem)| token.stem == *stem))?;
        Some(Span { start: run.first()?.span.start, end: run.last()?.span.end })
    }

    /// Returns the words of a span, as they are written.
    pub(super) fn words_at(&self, span: Span) -> &str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// Marks the mentions that the text takes back: `on the 4th. No, the lease says the 5th`.
    fn retract(&mut self) {
        let turns = self.tokens.iter().rposition(|token| {
            let begins = token.opens || token.after_mark;
            (token.text == "no" && begins) || RETRACTIONS.contains(&&*token.text)
        });
        let Some(turn) = turns.map(|at| self.tokens[at].span.start) else { return };
        let (before, after): (Vec<usize>, Vec<usize>) =
            (0..self.mentions.len()).partition(|at| self.mentions[*at].span.start < turn);
        for at in before {
            let own = &self.mentions[at];
            let replaces = |other: &usize| {
                let other = &self.mentions[*other];
                let same_role = match own.value {
                    Value::Name(_) => own.link == other.link,
                    Value::Number { .. } => own.nouns == other.nouns || other.nouns.is_empty(),
                    _ => true,
                };
                own.value.is_alike(&other.value) && same_role && !other.is_denied
            };
            if after.iter().any(replaces) {
                self.mentions[at].is_denied = true;
            }
        }
    }

    /// Returns the number of the sentence that a span lies in, from 1.
    pub(super) fn sentence(&self, span: Span) -> usize {
        self.tokens
            .iter()
            .take_while(|token| token.span.start <= span.start)
            .filter(|token| token.opens)
            .count()
    }

    /// Returns the number of the part of the text that a span lies in. Marks and `and` begin parts.
    pub(super) fn part(&self, span: Span) -> usize {
        let before = self.tokens.iter().take_while(|token| token.span.start <= span.start);
        before.filter(|token| token.after_mark || token.text == "and").count()
    }

    fn add_codes(&mut self) {
        let codes = self.tokens.iter().enumerate().filter(|(_, token)| token.is_code);
        let found: Vec<Mention> = codes
            .map(|(at, token)| {
                let value = Value::Code(token.text.clone());
                Mention::new(value, self.link(at, 0), self.quote(token.span), token.span)
            })
            .collect();
        self.mentions.extend(found);
    }

    fn add(&mut self, what: &What, span: Span) {
        let start = self.tokens.partition_point(|token| token.span.end <= span.start);
        let end = self.tokens.partition_point(|token| token.span.start < span.end);
        if self.tokens.get(start).is_some_and(|token| token.is_code) {
            return;
        }
        let mut link = self.link(start, 0);
        let mut nouns = Vec::new();
        let mut quoted = span;
        let value = match what {
            What::None => return,
            What::Date(day) if day.derived => return,
            What::Date(day) => Value::Day(*day),
            What::Time(time) => Value::Time(*time),
            What::Money(money) => Value::Money(money.amount.as_f64()),
            What::Number(number) if number.role == NumberRole::Weak || self.word(start) == "both" => return,
            What::Number(number) => {
                if number.unit.is_none() {
                    if number.role == NumberRole::Identifier {
                        nouns.extend(self.label(start));
                    } else {
                        nouns = self.counted_nouns(end);
                        let last = nouns.len().checked_sub(1).and_then(|last| self.tokens.get(end + last));
                        quoted.end = last.map_or(span.end, |last| last.span.end);
                    }
                    // A speaker means two people by `for two`.
                    let is_party = link == Link::For && self.ends(end);
                    let of_us = self.word(end) == "of" && matches!(self.word(end + 1), "us" | "you");
                    if nouns.is_empty() && (is_party || of_us) {
                        nouns.push(stem("people"));
                    }
                }
                Value::Number { value: number.value, other: number.other, unit: number.unit }
            }
        };
        // `to` before a day or time means "until".
        if link == Link::To && matches!(value, Value::Day(_) | Value::Time(_)) {
            link = Link::Until;
        }
        let words = self.quote(quoted);
        let is_denied = link == Link::Aside;
        let head = start.checked_sub(2).and_then(|at| self.tokens.get(at)).map(|token| token.stem.clone());
        self.mentions.push(Mention { value, link, nouns, head, is_denied, words, span });
    }

    /// Returns the stems of the words that a number counts, after it.
    fn counted_nouns(&self, from: usize) -> Vec<String> {
        let words = self.tokens.iter().skip(from).take(MAX_NOUN_WORDS);
        let nouns = words.take_while(|token| !token.after_mark && !token.is_code && token.has_content());
        let is_person = |token: &Token| is_one_of(&token.stem, &PERSONS);
        nouns.map(|token| if is_person(token) { stem("people") } else { token.stem.clone() }).collect()
    }

    /// Returns the stem of the word before a number that names something: `[flat] 10`.
    fn label(&self, at: usize) -> Option<String> {
        at.checked_sub(1).and_then(|before| self.tokens.get(before)).map(|token| token.stem.clone())
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| !token.after_mark).map_or("", |token| &*token.text)
    }

    /// Returns true if a clause ends before a token.
    fn ends(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.after_mark || is_common(&token.text))
    }

    /// Returns the link of the words from a token on to the words before. Their preposition may stand `reach`
    /// words further back.
    fn link(&self, at: usize, reach: usize) -> Link {
        if at >= self.tokens.len() {
            return Link::Object;
        }
        let mut back = at;
        let mut skipped = 0;
        while let Some(before) = back.checked_sub(1) {
            let token = &self.tokens[before];
            if self.tokens[back].after_mark || self.tokens[back].opens {
                return Link::Object;
            }
            let pair = before.checked_sub(1).map_or("", |first| &*self.tokens[first].text);
            let is_in = |pairs: &[(&str, &str)]| {
                pairs
                    .iter()
                    .any(|(first, second)| token.text == *second && (first.is_empty() || pair == *first))
            };
            // `I'd like 1800` compares nothing.
            let wishes = token.text == "like" && matches!(pair, "d" | "would" | "you" | "i" | "we");
            if is_in(&SET_ASIDE) && !wishes {
                return Link::Aside;
            }
            if is_in(&BOUNDS_BELOW) {
                return Link::AtMost;
            }
            if is_in(&BOUNDS_ABOVE) {
                return Link::AtLeast;
            }
            if token.text == "of" && matches!(pair, "out" | "off") {
                return Link::From;
            }
            if let Some((_, link)) = LINKS.iter().find(|(word, _)| token.text == *word) {
                return *link;
            }
            if !DETERMINERS.contains(&&*token.text) {
                if skipped == reach || is_common(&token.text) {
                    return Link::Object;
                }
                skipped += 1;
            }
            back = before;
        }
        Link::Object
    }

    /// Returns the words of a span without an article before them or a mark after them.
    fn quote(&self, span: Span) -> String {
        let words = self.words_at(span);
        words.strip_prefix("the ").unwrap_or(words).trim_end_matches(['.', ',']).to_owned()
    }

    /// Adds a duration of one unit: `to an hour`.
    fn add_single_units(&mut self) {
        for at in 1..self.tokens.len() {
            let link = self.link(at, 0);
            let unit = Unit::named(self.word(at)).filter(|unit| unit.dimension == Dimension::Duration);
            let is_one = matches!(self.word(at - 1), "a" | "an") && matches!(link, Link::To | Link::For);
            let Some(unit) = unit.filter(|_| is_one) else { continue };
            let span = Span { start: self.tokens[at - 1].span.start, end: self.tokens[at].span.end };
            let value = Value::Number { value: 1.0, other: None, unit: Some(unit) };
            self.mentions.push(Mention::new(value, link, self.quote(span), span));
        }
    }

    /// Adds two words and more after `my` or `your`.
    fn add_phrases(&mut self) {
        let owners = (0..self.tokens.len()).filter(|at| matches!(self.word(*at), "my" | "our" | "your"));
        let mut found = Vec::new();
        for at in owners {
            let words = self.tokens[at + 1..].iter().take(MAX_NOUN_WORDS);
            let words: Vec<&Token> = words
                .take_while(|token| !token.after_mark && !token.capital && token.has_content())
                .collect();
            let (Some(first), Some(last)) = (words.first(), words.last()) else { continue };
            let link = self.link(at, 0);
            if words.len() < 2 || link == Link::Object {
                continue;
            }
            let span = Span { start: first.span.start, end: last.span.end };
            let value = Value::Phrase(words.iter().map(|token| token.text.clone()).collect());
            found.push(Mention::new(value, link, self.quote(span), span));
        }
        self.mentions.extend(found);
    }

    /// Extends a name by the capitalised words that `and` joins to it: `Iron and Fire`.
    fn join_names(&self, from: usize, end: usize, span: Span) -> Span {
        let capital = |at: usize| {
            self.tokens.get(at).filter(|token| token.capital && !token.after_mark && !token.opens)
        };
        let mut whole = span;
        if self.word(end) == "and" {
            let mut last = end + 1;
            while let Some(token) = capital(last) {
                (whole.end, last) = (token.span.end, last + 1);
            }
        }
        let mut first = from.checked_sub(2).filter(|_| self.word(from - 1) == "and");
        while let Some(token) = first.and_then(capital) {
            whole.start = token.span.start;
            first = first.and_then(|at| at.checked_sub(1));
        }
        whole
    }

    /// Adds consecutive capitalised words, with a number before an address.
    fn add_names(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let is_part = |at: usize, first: bool| {
                self.tokens.get(at).is_some_and(|token| {
                    let is_short = token.text.chars().count() < 5;
                    let all_capitals = self.words_at(token.span).chars().all(char::is_uppercase);
                    token.capital
                        && !token.is_code
                        && !(all_capitals && is_short)
                        && (first || !(token.after_mark || token.opens))
                        && !self.mentions.iter().any(|known| known.span.overlaps(token.span))
                })
            };
            if !is_part(at, true) {
                at += 1;
                continue;
            }
            let mut end = at + 1;
            while is_part(end, false) || (self.word(end) == "of" && is_part(end + 1, false)) {
                end += 1;
            }
            let mut start = at;
            at = end;
            let leads = |token: &Token| is_common(&token.text) || TITLES.contains(&&*token.text);
            while start < end && leads(&self.tokens[start]) {
                start += 1;
            }
            // Writers capitalise the first word of a sentence, whether it is a name or not.
            let Some(first) = self.tokens.get(start).filter(|_| start < end) else { continue };
            if end == start + 1 && first.opens {
                continue;
            }
            // The number belongs to an address: `93 Klein Terrace`.
            let number = start.checked_sub(1).map(|before| &self.tokens[before]).filter(|before| {
                end > start + 1
                    && !first.after_mark
                    && before.text.chars().all(|digit| digit.is_ascii_digit())
            });
            let numbered = number.map(|number| number.span);
            let from = start - usize::from(numbered.is_some());
            let span = Span { start: self.tokens[from].span.start, end: self.tokens[end - 1].span.end };
            let whole = self.join_names(from, end, span);
            // The number inside a name counts nothing: `Breeze 20`.
            let counted =
                self.tokens.get(end).filter(|next| !next.after_mark && !next.is_code).map(|next| next.span);
            self.mentions.retain(|known| !(Some(known.span) == counted && known.nouns.is_empty()));
            if let Some(numbered) = numbered {
                self.mentions.retain(|known| known.span != numbered);
            }
            let link = self.link(from, MAX_WORDS_TO_NAME);
            let value = Value::Name(self.tokens[from..end].iter().map(|token| token.text.clone()).collect());
            let name = Mention::new(value, link, self.quote(whole), span);
            self.mentions.push(Mention { is_denied: link == Link::Aside, ..name });
        }
    }
}
