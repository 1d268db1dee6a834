//! Owns the division of a text into tokens. It bounds length and nesting, checks brackets and quotes, and
//! rejects by name the constructs of CEL that the language lacks.

use crate::expr::error::ExprError;
use crate::expr::operator::Operator;
use crate::value::Value;

/// Maximum length of a text in bytes.
pub(super) const MAX_BYTES: usize = 2_000;
/// Maximum nesting of brackets.
pub(super) const MAX_NESTING: usize = 32;
/// Maximum number of tokens.
pub(super) const MAX_TOKENS: usize = 500;
/// Maximum number of `!` and `-` in a row before an operand.
const MAX_PREFIXES: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A number, a string, `true`, `false` or `null`.
    Literal(Value),
    /// The digits of `i64::MIN` without its sign. Only `-` may stand before it.
    LeastInteger,
    Name(String),
    /// A binary operator. `-` is also a prefix.
    Operator(Operator),
    /// `(`, `)`, `[`, `]`, `,`, `.`, `!`, `?` or `:`.
    Sign(u8),
}

/// A token, and the byte offset of its start.
#[derive(Clone, Debug)]
pub(super) struct PlacedToken {
    pub(super) token: Token,
    pub(super) start: usize,
}

fn refuse<T>(offset: usize, message: impl Into<String>) -> Result<T, ExprError> {
    Err(ExprError { offset, message: message.into() })
}

/// Splits a text into tokens.
///
/// # Errors
/// Returns an error if the text exceeds the bounds, or has characters that the language lacks.
pub(super) fn tokens(source: &str) -> Result<Vec<PlacedToken>, ExprError> {
    if source.len() > MAX_BYTES {
        let found = source.len();
        let message =
            format!("the expression has {found} bytes; at most {MAX_BYTES} are read: split it with `let`");
        return refuse(MAX_BYTES, message);
    }
    if source.trim().is_empty() {
        return refuse(0, "found nothing; expected an expression");
    }
    let mut lexer = Lexer { source, at: 0, open: Vec::new(), prefixes: 0 };
    let mut found = Vec::new();
    while let Some(placed) = lexer.next()? {
        if found.len() >= MAX_TOKENS {
            let message = format!("more than {MAX_TOKENS} tokens; split the expression with `let`");
            return refuse(placed.start, message);
        }
        found.push(placed);
    }
    match lexer.open.pop() {
        Some((bracket, start)) => {
            refuse(start, format!("found `{}` that is never closed", char::from(bracket)))
        }
        None => Ok(found),
    }
}

