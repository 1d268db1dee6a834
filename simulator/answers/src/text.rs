//! A text as tokens with their places: words, figures and signs, in lines, cells, sentences and clauses.

use std::ops::Range;

use diorama_seeds::english;

use super::figures::{self, Figure};
use super::lexicon::{self, Lex, Role};
use super::markdown::{self, CELL};

/// Longer texts are cut here: nobody reads on, and the time of a grade stays bounded.
pub const MAX_BYTES: usize = 40_000;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Letters, perhaps with an apostrophe inside.
    Word,
    /// Digits with their separators; none where they are a code.
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
    /// Place of its folded form.
    folded: (u32, u32),
    /// Hash of its stem: equal for forms of one word.
    pub stem: u64,
    pub(crate) lex: &'static Lex,
    /// Line or block, from 0.
    pub line: u32,
    /// Cell of a table, counted through the text.
    pub(crate) cell: u32,
    /// Sentence, from 0.
    pub sentence: u32,
    /// Part of a sentence between marks and joints, counted through the text.
    pub(crate) clause: u32,
    /// No blank stands before it.
    pub(crate) glued: bool,
    /// Its first letter is a capital.
    pub(crate) capital: bool,
    /// All its letters are capitals.
    pub(crate) upper: bool,
}

impl Token {
    /// Returns true if it is a word.
    #[must_use]
    pub const fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word)
    }

    /// Returns true if it is a word with a meaning of its own.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        self.is_word() && !self.lex.is(Role::Function)
    }

    /// Returns true if it plays a role in its sentence.
    #[must_use]
    pub const fn is(&self, role: Role) -> bool {
        self.is_word() && self.lex.is(role)
    }

    /// The figure that it is.
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
    /// For each sentence, whether it is a question.
    pub questions: Vec<bool>,
    /// The folded words, one after the other.
    folded: String,
}

impl Text {
    /// Reads a message, with its Markdown.
    #[must_use]
    pub fn read(source: &str) -> Self {
        let mut end = source.len().min(MAX_BYTES);
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        Self::tokens_of(&markdown::plain(&source[..end]))
    }

    /// Reads a short text that is no message, such as a name.
    #[must_use]
    pub fn of_value(value: &str) -> Self {
        Self::tokens_of(value)
    }

    /// The token's word without case and accents; the characters of other tokens.
    #[must_use]
    pub fn word(&self, token: &Token) -> &str {
        self.folded.get(token.folded.0 as usize..token.folded.1 as usize).unwrap_or_default()
    }

    /// The words and figures, in order; no marks.
    pub fn words_and_figures(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| self.word(token).chars().any(char::is_alphanumeric))
    }

    /// The word at a position, when it follows in the same line and cell as the token before.
    pub(crate) fn next_word(&self, at: usize) -> &str {
        self.next(at).filter(|token| token.is_word()).map_or("", |token| self.word(token))
    }

    /// The token, when it follows in the same line and cell as the one before.
    pub(crate) fn next(&self, at: usize) -> Option<&Token> {
        let token = self.tokens.get(at)?;
        let before = self.tokens.get(at.checked_sub(1)?)?;
        (token.line == before.line && token.cell == before.cell).then_some(token)
    }

    /// The token before, in the same sentence and cell.
    pub(crate) fn before(&self, at: usize) -> Option<&Token> {
        let before = self.tokens.get(at.checked_sub(1)?)?;
        let token = self.tokens.get(at)?;
        (token.sentence == before.sentence && token.cell == before.cell).then_some(before)
    }

    /// The word before, in the same sentence and cell.
    pub(crate) fn word_before(&self, at: usize) -> &str {
        self.before(at).filter(|token| token.is_word()).map_or("", |token| self.word(token))
    }

    /// The positions of the tokens of each sentence, in order.
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

    /// A word; `'s` and the like are words of their own, except in denials such as `isn't`.
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
                // A colon or dash inside a figure or word is none of these.
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

    /// Returns true if a point ends a sentence: no abbreviation or initial stands before it, and a blank follows.
    fn ends_sentence(&self, at: usize, after: Option<char>) -> bool {
        let next = self.plain[at..]
            .trim_start_matches(['.', '…'])
            .trim_start_matches(['"', '”', '\'', ')', '*'])
            .chars();
        let closes = after.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '”' | ')' | CELL));
        let Some(last) = self.text.tokens.last().filter(|last| last.end as usize == at) else {
            return closes;
        };
        // `J. Smith`, not `19.4 °C.`
        let initial =
            last.is_word() && last.end - last.start == 1 && last.capital && !last.glued && !self.measures(at);
        let lower = next.clone().find(|c| !c.is_whitespace()).is_some_and(char::is_lowercase);
        closes
            && !(last.is(Role::Abbreviation)
                || initial
                || (last.is_word() && last.end - last.start == 1 && lower))
    }

    /// Returns true if the word that ends here stands behind a figure.
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

/// Adds a word without case and accents.
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

/// FNV-1a over the bytes of a word.
pub(crate) fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
