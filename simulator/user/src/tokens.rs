//! Splits a text into words, numbers and codes, with their positions.

use diorama_answers::prose::Span;
use diorama_seeds::english::{fold, stem};

use super::vocabulary::{TITLES, is_common};

/// A word, number or code of a text.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// In lower case, without accents.
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) span: Span,
    pub(super) capital: bool,
    /// True for a code or an address: `RSV-427109`, `03-06`, `ana@post.example`.
    pub(super) is_code: bool,
    /// True if a mark other than a hyphen stands before it.
    pub(super) after_mark: bool,
    /// True if it begins a sentence, or stands after a colon or in quotes.
    pub(super) opens: bool,
}

impl Token {
    /// Returns true if it is a word with a meaning of its own.
    pub(super) fn has_content(&self) -> bool {
        !is_common(&self.text) && self.text.starts_with(char::is_alphabetic)
    }
}

/// Returns the words of a short text, such as a label, folded.
pub(super) fn folded_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(fold)
}

/// Returns the words of a text with their positions; codes stay whole.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let (mut opens, mut marked) = (true, true);
    for run in source.split_whitespace() {
        let offset = run.as_ptr() as usize - source.as_ptr() as usize;
        let core = run.trim_matches(|character: char| !character.is_alphanumeric());
        if core.is_empty() {
            marked = true;
            opens |= run.contains(['-', '*', '•', '|']);
            continue;
        }
        let begins = core.as_ptr() as usize - run.as_ptr() as usize;
        let (before, after) = (&run[..begins], &run[begins + core.len()..]);
        opens |= before.contains(['"', '“', '«', '*']);
        marked |= opens || before.contains(['(', '/', '-', '–', '+', '&']);
        let mut push = |from: usize, text: &str, is_code: bool, after_mark: bool, opens: bool| {
            let folded = fold(text);
            let start = offset + begins + from;
            found.push(Token {
                stem: stem(&folded),
                span: Span { start, end: start + text.len() },
                capital: text.starts_with(char::is_uppercase),
                text: folded,
                is_code,
                after_mark,
                opens,
            });
        };
        if is_code(core) {
            push(0, core, true, marked, opens);
        } else {
            let mut end = 0;
            for part in
                core.split(|character: char| !character.is_alphanumeric()).filter(|part| !part.is_empty())
            {
                let from = part.as_ptr() as usize - core.as_ptr() as usize;
                let parted =
                    core.get(end..from).is_some_and(|between| between.contains(['/', ',', '&', '+', '(']));
                let first = end == 0;
                push(from, part, false, if first { marked } else { parted }, first && opens);
                end = from + part.len();
            }
        }
        opens = after.contains(['.', '!', '?', ':']) && !TITLES.contains(&&*core.to_lowercase());
        marked = !after.is_empty() && (opens || after.contains([',', ';', ')', '–', '—', '"', '”']));
    }
    join_numbers(source, found)
}

/// Joins the groups of a telephone number after its plus sign: `+44 510 839 805`.
fn join_numbers(source: &str, found: Vec<Token>) -> Vec<Token> {
    let is_digits = |token: &Token| token.text.bytes().all(|byte| byte.is_ascii_digit());
    let mut joined: Vec<Token> = Vec::new();
    for token in found {
        let is_dialled = |last: &Token| {
            source.get(..last.span.start).is_some_and(|before| before.ends_with('+'))
                && last.text.bytes().all(|byte| byte.is_ascii_digit())
        };
        match joined.last_mut() {
            Some(last) if is_dialled(last) && is_digits(&token) && !token.opens && !token.after_mark => {
                last.text.push_str(&token.text);
                last.stem.clone_from(&last.text);
                last.span.end = token.span.end;
                last.is_code = true;
            }
            _ => joined.push(token),
        }
    }
    joined
}

/// Returns true if a word is a host or an IPv4 address: `mail.post.example`, `192.0.2.1`.
fn is_host(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_label = |part: &&str| {
        !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
    };
    let is_ip = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    let is_domain = parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_lowercase()));
    is_ip || (is_domain && parts.iter().all(is_label))
}

/// Returns true for an address, or for digits with letters or hyphens that are no number with its unit.
pub(super) fn is_code(word: &str) -> bool {
    if word.contains('@') || is_host(word) {
        return true;
    }
    if !word.contains(|character: char| character.is_ascii_digit())
        || word.contains([':', '%', '€', '$', '£', '/', ',', '.', '\'', '’'])
    {
        return false;
    }
    let has_digit = |part: &str| part.contains(|character: char| character.is_ascii_digit());
    let is_date = word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
    if word.contains('-') {
        return !is_date
            && word.split('-').all(|part| {
                let upper = !part.is_empty() && part.chars().all(|character| character.is_ascii_uppercase());
                upper || (part.len() >= 2 && has_digit(part))
            });
    }
    let half = word.to_lowercase();
    let upper = word.contains(|character: char| character.is_ascii_uppercase());
    upper && !half.ends_with("am") && !half.ends_with("pm") && word.is_ascii()
}

/// The stems of the words of a text that tell something.
pub(super) fn content_stems(text: &str) -> Vec<String> {
    folded_words(text).filter(|word| !is_common(word)).map(|word| stem(&word)).collect()
}
