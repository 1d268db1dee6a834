//! What keeps hostile text away from the parser.
//!
//! The parser is a third party's and recursive. Everything that could make it slow or deep is refused here, by
//! one pass over the bytes: long texts, deep brackets, long runs of prefix operators, and every construct of CEL
//! that the language does not have.

use crate::expr::ExprError;

/// Longest text, in bytes.
pub(super) const MAX_BYTES: usize = 2_000;
/// Deepest nesting of brackets.
pub(super) const MAX_NESTING: usize = 32;
/// Most tokens.
pub(super) const MAX_TOKENS: usize = 500;
/// Longest run of `!` and `-` before an operand.
const MAX_PREFIXES: usize = 4;

/// Refuses text that the parser should not see.
pub(super) fn admit(source: &str) -> Result<(), ExprError> {
    let refuse = |offset: usize, message: String| Err(ExprError { offset, message });
    if source.len() > MAX_BYTES {
        return refuse(
            MAX_BYTES,
            format!(
                "the expression has {} bytes; at most {MAX_BYTES} are read: split it with `let`",
                source.len()
            ),
        );
    }
    if source.trim().is_empty() {
        return refuse(0, "found nothing; expected an expression".to_owned());
    }
    let bytes = source.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let mut open: Vec<(u8, usize)> = Vec::new();
    let (mut i, mut tokens, mut prefixes) = (0, 0, 0);
    while i < bytes.len() {
        let (start, byte) = (i, at(i));
        i += 1;
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        tokens += 1;
        prefixes = if matches!(byte, b'!' | b'-') && at(i) != b'=' { prefixes + 1 } else { 0 };
        if tokens > MAX_TOKENS {
            return refuse(start, format!("more than {MAX_TOKENS} tokens; split the expression with `let`"));
        }
        if prefixes > MAX_PREFIXES {
            return refuse(start, format!("more than {MAX_PREFIXES} `!` or `-` in a row; one is enough"));
        }
        match byte {
            b'(' | b'[' => {
                open.push((byte, start));
                if open.len() > MAX_NESTING {
                    return refuse(
                        start,
                        format!("brackets nested deeper than {MAX_NESTING}; split with `let`"),
                    );
                }
            }
            b')' | b']' => {
                let expected = if byte == b')' { b'(' } else { b'[' };
                if open.pop().is_none_or(|(bracket, _)| bracket != expected) {
                    return refuse(start, format!("found `{}` that closes nothing", char::from(byte)));
                }
            }
            b'\'' | b'"' => i = end_of_string(source, start, start, false)?,
            b'0'..=b'9' => {
                while at(i).is_ascii_alphanumeric() || (at(i) == b'.' && at(i + 1).is_ascii_digit()) {
                    i += 1;
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                while at(i).is_ascii_alphanumeric() || at(i) == b'_' {
                    i += 1;
                }
                let word = source.get(start..i).unwrap_or_default();
                if matches!(at(i), b'\'' | b'"') {
                    if !matches!(word, "r" | "R") {
                        return refuse(
                            start,
                            format!("found `{word}` before a string; expected an operator between"),
                        );
                    }
                    i = end_of_string(source, start, i, true)?;
                }
                if let Some(operator) = spelled_out(word, source, i) {
                    return refuse(start, format!("found `{word}`; write `{operator}`"));
                }
            }
            b'=' | b'!' | b'<' | b'>' if at(i) == b'=' => i += 1,
            b'&' | b'|' if at(i) == byte => i += 1,
            b'/' if at(i) == b'/' => {
                return refuse(start, "found a comment; an expression has none".to_owned());
            }
            b'=' => return refuse(start, "found `=`; write `==` to compare".to_owned()),
            b'&' => return refuse(start, "found `&`; write `&&`".to_owned()),
            b'|' => return refuse(start, "found `|`; write `||`".to_owned()),
            b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' | b':' | b',' | b'.' => {}
            _ => {
                let found = source
                    .get(start..)
                    .and_then(|rest| rest.chars().next())
                    .unwrap_or(char::REPLACEMENT_CHARACTER);
                return refuse(
                    start,
                    format!("found {found:?} outside a string; the language does not have it"),
                );
            }
        }
    }
    match open.pop() {
        Some((bracket, start)) => {
            refuse(start, format!("found `{}` that is never closed", char::from(bracket)))
        }
        None => Ok(()),
    }
}

/// The byte after a string literal whose quote is at `quote`.
fn end_of_string(source: &str, start: usize, quote: usize, raw: bool) -> Result<usize, ExprError> {
    let bytes = source.as_bytes();
    let mark = bytes.get(quote).copied();
    if bytes.get(quote + 1).copied() == mark && bytes.get(quote + 2).copied() == mark {
        return Err(ExprError { offset: start, message: "found three quotes; write one".to_owned() });
    }
    let mut i = quote + 1;
    while let Some(&byte) = bytes.get(i) {
        i += 1;
        match byte {
            b'\\' if !raw => i += 1,
            b'\n' | b'\r' => break,
            _ if Some(byte) == mark => return Ok(i),
            _ => {}
        }
    }
    Err(ExprError {
        offset: start,
        message: "found a string that does not end on its line; close its quote".to_owned(),
    })
}

/// Words that other languages have for operators, where they stand between operands.
fn spelled_out(word: &str, source: &str, end: usize) -> Option<&'static str> {
    let followed = source.get(end..)?.trim_start();
    if !source.get(end..)?.starts_with(char::is_whitespace)
        || followed.starts_with([',', ')', '=', '!', '<', '>', '.'])
    {
        return None;
    }
    match word {
        "and" | "AND" => Some("&&"),
        "or" | "OR" => Some("||"),
        "not" | "NOT" => Some("!"),
        _ => None,
    }
}
