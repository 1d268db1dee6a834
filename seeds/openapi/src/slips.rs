//! What media types say in another way than others: items of streams, and members without a name in schemas of replies, which get the
//! name that only the example has.

use serde_json::{Map, Value as Json, json};

use crate::examples;

/// Nesting deeper than this is left as it is.
const MAX_DEPTH: u32 = 24;

/// Names nameless members of a document's media types.
pub(super) fn mend(root: &mut Json) {
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
            // The schema of each item of a stream (OpenAPI 3.2).
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

/// Gives the nameless member of a media type's schema the name of the only member that its example has and the schema lacks.
/// Where the example has a list there, the schema is that of its items.
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
