//! Owns the table of the server's own routes.

use axum::http::Method;
use axum::routing::MethodFilter;
use diorama_seeds::agent_tools::Confirmation;
use diorama_seeds::ending::Finish;
use diorama_sessions::{CreateRequest, ForkRequest, GradeReply, MessageReply};
use serde_json::Value as Json;

use std::sync::Arc;

use axum::handler::Handler;

use super::app::App;
use super::negotiate::Format;
use super::reply_types::{
    BatchReply, CallReply, Diff, Health, Log, NewSessions, SearchReply, SessionList, SessionView, State,
    TaskList, TaskView, Tools, Verdicts, WorldDetail, WorldList,
};
use super::request_types::{
    BatchRequest, CallRequest, CandidateHead, ClockRequest, ExportQuery, GradeRequest, HeartbeatRequest,
    MessageRequest, PageQuery, SearchRequest, StateQuery,
};
use super::route::{Access, Route};
use super::text::JSON;
use super::{admin, api};

fn get<T: 'static>(
    path: &'static str,
    name: (&'static str, &'static str),
    handler: impl Handler<T, Arc<App>>,
) -> Route {
    Route::new(MethodFilter::GET, Method::GET, path, name, handler)
}

fn post<T: 'static>(
    path: &'static str,
    name: (&'static str, &'static str),
    handler: impl Handler<T, Arc<App>>,
) -> Route {
    Route::new(MethodFilter::POST, Method::POST, path, name, handler)
}

/// Returns all routes of the server itself. Routes of one path are adjacent.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = of_server();
    routes.extend(of_sessions());
    routes.extend(of_one_session());
    routes.extend(of_agents());
    routes
}

fn of_server() -> Vec<Route> {
    use admin::{server, worlds};
    vec![
        get("/healthz", ("health", "Says that the server answers"), server::health)
            .open_to(Access::Open)
            .gives::<Health>()
            .always(),
        get("/readyz", ("ready", "Says that the server takes requests"), server::readiness)
            .open_to(Access::Open)
            .gives::<Health>()
            .problems(&[503])
            .always(),
        get("/openapi.json", ("document", "Describes the server's own API"), server::describe)
            .open_to(Access::Open)
            .of_kinds(Format::Json.kinds()),
        get("/openapi.yaml", ("yaml", "Describes the server's own API, in YAML"), server::describe)
            .open_to(Access::Open)
            .of_kinds(Format::Yaml.kinds()),
        get("/metrics", ("metrics", "Counts sessions, calls and errors (Prometheus)"), server::show_metrics)
            .of_kinds(&["text/plain"])
            .always(),
        get("/v1/worlds", ("worlds", "Lists the worlds"), worlds::list).gives::<WorldList>(),
        get("/v1/worlds/{id}", ("world", "Shows a world's APIs and resources"), worlds::show)
            .gives::<WorldDetail>(),
        get("/v1/tasks", ("tasks", "Lists the tasks, in pages"), worlds::list_tasks)
            .queried_by::<PageQuery>()
            .gives::<TaskList>(),
        post("/v1/check", ("check", "Holds a candidate against a world"), server::check)
            .takes::<CandidateHead>()
            .gives::<Verdicts>(),
        post("/v1/search", ("search", "Finds APIs by what they do"), api::search::find)
            .open_to(Access::Agent)
            .takes::<SearchRequest>()
            .gives::<SearchReply>(),
        post("/v1/calls", ("batch", "Makes calls of many sessions at once"), api::batch::call_all)
            .open_to(Access::Agent)
            .takes::<BatchRequest>()
            .gives::<BatchReply>(),
    ]
}

