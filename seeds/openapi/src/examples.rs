//! Derives schemas from examples of a body, where its own schema says nothing of its members.

use serde_json::{Map, Value as Json, json};

use super::shape::lookup;

/// The greatest number of examples read, and of items of each of their lists.
const MAX_EXAMPLES: usize = 8;
/// Levels of nesting that are read.
const MAX_DEPTH: u32 = 12;

/// Returns the examples of a media type. A string that holds JSON is parsed.
pub(super) fn of_media(root: &Json, media: &Json) -> Vec<Json> {
    let named = media.get("examples").and_then(Json::as_object).into_iter().flat_map(Map::values);
    let named = named.map(|named| resolved(root, named)).filter_map(|named| named.get("value"));
    media.get("example").into_iter().chain(named).take(MAX_EXAMPLES).map(read).collect()
}

/// Follows a chain of references to its end.
pub(super) fn resolved<'a>(root: &'a Json, mut node: &'a Json) -> &'a Json {
    for _ in 0..32 {
        match node.get("$ref").and_then(Json::as_str).and_then(|pointer| lookup(root, pointer)) {
            Some(target) => node = target,
            None => break,
        }
    }
    node
}

fn read(example: &Json) -> Json {
    let text = example.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| example.clone())
}

/// Returns the schema of a media type; one derived from its examples where it says nothing of members.
pub(super) fn promise(root: &Json, media: &Json) -> Option<Json> {
    let schema = media.get("schema");
    if schema.is_some_and(|schema| tells(root, schema)) {
        return schema.cloned();
    }
    let shown = of_media(root, media).into_iter().filter(|shown| shown.is_object() || shown.is_array());
    shown.map(|shown| of(&shown, 0)).reduce(merged).or_else(|| schema.cloned())
}

/// Returns true if a schema constrains its values.
pub(super) fn tells(root: &Json, schema: &Json) -> bool {
    tells_within(root, schema, 0)
}

fn tells_within(root: &Json, schema: &Json, depth: u32) -> bool {
    let schema = resolved(root, schema);
    let container = schema.get("type").is_none_or(|kind| kind == "object" || kind == "array");
    let words = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf", "enum", "const"];
    let filled =
        |word: &str| schema.get(word).filter(|part| part.as_object().is_none_or(|part| !part.is_empty()));
    // A list of unconstrained objects is unconstrained, too.
    let of_items =
        || filled("items").is_some_and(|item| depth < MAX_DEPTH && tells_within(root, item, depth + 1));
    !container || words.iter().any(|word| filled(word).is_some()) || of_items()
}

/// Derives the schema of an example.
fn of(example: &Json, depth: u32) -> Json {
    match example {
        _ if depth > MAX_DEPTH => json!({}),
        Json::Null => json!({"type": "null"}),
        Json::Bool(_) => json!({"type": "boolean"}),
        Json::Number(number) if number.is_i64() => json!({"type": "integer", "example": number}),
        Json::Number(number) => json!({"type": "number", "example": number}),
        Json::String(text) => json!({"type": "string", "example": text}),
        Json::Array(items) => {
            let items = items.iter().take(MAX_EXAMPLES).map(|item| of(item, depth + 1)).reduce(merged);
            json!({"type": "array", "items": items.unwrap_or_else(|| json!({}))})
        }
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), of(value, depth + 1)));
            json!({"type": "object", "properties": members.collect::<Map<_, _>>()})
        }
    }
}

/// Merges two derived schemas: the members of both objects, and the kind of the value that is not null.
fn merged(mut one: Json, other: Json) -> Json {
    if one["type"] == "null" || one == json!({}) {
        return other;
    }
    if one["type"] != other["type"] {
        return if other["type"] == "null" { one } else { json!({}) };
    }
    if let (Some(mine), Json::Object(theirs)) = (one.get_mut("properties"), &other["properties"]) {
        for (name, part) in theirs {
            let known = mine.get_mut(name).map(Json::take);
            mine[name] = known.map_or_else(|| part.clone(), |known| merged(known, part.clone()));
        }
    }
    if let (Some(mine), Some(theirs)) = (one.get_mut("items"), other.get("items")) {
        *mine = merged(mine.take(), theirs.clone());
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_replace_a_schema_without_constraints() {
        let root = json!({"components": {"schemas": {"Any": {"type": "object"}}}});
        let example =
            json!({"data": [{"id": "a", "size": 2, "by": null}, {"id": "b", "by": "Ann", "open": true}]});
        let promised = json!({"type": "object", "properties": {"data": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "example": "a"},
                "size": {"type": "integer", "example": 2},
                "by": {"type": "string", "example": "Ann"},
                "open": {"type": "boolean"},
            },
        }}}});
        let any = json!({"$ref": "#/components/schemas/Any"});
        for media in [
            json!({"example": example}),
            json!({"schema": any, "examples": {"one": {"value": example}}}),
            json!({"schema": {"type": "object", "properties": {}}, "example": example.to_string()}),
            json!({"schema": {"type": "array", "items": {"type": "object"}}, "example": example}),
        ] {
            assert_eq!(promise(&root, &media), Some(promised.clone()), "{media}");
        }
        let told = json!({"type": "object", "properties": {"data": {"type": "array"}}});
        assert_eq!(promise(&root, &json!({"schema": told, "example": example})), Some(told));
        assert_eq!(promise(&root, &json!({"schema": any})), Some(any));
        assert_eq!(promise(&root, &json!({"example": "done"})), None);
    }
}
