//! Texts whose values only their descriptions tell: `The phone number of the sender.`

use serde_json::{Value as Json, json};

use crate::shape::Shape;

/// Phrases of descriptions, with the values that they tell, one kind a line.
const TEXTS: &str = include_str!("../data/texts.txt");
/// Values of filters that let every record through, one a line.
const EVERY: &str = include_str!("../data/every.txt");
/// Characters of a description that are read.
const MAX_DESCRIPTION: usize = 240;

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with("# ") && !line.trim().is_empty())
}

/// Whether a value of a filter lets every record through.
pub(crate) fn is_every(value: &str) -> bool {
    lines(EVERY).any(|every| every.eq_ignore_ascii_case(value))
}

/// What makes the values of a text, as its description says.
pub(super) fn described(shape: &Shape) -> Option<Json> {
    let said: String = shape.description.as_deref()?.to_lowercase().chars().take(MAX_DESCRIPTION).collect();
    let found = lines(TEXTS)
        .filter_map(|line| line.split_once('|'))
        .find(|(phrases, _)| phrases.split('"').skip(1).step_by(2).any(|phrase| said.contains(phrase)));
    let (_, values) = found?;
    Some(match values.trim().strip_prefix('=') {
        Some(provider) => json!(provider.trim()),
        None => json!({"provider": "pick", "of": values.split(';').map(str::trim).collect::<Vec<_>>()}),
    })
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
        check("What it says", None);
        assert!(is_every("All") && !is_every("open"));
    }
}
