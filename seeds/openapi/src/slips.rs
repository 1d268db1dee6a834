//! Repairs deviations of documents: schemas of stream items, unnamed members, and untyped `items` that mean
//! alternatives.

use serde_json::{Map, Value as Json, json};

use crate::examples;
use crate::walk::Walk;

/// Levels of nesting that are repaired.
const MAX_DEPTH: u32 = 24;
/// The greatest number of example values that are compared with untyped `items`.
const MAX_VALUES: u32 = 20_000;

/// Repairs the media types and schemas of a document.
pub(super) fn mend(root: &mut Json) {
    if ItemCounts::of(root).are_alternatives() {
        Walk::default().visit_mut(root, &mut |members| {
            if is_untyped(members)
                && let Some(Json::Object(meant)) = members.remove("items")
            {
                members.extend(meant);
            }
        });
    }
    let whole = root.clone();
    for place in ["/paths", "/components/responses", "/components/requestBodies"] {
        if let Some(found) = root.pointer_mut(place) {
            walk(&whole, found, 0);
        }
    }
}

fn walk(root: &Json, node: &mut Json, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    match node {
        Json::Object(members) => {
            // OpenAPI 3.2 gives the schema of each item of a stream here.
            if let (false, Some(items)) = (members.contains_key("schema"), members.get("itemSchema").cloned())
            {
                members.insert("schema".to_owned(), json!({"type": "array", "items": items}));
            }
            if members.contains_key("schema") {
                name(root, members);
            } else {
                members.values_mut().for_each(|inner| walk(root, inner, depth + 1));
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|inner| walk(root, inner, depth + 1)),
        _ => {}
    }
}

/// Names the unnamed member of a reply schema after the only member that its example has and the schema
/// lacks.
/// Where the example has a list there, the schema describes its items.
fn name(root: &Json, media: &mut Map<String, Json>) {
    let Some(properties) = media["schema"].get("properties").and_then(Json::as_object) else { return };
    if !properties.contains_key("") {
        return;
    }
    let found = examples::of_media(root, &Json::Object(media.clone()));
    let unknown: Vec<(&String, &Json)> = found
        .iter()
        .filter_map(Json::as_object)
        .take(1)
        .flatten()
        .filter(|(name, _)| !properties.contains_key(*name))
        .collect();
    let [(name, value)] = unknown.as_slice() else { return };
    let (name, is_list) = ((*name).clone(), value.is_array());
    let Some(properties) = media["schema"].get_mut("properties").and_then(Json::as_object_mut) else {
        return;
    };
    if let Some(meant) = properties.remove("") {
        properties.insert(name, if is_list { json!({"type": "array", "items": meant}) } else { meant });
    }
}

/// Returns true for a schema with `items` and without a type.
fn is_untyped(members: &Map<String, Json>) -> bool {
    members.get("items").is_some_and(Json::is_object)
        && ["type", "properties"].iter().all(|word| !members.contains_key(*word))
}

/// Counts of lists and of other values in a document's examples, where schemas have untyped `items`.
#[derive(Default)]
struct ItemCounts {
    lists: u32,
    others: u32,
    values: u32,
}

impl ItemCounts {
    /// Counts the values in replies.
    fn of(root: &Json) -> Self {
        let mut counts = Self::default();
        let mut path = String::new();
        let mut media = Vec::new();
        Walk::default().visit(root, &mut path, &mut |members, _| {
            if members.contains_key("schema")
                && ["example", "examples"].iter().any(|word| members.contains_key(*word))
            {
                media.push(members);
            }
        });
        for members in media {
            for example in examples::of_media(root, &Json::Object(members.clone())) {
                counts.compare(root, &members["schema"], &example, 0);
            }
        }
        counts
    }

    /// Returns true if untyped `items` mean alternatives, because most examples have no list there.
    const fn are_alternatives(&self) -> bool {
        self.others > self.lists
    }

    fn compare(&mut self, root: &Json, schema: &Json, value: &Json, depth: u32) {
        self.values += 1;
        let Some(members) = examples::resolved(root, schema).as_object() else { return };
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return;
        }
        let items = members.get("items");
        match (value, items) {
            (Json::Array(values), Some(items)) => {
                self.lists += u32::from(is_untyped(members));
                values.iter().take(4).for_each(|value| self.compare(root, items, value, depth + 1));
            }
            (_, Some(items)) if is_untyped(members) => {
                self.others += 1;
                self.compare(root, items, value, depth + 1);
            }
            _ => {}
        }
        if let (Some(Json::Object(properties)), Json::Object(values)) = (members.get("properties"), value) {
            for (name, part) in properties {
                if let Some(value) = values.get(name) {
                    self.compare(root, part, value, depth + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_without_a_type_are_alternatives_where_no_example_has_a_list() {
        let document = |value: Json| {
            json!({"paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {
                "schema": {"properties": {"one": {"$ref": "#/components/schemas/One"}, "items": {"type": "object"}}},
                "examples": {"first": {"value": {"one": value}}}}}}}}}},
                "components": {"schemas": {"One": {"items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}}}})
        };
        let check = |value: Json, expect: Json| {
            let mut root = document(value);
            let schema = root["paths"].clone();
            mend(&mut root);
            assert_eq!((&root["components"]["schemas"]["One"], &root["paths"]), (&expect, &schema));
        };
        let alternatives = json!({"anyOf": [{"type": "string"}, {"type": "object"}]});
        check(json!("a"), alternatives.clone());
        check(json!(["a"]), json!({"items": alternatives}));
    }
}
