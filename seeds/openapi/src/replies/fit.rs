//! Whether what a record stores is what a reply's schema promises. A member is seen in several places, and one of them may
//! allow less than the others: fewer values of an enum, a number where the rest have text, a required part.

use super::super::shape::{Kind, Shape};
use super::quoted;

/// Whether every value that a record may have (`stored`) is one that a schema (`promised`) allows, but for the values of
/// enums, null and whole numbers, which expressions see to.
pub(super) fn fits(stored: &Shape, promised: &Shape) -> bool {
    match (&stored.kind, &promised.kind) {
        (_, Kind::Any) => true,
        (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number)
        | (Kind::String | Kind::Enum(_), Kind::String | Kind::Enum(_)) => true,
        (Kind::Object(_), Kind::Object(_)) => promised.map || all_parts_fit(stored, promised),
        (Kind::Array(stored), Kind::Array(promised)) => inner_fits(stored, promised),
        (stored, promised) => std::mem::discriminant(stored) == std::mem::discriminant(promised),
    }
}

/// Whether an object has what a schema requires, and nothing of another kind.
fn all_parts_fit(stored: &Shape, promised: &Shape) -> bool {
    promised.members().into_iter().flatten().all(|(name, part)| match stored.member(name) {
        Some(own) if super::build::storable(own) => inner_fits(own, &part.shape),
        _ => !part.required,
    })
}

/// The same inside of what is stored, where no expression reaches.
fn inner_fits(stored: &Shape, promised: &Shape) -> bool {
    let known = match (&stored.kind, &promised.kind) {
        (_, Kind::Enum(values)) => all_among(stored, values),
        (Kind::Number, Kind::Integer) => false,
        _ => true,
    };
    known && (promised.nullable || !stored.nullable) && fits(stored, promised)
}

/// Whether a field has only these values.
fn all_among(stored: &Shape, values: &[String]) -> bool {
    matches!(&stored.kind, Kind::Enum(stored) if stored.iter().all(|value| values.contains(value)))
}

/// The expression that shows a field of text where a schema allows only some of its values; the first for the others.
pub(super) fn among(stored: &Shape, promised: &Shape, field: &str) -> Option<String> {
    let Kind::Enum(values) = &promised.kind else { return None };
    let first = values.first().filter(|_| !all_among(stored, values))?;
    let list: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    let otherwise = if promised.nullable { "null".to_owned() } else { quoted(first) };
    Some(format!("record.{field} in [{}] ? record.{field} : {otherwise}", list.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::levels::ALL;
    use crate::shape::Unfolder;

    fn shape(schema: &Json) -> Shape {
        Unfolder::new(&Json::Null, ALL).shape(&schema.clone())
    }

    #[test]
    fn what_is_stored_fits_when_a_schema_allows_all_of_it() {
        let object = |required: &[&str], size: &str| json!({"type": "object", "required": required, "properties": {"size": {"type": size}, "tags": {"type": "array", "items": {"type": "string"}}}});
        let text = json!({"type": "string"});
        for (stored, promised, expected) in [
            (&text, &text, true),
            (&json!({"type": "integer"}), &json!({"type": "number"}), true),
            (&text, &json!({"type": "integer"}), false),
            (&text, &json!({"type": "array", "items": text}), false),
            (&object(&[], "integer"), &object(&["size"], "number"), true),
            (&object(&[], "string"), &object(&["size"], "number"), false),
            (
                &json!({"type": "object", "properties": {"size": {"type": "integer"}}}),
                &object(&["tags"], "integer"),
                false,
            ),
            (
                &json!({"type": "array", "items": text}),
                &json!({"type": "array", "items": {"enum": ["a", "b"], "type": "string"}}),
                false,
            ),
            (&object(&[], "integer"), &json!({"type": "object", "additionalProperties": true}), true),
        ] {
            assert_eq!(fits(&shape(stored), &shape(promised)), expected, "{stored} for {promised}");
        }
    }

    #[test]
    fn other_values_of_an_enum_are_shown_as_one_that_is_allowed() {
        let few = json!({"type": "string", "enum": ["open", "it's"]});
        let many = json!({"type": "string", "enum": ["open", "it's", "gone"]});
        let shown = among(&shape(&many), &shape(&few), "state");
        assert_eq!(shown.as_deref(), Some(r"record.state in ['open', 'it\'s'] ? record.state : 'open'"));
        assert_eq!(among(&shape(&few), &shape(&many), "state"), None);
        let none = json!({"type": "string", "nullable": true, "enum": ["open"]});
        let shown = among(&shape(&json!({"type": "string"})), &shape(&none), "state");
        assert_eq!(shown.as_deref(), Some("record.state in ['open'] ? record.state : null"));
    }
}
