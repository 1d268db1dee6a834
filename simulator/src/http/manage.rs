//! The OpenAPI document of the server itself, made from its routes and `manage/schemas.json`.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};

use super::openapi::problem_schema;
use super::record::FORMATS;
use super::surface::{Action, ROUTES, Route, Surface};

/// What requests and responses hold, by name. A part of the program: a test reads it.
static SCHEMAS: LazyLock<Map<String, Json>> =
    LazyLock::new(|| serde_json::from_str(include_str!("manage/schemas.json")).unwrap_or_default());

/// The document. `server` is the absolute URL that its paths are below.
pub(super) fn document(server: &str) -> Json {
    let mut paths = Map::new();
    for route in &ROUTES {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Json::Object(item) = item {
            item.insert(route.method.to_ascii_lowercase(), operation(route));
        }
    }
    let mut schemas = SCHEMAS.clone();
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
            {"name": "agent", "description": "What an agent under test may reach with a session's id."},
            {"name": "control", "description": "What the admin reaches with the control token."},
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

fn operation(route: &Route) -> Json {
    let tag = match route.surface {
        Surface::Open => "server",
        Surface::Agent => "agent",
        Surface::Control => "control",
    };
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "tags": [tag],
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Json::Object(operation) = &mut operation {
        if let Some((schema, required)) = body(route.action) {
            let content = json!({"application/json": {"schema": reference(schema)}});
            operation.insert("requestBody".to_owned(), json!({"required": required, "content": content}));
        }
        if route.surface == Surface::Control {
            operation.insert("security".to_owned(), json!([{"control": []}, {}]));
        }
    }
    operation
}

fn parameters(route: &Route) -> Vec<Json> {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        let schema = json!({"type": "string", "minLength": 1});
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": schema}));
    }
    if matches!(route.action, Action::Log | Action::Tasks | Action::Sessions) {
        let number = |name: &str, most: u64, text: &str| {
            json!({
                "name": name,
                "in": "query",
                "description": text,
                "schema": {"type": "integer", "minimum": 0, "maximum": most},
            })
        };
        parameters.push(number("offset", i64::MAX as u64, "The first item of the page."));
        parameters.push(number("limit", 1_000, "Items on the page; 100 when left out."));
    }
    if route.action == Action::State {
        let text = "Only records of this resource.";
        parameters.push(
            json!({"name": "resource", "in": "query", "description": text, "schema": {"type": "string"}}),
        );
    }
    if route.action == Action::Export {
        let schema = json!({"enum": FORMATS, "default": FORMATS[0]});
        parameters.push(json!({"name": "format", "in": "query", "schema": schema}));
    }
    parameters
}

fn responses(route: &Route) -> Json {
    let mut responses = Map::new();
    let (status, success) = success(route.action);
    responses.insert(status.to_owned(), success);
    for (status, text) in errors(route) {
        responses.insert(status.to_owned(), problem(text));
    }
    responses.insert("default".to_owned(), problem("Another problem."));
    Json::Object(responses)
}

