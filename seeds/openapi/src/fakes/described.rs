//! Chooses values of a string by its description: `The phone number of the sender.`

use std::sync::LazyLock;

use diorama_seeds::table::rows;
use serde_json::{Value as Json, json};

use crate::shape::Shape;

/// Phrases of descriptions, with the values that they imply, one kind a line.
static TEXTS: LazyLock<Vec<(Vec<String>, Json)>> = LazyLock::new(|| {
    let kinds = rows(include_str!("../data/texts.txt")).filter_map(|line| line.split_once('|'));
    kinds.map(|(phrases, values)| (read_phrases(phrases), read_values(values))).collect()
});
/// Filter values that match every record, one a line.
static EVERY: LazyLock<Vec<&str>> = LazyLock::new(|| rows(include_str!("../data/every.txt")).collect());
/// The greatest number of characters of a description that are read.
const MAX_DESCRIPTION: usize = 240;

/// Returns true if this value of a filter matches every record.
pub(crate) fn is_every(value: &str) -> bool {
    EVERY.iter().any(|every| every.eq_ignore_ascii_case(value))
}

/// Returns the provider that the description of a string implies.
pub(super) fn described(shape: &Shape) -> Option<Json> {
    let text: String = shape.description.as_deref()?.chars().take(MAX_DESCRIPTION).collect();
    let words = words_between_spaces(&text);
    let found = TEXTS.iter().find(|(phrases, _)| phrases.iter().any(|phrase| words.contains(phrase)));
    found.map(|(_, values)| values.clone())
}

/// Returns the phrases in quotes.
fn read_phrases(line: &str) -> Vec<String> {
    line.split('"').skip(1).step_by(2).map(words_between_spaces).collect()
}

fn read_values(line: &str) -> Json {
    match line.trim().strip_prefix('=') {
        Some(provider) => json!(provider.trim()),
        None => json!({"provider": "pick", "of": line.split(';').map(str::trim).collect::<Vec<_>>()}),
    }
}

/// Returns the words of a text in lower case, with a space before and after each. `E.164` and `date-time` are
/// words.
fn words_between_spaces(text: &str) -> String {
    let text = text.to_lowercase();
    let pieces = text.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '.' | '-'));
    let words: Vec<&str> =
        pieces.map(|piece| piece.trim_matches(['.', '-'])).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Kind;

    #[test]
    fn descriptions_tell_values() {
        let check = |description: &str, expect: Option<Json>| {
            let shape = Shape { description: Some(description.to_owned()), ..Shape::of(Kind::String) };
            assert_eq!(described(&shape), expect, "{description}");
        };
        check("true or false", Some(json!({"provider": "pick", "of": ["true", "false"]})));
        check("The sender's phone number in E.164 format", Some(json!("phone")));
        check("A number in (E.164).", Some(json!("phone")));
        check("What it says", None);
        check("A datum of the dateline, and the serial number of it", None);
        assert!(is_every("All") && !is_every("open"));
    }
}
