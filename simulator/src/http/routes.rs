//! The table of the server's own routes.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::http::{Method, Response};

use super::app::App;
use super::documents::Document;
use super::handler::{DocumentRequest, Handle, McpMessage};
use super::incoming::Access;
use super::problem::Problem;
use super::route::{Cost, Route};
use super::server_document::document;
use super::sessions::Slot;

fn get<A, H: Handle<A>>(path: &'static str, id: &'static str, summary: &'static str, handler: H) -> Route {
    Route::new("GET", path, id, summary, handler)
}

fn post<A, H: Handle<A>>(path: &'static str, id: &'static str, summary: &'static str, handler: H) -> Route {
    Route::new("POST", path, id, summary, handler)
}

/// All routes of the server itself, those of one path side by side.
pub(super) static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    use Access::{Agent, Open};
    use Cost::{Mcp, Quick, QuickLarge, SlowLarge};
    const JSON_OR_YAML: &[&str] = &["application/json", "application/yaml"];
    vec![
        get("/healthz", "health", "Says that the server answers", App::health).open_to(Open).always(),
        get("/readyz", "ready", "Says that the server takes requests", App::readiness)
            .open_to(Open)
            .problems(&[503])
            .always(),
        get("/openapi.json", "document", "Describes the server's own API", App::describe_server)
            .open_to(Open)
            .kinds(JSON_OR_YAML)
            .cost(SlowLarge),
        get("/openapi.yaml", "yaml", "Describes the server's own API, in YAML", App::describe_server)
            .open_to(Open)
            .kinds(&["application/yaml"])
            .cost(SlowLarge),
        get("/metrics", "metrics", "Counts sessions, calls and errors (Prometheus)", App::show_metrics)
            .kinds(&["text/plain"])
            .always(),
        get("/v1/worlds", "worlds", "Lists the worlds", App::list_worlds),
        get("/v1/worlds/{id}", "world", "Shows a world's APIs and resources", App::show_world),
        get("/v1/tasks", "tasks", "Lists the tasks, in pages", App::list_tasks),
        post("/v1/check", "check", "Holds a candidate against a world", App::check),
        post("/v1/search", "search", "Finds APIs by what they do", App::find_apis).open_to(Agent),
        post("/v1/calls", "batch", "Makes calls of many sessions at once", App::batch)
            .open_to(Agent)
            .cost(SlowLarge),
        get("/v1/sessions", "sessions", "Lists the sessions, in pages", App::list_sessions),
        post("/v1/sessions", "create", "Creates sessions of a world or a task", App::create).problems(&[429]),
        get("/v1/sessions/{id}", "show", "Shows a session", App::show_session),
        Route::new("DELETE", "/v1/sessions/{id}", "delete", "Deletes a session", App::delete).always(),
        post("/v1/sessions/{id}/reset", "reset", "Puts a session back to its start", App::reset).cost(Quick),
        post("/v1/sessions/{id}/fork", "fork", "Makes sessions that start where this one is", App::fork)
            .problems(&[429])
            .cost(Quick),
        post("/v1/sessions/{id}/clock", "clock", "Sets a session's clock", App::set_clock)
            .problems(&[409, 429])
            .cost(Quick),
        post(
            "/v1/sessions/{id}/heartbeat",
            "heartbeat",
            "Renews a session's lease, or sets another",
            App::heartbeat,
        )
        .cost(Quick),
        get(
            "/v1/sessions/{id}/export",
            "export",
            "Gives a session's log as a dialogue, a HAR file or a curl script",
            App::export,
        )
        .kinds(&["application/json", "text/x-shellscript"])
        .cost(SlowLarge),
        get("/v1/sessions/{id}/state", "state", "Shows all records of a session", App::show_state)
            .cost(SlowLarge),
        get("/v1/sessions/{id}/diff", "diff", "Shows what differs from the start", App::show_diff)
            .cost(SlowLarge),
        get("/v1/sessions/{id}/log", "log", "Shows a session's calls, in pages", App::show_log)
            .cost(SlowLarge),
        post("/v1/sessions/{id}/grade", "grade", "Ends the episode and grades it", App::grade)
            .problems(&[409]),
        get(
            "/v1/sessions/{id}/tools",
            "tools",
            "Shows every tool that a task's session can come to call",
            App::show_tools,
        )
        .problems(&[409])
        .cost(SlowLarge),
        post("/v1/sessions/{id}/call", "call", "Calls an API by name", App::call)
            .open_to(Agent)
            .problems(&[409, 429])
            .cost(QuickLarge),
        get("/v1/sessions/{id}/task", "task", "Shows the task as a user would put it", App::show_task)
            .open_to(Agent)
            .problems(&[409]),
        post("/v1/sessions/{id}/messages", "message", "Says something to the user", App::message)
            .open_to(Agent)
            .problems(&[409, 429])
            .cost(Quick),
        post(
            "/v1/sessions/{id}/finish",
            "finish",
            "Ends the goal that is open, with its outcome",
            App::finish,
        )
        .open_to(Agent)
        .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/mcp",
            "mcp",
            "Speaks the Model Context Protocol (streamable HTTP) with the session's world",
            App::refuse_mcp,
        )
        .open_to(Agent)
        .cost(Mcp),
    ]
});

/// The route of a method, among those of one path.
pub(super) fn route_of(routes: &'static [Route], method: &Method) -> Option<&'static Route> {
    let wanted = if method == Method::HEAD { "GET" } else { method.as_str() };
    routes.iter().find(|route| route.method == wanted)
}

impl App {
    /// The OpenAPI document of the server itself.
    fn describe_server(&self, request: DocumentRequest) -> Result<Response<Body>, Problem> {
        let document = document(&ROUTES, &self.settings.public_url);
        Ok(Document::new(&document, request.format).response(&request.headers))
    }

    /// Connections answer such requests before; a request that gets here did not come by one.
    fn refuse_mcp(&self, _session: Arc<Slot>, _message: McpMessage) -> Result<Response<Body>, Problem> {
        Err(Problem::new(501, "this needs a connection"))
    }
}
