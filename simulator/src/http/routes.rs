//! The table of the server's own routes.

use std::sync::LazyLock;

use axum::http::Method;
use diorama_seeds::ending::Finish;
use serde_json::{Value as Json, json};

use super::app::App;
use super::documents::Document;
use super::incoming::{Access, Incoming};
use super::negotiate::preferred_format;
use super::problem::{Answer, Problem};
use super::reply_types::{
    BatchReply, CallReply, Diff, GradeReply, Health, Log, MessageReply, NewSessions, SearchReply,
    SessionList, SessionView, State, TaskList, TaskView, Tools, Verdicts, WorldDetail, WorldList,
};
use super::request_types::{
    BatchRequest, CallRequest, CandidateHead, ClockRequest, CreateRequest, ExportQuery, ForkRequest,
    GradeRequest, HeartbeatRequest, MessageRequest, PageQuery, SearchRequest, StateQuery,
};
use super::route::{Cost, Handler, Route};
use super::server_document::document;
use super::sessions::Slot;

fn get(path: &'static str, id: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new("GET", path, id, summary, handler)
}

fn post(path: &'static str, id: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new("POST", path, id, summary, handler)
}

/// All routes of the server itself, those of one path side by side.
pub(super) static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    use Access::{Agent, Open};
    use Cost::{Mcp, Quick, QuickLarge, SlowLarge};
    use Handler::{Server, Session};
    vec![
        get("/healthz", "health", "Says that the server answers", Server(App::health))
            .open_to(Open)
            .gives::<Health>()
            .cost(Quick)
            .always(),
        get("/readyz", "ready", "Says that the server takes requests", Server(App::readiness))
            .open_to(Open)
            .gives::<Health>()
            .problems(&[503])
            .cost(Quick)
            .always(),
        get("/openapi.json", "document", "Describes the server's own API", Server(App::describe_server))
            .open_to(Open)
            .of_kinds(&["application/json", "application/yaml"])
            .cost(SlowLarge),
        get("/openapi.yaml", "yaml", "Describes the server's own API, in YAML", Server(App::describe_server))
            .open_to(Open)
            .of_kinds(&["application/yaml"])
            .cost(SlowLarge),
        get(
            "/metrics",
            "metrics",
            "Counts sessions, calls and errors (Prometheus)",
            Server(App::show_metrics),
        )
        .of_kinds(&["text/plain"])
        .always(),
        get("/v1/worlds", "worlds", "Lists the worlds", Server(App::list_worlds)).gives::<WorldList>(),
        get("/v1/worlds/{id}", "world", "Shows a world's APIs and resources", Server(App::show_world))
            .gives::<WorldDetail>(),
        get("/v1/tasks", "tasks", "Lists the tasks, in pages", Server(App::list_tasks))
            .queried_by::<PageQuery>()
            .gives::<TaskList>(),
        post("/v1/check", "check", "Holds a candidate against a world", Server(App::check))
            .takes::<CandidateHead>()
            .gives::<Verdicts>(),
        post("/v1/search", "search", "Finds APIs by what they do", Server(App::find_apis))
            .open_to(Agent)
            .takes::<SearchRequest>()
            .gives::<SearchReply>(),
        post("/v1/calls", "batch", "Makes calls of many sessions at once", Server(App::batch))
            .open_to(Agent)
            .takes::<BatchRequest>()
            .gives::<BatchReply>()
            .cost(SlowLarge),
        get("/v1/sessions", "sessions", "Lists the sessions, in pages", Server(App::list_sessions))
            .queried_by::<PageQuery>()
            .gives::<SessionList>(),
        post("/v1/sessions", "create", "Creates sessions of a world or a task", Server(App::create))
            .takes::<CreateRequest>()
            .gives::<NewSessions>()
            .status(201)
            .takes_key()
            .problems(&[429]),
        get("/v1/sessions/{id}", "show", "Shows a session", Session(App::show_session))
            .gives::<SessionView>(),
        Route::new("DELETE", "/v1/sessions/{id}", "delete", "Deletes a session", Session(App::delete))
            .status(204)
            .always(),
        post("/v1/sessions/{id}/reset", "reset", "Puts a session back to its start", Session(App::reset))
            .gives::<SessionView>(),
        post(
            "/v1/sessions/{id}/fork",
            "fork",
            "Makes sessions that start where this one is",
            Session(App::fork),
        )
        .takes::<ForkRequest>()
        .gives::<NewSessions>()
        .status(201)
        .takes_key()
        .problems(&[429]),
        post("/v1/sessions/{id}/clock", "clock", "Sets a session's clock", Session(App::set_clock))
            .takes::<ClockRequest>()
            .gives::<SessionView>()
            .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/heartbeat",
            "heartbeat",
            "Renews a session's lease, or sets another",
            Session(App::heartbeat),
        )
        .takes::<HeartbeatRequest>()
        .gives::<SessionView>(),
        get(
            "/v1/sessions/{id}/export",
            "export",
            "Gives a session's log as a dialogue, a HAR file or a curl script",
            Session(App::export),
        )
        .queried_by::<ExportQuery>()
        .of_kinds(&["application/json", "text/x-shellscript"])
        .cost(SlowLarge),
        get("/v1/sessions/{id}/state", "state", "Shows all records of a session", Session(App::show_state))
            .queried_by::<StateQuery>()
            .gives::<State>()
            .cost(SlowLarge),
        get("/v1/sessions/{id}/diff", "diff", "Shows what differs from the start", Session(App::show_diff))
            .gives::<Diff>()
            .cost(SlowLarge),
        get("/v1/sessions/{id}/log", "log", "Shows a session's calls, in pages", Session(App::show_log))
            .queried_by::<PageQuery>()
            .gives::<Log>()
            .cost(SlowLarge),
        post("/v1/sessions/{id}/grade", "grade", "Ends the episode and grades it", Session(App::grade))
            .takes::<GradeRequest>()
            .gives::<GradeReply>()
            .problems(&[409]),
        get(
            "/v1/sessions/{id}/tools",
            "tools",
            "Shows every tool that a task's session can come to call",
            Session(App::show_tools),
        )
        .gives::<Tools>()
        .problems(&[409])
        .cost(SlowLarge),
        post("/v1/sessions/{id}/call", "call", "Calls an API by name", Session(App::call))
            .open_to(Agent)
            .takes::<CallRequest>()
            .gives::<CallReply>()
            .problems(&[409, 429])
            .cost(QuickLarge),
        get(
            "/v1/sessions/{id}/task",
            "task",
            "Shows the task as a user would put it",
            Session(App::show_task),
        )
        .open_to(Agent)
        .gives::<TaskView>()
        .problems(&[409]),
        post("/v1/sessions/{id}/messages", "message", "Says something to the user", Session(App::message))
            .open_to(Agent)
            .takes::<MessageRequest>()
            .gives::<MessageReply>()
            .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/finish",
            "finish",
            "Ends the goal that is open, with its outcome",
            Session(App::finish),
        )
        .open_to(Agent)
        .takes::<Finish>()
        .gives::<MessageReply>()
        .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/mcp",
            "mcp",
            "Speaks the Model Context Protocol (streamable HTTP) with the session's world",
            Session(App::refuse_mcp),
        )
        .open_to(Agent)
        .takes::<Json>()
        .gives::<Json>()
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
    fn describe_server(&self, request: &Incoming<'_>) -> Answer {
        static DOCUMENT: LazyLock<Json> = LazyLock::new(|| document(&ROUTES));
        let mut document = DOCUMENT.clone();
        document["servers"] = json!([{"url": self.settings.public_url}]);
        Ok(Document::new(&document, preferred_format(request)).response(request.headers))
    }

    /// Connections answer such requests before; a request that gets here did not come by one.
    fn refuse_mcp(&self, _: &Slot, _: &Incoming<'_>) -> Answer {
        Err(Problem::new(501, "this needs a connection"))
    }
}