struct Lexer<'t> {
    source: &'t str,
    at: usize,
    /// The open brackets with their offsets.
    open: Vec<(u8, usize)>,
    /// Number of `!` and `-` directly before the current position.
    prefixes: usize,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn text(&self, start: usize) -> &str {
        self.source.get(start..self.at).unwrap_or_default()
    }

    fn skip_while(&mut self, fits: impl Fn(u8) -> bool) {
        while fits(self.byte(0)) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Result<Option<PlacedToken>, ExprError> {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        if self.at >= self.source.len() {
            return Ok(None);
        }
        let start = self.at;
        let byte = self.byte(0);
        let is_prefix = byte == b'-' || (byte == b'!' && self.byte(1) != b'=');
        self.prefixes = if is_prefix { self.prefixes + 1 } else { 0 };
        if self.prefixes > MAX_PREFIXES {
            return refuse(start, format!("more than {MAX_PREFIXES} `!` or `-` in a row; one is enough"));
        }
        let token = match byte {
            b'\'' | b'"' => self.string(start, false)?,
            b'0'..=b'9' => self.number(start)?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start)?,
            _ => self.sign(start, byte)?,
        };
        Ok(Some(PlacedToken { token, start }))
    }

    fn sign(&mut self, start: usize, byte: u8) -> Result<Token, ExprError> {
        let next = self.byte(1);
        self.at += 1;
        let double = |operator| (Token::Operator(operator), 1);
        let single = |operator| (Token::Operator(operator), 0);
        let (token, more) = match (byte, next) {
            (b'=', b'=') => double(Operator::Equal),
            (b'!', b'=') => double(Operator::NotEqual),
            (b'<', b'=') => double(Operator::LessOrEqual),
            (b'>', b'=') => double(Operator::GreaterOrEqual),
            (b'&', b'&') => double(Operator::And),
            (b'|', b'|') => double(Operator::Or),
            (b'/', b'/') => return refuse(start, "found a comment; an expression has none"),
            (b'=', _) => return refuse(start, "found `=`; write `==` to compare"),
            (b'&', _) => return refuse(start, "found `&`; write `&&`"),
            (b'|', _) => return refuse(start, "found `|`; write `||`"),
            (b'<', _) => single(Operator::Less),
            (b'>', _) => single(Operator::Greater),
            (b'+', _) => single(Operator::Add),
            (b'-', _) => single(Operator::Subtract),
            (b'*', _) => single(Operator::Multiply),
            (b'/', _) => single(Operator::Divide),
            (b'%', _) => single(Operator::Remainder),
            (b'(' | b'[', _) => {
                self.open.push((byte, start));
                if self.open.len() > MAX_NESTING {
                    let message = format!("brackets nested deeper than {MAX_NESTING}; split with `let`");
                    return refuse(start, message);
                }
                (Token::Sign(byte), 0)
            }
            (b')' | b']', _) => {
                let expected = if byte == b')' { b'(' } else { b'[' };
                if self.open.pop().is_none_or(|(bracket, _)| bracket != expected) {
                    return refuse(start, format!("found `{}` that closes nothing", char::from(byte)));
                }
                (Token::Sign(byte), 0)
            }
            (b'!' | b'?' | b':' | b',' | b'.', _) => (Token::Sign(byte), 0),
            _ => {
                let rest = self.source.get(start..).unwrap_or_default();
                let found = rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                let message = format!("found {found:?} outside a string; the language does not have it");
                return refuse(start, message);
            }
        };
        self.at += more;
        Ok(token)
    }

    fn word(&mut self, start: usize) -> Result<Token, ExprError> {
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let word = self.text(start).to_owned();
        if matches!(self.byte(0), b'\'' | b'"') {
            return match word.as_str() {
                "r" | "R" => self.string(start, true),
                _ => refuse(start, format!("found `{word}` before a string; expected an operator between")),
            };
        }
        if let Some(operator) = self.spelled_out(&word) {
            return refuse(start, format!("found `{word}`; write `{operator}`"));
        }
        Ok(match word.as_str() {
            "true" => Token::Literal(Value::Bool(true)),
            "false" => Token::Literal(Value::Bool(false)),
            "null" => Token::Literal(Value::Null),
            "in" => Token::Operator(Operator::In),
            _ => Token::Name(word),
        })
    }

    /// Returns the operator for a word that other languages use between operands.
    fn spelled_out(&self, word: &str) -> Option<&'static str> {
        let operator = match word {
            "and" | "AND" => "&&",
            "or" | "OR" => "||",
            "not" | "NOT" => "!",
            _ => return None,
        };
        let after = self.source.get(self.at..)?;
        let is_name = !after.starts_with(char::is_whitespace)
            || after.trim_start().starts_with([',', ')', '=', '!', '<', '>', '.']);
        (!is_name).then_some(operator)
    }

    fn number(&mut self, start: usize) -> Result<Token, ExprError> {
        let digits = |byte: u8| byte.is_ascii_digit();
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            self.at += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            let hex = self.text(start + 2).to_owned();
            self.end_of_number(start)?;
            return match i64::from_str_radix(&hex, 16) {
                Ok(value) => Ok(Token::Literal(Value::Integer(value))),
                Err(_) => refuse(start, "the integer does not fit into 64 bits"),
            };
        }
        self.skip_while(digits);
        let mut is_whole = true;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            is_whole = false;
            self.at += 1;
            self.skip_while(digits);
        }
        let signed = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + signed).is_ascii_digit() {
            is_whole = false;
            self.at += 1 + signed;
            self.skip_while(digits);
        }
        let text = self.text(start).to_owned();
        self.end_of_number(start)?;
        if is_whole {
            return match text.parse::<i64>() {
                Ok(value) => Ok(Token::Literal(Value::Integer(value))),
                Err(_) if text == "9223372036854775808" => Ok(Token::LeastInteger),
                Err(_) => refuse(start, "the integer does not fit into 64 bits"),
            };
        }
        match text.parse().ok().and_then(Value::number) {
            Some(value) => Ok(Token::Literal(value)),
            None => refuse(start, "the number is too large"),
        }
    }

    /// Rejects letters directly after a number.
    fn end_of_number(&self, start: usize) -> Result<(), ExprError> {
        match self.byte(0) {
            b'u' | b'U' => refuse(start, "found an unsigned literal; leave the `u` out"),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                refuse(start, "found a number with letters behind it; expected an operator between")
            }
            _ => Ok(()),
        }
    }

    /// Parses a string that starts at the next byte.
    fn string(&mut self, start: usize, raw: bool) -> Result<Token, ExprError> {
        let mark = self.byte(0);
        if self.byte(1) == mark && self.byte(2) == mark {
            return refuse(start, "found three quotes; write one");
        }
        self.at += 1;
        let mut text = String::new();
        loop {
            let at = self.at;
            let next = self.source.get(at..).and_then(|rest| rest.chars().next());
            let Some(next) = next.filter(|next| !matches!(next, '\n' | '\r')) else {
                return refuse(start, "found a string that does not end on its line; close its quote");
            };
            self.at += next.len_utf8();
            match next {
                '\\' if !raw => match self.escaped() {
                    Some(character) => text.push(character),
                    None => return refuse(at, "found `\\` before something that is no escape; write `\\\\`"),
                },
                next if next == char::from(mark) => return Ok(Token::Literal(Value::string(&text))),
                next => text.push(next),
            }
        }
    }

    /// Parses the character of an escape sequence.
    fn escaped(&mut self) -> Option<char> {
        let byte = self.byte(0);
        let (radix, digits) = match byte {
            b'x' | b'X' => (16, 2),
            b'u' => (16, 4),
            b'U' => (16, 8),
            b'0'..=b'3' => (8, 3),
            _ => {
                self.at += 1;
                return Some(match byte {
                    b'a' => '\u{7}',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    b'v' => '\u{b}',
                    b'\\' | b'?' | b'\'' | b'"' | b'`' => char::from(byte),
                    _ => return None,
                });
            }
        };
        self.at += usize::from(radix == 16);
        let code = u32::from_str_radix(self.source.get(self.at..self.at + digits)?, radix).ok()?;
        self.at += digits;
        char::from_u32(code)
    }
}

/// Returns a text as a string literal with quotes.
///
/// ```
/// assert_eq!(diorama_seeds::expr::quote("it's"), r"'it\'s'");
/// ```
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for character in text.chars() {
        match character {
            '\\' | '\'' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            _ => quoted.push(character),
        }
    }
    quoted.push('\'');
    quoted
}
