//! Owns the schemas of actions, observations and states, and the OpenAPI document of the routes.

use serde_json::{Map, Value as Json, json};

use crate::task_routes::ENVIRONMENT;

/// The version of OpenEnv's HTTP interface.
const INTERFACE_VERSION: &str = "1.0.0";

/// Returns the reply of `/metadata`.
pub(super) fn metadata() -> Json {
    json!({
        "name": ENVIRONMENT,
        "description": "Worlds of APIs that behave: tasks of calling them for a user, graded by what was changed and said.",
        "readme_content": null,
        "version": env!("CARGO_PKG_VERSION"),
        "author": null,
        "documentation_url": null,
    })
}

/// Returns the reply of `/schema`.
pub(super) fn schemas() -> Json {
    json!({
        "action": action(),
        "observation": observation(),
        "reset_observation": reset_observation(),
        "state": state(),
    })
}

fn object(
    title: &str,
    required: &[&str],
    properties: impl IntoIterator<Item = (&'static str, Json)>,
) -> Json {
    json!({
        "title": title,
        "type": "object",
        "properties": members(properties),
        "required": required,
        "additionalProperties": false,
    })
}

fn action() -> Json {
    let metadata = || ("metadata", json!({"type": "object"}));
    let list = object("ListTools", &["type"], [("type", json!({"const": "list_tools"})), metadata()]);
    let call = object(
        "CallTool",
        &["tool_name"],
        [
            ("type", json!({"const": "call_tool"})),
            ("tool_name", json!({"type": "string", "description": "One of the tools that are listed"})),
            ("arguments", json!({"type": "object", "description": "As the tool's input_schema says"})),
            metadata(),
        ],
    );
    json!({"title": "DioramaAction", "anyOf": [list, call]})
}

fn tools() -> Json {
    let tool = object(
        "Tool",
        &["name", "description", "input_schema"],
        [
            ("name", json!({"type": "string"})),
            ("description", json!({"type": "string"})),
            ("input_schema", json!({"type": "object"})),
        ],
    );
    json!({"type": "array", "items": tool})
}

/// Returns the members that every observation has.
fn ends() -> [(&'static str, Json); 3] {
    [
        (
            "reward",
            json!({"type": ["number", "null"], "description": "Null at a reset, and where the episode is excluded"}),
        ),
        ("done", json!({"type": "boolean"})),
        ("metadata", json!({"type": "object"})),
    ]
}

fn observation() -> Json {
    let error = object(
        "ToolError",
        &["error_type", "message"],
        [
            ("error_type", json!({"enum": ["execution_error", "tool_not_found", "timeout"]})),
            ("message", json!({"type": "string"})),
        ],
    );
    let called = [
        ("tool_name", json!({"type": "string"})),
        ("result", json!({"description": "The reply's body, refusals too"})),
        ("error", json!({"anyOf": [error, {"type": "null"}]})),
    ];
    let required = ["reward", "done", "metadata"];
    let called = object(
        "Called",
        &["tool_name", "result", "error", "reward", "done", "metadata"],
        called.into_iter().chain(ends()),
    );
    let listed = object("Listed", &["tools"], [("tools", tools())].into_iter().chain(ends()));
    json!({"title": "DioramaObservation", "type": "object", "required": required, "anyOf": [called, listed]})
}

fn reset_observation() -> Json {
    let message = object(
        "Message",
        &["role", "content"],
        [("role", json!({"enum": ["system", "user"]})), ("content", json!({"type": "string"}))],
    );
    let shown = [
        ("task_id", json!({"type": "string"})),
        ("messages", json!({"type": "array", "items": message})),
        ("available_tools", tools()),
    ];
    let required = ["task_id", "messages", "available_tools", "reward", "done", "metadata"];
    object("DioramaReset", &required, shown.into_iter().chain(ends()))
}

fn state() -> Json {
    object(
        "DioramaState",
        &["episode_id", "step_count"],
        [
            ("episode_id", json!({"type": ["string", "null"]})),
            ("step_count", json!({"type": "integer", "minimum": 0})),
            ("task_id", json!({"type": ["string", "null"]})),
            ("done", json!({"type": "boolean"})),
        ],
    )
}

/// Returns the OpenAPI document of the routes.
pub(super) fn document() -> Json {
    let reply = |schema: Json| json!({"200": {"description": "Done", "content": {"application/json": {"schema": schema}}}});
    let any = || json!({"type": "object"});
    let get = |summary: &str, schema: Json| json!({"get": {"summary": summary, "responses": reply(schema)}});
    let post = |summary: &str, body: Json, schema: Json| {
        let body = json!({"content": {"application/json": {"schema": body}}});
        json!({"post": {"summary": summary, "requestBody": body, "responses": reply(schema)}})
    };
    let outcome = |observation: Json| {
        json!({
            "type": "object",
            "properties": {
                "observation": observation,
                "reward": {"type": ["number", "null"]},
                "done": {"type": "boolean"},
                "metadata": {"type": "object"},
            },
            "required": ["observation", "reward", "done"],
        })
    };
    let start = json!({
        "type": "object",
        "properties": {
            "seed": {"type": "integer", "minimum": 0},
            "episode_id": {"type": "string", "maxLength": 255},
            "id": {"type": "string", "description": "A task's id"},
            "split": {"type": "string"},
            "index": {"type": "integer", "minimum": 0},
            "faults": {"type": "array", "items": {"type": "object"}},
            "fork_of": {"type": "string"},
            "at": {"type": "integer", "minimum": 0},
        },
    });
    let split = json!({"type": "object", "properties": {"split": {"type": "string"}}, "required": ["split"]});
    let step = json!({
        "type": "object",
        "properties": {"action": action(), "episode_id": {"type": "string"}},
        "required": ["action"],
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Diorama as an OpenEnv environment",
            "version": INTERFACE_VERSION,
            "description": "Episodes are best played over the WebSocket /ws; /mcp is a WebSocket, too.",
        },
        "paths": {
            "/reset": post("Begins an episode", start, outcome(any())),
            "/step": post("Takes an action", step, outcome(any())),
            "/state": get("Shows an episode's state", state()),
            "/health": get("Says that the server answers", any()),
            "/metadata": get("Describes the environment", any()),
            "/schema": get("Gives the schemas of actions, observations and states", any()),
            "/mcp": post("Answers JSON-RPC: tools/list, tools/call, openenv/session/create, openenv/session/close", any(), any()),
            "/list_environments": get("Lists the environments", json!({"type": "array"})),
            "/{env_name}/splits": get("Lists the splits", json!({"type": "array"})),
            "/{env_name}/tasks": post("Lists the tasks of a split", split.clone(), any()),
            "/{env_name}/num_tasks": post("Counts the tasks of a split", split.clone(), any()),
            "/{env_name}/task": post("Shows a task by its position", split.clone(), any()),
            "/{env_name}/task_range": post("Shows a range of tasks", split, any()),
        },
    })
}

/// Returns an object with these members, for schemas.
fn members(pairs: impl IntoIterator<Item = (&'static str, Json)>) -> Map<String, Json> {
    pairs.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}
