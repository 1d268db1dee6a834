//! Owns the key to a server, which no message, log or file shows.

use std::fmt;

/// Length in bytes. Shorter keys are placeholders that local servers want (`EMPTY`, `ollama`) and occur in ordinary text.
const SHORTEST: usize = 8;

/// Replacement of the key in texts.
const HIDDEN: &str = "[key]";

/// A key. It can be sent, and nothing else: it prints as `[key]` and cannot be serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it, as files and shells leave it, is dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a server's text, which may repeat it.
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
