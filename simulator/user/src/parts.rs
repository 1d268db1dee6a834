//! Splits a message into written sentences, and a sentence into its questions and clauses.
//!
//! This module must not know what a sentence asks.

use std::ops::Range;

use super::phrases::{FILLERS, PREPOSITIONS, QUESTION_WORDS};
use super::words::{Word, words};

/// The fewest words of a question that stands before another in its sentence.
const MIN_QUESTION_WORDS: usize = 3;
/// The joint between two questions of a sentence.
const JOINT: &str = " and ";

/// A sentence as it is written.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) is_marked: bool,
    pub(super) opens_list: bool,
    pub(super) is_item: bool,
}

/// Splits a message at full stops, question and exclamation marks, semicolons, colons and line ends.
pub(super) fn sentences(message: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    for line in message.lines() {
        let is_item = is_item(line);
        let mut start = 0;
        let mut characters = line.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let end = at + character.len_utf8();
            let follows = characters.peek().map(|(_, next)| *next);
            let ends = match character {
                '?' | '!' | ';' => true,
                '.' | ':' => {
                    follows.is_none_or(|next| !next.is_alphanumeric())
                        && !is_abbreviation(line.get(start..at).unwrap_or_default())
                }
                _ => false,
            };
            let repeats = follows.is_some_and(|next| matches!(next, '?' | '!' | '.'));
            if (ends && !repeats) || follows.is_none() {
                let text = line.get(start..end).unwrap_or_default();
                let last = text.trim_end();
                found.push(Part {
                    text,
                    is_marked: text.contains('?'),
                    opens_list: last.ends_with(':'),
                    is_item,
                });
                start = end;
            }
        }
    }
    found.retain(|part| part.text.chars().any(char::is_alphanumeric));
    found.into_iter().flat_map(questions).collect()
}

/// Splits a sentence into its questions: `Which day is it, and what is the address?`
fn questions(part: Part<'_>) -> Vec<Part<'_>> {
    let begins = |at: &usize| {
        let rest = words(part.text.get(at + JOINT.len()..).unwrap_or_default());
        let asks = |at: usize| rest.get(at).is_some_and(|word| word.is_one_of(&QUESTION_WORDS));
        let before = words(part.text.get(..*at).unwrap_or_default());
        let asks_before = before.iter().position(|word| word.is_one_of(&QUESTION_WORDS));
        (asks(0) || (asks(1) && rest[0].is_one_of(&PREPOSITIONS)))
            && asks_before.is_some_and(|at| before.len() - at >= MIN_QUESTION_WORDS)
    };
    let found = part.text.match_indices(JOINT).map(|(at, _)| at).find(begins).filter(|_| part.is_marked);
    let Some(at) = found else { return vec![part] };
    let of = |text| Part { text, ..part };
    vec![of(&part.text[..at]), of(&part.text[at + JOINT.len()..])]
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
    line.starts_with(['-', '*', '•']) || (numbered.len() < line.len() && numbered.starts_with([')', '.']))
}

/// Returns an item of a list without its mark or number, which counts nothing.
pub(super) fn strip_item_mark(item: &str) -> &str {
    let text = item.trim_start();
    let behind = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_mark = match behind.len() < text.len() {
        true => behind.starts_with(") ") || behind.starts_with(". "),
        false => behind.starts_with("- ") || behind.starts_with("* ") || behind.starts_with("• "),
    };
    if is_mark { behind.trim_start_matches([')', '.', '-', '*', '•']).trim_start() } else { item }
}

/// Returns true if a full stop does not end the sentence: `Dr.`, `e.g.`, `J.`, and the number of an item. It
/// ends it after `20.5` and `180 g`.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '.', '(']).next().unwrap_or_default();
    let follows_stop = before.strip_suffix(word).is_some_and(|head| head.ends_with('.'));
    let is_letter = |letter: char| letter.is_uppercase() || (letter.is_alphabetic() && follows_stop);
    let is_short = word.chars().count() == 1;
    (is_short && (before.trim() == word || word.chars().all(is_letter)))
        || ["Dr", "Mr", "Mrs", "Ms", "Prof", "St"].contains(&word)
}

/// Splits at commas and conjunctions, and drops clauses without a content word.
pub(super) fn clauses(words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        let joins = matches!(&*word.text, "and" | "plus" | "n") && at > 0;
        if word.after_comma || joins {
            found.push(start..at);
            start = if joins { at + 1 } else { at };
        }
    }
    found.push(start..words.len());
    let tells = |range: &Range<usize>| {
        words[range.clone()]
            .iter()
            .any(|word| !word.is_one_of(&FILLERS) || word.is_one_of(&["what", "which", "whats", "wich"]))
    };
    if found.len() > 1 {
        found.retain(tells);
        found.push(0..words.len());
    }
    found
}
