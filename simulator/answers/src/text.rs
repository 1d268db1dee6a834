//! Tokens: splits a text into words, figures and signs, with their lines, cells, sentences and clauses.

use std::ops::Range;

use diorama_seeds::english;

use super::figures::{self, Figure};
use super::lexicon::{self, Lex, Role};
use super::markdown::{self, CELL};

/// Longer texts are cut here, so that the time of a grade is bounded.
pub const MAX_BYTES: usize = 40_000;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Letters, with an optional apostrophe inside.
    Word,
    /// Digits with their separators. None for a code.
    Figure(Option<Figure>),
    /// One other character.
    Sign(char),
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// First byte in the text.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    pub(crate) kind: Kind,
    /// Byte range of its folded form.
    folded: (u32, u32),
    /// Hash of its stem. Forms of one word have equal hashes.
    pub stem: u64,
    pub(crate) lex: &'static Lex,
    /// Line or block, from 0.
    pub line: u32,
    /// Table cell, counted from the start of the text.
    pub(crate) cell: u32,
    /// Sentence, from 0.
    pub sentence: u32,
    /// Part of a sentence between marks and joints, counted from the start of the text.
    pub(crate) clause: u32,
    /// True if no blank precedes the token.
    pub(crate) glued: bool,
    /// True if its first letter is a capital.
    pub(crate) capital: bool,
    /// True if all its letters are capitals.
    pub(crate) upper: bool,
}

impl Token {
    /// Returns true for a word.
    #[must_use]
    pub const fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word)
    }

    /// Returns true for a word with a meaning of its own.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        self.is_word() && !self.lex.is(Role::Function)
    }

    /// Returns true for a word that plays a role in its sentence.
    #[must_use]
    pub const fn is(&self, role: Role) -> bool {
        self.is_word() && self.lex.is(role)
    }

    /// Returns the token's figure.
    pub(crate) const fn figure(&self) -> Option<Figure> {
        match self.kind {
            Kind::Figure(figure) => figure,
            _ => None,
        }
    }

    pub(crate) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// A text as tokens.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    /// For each sentence, true if it is a question.
    pub questions: Vec<bool>,
    /// The folded words, concatenated.
    folded: String,
}

impl Text {
    /// Parses a message with Markdown.
    #[must_use]
    pub fn read(source: &str) -> Self {
        let mut end = source.len().min(MAX_BYTES);
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        Self::tokens_of(&markdown::plain(&source[..end]))
    }

    /// Parses a short text without markup, such as a name.
    #[must_use]
    pub fn of_value(value: &str) -> Self {
        Self::tokens_of(value)
    }

    /// Returns a word without case and accents, or the characters of another token.
    #[must_use]
    pub fn word(&self, token: &Token) -> &str {
        self.folded.get(token.folded.0 as usize..token.folded.1 as usize).unwrap_or_default()
    }

    /// Returns the words and figures, in order.
    pub fn words_and_figures(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| self.word(token).chars().any(char::is_alphanumeric))
    }

    /// Returns the word at a position, if the token before it is in the same line and cell.
    pub(crate) fn next_word(&self, at: usize) -> &str {
        self.next(at).filter(|token| token.is_word()).map_or("", |token| self.word(token))
    }

    /// Returns the token at a position, if the token before it is in the same line and cell.
    pub(crate) fn next(&self, at: usize) -> Option<&Token> {
        let token = self.tokens.get(at)?;
        let before = self.tokens.get(at.checked_sub(1)?)?;
        (token.line == before.line && token.cell == before.cell).then_some(token)
    }

    /// Returns the previous token, if it is in the same sentence and cell.
    pub(crate) fn before(&self, at: usize) -> Option<&Token> {
        let before = self.tokens.get(at.checked_sub(1)?)?;
        let token = self.tokens.get(at)?;
        (token.sentence == before.sentence && token.cell == before.cell).then_some(before)
    }

    /// Returns the previous word, if it is in the same sentence and cell.
    pub(crate) fn word_before(&self, at: usize) -> &str {
        self.before(at).filter(|token| token.is_word()).map_or("", |token| self.word(token))
    }

    /// Returns the token range of each sentence, in order.
    pub fn sentences(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.tokens.chunk_by(|one, next| one.sentence == next.sentence).map(move |tokens| {
            let range = start..start + tokens.len();
            start = range.end;
            range
        })
    }

    /// Returns true if the sentence of a token is a question.
    #[must_use]
    pub fn asks(&self, token: &Token) -> bool {
        self.questions.get(token.sentence as usize).copied().unwrap_or(false)
    }

    fn tokens_of(plain: &str) -> Self {
        let mut reader =
            Reader { plain, text: Self::default(), line: 0, cell: 0, sentence: 0, clause: 0, glued: false };
        reader.run();
        reader.text
    }
}

