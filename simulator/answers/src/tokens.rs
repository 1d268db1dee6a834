//! An answer as tokens with their places: markup dropped, words folded, lines, cells and sentences marked.
//!
//! Owns everything about how text is written down (Markdown, LaTeX, quotes, diacritics). It must not know what a
//! number or a date is.

mod fold;
mod lines;
mod reader;

use self::reader::Reader;
use super::lexicon::{self, Lex, Roles};

/// Longer answers are cut here: nobody reads on, and the time of a grade stays bounded.
pub const MAX_BYTES: usize = 40_000;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters.
    Word,
    /// ASCII digits.
    Digits,
    /// One other character that may matter.
    Symbol(char),
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// First byte in the text.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// What it is.
    pub kind: Kind,
    /// Hash of the folded word or of the digits; 0 for symbols.
    pub hash: u64,
    /// The same with a plural ending taken off.
    pub stem: u64,
    /// Digits: their value, when it fits.
    pub value: u64,
    /// Position in the lexicon.
    lex: u16,
    /// Line, from 0.
    pub line: u32,
    /// Cell of a table row, from 0.
    pub cell: u16,
    /// Sentence, from 0.
    pub sentence: u32,
    /// See [`Marks`].
    marks: u8,
}

/// Flags of a token.
pub struct Marks;

impl Marks {
    /// No white space before it.
    pub const GLUED: u8 = 1;
    /// First letter is a capital.
    pub const CAPITAL: u8 = 2;
    /// All letters are capitals.
    pub const UPPER: u8 = 4;
    /// Bold, quoted or code.
    pub const EMPHASISED: u8 = 8;
    /// Struck through.
    pub const STRUCK: u8 = 16;
    /// First of its sentence or cell.
    pub const FIRST: u8 = 32;
    /// Inside the address of a link.
    pub const LINK: u8 = 64;
}

impl Token {
    /// Whether all these marks are set.
    pub const fn has(&self, marks: u8) -> bool {
        self.marks & marks == marks
    }

    /// What the word can mean.
    pub fn lex(&self) -> &'static Lex {
        lexicon::entry(self.lex)
    }

    /// Whether the word has any of these roles.
    pub fn is(&self, roles: Roles) -> bool {
        self.lex != 0 && self.lex().roles.any(roles)
    }

    /// Returns true if it is this symbol.
    pub const fn is_symbol(&self, symbol: char) -> bool {
        matches!(self.kind, Kind::Symbol(c) if c == symbol)
    }

    /// Returns true if it is a word.
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// Returns true if it is a run of digits.
    pub fn is_digits(&self) -> bool {
        self.kind == Kind::Digits
    }

    /// Length in bytes.
    /// Its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "no token is empty")]
    pub const fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// A word that says something by itself.
    pub fn has_content(&self) -> bool {
        self.kind == Kind::Word && !self.is(Roles::FUNCTION)
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Running text.
    Plain,
    /// A bullet or a numbered item.
    Item,
    /// A table row.
    Row,
    /// A heading.
    Heading,
}

/// A text as tokens.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    /// The kind of each line.
    pub lines: Vec<LineKind>,
    /// For each sentence, whether it is a question.
    pub questions: Vec<bool>,
}

impl Text {
    /// Reads a text.
    pub fn read(text: &str) -> Self {
        Reader::new(text).run()
    }

    /// Reads a short text that is no answer, such as a name: a number or a dash at its start is part of it.
    pub fn of_value(value: &str) -> Self {
        let mut reader = Reader::new(value);
        reader.value = true;
        reader.run()
    }

    /// Takes their roles from words that are part of a name.
    pub fn mute(&mut self, tokens: std::ops::Range<usize>) {
        for token in self.tokens.get_mut(tokens).into_iter().flatten() {
            token.lex = 0;
        }
    }

    /// Whether one of these words is in it.
    pub fn has_any(&self, words: &[u64]) -> bool {
        self.tokens.iter().any(|token| words.contains(&token.hash))
    }

    /// The token at a position.
    pub fn get(&self, position: usize) -> Option<&Token> {
        self.tokens.get(position)
    }

    /// The token, when it follows in the same line and cell as the one before.
    pub fn next(&self, position: usize) -> Option<&Token> {
        let token = self.tokens.get(position)?;
        let before = self.tokens.get(position.checked_sub(1)?)?;
        (token.line == before.line && token.cell == before.cell).then_some(token)
    }

    /// Whether the token at a position is this word, in the same line as the one before.
    pub fn is_word(&self, position: usize, hash: u64) -> bool {
        self.next(position).is_some_and(|token| token.kind == Kind::Word && token.hash == hash)
    }

    /// Whether the token at a position is this symbol, glued to the one before.
    pub fn is_glued(&self, position: usize, symbol: char) -> bool {
        self.get(position).is_some_and(|token| token.is_symbol(symbol) && token.has(Marks::GLUED))
    }

    /// The token before, in the same sentence.
    pub fn before(&self, position: usize) -> Option<&Token> {
        let before = self.tokens.get(position.checked_sub(1)?)?;
        let token = self.tokens.get(position)?;
        (before.sentence == token.sentence && before.cell == token.cell).then_some(before)
    }

    /// Whether the sentence of a token is a question.
    pub fn asks(&self, token: &Token) -> bool {
        self.questions.get(token.sentence as usize).copied().unwrap_or(false)
    }
}
