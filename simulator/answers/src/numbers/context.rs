//! What the words around a number make of it: an end of a range, a part, a name; and what it counts.

use super::NOUN_WORDS;
use crate::lexicon::Roles;
use crate::tokens::{Kind, Marks, Text, Token};
use crate::units::Currency;
use crate::{Finder, Stance};
use crate::{word, words};

/// Both ends of `3–5`, `3 to 5` and `between 3 and 5` are bounds.
pub(crate) fn range(found: &Finder<'_>, start: usize, end: usize) -> Option<Stance> {
    let text = found.text;
    let joins =
        |token: &Token| matches!(token.kind, Kind::Symbol('-' | '–' | '~')) || token.hash == word!("to");
    let numeric = |token: &Token| match token.kind {
        Kind::Digits => true,
        Kind::Symbol(sign) => Currency::sign(sign).is_some(),
        Kind::Word => token.lex().number.is_some(),
    };
    let changing = || {
        text.tokens[..start]
            .iter()
            .rev()
            .take(12)
            .any(|token| token.is(Roles::CHANGING) && token.sentence == text.tokens[start].sentence)
    };
    if let Some(before) = text.before(start) {
        let ended = found
            .mentions
            .last()
            .is_some_and(|last| last.tokens.1 + 1 == start && last.stance == Stance::Bound);
        if ended && (joins(before) || before.hash == word!("and")) {
            return Some(Stance::Bound);
        }
        if before.hash == word!("between") {
            return Some(Stance::Bound);
        }
    }
    let next = text.next(end).filter(|token| joins(token))?;
    let second = text.next(end + 1).filter(|token| numeric(token))?;
    // `3 - 5 = ..` and a time or date behind it are something else.
    let clock = text.is_glued(end + 2, ':') || second.lex().month > 0;
    let dash = matches!(next.kind, Kind::Symbol(_)) && next.has(Marks::GLUED) != second.has(Marks::GLUED);
    // `2 – one on Monday, one on Friday`: both ends are written in one way.
    let mixed = text.get(start).is_some_and(Token::is_digits) && second.is_word();
    (!clock && !dash && !mixed && !changing()).then_some(Stance::Bound)
}

/// `2 of them`, `3 of the dentists`.
pub(crate) fn subset(text: &Text, at: usize) -> bool {
    text.next(at)
        .is_some_and(|token| words!("them these those which whom the your our its").contains(&token.hash))
}

pub(crate) fn glued_word(text: &Text, at: usize) -> bool {
    text.get(at).is_some_and(|token| {
        token.is_word() && token.has(Marks::GLUED) && token.hash != word!("x") && token.hash != word!("and")
    })
}

/// Whether a number names a thing: it is glued to letters, or a word such as `room` stands before it.
pub(crate) fn names_something(text: &Text, at: usize, end: usize) -> bool {
    let Some(token) = text.get(at) else { return false };
    let Some(before) = text.before(at) else { return false };
    let back = |steps: usize| {
        at.checked_sub(steps).and_then(|i| text.get(i)).filter(|t| t.sentence == token.sentence)
    };
    if token.has(Marks::GLUED) && before.is_word() {
        return true;
    }
    if token.has(Marks::GLUED)
        && before.is_symbol('-')
        && before.has(Marks::GLUED)
        && back(2).is_some_and(Token::is_word)
    {
        return true;
    }
    // `4.3 (out of 5)`
    if before.hash == word!("of") && back(2).is_some_and(|token| token.hash == word!("out")) {
        return true;
    }
    // `No. 5`, `ID: 4512`.
    let label = if before.is_symbol('.') || before.is_symbol(':') || before.is_symbol('#') {
        back(2)
    } else {
        Some(before)
    };
    let Some(label) = label else { return false };
    if before.is_symbol(':')
        && label.hash != word!("id")
        && label.hash != word!("number")
        && label.hash != word!("reference")
    {
        return false;
    }
    let verb = words!("order no question record form").contains(&label.hash)
        && text.next(end).is_some_and(Token::has_content);
    label.is_word() && label.is(Roles::IDENTIFIER) && !verb
}

/// Stems of up to three words that say what is counted.
pub(crate) fn noun(text: &Text, end: usize) -> [u64; NOUN_WORDS] {
    let mut noun = [0; NOUN_WORDS];
    let mut at = end;
    at += usize::from(text.is_glued(at, '-') && text.get(at + 1).is_some_and(Token::is_word));
    let sentence = at.checked_sub(1).and_then(|at| text.get(at)).map(|token| token.sentence);
    for slot in &mut noun {
        let Some(token) =
            text.next(at).filter(|token| token.has_content() && Some(token.sentence) == sentence)
        else {
            break;
        };
        *slot = token.stem;
        at += 1;
    }
    noun
}
