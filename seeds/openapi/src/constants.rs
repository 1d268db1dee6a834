//! Writes constants of a document as expressions.

pub(super) use diorama_seeds::expr::quote;
use serde_json::Value as Json;

/// Writes a constant as an expression; an object has none.
pub(super) fn literal(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quote(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Json::Object(_) => return None,
    })
}
