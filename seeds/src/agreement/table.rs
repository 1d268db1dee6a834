//! The table of words, read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Words with one meaning.
pub(super) struct Line {
    /// What stands before the colon; empty where there is none.
    pub(super) key: &'static str,
    pub(super) words: Vec<&'static str>,
    /// Those behind a semicolon.
    pub(super) done: Vec<&'static str>,
}

static SECTIONS: LazyLock<BTreeMap<&'static str, Vec<Line>>> = LazyLock::new(|| {
    let mut sections: BTreeMap<&'static str, Vec<Line>> = BTreeMap::new();
    let mut section = "";
    for line in include_str!("../../data/members.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if !line.is_empty() {
            let (key, rest) = line.split_once(": ").unwrap_or(("", line));
            let (words, done) = rest.split_once(';').unwrap_or((rest, ""));
            let all = |words: &'static str| words.split_whitespace().collect();
            let line = Line { key, words: all(words), done: all(done) };
            sections.entry(section).or_default().push(line);
        }
    }
    sections
});

impl Line {
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word) || self.done.contains(&word)
    }
}

/// The lines of a section, in their order.
pub(super) fn lines(section: &str) -> &'static [Line] {
    SECTIONS.get(section).map_or(&[], Vec::as_slice)
}

/// Returns true if a section has a word.
pub(super) fn has(section: &str, word: &str) -> bool {
    lines(section).iter().any(|line| line.has(word))
}

/// What stands before the words of the first line that has a word.
pub(super) fn key_of(section: &str, word: &str) -> Option<&'static str> {
    lines(section).iter().find(|line| line.has(word)).map(|line| line.key)
}