fn of_sessions() -> Vec<Route> {
    use admin::sessions;
    vec![
        get("/v1/sessions", ("sessions", "Lists the sessions, in pages"), sessions::list)
            .queried_by::<PageQuery>()
            .gives::<SessionList>(),
        post("/v1/sessions", ("create", "Creates sessions of a world or a task"), sessions::create)
            .takes::<CreateRequest>()
            .gives::<NewSessions>()
            .status(201)
            .takes_key()
            .problems(&[429]),
        get("/v1/sessions/{id}", ("show", "Shows a session"), sessions::show).gives::<SessionView>(),
        Route::new(
            MethodFilter::DELETE,
            Method::DELETE,
            "/v1/sessions/{id}",
            ("delete", "Deletes a session"),
            sessions::delete,
        )
        .status(204)
        .always(),
        post("/v1/sessions/{id}/reset", ("reset", "Puts a session back to its start"), sessions::reset)
            .gives::<SessionView>(),
        post(
            "/v1/sessions/{id}/fork",
            ("fork", "Makes sessions that start where this one is"),
            sessions::fork,
        )
        .takes::<ForkRequest>()
        .gives::<NewSessions>()
        .status(201)
        .takes_key()
        .problems(&[429]),
        post("/v1/sessions/{id}/clock", ("clock", "Sets a session's clock"), sessions::set_clock)
            .takes::<ClockRequest>()
            .gives::<SessionView>()
            .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/heartbeat",
            ("heartbeat", "Renews a session's lease, or sets another"),
            sessions::renew,
        )
        .takes::<HeartbeatRequest>()
        .gives::<SessionView>(),
    ]
}

fn of_one_session() -> Vec<Route> {
    use admin::{export, records, sessions};
    vec![
        get(
            "/v1/sessions/{id}/export",
            ("export", "Gives a session's log as a dialogue, a HAR file or a curl script"),
            export::export,
        )
        .queried_by::<ExportQuery>()
        .of_kinds(&[JSON, "text/x-shellscript"]),
        get("/v1/sessions/{id}/state", ("state", "Shows all records of a session"), records::state)
            .queried_by::<StateQuery>()
            .gives::<State>(),
        get("/v1/sessions/{id}/diff", ("diff", "Shows what differs from the start"), records::diff)
            .gives::<Diff>(),
        get("/v1/sessions/{id}/log", ("log", "Shows a session's calls, in pages"), records::log)
            .queried_by::<PageQuery>()
            .gives::<Log>(),
        post("/v1/sessions/{id}/grade", ("grade", "Ends the episode and grades it"), sessions::grade)
            .takes::<GradeRequest>()
            .gives::<GradeReply>()
            .problems(&[409]),
        get(
            "/v1/sessions/{id}/tools",
            ("tools", "Shows every tool that a task's session can come to call"),
            sessions::tools,
        )
        .gives::<Tools>()
        .problems(&[409]),
    ]
}

fn of_agents() -> Vec<Route> {
    use api::{calls, episode};
    let routes = [
        post("/v1/sessions/{id}/call", ("call", "Calls an API by name"), calls::call)
            .takes::<CallRequest>()
            .gives::<CallReply>()
            .problems(&[409, 429]),
        get("/v1/sessions/{id}/task", ("task", "Shows the task as a user would put it"), episode::task)
            .gives::<TaskView>()
            .problems(&[409]),
        post("/v1/sessions/{id}/messages", ("message", "Says something to the user"), episode::message)
            .takes::<MessageRequest>()
            .gives::<MessageReply>()
            .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/finish",
            ("finish", "Ends the goal that is open, with its outcome"),
            episode::finish,
        )
        .takes::<Finish>()
        .gives::<MessageReply>()
        .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/confirm",
            ("confirm", "Asks the user for a yes to calls, where a rule wants one"),
            episode::confirm,
        )
        .takes::<Confirmation>()
        .gives::<MessageReply>()
        .problems(&[409, 429]),
        post(
            "/v1/sessions/{id}/mcp",
            ("mcp", "Speaks the Model Context Protocol (streamable HTTP) with the session's world"),
            api::mcp::answer,
        )
        .takes::<Json>()
        .gives::<Json>(),
    ];
    routes.map(|route| route.open_to(Access::Agent)).into()
}