struct Reader<'a> {
    plain: &'a str,
    text: Text,
    line: u32,
    cell: u32,
    sentence: u32,
    clause: u32,
    glued: bool,
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(c) = self.plain[at..].chars().next() {
            let length = match c {
                '\n' => {
                    self.line += 1;
                    self.end_sentence(false);
                    1
                }
                CELL => {
                    (self.cell, self.clause, self.glued) = (self.cell + 1, self.clause + 1, false);
                    1
                }
                _ if c.is_whitespace() => {
                    self.glued = false;
                    c.len_utf8()
                }
                _ if c.is_ascii_digit() => {
                    let (figure, length) = figures::read(&self.plain[at..]);
                    self.push(at, length, Kind::Figure(figure));
                    length
                }
                _ if c.is_alphabetic() => self.word(at),
                _ => self.sign(at, c),
            };
            at += length;
        }
        self.end_sentence(false);
    }

    /// Reads a word. `'s` and the like are separate words, except in denials such as `isn't`.
    fn word(&mut self, at: usize) -> usize {
        let rest = &self.plain[at..];
        let letters =
            |text: &str| text.find(|c: char| !c.is_alphabetic() && !is_combining(c)).unwrap_or(text.len());
        let mut length = letters(rest);
        let behind = &rest[length..];
        if let Some(mark) = behind.chars().next().filter(|c| matches!(c, '\'' | '’')) {
            let ending = letters(&behind[mark.len_utf8()..]);
            let whole = length + mark.len_utf8() + ending;
            let is_denial = rest[..length].ends_with(['n', 'N']) && ending == 1;
            if is_denial || rest[..length].eq_ignore_ascii_case("let") {
                length = whole;
            } else if ending > 0 {
                self.push(at, length, Kind::Word);
                self.glued = true;
                self.push(at + length, whole - length, Kind::Word);
                return whole;
            }
        }
        self.push(at, length, Kind::Word);
        length
    }

    fn sign(&mut self, at: usize, c: char) -> usize {
        let length = c.len_utf8();
        let before = self.plain[..at].chars().next_back();
        let after = self.plain[at + length..].chars().next();
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match c {
            ',' | ';' | ':' | '(' | ')' | '[' | ']' | '—' | '–' | '{' | '}' => {
                self.push(at, length, Kind::Sign(c));
                // A colon or a dash inside a figure or a word ends no clause.
                if blank(after) || blank(before) || !matches!(c, ':' | '–') {
                    self.clause += 1;
                }
            }
            '-' if blank(before) && blank(after) => {
                self.push(at, length, Kind::Sign(c));
                self.clause += 1;
            }
            '!' | '?' => {
                self.push(at, length, Kind::Sign(c));
                self.end_sentence(c == '?');
            }
            '.' | '…' => {
                let ends = self.ends_sentence(at, after);
                self.push(at, length, Kind::Sign(c));
                if ends {
                    self.end_sentence(false);
                }
            }
            '"' | '“' | '”' | '„' | '«' | '»' | '\u{fe0f}' | '\u{200b}' => {}
            _ => self.push(at, length, Kind::Sign(c)),
        }
        length
    }

    /// Returns true if a point ends a sentence: no abbreviation or initial precedes it, and a blank follows.
    fn ends_sentence(&self, at: usize, after: Option<char>) -> bool {
        let next = self.plain[at..]
            .trim_start_matches(['.', '…'])
            .trim_start_matches(['"', '”', '\'', ')', '*'])
            .chars();
        let closes = after.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '”' | ')' | CELL));
        let Some(last) = self.text.tokens.last().filter(|last| last.end as usize == at) else {
            return closes;
        };
        // `J. Smith` has an initial, `19.4 °C.` does not.
        let initial =
            last.is_word() && last.end - last.start == 1 && last.capital && !last.glued && !self.measures(at);
        let lower = next.clone().find(|c| !c.is_whitespace()).is_some_and(char::is_lowercase);
        closes
            && !(last.is(Role::Abbreviation)
                || initial
                || (last.is_word() && last.end - last.start == 1 && lower))
    }

    /// Returns true if a figure precedes the word that ends here.
    fn measures(&self, at: usize) -> bool {
        let before = self.text.tokens.iter().rev().find(|token| (token.end as usize) < at);
        before.is_some_and(|before| matches!(before.kind, Kind::Figure(_)))
    }

    fn end_sentence(&mut self, asks: bool) {
        (self.clause, self.glued) = (self.clause + 1, false);
        if self.text.tokens.last().is_some_and(|last| last.sentence == self.sentence) {
            self.text.questions.push(asks);
            self.sentence += 1;
        }
    }

    fn push(&mut self, at: usize, length: usize, kind: Kind) {
        let written = &self.plain[at..at + length];
        let from = self.text.folded.len() as u32;
        fold_into(&mut self.text.folded, written);
        let folded = (from, self.text.folded.len() as u32);
        let word = &self.text.folded[folded.0 as usize..folded.1 as usize];
        let is_word = kind == Kind::Word;
        let lex = lexicon::look_up(if is_word { word } else { "" });
        let stem = match kind {
            Kind::Word if lex.is(Role::Function) => hash(word),
            Kind::Word => hash(&english::stem(word)),
            Kind::Figure(_) => hash(word),
            Kind::Sign(_) => 0,
        };
        if lex.is(Role::Joint) {
            self.clause += 1;
        }
        let (capital, upper) = (
            is_word && written.starts_with(char::is_uppercase),
            is_word && written.chars().all(char::is_uppercase),
        );
        self.text.tokens.push(Token {
            start: at as u32,
            end: (at + length) as u32,
            kind,
            folded,
            stem,
            lex,
            line: self.line,
            cell: self.cell,
            sentence: self.sentence,
            clause: self.clause,
            glued: std::mem::replace(&mut self.glued, true),
            capital,
            upper,
        });
    }
}

/// Appends a word without case and accents.
fn fold_into(folded: &mut String, word: &str) {
    if word.is_ascii() {
        folded.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    } else {
        folded.push_str(&english::fold(word).replace('’', "'"));
    }
}

const fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the FNV-1a hash of a word's bytes.
pub(crate) fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
