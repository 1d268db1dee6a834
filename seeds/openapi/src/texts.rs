//! Cuts prose in documents, which may have any length, so that later steps read a bounded amount.

use serde_json::Value as Json;

use super::walk::is_plain_value;

/// Characters of a description, summary or title that are kept; the rest is dropped.
pub(super) const MAX_CHARS: usize = 4_000;
/// Levels of lists and objects that are searched. Parsing bounds the depth already.
const MAX_DEPTH: u32 = 256;

/// Cuts the descriptions, summaries and titles of a document.
pub(super) fn cut(root: &mut Json) {
    cut_inside(root, 0);
}

fn cut_inside(node: &mut Json, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    match node {
        Json::Object(members) => {
            for (name, part) in members.iter_mut() {
                match part {
                    Json::String(text) if is_text(name) => cut_text(text),
                    // A schema may have properties that are named `example` or `default`.
                    _ if is_plain_value(name) && !part.is_object() => {}
                    _ => cut_inside(part, depth + 1),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| cut_inside(item, depth + 1)),
        _ => {}
    }
}

fn is_text(name: &str) -> bool {
    matches!(name, "description" | "summary" | "title")
}

/// Cuts a text after a word, so that phrases can use the rest.
fn cut_text(text: &mut String) {
    // Every character has at least one byte.
    if text.len() <= MAX_CHARS {
        return;
    }
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else { return };
    let head = text.get(..end).unwrap_or_default();
    let end = head.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
    text.truncate(end);
    text.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_are_cut_after_a_word_at_any_position() {
        let long = "wörd ".repeat(MAX_CHARS);
        let mut root = json!({
            "info": {"title": "x".repeat(MAX_CHARS + 1), "description": long},
            "paths": {"/a": {"get": {"summary": long, "parameters": [{"name": "q", "description": long, "example": long}]}}},
            "components": {"schemas": {"Pet": {"properties": {
                "description": {"type": "string", "description": long},
                "example": {"type": "string", "description": long}}}}},
        });
        cut(&mut root);
        let text = |pointer: &str| root.pointer(pointer).and_then(Json::as_str).unwrap();
        assert_eq!(text("/info/title").len(), MAX_CHARS);
        for pointer in [
            "/info/description",
            "/paths/~1a/get/summary",
            "/paths/~1a/get/parameters/0/description",
            "/components/schemas/Pet/properties/description/description",
            "/components/schemas/Pet/properties/example/description",
        ] {
            let cut = text(pointer);
            assert!(cut.chars().count() <= MAX_CHARS && cut.ends_with("wörd"), "{pointer}");
        }
        assert_eq!(text("/paths/~1a/get/parameters/0/example"), long);
    }
}
