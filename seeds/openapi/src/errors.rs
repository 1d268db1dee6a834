//! Reads the error bodies that a document declares, in the form of the world format.

use diorama_seeds::contract::tells_error;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::shape::lookup;

/// Levels of nesting that are copied; a deeper schema allows anything.
const DEPTH: u32 = 6;
/// A larger schema, in nodes, is dropped: the error is then a problem document.
const NODES: u32 = 400;

/// Returns the error bodies that an operation declares, by status.
pub(super) fn declared(root: &Json, operation: &Json) -> IndexMap<String, Json> {
    let responses = operation.get("responses").and_then(Json::as_object);
    let mut errors: IndexMap<String, Json> =
        responses.into_iter().flatten().filter_map(|(status, node)| error(root, status, node)).collect();
    // `4XX` becomes the body of all statuses that the operation does not declare.
    if let Some(range) = errors.shift_remove("4XX") {
        errors.entry("default".to_owned()).or_insert(range);
    }
    errors
}

fn error(root: &Json, status: &str, node: &Json) -> Option<(String, Json)> {
    let status = status.to_uppercase().replace("DEFAULT", "default");
    let code = status.parse::<u16>().ok();
    if !(code.is_some_and(|code| (400..600).contains(&code)) || status == "default" || status == "4XX") {
        return None;
    }
    let content = followed(root, node).get("content")?.as_object()?;
    let json = content.iter().find(|(kind, _)| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    });
    let mut nodes = NODES;
    let schema = Closer { root, nodes: &mut nodes }.close(json?.1.get("schema")?, 0);
    (nodes > 0 && schema.as_object().is_some_and(|schema| !schema.is_empty())).then_some((status, schema))
}

fn followed<'a>(root: &'a Json, node: &'a Json) -> &'a Json {
    let reference = node.get("$ref").and_then(Json::as_str);
    reference.and_then(|reference| lookup(root, reference)).unwrap_or(node)
}

/// Copies a schema into the keywords of JSON Schema, without references.
struct Closer<'a> {
    root: &'a Json,
    nodes: &'a mut u32,
}

impl Closer<'_> {
    /// Returns `object` or `array` if values of a schema are containers.
    fn container(&self, schema: &Json, depth: u32) -> Option<&'static str> {
        let schema = followed(self.root, schema);
        match schema.get("type").and_then(Json::as_str) {
            Some("object") => Some("object"),
            Some("array") => Some("array"),
            Some(_) => None,
            None if schema.get("properties").is_some() => Some("object"),
            None => {
                let way =
                    ["anyOf", "oneOf", "allOf", "$ref"].iter().find_map(|word| match schema.get(*word)? {
                        Json::Array(ways) => ways.first(),
                        _ => Some(schema),
                    });
                way.filter(|_| depth <= DEPTH).and_then(|way| self.container(way, depth + 1))
            }
        }
    }

    fn close(&mut self, schema: &Json, depth: u32) -> Json {
        *self.nodes = self.nodes.saturating_sub(1);
        if *self.nodes == 0 || depth > DEPTH {
            return json!({});
        }
        let Some(members) = schema.as_object() else { return schema.clone() };
        if members.contains_key("$ref") {
            let target = followed(self.root, schema);
            return if std::ptr::eq(target, schema) { json!({}) } else { self.close(target, depth + 1) };
        }
        let mut out = Map::new();
        for (name, member) in members {
            let closed = match (name.as_str(), member) {
                ("properties" | "patternProperties", Json::Object(all)) => {
                    let required = members.get("required").and_then(Json::as_array);
                    let is_owed = |name: &str| required.is_some_and(|all| all.iter().any(|own| own == name));
                    let all = all.iter().map(|(name, part)| {
                        // Optional containers that tell no error stay empty: the `payment` of a card error.
                        let kind =
                            self.container(part, depth).filter(|_| !is_owed(name) && !tells_error(name));
                        let bare = kind.map(|kind| json!({"type": kind}));
                        (name.clone(), bare.unwrap_or_else(|| self.close(part, depth + 1)))
                    });
                    Json::Object(all.collect())
                }
                ("items" | "additionalProperties" | "not", part @ Json::Object(_)) => {
                    self.close(part, depth + 1)
                }
                ("allOf" | "anyOf" | "oneOf", Json::Array(parts)) => {
                    Json::Array(parts.iter().map(|part| self.close(part, depth + 1)).collect())
                }
                (
                    "type"
                    | "enum"
                    | "const"
                    | "required"
                    | "minimum"
                    | "maximum"
                    | "minLength"
                    | "maxLength"
                    | "minItems"
                    | "maxItems"
                    | "pattern"
                    | "format"
                    | "additionalProperties"
                    | "description",
                    _,
                ) => member.clone(),
                _ => continue,
            };
            out.insert(name.clone(), closed);
        }
        if members.get("nullable") == Some(&json!(true))
            && let Some(kind) = out.get("type").filter(|kind| kind.is_string()).cloned()
        {
            out.insert("type".to_owned(), json!([kind, "null"]));
        }
        Json::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_keep_the_schemas_that_they_refer_to() {
        let text = r##"{"openapi": "3.0.0", "info": {"title": "T", "version": "1"}, "paths": {"/things/?all": {"get": {"responses": {
            "200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}}}},
            "404": {"$ref": "#/components/responses/Missing"},
            "4XX": {"description": "", "content": {"application/json": {"schema": {"type": "string", "nullable": true}}}},
            "500": {"description": "", "content": {"text/html": {"schema": {"type": "string"}}}}}}}},
            "components": {"responses": {"Missing": {"description": "", "content": {"application/json; charset=utf-8": {
                "schema": {"$ref": "#/components/schemas/Error"}}}}},
              "schemas": {"Error": {"type": "object", "required": ["code"], "example": {}, "properties": {
                "code": {"type": "integer"}, "inner_error": {"$ref": "#/components/schemas/Error"},
                "payment": {"anyOf": [{"$ref": "#/components/schemas/Error"}]}}}}}}"##;
        let imported = super::super::import("things.json", text.as_bytes(), &Default::default()).unwrap();
        let errors: &IndexMap<String, Json> = &imported.doc.apis[0].errors;
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["404", "default"]);
        let inner = errors["404"].pointer("/properties/inner_error/properties/code/type");
        assert_eq!(inner, Some(&json!("integer")));
        assert_eq!(errors["404"]["properties"]["payment"], json!({"type": "object"}));
        assert_eq!(errors["404"]["required"], json!(["code"]));
        assert_eq!(errors["404"].get("example"), None);
        assert_eq!(errors["default"], json!({"type": ["string", "null"]}));
    }
}
