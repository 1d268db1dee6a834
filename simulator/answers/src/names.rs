//! Names: values of text fields as sequences of words, and finding them in a text.
//!
//! Owns what makes two spellings the same name: case, diacritics, hyphens, markup, titles of persons, leading
//! articles. It must not know which name is expected.

use std::ops::Range;
use std::rc::Rc;

use crate::lexicon::{HASH_START, Roles, WordMap};
use crate::remembered::Remembered;
use crate::tokens::{Kind, Marks, Text, Token};
use crate::words;

/// One name: its words without title and article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Hashes of its words.
    pub words: Vec<u64>,
    /// What it is: equal for two spellings of one name.
    pub identity: u64,
    shape: Shape,
}

/// What a spelling asks of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// It has punctuation inside, so the text may have some too.
    punctuated: bool,
    /// One word that starts with a capital.
    capital: bool,
    /// One word that also has a grammatical role.
    common: bool,
    /// Digits only.
    digits: bool,
    /// How many digits, when it has nothing else.
    length: u8,
}

thread_local! {
    static NAMES: Remembered<Option<Name>> = Remembered::default();
}

impl Name {
    /// A name that is looked for again and again.
    pub fn remembered(value: &str) -> Rc<Option<Self>> {
        NAMES.with(|known| known.get(value, Self::read))
    }

    /// Reads a name; `None` when there is no word in it.
    pub fn read(value: &str) -> Option<Self> {
        let text = Text::of_value(value);
        let mut words: Vec<&Token> =
            text.tokens.iter().filter(|token| !matches!(token.kind, Kind::Symbol(_))).collect();
        let titles = words.iter().take_while(|token| token.is(Roles::HONORIFIC)).count();
        if titles < words.len() {
            words.drain(..titles);
        }
        let article = words.first().is_some_and(|token| words!("the a an").contains(&token.hash));
        if article && words.len() > 2 {
            words.remove(0);
        }
        let first = words.first()?;
        let start = first.start;
        let punctuated = text.tokens.iter().any(|token| {
            token.start > start && matches!(token.kind, Kind::Symbol(symbol) if !matches!(symbol, '-' | '.'))
        });
        let digits = words.iter().all(|token| token.is_digits());
        let shape = Shape {
            punctuated,
            capital: words.len() == 1 && first.has(Marks::CAPITAL),
            common: words.len() == 1 && first.is(Roles::FUNCTION),
            digits,
            length: if digits {
                words.iter().map(|token| token.len()).sum::<usize>().min(255) as u8
            } else {
                0
            },
        };
        let words: Vec<u64> = words.iter().map(|token| token.hash).collect();
        Some(Self { identity: identity(&words), words, shape })
    }

    /// The same name by its last word alone.
    pub fn last_word(&self) -> Option<Self> {
        let last = *self.words.last()?;
        let shape = Shape { punctuated: false, capital: true, common: false, digits: false, length: 0 };
        Some(Self { words: vec![last], identity: self.identity, shape })
    }

    /// The same name with its last word first: `Silva, Ana`.
    pub fn reversed(&self) -> Option<Self> {
        let (last, rest) = self.words.split_last()?;
        let words: Vec<u64> = std::iter::once(*last).chain(rest.iter().copied()).collect();
        let shape = Shape { punctuated: true, ..self.shape };
        (words.len() > 1).then_some(Self { words, identity: self.identity, shape })
    }

    /// Whether it looks like the name of a person or a place: two or three capitalised words.
    pub fn is_proper(value: &str) -> bool {
        let text = Text::of_value(value);
        let words: Vec<&Token> =
            text.tokens.iter().filter(|token| token.is_word() && !token.is(Roles::HONORIFIC)).collect();
        (2..=3).contains(&words.len())
            && text.tokens.iter().all(|token| !token.is_digits())
            && words.iter().all(|token| token.has(Marks::CAPITAL) && !token.is(Roles::FUNCTION))
    }

