//! The OpenAPI document of the server itself, made from its routes and the types of their handlers.

use serde_json::{Map, Value as Json, json};

use super::handler::Schemas;
use super::incoming::Access;
use super::openapi::problem_schema;
use super::route::Route;

/// The document of these routes. `server` is the absolute URL that their paths are below.
pub(super) fn document(routes: &[Route], server: &str) -> Json {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for route in routes {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.method.to_ascii_lowercase()] = operation(route, &mut schemas);
    }
    let mut schemas = schemas.finish();
    schemas.insert("Problem".to_owned(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Diorama",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions of simulated worlds. The REST API of a session is described by the document at \
                            `/s/{id}/openapi.json`.",
        },
        "servers": [{"url": server}],
        "tags": [
            {"name": "server", "description": "The server itself."},
            {"name": "agent", "description": "The agent API: an agent under test reaches it with a session's id."},
            {"name": "admin", "description": "The admin API: it needs the control token."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "control": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Diorama-Token",
                    "description": "The server's control token, or a session's own token for that session. Not needed \
                                    where the server has no control token, which it may lack on loopback only.",
                },
            },
        },
    })
}

fn operation(route: &Route, schemas: &mut Schemas) -> Json {
    let described = (route.describe)(schemas);
    let tag = match route.access {
        Access::Open => "server",
        Access::Agent => "agent",
        Access::Admin => "admin",
    };
    let mut parameters = described.parameters;
    let mut problems = vec![406];
    match (&described.body, parameters.is_empty()) {
        (Some(_), _) => problems.extend([400, 413, 415, 422]),
        (None, false) => problems.push(422),
        (None, true) => {}
    }
    if route.access == Access::Admin {
        problems.extend([401, 403]);
    }
    if route.path.contains("{id}") {
        let schema = json!({"type": "string", "minLength": 1});
        parameters.insert(0, json!({"name": "id", "in": "path", "required": true, "schema": schema}));
        problems.push(404);
    }
    problems.extend(route.problems);
    let mut success = json!({"description": "Done."});
    if let Some(reply) = described.reply {
        let text = json!({"type": "string"});
        let schema = |kind: &&str| if kind.starts_with("text/") { text.clone() } else { reply.clone() };
        let content = route.kinds.iter().map(|kind| ((*kind).to_owned(), json!({"schema": schema(kind)})));
        success["content"] = Json::Object(content.collect());
    }
    for (name, text) in described.headers {
        success["headers"][name] = json!({"description": text, "schema": {"type": "string"}});
    }
    let mut responses = Map::new();
    responses.insert(described.status.to_string(), success);
    responses.extend(problems.into_iter().map(|status| (status.to_string(), problem(status))));
    responses.insert("default".to_owned(), problem(0));
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "tags": [tag],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(body) = described.body {
        operation["requestBody"] = body;
    }
    if route.access == Access::Admin {
        operation["security"] = json!([{"control": []}, {}]);
    }
    operation
}

fn problem(status: u16) -> Json {
    let text = match status {
        400 => "The body is not JSON.",
        401 => "The control token is missing or wrong.",
        403 => "The request names another server as its host.",
        404 => "There is none of this name.",
        406 => "The header Accept names no kind that the server has.",
        409 => "The episode has ended, or the session has no task.",
        413 => "The body is too large.",
        415 => "The body says that it is not JSON.",
        422 => "A member of the body, or a parameter, is wrong.",
        429 => "There are too many sessions, or too many calls.",
        503 => "The server is ending.",
        _ => "Another problem.",
    };
    let schema = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
    json!({"description": text, "content": {"application/problem+json": schema}})
}
