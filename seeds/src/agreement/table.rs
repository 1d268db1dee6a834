//! Owns the table of words, which is parsed once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::table::sections;

/// Words with the same meaning.
pub(super) struct Line {
    /// Text before the colon, or an empty string.
    pub(super) key: &'static str,
    pub(super) words: Vec<&'static str>,
    /// Words after a semicolon.
    pub(super) done: Vec<&'static str>,
}

static SECTIONS: LazyLock<BTreeMap<&'static str, Vec<Line>>> = LazyLock::new(|| {
    let mut found: BTreeMap<&'static str, Vec<Line>> = BTreeMap::new();
    for (section, row) in sections(include_str!("../../data/members.txt")) {
        let (key, rest) = row.split_once(": ").unwrap_or(("", row));
        let (words, done) = rest.split_once(';').unwrap_or((rest, ""));
        let all = |words: &'static str| words.split_whitespace().collect();
        found.entry(section).or_default().push(Line { key, words: all(words), done: all(done) });
    }
    found
});

impl Line {
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word) || self.done.contains(&word)
    }
}

/// Returns the lines of a section in their order.
pub(super) fn lines(section: &str) -> &'static [Line] {
    SECTIONS.get(section).map_or(&[], Vec::as_slice)
}

/// Returns true if a section has a word.
pub(super) fn has(section: &str, word: &str) -> bool {
    lines(section).iter().any(|line| line.has(word))
}

/// Returns the key of the first line that has a word.
pub(super) fn key_of(section: &str, word: &str) -> Option<&'static str> {
    lines(section).iter().find(|line| line.has(word)).map(|line| line.key)
}