    /// Whether the tokens at a place spell it; gives the token after the last.
    pub fn at(&self, text: &Text, at: usize, strict: bool) -> Option<usize> {
        let first = text.get(at)?;
        if first.hash != *self.words.first()? || matches!(first.kind, Kind::Symbol(_)) {
            return None;
        }
        let end = follow(text, at, &self.words[1..], self.shape.punctuated)?;
        self.shape.fits(text, at, end, strict).then_some(end)
    }

    /// A long number that the text may group in its own way: telephone numbers, card numbers.
    pub fn digits_at(&self, text: &Text, at: usize, digits: &str, source: &str) -> Option<usize> {
        if !self.shape.digits || self.shape.length < 7 || !text.get(at)?.is_digits() {
            return None;
        }
        let mut rest = digits;
        let mut end = at;
        for _ in 0..16 {
            let token = text.get(end)?;
            match token.kind {
                Kind::Digits => {
                    rest = rest.strip_prefix(source.get(token.start as usize..token.end as usize)?)?;
                    end += 1;
                    if rest.is_empty() {
                        return Some(end);
                    }
                }
                Kind::Symbol('-' | ' ' | '(' | ')' | '.' | '/' | '\u{a0}') => end += 1,
                _ => return None,
            }
        }
        None
    }

    /// Returns true if it has digits only.
    #[must_use]
    pub const fn is_digits(&self) -> bool {
        self.shape.digits
    }
}

impl Shape {
    /// Whether the text means a name here, and not a common word or number. Rivals are read strictly, expected
    /// names leniently.
    fn fits(self, text: &Text, at: usize, end: usize, strict: bool) -> bool {
        let Some(token) = text.get(at) else { return false };
        let marked = token.has(Marks::EMPHASISED) || alone(text, at, end);
        let capital = self.capital && token.has(Marks::CAPITAL) && !token.has(Marks::FIRST);
        if self.common && !(marked || capital || stated(text, at, end)) {
            return false;
        }
        // `25.5` is not the code 25, nor is `1,250`.
        if self.digits {
            let goes_on = |at: usize| {
                text.get(at).is_some_and(|token| {
                    token.has(Marks::GLUED) && matches!(token.kind, Kind::Symbol('.' | ',' | ':' | '%' | '/'))
                }) && text.get(at + 1).is_some_and(|token| token.has(Marks::GLUED) && token.is_digits())
            };
            let preceded = token.has(Marks::GLUED)
                && at > 0
                && text.get(at - 1).is_some_and(|before| {
                    before.is_digits()
                        || matches!(before.kind, Kind::Symbol('.' | ',' | ':' | '/' | '€' | '$' | '£'))
                });
            if goes_on(end) || preceded {
                return false;
            }
        }
        if !strict {
            return true;
        }
        if self.digits {
            let labelled =
                text.before(at).is_some_and(|before| before.is(Roles::IDENTIFIER) || before.is_symbol('#'));
            return self.length >= 5 || labelled;
        }
        if self.capital {
            return token.has(Marks::CAPITAL) || marked;
        }
        true
    }
}

/// Whether a common word is what a clause says of its subject: `the lamp is off.`, `it is switched on and`, `Yes,`.
fn stated(text: &Text, at: usize, end: usize) -> bool {
    let Some(token) = text.get(at) else { return false };
    let after = text.get(end).filter(|after| after.sentence == token.sentence && after.cell == token.cell);
    let ends = after.is_none_or(|after| {
        matches!(after.kind, Kind::Symbol(_))
            || words!("and but now right currently today").contains(&after.hash)
    });
    let before =
        text.before(at).filter(|before| before.sentence == token.sentence && before.cell == token.cell);
    let said = match before {
        Some(before) => {
            (before.is(Roles::COPULA) && !before.is(Roles::NEGATOR))
                || words!("switched turned currently now").contains(&before.hash)
        }
        None => words!("yes no").contains(&token.hash),
    };
    ends && said
}

/// Whether the tokens are all there is in a cell, or follow a colon.
fn alone(text: &Text, at: usize, end: usize) -> bool {
    let Some(token) = text.get(at) else { return false };
    let same = |other: &Token| other.line == token.line && other.cell == token.cell;
    let before = at.checked_sub(1).and_then(|before| text.get(before)).filter(|before| same(before));
    let after = text.get(end).filter(|after| same(after));
    let opened = before.is_none_or(|before| before.is_symbol(':') || before.is_symbol('='));
    opened && after.is_none_or(|after| matches!(after.kind, Kind::Symbol('.' | ',' | '}' | ')' | ';')))
}

