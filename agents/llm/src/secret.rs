//! Owns the key to a server, which no message, log or file shows.

use std::fmt;

/// Minimum length of a hidden key in bytes. Shorter keys are placeholders for local servers (`EMPTY`,
/// `ollama`) and occur in ordinary text.
const SHORTEST: usize = 8;

/// Replacement of the key in texts.
const HIDDEN: &str = "[key]";

/// A key. Only the HTTP header shows it: it prints as `[key]` and cannot be serialized.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret without the white space around the key, which files and shells add.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// Returns the key for the header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a server's text, which may repeat it.
    pub(crate) fn hide(&self, text: String) -> String {
        if self.0.len() >= SHORTEST && text.contains(&self.0) { text.replace(&self.0, HIDDEN) } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown_and_is_taken_out_of_text() {
        let key = Secret::new("sk-0123456789\n");
        assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "[key] [key] Some([key])");
        assert_eq!(key.reveal(), "sk-0123456789");
        assert_eq!(key.hide("no sk-0123456789 here".into()), "no [key] here");
        assert_eq!(Secret::new("EMPTY").hide("an EMPTY list".into()), "an EMPTY list");
        assert_eq!(Secret::new("").hide("text".into()), "text");
    }
}
