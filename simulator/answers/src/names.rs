//! Names: parses values of text fields into words, and finds them in a text.
//!
//! Two spellings are one name if they differ only in case, accents, hyphens, markup, personal titles or
//! leading articles.

use rustc_hash::FxHashMap;

use super::lexicon::Role;
use super::text::{Kind, Text, Token};

/// Maximum number of marks between two words of a name.
const MAX_MARKS_BETWEEN_WORDS: usize = 3;

/// A name, as its folded words without title and article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    words: Vec<Box<str>>,
    /// True if the name is in lower case, so other forms of its last word match too.
    is_inflected: bool,
    /// True if the name contains marks other than hyphens and points.
    is_punctuated: bool,
    /// True if the name is a single common word: `on`.
    is_common: bool,
    /// True if the name starts with a capital.
    is_capital: bool,
}

impl Name {
    /// Parses a name. Returns none if the value has no word.
    pub(crate) fn read(value: &str) -> Option<Self> {
        let text = Text::of_value(value);
        let mut words: Vec<&Token> =
            text.tokens.iter().filter(|token| !matches!(token.kind, Kind::Sign(_))).collect();
        let titles = words.iter().take_while(|token| token.is(Role::Title)).count();
        if titles < words.len() {
            words.drain(..titles);
        }
        let article = words.first().is_some_and(|token| matches!(text.word(token), "the" | "a" | "an"));
        if article && words.len() > 2 {
            words.remove(0);
        }
        let (first, last) = (words.first()?, words.last()?);
        let mark = |token: &Token| matches!(token.kind, Kind::Sign(sign) if !matches!(sign, '-' | '.'));
        Some(Self {
            is_punctuated: text.tokens.iter().any(|token| token.start > first.start && mark(token)),
            is_capital: first.capital,
            is_common: words.len() == 1 && first.is(Role::Function),
            is_inflected: last.has_content() && words.iter().all(|word| !word.capital),
            words: words.iter().map(|token| text.word(token).into()).collect(),
        })
    }

    /// Returns the token after the name, if the name starts at token `at`.
    pub(crate) fn at(&self, text: &Text, at: usize, exactly: bool) -> Option<usize> {
        let (last, rest) = self.words.split_last()?;
        let is_last = |token: &Token| {
            let word = text.word(token);
            *word == **last || (!exactly && self.is_inflected && is_form(word, last))
        };
        let first = text.tokens.get(at)?;
        let mut end = at;
        for word in rest {
            let token = if end == at { first } else { self.next(text, &mut end, first)? };
            if *text.word(token) != **word {
                return None;
            }
            end += 1;
        }
        let token = if end == at { first } else { self.next(text, &mut end, first)? };
        if matches!(token.kind, Kind::Sign(_)) || !is_last(token) {
            return None;
        }
        // `Winter, Moon and He (9 m)`
        let is_listed =
            || self.is_capital && first.capital && text.before(at).is_some() && ends_item(text, at, end + 1);
        (!self.is_common || is_stated(text, at, end + 1) || is_listed()).then_some(end + 1)
    }

    /// Returns the next word of the name, and skips the marks before it.
    fn next<'t>(&self, text: &'t Text, end: &mut usize, first: &Token) -> Option<&'t Token> {
        for _ in 0..=MAX_MARKS_BETWEEN_WORDS {
            let token =
                text.tokens.get(*end).filter(|token| token.line == first.line && token.cell == first.cell)?;
            match token.kind {
                Kind::Sign(sign)
                    if matches!(sign, '-' | '.' | '/' | '_')
                        || (self.is_punctuated && !matches!(sign, '?' | '!')) =>
                {
                    *end += 1
                }
                Kind::Sign(_) => return None,
                _ if token.sentence != first.sentence && !self.is_punctuated => return None,
                _ => return Some(token),
            }
        }
        None
    }
}

/// Returns true if two words are plural or spelling variants of each other. Examples: `belts` and `belt`,
/// `canceled` and `cancelled`.
fn is_form(one: &str, other: &str) -> bool {
    let plural =
        |one: &str, other: &str| one.strip_prefix(other).is_some_and(|ending| matches!(ending, "s" | "es"));
    plural(one, other)
        || plural(other, one)
        || (one.contains("ll") != other.contains("ll") && one.replace("ll", "l") == other.replace("ll", "l"))
}

/// Returns true if the sentence ends or a mark follows at `end`.
fn ends_item(text: &Text, at: usize, end: usize) -> bool {
    let after = text.tokens.get(end).filter(|after| after.sentence == text.tokens[at].sentence);
    after.is_none_or(|after| matches!(after.kind, Kind::Sign(_)))
}

/// Returns true if a common word is the predicate of a clause, or stands alone. Examples: `the lamp is off.`,
/// `Switch: on`.
fn is_stated(text: &Text, at: usize, end: usize) -> bool {
    let token = &text.tokens[at];
    let after =
        text.tokens.get(end).filter(|after| after.sentence == token.sentence && after.cell == token.cell);
    let ends = after.is_none_or(|after| {
        matches!(after.kind, Kind::Sign(_))
            || matches!(text.word(after), "and" | "but" | "now" | "right" | "currently" | "today" | "at")
    });
    let said = text.before(at).is_none_or(|before| {
        before.is(Role::Copula)
            || before.is_sign(':')
            || before.is_sign('=')
            || matches!(
                text.word(before),
                "switched" | "turned" | "turn" | "currently" | "now" | "not" | "still"
            )
    });
    ends && said
}

/// Names, indexed by their first word.
#[derive(Debug, Default)]
pub struct Names(FxHashMap<Box<str>, Vec<Name>>);

impl Names {
    /// Parses the names of these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: FxHashMap<Box<str>, Vec<Name>> = FxHashMap::default();
        for name in values.into_iter().filter_map(Name::read) {
            let known = names.entry(name.words[0].clone()).or_default();
            if !known.contains(&name) {
                known.push(name);
            }
        }
        for known in names.values_mut() {
            known.sort_by_key(|name| std::cmp::Reverse(name.words.len()));
        }
        Self(names)
    }

    /// Returns the token after the first name of at least two words that starts at a token.
    pub(crate) fn long_at(&self, text: &Text, at: usize) -> Option<usize> {
        let names = self.0.get(text.word(text.tokens.get(at)?))?;
        names.iter().filter(|name| name.words.len() > 1).find_map(|name| name.at(text, at, true))
    }
}
