//! Which request is for which surface, who may make it, and what answers it.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{HeaderMap, Method, Response, Uri};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::App;
use super::problem::{Problem, reply, text};
use super::sessions::{Live, lock};
use super::text::decode;

/// A request whose body has been read.
pub(super) struct Incoming<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
}

/// Who may reach a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surface {
    /// Anyone.
    Open,
    /// The agent under test, by the session's id.
    Agent,
    /// The experimenter.
    Control,
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Health,
    Metrics,
    Document,
    Worlds,
    World,
    Tasks,
    Search,
    Create,
    Show,
    Delete,
    Reset,
    Fork,
    Clock,
    State,
    Diff,
    Log,
    Grade,
    Call,
    Task,
    Message,
}

/// A route of the server itself.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) surface: Surface,
    pub(super) action: Action,
    pub(super) summary: &'static str,
}

/// All routes of the server itself; the document of the server is made from them.
pub(super) const ROUTES: [Route; 20] = [
    route("GET", "/healthz", Surface::Open, Action::Health, "Says that the server answers"),
    route("GET", "/openapi.json", Surface::Open, Action::Document, "Describes the server's own API"),
    route(
        "GET",
        "/metrics",
        Surface::Control,
        Action::Metrics,
        "Counts sessions, calls and errors (Prometheus)",
    ),
    route("GET", "/v1/worlds", Surface::Control, Action::Worlds, "Lists the worlds"),
    route("GET", "/v1/worlds/{id}", Surface::Control, Action::World, "Shows a world's APIs and resources"),
    route("GET", "/v1/tasks", Surface::Control, Action::Tasks, "Lists the tasks, in pages"),
    route("POST", "/v1/search", Surface::Agent, Action::Search, "Finds APIs by what they do"),
    route("POST", "/v1/sessions", Surface::Control, Action::Create, "Creates sessions of a world or a task"),
    route("GET", "/v1/sessions/{id}", Surface::Control, Action::Show, "Shows a session"),
    route("DELETE", "/v1/sessions/{id}", Surface::Control, Action::Delete, "Deletes a session"),
    route(
        "POST",
        "/v1/sessions/{id}/reset",
        Surface::Control,
        Action::Reset,
        "Puts a session back to its start",
    ),
    route(
        "POST",
        "/v1/sessions/{id}/fork",
        Surface::Control,
        Action::Fork,
        "Makes sessions that start where this one is",
    ),
    route("POST", "/v1/sessions/{id}/clock", Surface::Control, Action::Clock, "Sets a session's clock"),
    route(
        "GET",
        "/v1/sessions/{id}/state",
        Surface::Control,
        Action::State,
        "Shows all records of a session",
    ),
    route(
        "GET",
        "/v1/sessions/{id}/diff",
        Surface::Control,
        Action::Diff,
        "Shows what differs from the start",
    ),
    route("GET", "/v1/sessions/{id}/log", Surface::Control, Action::Log, "Shows a session's calls, in pages"),
    route(
        "POST",
        "/v1/sessions/{id}/grade",
        Surface::Control,
        Action::Grade,
        "Ends the episode and grades it",
    ),
    route("POST", "/v1/sessions/{id}/call", Surface::Agent, Action::Call, "Calls an API by name"),
    route(
        "GET",
        "/v1/sessions/{id}/task",
        Surface::Agent,
        Action::Task,
        "Shows the task as a user would put it",
    ),
    route(
        "POST",
        "/v1/sessions/{id}/messages",
        Surface::Agent,
        Action::Message,
        "Says something to the user",
    ),
];

const fn route(
    method: &'static str,
    path: &'static str,
    surface: Surface,
    action: Action,
    summary: &'static str,
) -> Route {
    Route { method, path, surface, action, summary }
}

/// The header that carries the control token; `Authorization` belongs to the worlds.
pub(super) const CONTROL_HEADER: &str = "diorama-token";

impl Incoming<'_> {
    /// The body as JSON of a type; nothing is an empty object.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let blank = self.body.iter().all(u8::is_ascii_whitespace);
        let body = if blank { b"{}".as_slice() } else { self.body };
        let json: Json = serde_json::from_slice(body)
            .map_err(|error| Problem::new(400, format!("the body: expected JSON, found {error}")))?;
        if !json.is_object() {
            return Err(Problem::new(422, "the body: expected a JSON object, found another JSON value"));
        }
        serde_json::from_value(json).map_err(|error| Problem::new(422, format!("the body: {error}")))
    }

    /// A number of the query string.
    pub(super) fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.query(name) else { return Ok(default) };
        let expected = format!("a whole number up to {most}");
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| Problem::about(name, &expected, format!("`{text}`")))
    }

    /// A value of the query string.
    pub(super) fn query(&self, name: &str) -> Option<String> {
        let pairs = super::text::pairs(self.uri.query().unwrap_or_default())?;
        pairs.into_iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }
}