/// Goes on through the words after the first; gives the token after the last.
fn follow(text: &Text, at: usize, words: &[u64], punctuated: bool) -> Option<usize> {
    let mut end = at + 1;
    let first = text.get(at)?;
    for word in words {
        let mut skipped = 0;
        loop {
            let token = text.get(end).filter(|token| token.line == first.line && token.cell == first.cell)?;
            match token.kind {
                Kind::Symbol(symbol) => {
                    let soft =
                        matches!(symbol, '-' | '.' | '\u{a0}') || (symbol == '/' && token.has(Marks::GLUED));
                    if skipped >= 3 || !(soft || punctuated) || matches!(symbol, '|' | '?' | '!') {
                        return None;
                    }
                    skipped += 1;
                    end += 1;
                }
                _ if token.hash == *word => break,
                _ => return None,
            }
        }
        end += 1;
    }
    // A stop in between ends the sentence, and with it the name.
    let last = text.get(end - 1)?;
    (punctuated || last.sentence == first.sentence).then_some(end)
}

fn identity(words: &[u64]) -> u64 {
    words.iter().fold(HASH_START, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x0100_0000_01b3))
}

/// Names found by their first word.
#[derive(Debug, Default)]
pub struct Names {
    /// Sorted by first word, longest first.
    names: Vec<Name>,
    index: WordMap<Range<u32>>,
    /// How many names have this word.
    words: WordMap<u32>,
}

impl Names {
    /// The names of these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = Builder::default();
        values.into_iter().for_each(|value| builder.add(value));
        builder.finish()
    }

    /// The longest name at a token: its identity, and the token after it.
    pub fn longest_at(&self, text: &Text, at: usize) -> Option<(u64, usize)> {
        let token = text.get(at)?;
        let range = self.index.get(&token.hash)?;
        let names = self.names.get(range.start as usize..range.end as usize)?;
        names.iter().find_map(|name| name.at(text, at, true).map(|end| (name.identity, end)))
    }

    /// The longest name of two words and more at a token: the token after it.
    pub fn long_at(&self, text: &Text, at: usize) -> Option<usize> {
        let token = text.get(at)?;
        let range = self.index.get(&token.hash)?;
        let names = self.names.get(range.start as usize..range.end as usize)?;
        names.iter().filter(|name| name.words.len() > 1).find_map(|name| name.at(text, at, true))
    }

    /// How many names have a word.
    pub fn with_word(&self, word: u64) -> u32 {
        self.words.get(&word).copied().unwrap_or(0)
    }
}

/// Collects names.
#[derive(Default)]
pub struct Builder {
    names: Vec<Name>,
}

impl Builder {
    /// Adds a name.
    pub fn add(&mut self, value: &str) {
        if let Some(name) = Name::read(value) {
            self.names.push(name);
        }
    }

    /// Adds another spelling of a name.
    pub fn add_as(&mut self, spelling: &str, of: &str) {
        if let (Some(mut name), Some(of)) = (Name::read(spelling), Name::read(of)) {
            name.identity = of.identity;
            self.names.push(name);
        }
    }

    /// Sorts and indexes.
    pub fn finish(mut self) -> Names {
        self.names.sort_by(|a, b| {
            (a.words.first(), std::cmp::Reverse(a.words.len()), &a.words, a.identity).cmp(&(
                b.words.first(),
                std::cmp::Reverse(b.words.len()),
                &b.words,
                b.identity,
            ))
        });
        self.names.dedup();
        let mut index: WordMap<Range<u32>> = WordMap::default();
        let mut words: WordMap<u32> = WordMap::default();
        for (position, name) in self.names.iter().enumerate() {
            let position = position as u32;
            for word in &name.words {
                *words.entry(*word).or_insert(0) += 1;
            }
            if let Some(first) = name.words.first() {
                index.entry(*first).or_insert(position..position).end = position + 1;
            }
        }
        Names { names: self.names, index, words }
    }
}
