//! Importing documents: the catalog's own size, and one of 5 MB with 600 operations.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a bench may end this way")]

use diorama_openapi::{ImportOptions, import};
use serde_json::{Map, Value, json};

fn main() {
    let text = large();
    let imported = import("large.json", text.as_bytes(), &ImportOptions::default()).unwrap();
    println!("{} bytes, {} operations", text.len(), imported.doc.apis.len());
    divan::main();
}

/// A document of a hundred and fifty resources with four operations each, whose schemas refer to each other and are
/// described at the length of real ones.
fn large() -> String {
    let noun = |place: usize| format!("thing{}", place % 150);
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for place in 0..150 {
        let mut properties = Map::new();
        properties.insert("id".to_owned(), json!({"type": "integer"}));
        properties.insert("name".to_owned(), json!({"type": "string"}));
        for field in 0..60 {
            let kind = ["string", "integer", "number", "boolean"][field % 4];
            let text = "What this member means, at the length at which such documents explain themselves. "
                .repeat(5);
            properties.insert(
                format!("field_{field}"),
                json!({"type": kind, "description": text, "example": match kind {
                    "string" => json!("some text"), "boolean" => json!(true), _ => json!(field),
                }}),
            );
        }
        for other in 1..4 {
            let name = noun(place + other * 7);
            properties.insert(name.clone(), json!({"$ref": format!("#/components/schemas/{name}")}));
        }
        let name = noun(place);
        schemas.insert(
            name.clone(),
            json!({"type": "object", "required": ["id", "name"], "properties": properties}),
        );
        let of = json!({"$ref": format!("#/components/schemas/{name}")});
        let content = |schema: Value| json!({"application/json": {"schema": schema}});
        let reply = |schema: Value| json!({"200": {"description": "ok", "content": content(schema)}});
        paths.insert(
            format!("/{name}s"),
            json!({
                "get": {"operationId": format!("list_{name}"), "responses": reply(json!({"type": "array", "items": of}))},
                "post": {"operationId": format!("create_{name}"), "requestBody": {"content": content(of.clone())},
                    "responses": reply(of.clone())},
            }),
        );
        paths.insert(
            format!("/{name}s/{{{name}_id}}"),
            json!({
                "parameters": [{"name": format!("{name}_id"), "in": "path", "required": true, "schema": {"type": "integer"}}],
                "get": {"operationId": format!("get_{name}"), "responses": reply(of.clone())},
                "put": {"operationId": format!("replace_{name}"), "requestBody": {"content": content(of.clone())},
                    "responses": reply(of.clone())},
            }),
        );
    }
    json!({"openapi": "3.0.3", "info": {"title": "Large", "version": "1"}, "paths": paths,
        "components": {"schemas": schemas}})
    .to_string()
}

#[divan::bench(sample_count = 3)]
fn five_megabytes_with_600_operations(bencher: divan::Bencher<'_, '_>) {
    let text = large();
    bencher.bench(|| import("large.json", text.as_bytes(), &ImportOptions::default()).unwrap());
}
