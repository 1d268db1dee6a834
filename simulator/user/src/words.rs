//! Splits a sentence into words, with their capitals and the marks before them.

use diorama_engine::search::words::split;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// True if its first letter is a capital.
    pub(super) capital: bool,
    /// True if a comma, a plus sign, an ampersand, a slash or a bracket stands before it.
    pub(super) after_comma: bool,
}

impl Word {
    /// Returns true if it is one of these words.
    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&&*self.text)
    }
}

/// Returns the words of a sentence.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut end = 0;
    split(text)
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            let between = text.get(end..start).unwrap_or_default();
            end = start + word.len();
            Word {
                text: word.to_lowercase(),
                capital: word.chars().next().is_some_and(char::is_uppercase),
                after_comma: between.contains([',', '+', '&', '/', '(']),
            }
        })
        .collect()
}
