//! Texts whose values only their descriptions tell: `The phone number of the sender.`

use std::sync::LazyLock;

use diorama_seeds::table::rows;
use serde_json::{Value as Json, json};

use crate::shape::Shape;

/// Phrases of descriptions, with the values that they tell, one kind a line.
static TEXTS: LazyLock<Vec<(Vec<String>, Json)>> = LazyLock::new(|| {
    let kinds = rows(include_str!("../data/texts.txt")).filter_map(|line| line.split_once('|'));
    kinds.map(|(phrases, values)| (read_phrases(phrases), read_values(values))).collect()
});
/// Values of filters that let every record through, one a line.
static EVERY: LazyLock<Vec<&str>> = LazyLock::new(|| rows(include_str!("../data/every.txt")).collect());
/// Characters of a description that are read.
const MAX_DESCRIPTION: usize = 240;

/// Whether a value of a filter lets every record through.
pub(crate) fn is_every(value: &str) -> bool {
    EVERY.iter().any(|every| every.eq_ignore_ascii_case(value))
}

/// What makes the values of a text, as its description says.
pub(super) fn described(shape: &Shape) -> Option<Json> {
    let text: String = shape.description.as_deref()?.chars().take(MAX_DESCRIPTION).collect();
    let words = words_between_spaces(&text);
    let found = TEXTS.iter().find(|(phrases, _)| phrases.iter().any(|phrase| words.contains(phrase)));
    found.map(|(_, values)| values.clone())
}

/// The phrases in quotes.
fn read_phrases(line: &str) -> Vec<String> {
    line.split('"').skip(1).step_by(2).map(words_between_spaces).collect()
}

fn read_values(line: &str) -> Json {
    match line.trim().strip_prefix('=') {
        Some(provider) => json!(provider.trim()),
        None => json!({"provider": "pick", "of": line.split(';').map(str::trim).collect::<Vec<_>>()}),
    }
}

/// The words of a text in lower case, with a space before and after each. `E.164` and `date-time` are words.
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