fn success(action: Action) -> (&'static str, Json) {
    let schema = match action {
        Action::Health | Action::Ready => "Health",
        Action::Worlds => "Worlds",
        Action::World => "World",
        Action::Tasks => "Tasks",
        Action::Search => "Hits",
        Action::Check => "Verdicts",
        Action::Sessions => "Sessions",
        Action::Create | Action::Fork => "NewSessions",
        Action::Show | Action::Reset | Action::Clock | Action::Heartbeat => "Session",
        Action::State => "State",
        Action::Diff => "Diff",
        Action::Log => "Log",
        Action::Grade => "Grade",
        Action::Call => "Called",
        Action::Batch => "CalledAll",
        Action::Task => "Task",
        Action::Tools => "Tools",
        Action::Message | Action::Finish => "Said",
        Action::Document | Action::Yaml | Action::Export | Action::Mcp | Action::Metrics | Action::Delete => {
            "Any"
        }
    };
    let mut content = Map::new();
    let mut holds = |kind: &str, schema: Json| {
        content.insert(kind.to_owned(), json!({"schema": schema}));
    };
    match action {
        Action::Delete => return ("204", json!({"description": "Done."})),
        Action::Metrics => holds("text/plain", json!({"type": "string"})),
        Action::Document | Action::Yaml => {
            if action == Action::Document {
                holds("application/json", reference(schema));
            }
            holds("application/yaml", reference(schema));
        }
        Action::Export => {
            holds("application/json", reference(schema));
            holds("text/x-shellscript", json!({"type": "string"}));
        }
        _ => holds("application/json", reference(schema)),
    }
    let mut response = json!({"description": "Done.", "content": content});
    let header = |text: &str| json!({"description": text, "schema": {"type": "string"}});
    if let Json::Object(response) = &mut response {
        match action {
            Action::Log | Action::Tasks | Action::Sessions => {
                let link = header("The pages beside this one, by rel next and prev.");
                response.insert("headers".to_owned(), json!({"Link": link}));
            }
            Action::Document | Action::Yaml => {
                response.insert("headers".to_owned(), json!({"ETag": header("A tag of the document.")}));
            }
            _ => {}
        }
    }
    (if matches!(action, Action::Create | Action::Fork) { "201" } else { "200" }, response)
}

/// The problems of a route.
fn errors(route: &Route) -> Vec<(&'static str, &'static str)> {
    let mut errors = vec![("406", "The header Accept names no kind that the server has.")];
    if body(route.action).is_some() {
        errors.push(("400", "The body is not JSON."));
        errors.push(("413", "The body is too large."));
        errors.push(("415", "The body says that it is not JSON."));
        errors.push(("422", "A member of the body is wrong."));
    } else if !parameters(route).is_empty() {
        errors.push(("422", "A parameter is wrong."));
    }
    if route.surface == Surface::Control {
        errors.push(("401", "The control token is missing or wrong."));
        errors.push(("403", "The request names another server as its host."));
    }
    if route.path.contains("{id}") {
        errors.push(("404", "There is none of this name."));
    }
    match route.action {
        Action::Grade
        | Action::Task
        | Action::Tools
        | Action::Message
        | Action::Finish
        | Action::Call
        | Action::Clock => {
            errors.push(("409", "The episode has ended, or the session has no task."));
        }
        Action::Ready => errors.push(("503", "The server is ending.")),
        _ => {}
    }
    if matches!(
        route.action,
        Action::Create | Action::Fork | Action::Call | Action::Clock | Action::Message | Action::Finish
    ) {
        errors.push(("429", "There are too many sessions, or too many calls."));
    }
    errors
}

fn problem(text: &str) -> Json {
    let schema = json!({"schema": reference("Problem")});
    json!({"description": text, "content": {"application/problem+json": schema}})
}

fn reference(schema: &str) -> Json {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn operation_id(route: &Route) -> String {
    let mut id = format!("{:?}", route.action);
    id.make_ascii_lowercase();
    id
}

/// What the body of a request may hold, and whether there must be one.
const fn body(action: Action) -> Option<(&'static str, bool)> {
    match action {
        Action::Create => Some(("CreateRequest", false)),
        Action::Fork => Some(("ForkRequest", false)),
        Action::Clock => Some(("ClockRequest", true)),
        Action::Heartbeat => Some(("HeartbeatRequest", false)),
        Action::Grade => Some(("GradeRequest", false)),
        Action::Call => Some(("CallRequest", true)),
        Action::Batch => Some(("BatchRequest", true)),
        Action::Message => Some(("MessageRequest", true)),
        Action::Finish => Some(("FinishRequest", true)),
        Action::Search => Some(("SearchRequest", true)),
        Action::Check => Some(("Candidate", true)),
        Action::Mcp => Some(("Any", true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_all_bodies_are_there() {
        for route in &ROUTES {
            if let Some((name, _)) = body(route.action).filter(|(name, _)| *name != "Any") {
                assert!(SCHEMAS.contains_key(name), "{name}");
            }
        }
    }
}
