//! The OpenAPI document of the server itself, made from its routes.

use serde_json::{Map, Value as Json, json};

use super::openapi::problem_schema;
use super::surface::{Action, ROUTES, Route, Surface};

/// The document. `server` is the absolute URL that its paths are below.
pub(super) fn document(server: &str) -> Json {
    let mut paths = Map::new();
    for route in &ROUTES {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Json::Object(item) = item {
            item.insert(route.method.to_ascii_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Diorama", "version": env!("CARGO_PKG_VERSION")},
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem_schema()},
            "securitySchemes": {"control": {"type": "apiKey", "in": "header", "name": "Diorama-Token"}},
        },
    })
}

fn operation(route: &Route) -> Json {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}));
    }
    let paged: &[&str] = match route.action {
        Action::Log | Action::Tasks => &["offset", "limit"],
        _ => &[],
    };
    for name in paged {
        parameters.push(json!({"name": name, "in": "query", "schema": {"type": "integer", "minimum": 0}}));
    }
    if route.action == Action::State {
        parameters.push(json!({"name": "resource", "in": "query", "schema": {"type": "string"}}));
    }
    let status = match route.action {
        Action::Create | Action::Fork => "201",
        Action::Delete => "204",
        _ => "200",
    };
    let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
    let mut responses = Map::new();
    responses.insert(status.to_owned(), success(route.action));
    responses.insert(
        "default".to_owned(),
        json!({"description": "A problem.", "content": {"application/problem+json": problem}}),
    );
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses,
    });
    if let Json::Object(operation) = &mut operation {
        if let Some((schema, required)) = body(route.action) {
            let content = json!({"application/json": {"schema": schema}});
            operation.insert("requestBody".to_owned(), json!({"required": required, "content": content}));
        }
        if route.surface == Surface::Control {
            operation.insert("security".to_owned(), json!([{"control": []}, {}]));
        }
    }
    operation
}

fn operation_id(route: &Route) -> String {
    let mut id = format!("{:?}", route.action);
    id.make_ascii_lowercase();
    id
}

fn success(action: Action) -> Json {
    match action {
        Action::Delete => json!({"description": "Done."}),
        Action::Metrics => {
            json!({"description": "Done.", "content": {"text/plain": {"schema": {"type": "string"}}}})
        }
        _ => json!({"description": "Done.", "content": {"application/json": {"schema": {"type": "object"}}}}),
    }
}

/// What the body of a request may hold, and whether there must be one.
fn body(action: Action) -> Option<(Json, bool)> {
    let text = || json!({"type": "string"});
    let copies = || json!({"type": "integer", "minimum": 1, "maximum": 1000});
    let (properties, required): (Json, &[&str]) = match action {
        Action::Create => (
            json!({
                "world": text(),
                "seed": {"type": "integer", "minimum": 0},
                "clock": {"type": "string", "format": "date-time"},
                "faults": {"type": "array", "maxItems": 0},
                "task": text(),
                "n": copies(),
            }),
            &[],
        ),
        Action::Fork => (json!({"n": copies()}), &[]),
        Action::Clock => (json!({"clock": {"type": "string", "format": "date-time"}}), &["clock"]),
        Action::Grade => {
            (json!({"answer": text(), "outcome": {"enum": ["done", "refused", "need_input"]}}), &[])
        }
        Action::Call => (json!({"api": text(), "arguments": {"type": "object"}}), &["api"]),
        Action::Message => (json!({"content": text()}), &["content"]),
        Action::Search => (
            json!({"query": text(), "k": {"type": "integer", "minimum": 1, "maximum": 1000}, "world": text()}),
            &["query"],
        ),
        _ => return None,
    };
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Some((schema, !required.is_empty()))
}
