//! Casing: converts parameter and reply names between the world's spelling and that of callers.
//!
//! Worlds use `snake_case`; the APIs that they imitate often use another case. Expressions, phrases and
//! scenarios of a world always use the world's names.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How names are written to callers. Only names that can be read back are changed: words of lower-case ASCII letters
/// and digits, each begun by a letter, joined by `_`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Casing {
    /// As the world writes them: `starts_at`.
    #[default]
    Written,
    /// `startsAt`
    Camel,
    /// `StartsAt`
    Pascal,
}

impl Casing {
    /// Returns true if callers see the world's own names.
    pub fn is_written(&self) -> bool {
        *self == Self::Written
    }

    /// Returns the spelling of a name that callers see.
    pub fn write<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let plain = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if self.is_written() || !name.split('_').all(plain) {
            return Cow::Borrowed(name);
        }
        let mut shown = String::with_capacity(name.len());
        for (position, word) in name.split('_').enumerate() {
            let (first, rest) = word.split_at(1);
            if position > 0 || *self == Self::Pascal {
                shown.push_str(&first.to_ascii_uppercase());
            } else {
                shown.push_str(first);
            }
            shown.push_str(rest);
        }
        Cow::Owned(shown)
    }

    /// Returns the world's spelling of a name from a caller. Names that this casing cannot produce are
    /// unchanged.
    pub fn read<'a>(&self, shown: &'a str) -> Cow<'a, str> {
        if self.is_written() {
            return Cow::Borrowed(shown);
        }
        let mut name = String::with_capacity(shown.len() + 4);
        for character in shown.chars() {
            if character.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(character.to_ascii_lowercase());
        }
        if self.write(&name) == shown { Cow::Owned(name) } else { Cow::Borrowed(shown) }
    }

    /// Converts the slots of a phrase to callers' names. Example: `{starts_at}` and `{reply:due_on}`.
    pub fn write_phrase(&self, phrase: &str) -> String {
        let mut pieces = phrase.split('{');
        let mut written = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            written.push('{');
            written.push_str(&match piece.split_once('}') {
                Some((name, after)) => match name.strip_prefix("reply:") {
                    Some(path) => format!("reply:{}}}{after}", self.write_path(path)),
                    None => format!("{}}}{after}", self.write(name)),
                },
                None => piece.to_owned(),
            });
        }
        written
    }

    /// Converts the names in a reply path. Example: `books[*].due_on`.
    pub fn write_path(&self, path: &str) -> String {
        let segments = path.split('.').map(|segment| {
            let end = segment.find('[').unwrap_or(segment.len());
            format!("{}{}", self.write(&segment[..end]), &segment[end..])
        });
        segments.collect::<Vec<_>>().join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (casing, shown) in [(Casing::Camel, "startsAt"), (Casing::Pascal, "StartsAt")] {
            assert_eq!(casing.write("starts_at"), shown);
            assert_eq!(casing.read(shown), "starts_at");
        }
        assert_eq!(Casing::Written.write("starts_at"), "starts_at");
        assert_eq!(Casing::Pascal.write("fee"), "Fee");
        assert_eq!(Casing::Camel.write_path("books[*].due_on.at"), "books[*].dueOn.at");
        let phrase = "book {doctor_id}[ at {starts_at}], it is on {reply:slot.begins_at}, {half";
        let shown = "book {doctorId}[ at {startsAt}], it is on {reply:slot.beginsAt}, {half";
        assert_eq!(Casing::Camel.write_phrase(phrase), shown);
    }

    #[test]
    fn a_name_that_could_not_be_read_back_stays() {
        for name in ["line_1", "filter.max_fee", "dueOn", "_links", "x__y", "Straße", ""] {
            assert_eq!(Casing::Camel.write(name), name);
            assert_eq!(Casing::Camel.read(name), if name == "dueOn" { "due_on" } else { name });
        }
    }
}
