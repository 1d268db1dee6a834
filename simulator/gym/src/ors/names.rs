//! Python names for parameters, because clients such as TRL's turn tools into functions.
//!
//! In a name that Python does not allow, other characters than letters, digits and `_` become `_`, and a `_`
//! is appended. Examples: `from` becomes `from_`, `X-Rate` becomes `X_Rate_`.

use serde_json::{Map, Value as Json};

/// The reserved words of Python 3.14 (its reference manual, section 2.3.2).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Returns the Python name, or none if the name is valid in Python.
fn renamed(name: &str) -> Option<String> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = plain && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit();
    if is_name && !KEYWORDS.contains(&name) {
        return None;
    }
    let letters = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    let start = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    Some(format!("{start}{}_", letters.collect::<String>()))
}

/// Returns the schema of a tool's parameters with Python names.
pub(super) fn for_python(parameters: &Json) -> Json {
    let mut parameters = parameters.clone();
    if let Some(Json::Object(properties)) = parameters.get_mut("properties") {
        let named = std::mem::take(properties);
        *properties =
            named.into_iter().map(|(name, schema)| (renamed(&name).unwrap_or(name), schema)).collect();
    }
    if let Some(Json::Array(required)) = parameters.get_mut("required") {
        for name in required {
            if let Some(new) = name.as_str().and_then(renamed) {
                *name = Json::String(new);
            }
        }
    }
    parameters
}

/// Returns true if a name may be one made for Python.
pub(super) fn may_be_renamed(name: &str) -> bool {
    name.ends_with('_')
}

/// Returns the arguments under the tool's own names.
pub(super) fn from_python(parameters: &Json, arguments: Map<String, Json>) -> Map<String, Json> {
    let Some(Json::Object(properties)) = parameters.get("properties") else { return arguments };
    let own = |given: &str| {
        let is_own = properties.contains_key(given);
        let made = || properties.keys().find(|name| renamed(name).as_deref() == Some(given)).cloned();
        if is_own || !may_be_renamed(given) { None } else { made() }
    };
    arguments.into_iter().map(|(name, value)| (own(&name).unwrap_or(name), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_python_cannot_have_go_there_and_back() {
        let own = json!({
            "type": "object",
            "properties": {"from": {"type": "string"}, "X-Rate": {}, "2nd": {}, "city": {}, "to_": {}},
            "required": ["from", "city"],
        });
        let python = for_python(&own);
        let names: Vec<&String> =
            python["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
        let mut expect = vec!["from_", "X_Rate_", "_2nd_", "city", "to_"];
        expect.sort_by_key(|name| names.iter().position(|found| found == name));
        assert_eq!(names, expect);
        assert_eq!(python["required"], json!(["from_", "city"]));
        let given = Map::from_iter(names.iter().map(|name| ((*name).clone(), json!(1))));
        let back = from_python(&own, given);
        assert_eq!(back.keys().collect::<Vec<_>>().len(), 5);
        assert!(
            ["from", "X-Rate", "2nd", "city", "to_"].iter().all(|name| back.contains_key(*name)),
            "{back:?}"
        );
        // A name that the schema lacks is unchanged, so the API refuses it.
        let unknown = Map::from_iter([("other_".to_owned(), json!(1)), ("from".to_owned(), json!(2))]);
        assert_eq!(from_python(&own, unknown.clone()), unknown);
    }
}
