//! Owns the OpenAPI document of the server itself, made from its routes and the types of their handlers.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RestrictFormats, Transform as _};
use serde_json::{Map, Value as Json, json};

use super::{Access, Route};
use crate::http::world::openapi::problem_schema;
use diorama_sessions::KEY_HEADER;

/// Makes the document of routes, without the URL of the server.
pub(in crate::http) fn document(routes: &[Route]) -> Json {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
    };
    let mut requests = settings().for_deserialize().into_generator();
    let mut replies = settings().for_serialize().into_generator();
    let mut paths = Map::new();
    for route in routes {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.method.as_str().to_ascii_lowercase()] = operation(route, &mut requests, &mut replies);
    }
    let mut schemas = replies.take_definitions(false);
    schemas.extend(requests.take_definitions(false));
    // JSON Schema has no formats such as `uint64`, so that they are removed.
    let mut formats = RestrictFormats::default();
    formats.infer_from_meta_schema = false;
    schemas
        .values_mut()
        .filter_map(|schema| schema.try_into().ok())
        .for_each(|schema| formats.transform(schema));
    schemas.insert("Problem".to_owned(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Diorama",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions of simulated worlds. The REST API of a session is described by the document at \
                            `/s/{id}/openapi.json`.",
        },
        "servers": [],
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

fn operation(route: &Route, requests: &mut SchemaGenerator, replies: &mut SchemaGenerator) -> Json {
    let tag = match route.admission.access {
        Access::Open => "server",
        Access::Agent => "agent",
        Access::Admin => "admin",
    };
    let mut operation = json!({"operationId": route.id, "summary": route.summary, "tags": [tag]});
    let mut parameters = Vec::new();
    let mut problems = vec![406];
    if route.path.contains("{id}") {
        let schema = json!({"type": "string", "minLength": 1});
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": schema}));
        problems.push(404);
    }
    if route.admission.has_session {
        problems.push(421);
    }
    if route.takes_key {
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"});
        let text =
            "A key that the caller makes. The same key with the same body again gives the same sessions.";
        parameters.push(json!({"name": KEY_HEADER, "in": "header", "description": text, "schema": schema}));
        problems.push(409);
    }
    if let Some(query) = route.query {
        let schema = query(requests);
        let members = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
        parameters
            .extend(members.map(|(name, schema)| json!({"name": name, "in": "query", "schema": schema})));
        problems.push(422);
    }
    let is_list = parameters.iter().any(|parameter| parameter["name"] == "offset");
    operation["parameters"] = Json::Array(parameters);
    if let Some(request) = route.request {
        let schema = request(requests);
        let name = schema.get("$ref").and_then(Json::as_str).and_then(|path| path.rsplit('/').next());
        let declared = name.and_then(|name| requests.definitions().get(name));
        let required = declared.is_none_or(|declared| declared.get("required").is_some());
        operation["requestBody"] =
            json!({"required": required, "content": {"application/json": {"schema": schema}}});
        problems.extend([400, 413, 415, 422]);
    }
    if route.admission.access == Access::Admin {
        problems.extend([401, 403]);
        operation["security"] = json!([{"control": []}, {}]);
    }
    problems.extend(route.problems);
    let mut success = json!({"description": "Done."});
    if let Some(reply) = route.reply {
        let reply = reply(replies);
        for kind in route.admission.kinds {
            let schema = if kind.starts_with("text/") { json!({"type": "string"}) } else { json!(reply) };
            success["content"][*kind] = json!({"schema": schema});
        }
    }
    let header = |text: &str| json!({"description": text, "schema": {"type": "string"}});
    if is_list {
        success["headers"] = json!({"Link": header("The pages beside this one, by rel next and prev.")});
    } else if route.admission.kinds.contains(&"application/yaml") {
        success["headers"] = json!({"ETag": header("A tag of the document.")});
    }
    let mut responses = Map::from_iter([(route.status.to_string(), success)]);
    responses.extend(problems.into_iter().map(|status| (status.to_string(), problem(status))));
    responses.insert("default".to_owned(), problem(0));
    operation["responses"] = Json::Object(responses);
    operation
}

fn problem(status: u16) -> Json {
    let text = match status {
        400 => "The body is not JSON.",
        401 => "The control token is missing or wrong.",
        403 => "The request names another server as its host.",
        404 => "There is none of this name.",
        406 => "The header Accept names no kind that the server has.",
        409 => {
            "The episode has ended, the session has no task, or a request of the same key is still being answered."
        }
        413 => "The body is too large.",
        421 => "The session is on another node.",
        415 => "The body says that it is not JSON.",
        422 => "A member of the body, or a parameter, is wrong.",
        429 => "There are too many sessions, or too many calls.",
        503 => "The server is ending.",
        _ => "Another problem.",
    };
    let schema = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
    json!({"description": text, "content": {"application/problem+json": schema}})
}