impl App {
    pub(super) fn dispatch(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let path = request.uri.path();
        if let Some(rest) = path.strip_prefix("/s/") {
            return self.world_request(rest, request);
        }
        let fitting: Vec<(&Route, Option<&str>)> =
            ROUTES.iter().filter_map(|route| Some((route, fits(route.path, path)?))).collect();
        let wanted = if request.method == Method::HEAD { "GET" } else { request.method.as_str() };
        if let Some((route, id)) = fitting.iter().find(|(route, _)| route.method == wanted) {
            let id = id.and_then(decode).unwrap_or_default();
            return self.act(route, &id, request);
        }
        if fitting.is_empty() {
            let shown: String = path.chars().take(200).collect();
            return Err(Problem::new(404, format!("no route fits {shown}; see /openapi.json")));
        }
        let mut allow: Vec<&str> = fitting.iter().map(|(route, _)| route.method).collect();
        if allow.contains(&"GET") {
            allow.push("HEAD");
        }
        allow.push("OPTIONS");
        Err(not_allowed(request.method, allow.join(", ")))
    }

    fn act(&self, route: &Route, id: &str, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let live =
            if route.path.starts_with("/v1/sessions/{id}") { Some(self.sessions.get(id)) } else { None };
        if route.surface == Surface::Control {
            self.authorise(request, live.as_ref().and_then(|live| live.as_ref().ok()))?;
        }
        let live = live.transpose()?;
        let none = || Problem::new(500, "the route has no session");
        let of = || live.as_deref().ok_or_else(none);
        match route.action {
            Action::Health => Ok(reply(200, &serde_json::json!({"status": "ok"}))),
            Action::Metrics => {
                Ok(text(200, "text/plain; version=0.0.4", self.metrics.text(self.sessions.count())))
            }
            Action::Document => Ok(reply(200, &super::manage::document(&self.settings.public_url))),
            Action::Worlds => Ok(self.list_worlds()),
            Action::World => self.show_world(id),
            Action::Tasks => self.list_tasks(request),
            Action::Search => self.find_apis(request),
            Action::Create => self.create(request),
            Action::Show => Ok(self.show_session(of()?)),
            Action::Delete => self.delete(id),
            Action::Reset => Ok(self.reset(of()?)),
            Action::Fork => self.fork(of()?, request),
            Action::Clock => self.set_clock(of()?, request),
            Action::State => super::control::state(of()?, request),
            Action::Diff => Ok(super::control::diff(of()?)),
            Action::Log => super::control::log(of()?, request),
            Action::Grade => self.grade(of()?, request),
            Action::Call => self.call(of()?, request),
            Action::Task => super::episode::task(of()?),
            Action::Message => super::episode::message(of()?, request),
        }
    }

    /// Lets the experimenter in: with the server's token, or with a session's own for that session.
    fn authorise(&self, request: &Incoming<'_>, live: Option<&Arc<Mutex<Live>>>) -> Result<(), Problem> {
        let Some(token) = &self.settings.control_token else { return Ok(()) };
        let given = request.headers.get(CONTROL_HEADER).map(|value| value.as_bytes());
        let given = given
            .ok_or_else(|| Problem::new(401, "this needs the control token in the header Diorama-Token"))?;
        if same(given, token) || live.is_some_and(|live| same(given, &lock(live).token)) {
            return Ok(());
        }
        Err(Problem::new(401, "the token in the header Diorama-Token is not the control token"))
    }
}

/// The refusal of a method.
pub(super) fn not_allowed(method: &Method, allow: String) -> Problem {
    let shown: String = method.as_str().chars().take(20).collect();
    Problem::new(405, format!("found {shown}, expected one of {allow}")).allowing(allow)
}

/// Whether two secrets are the same; how long it takes tells nothing about where they differ.
fn same(given: &[u8], token: &str) -> bool {
    // Hashes compare in constant time.
    blake3::hash(given) == blake3::hash(token.as_bytes())
}

/// Whether a path fits a pattern with at most one parameter, and the parameter's value.
fn fits<'a>(pattern: &str, path: &'a str) -> Option<Option<&'a str>> {
    let Some((before, after)) = pattern.split_once("{id}") else {
        return (pattern == path).then_some(None);
    };
    let id = path.strip_prefix(before)?.strip_suffix(after)?;
    (!id.is_empty() && !id.contains('/')).then_some(Some(id))
}
