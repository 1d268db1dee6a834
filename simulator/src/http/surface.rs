//! Which request is for which surface, who may make it, and what answers it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axum::body::Body;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, Response, Uri};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::App;
use super::auth::same;
use super::documents::Document;
use super::negotiate::{acceptable, is_json, media_type, options, wanted};
use super::problem::{Problem, reply, text};
use super::sessions::Slot;
use super::step::unwritten;
use super::store::Store;
use super::target::{Form, Place, Target};
use super::text::decode;

/// A request whose body has been read.
pub(super) struct Incoming<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// What its path names.
    pub(super) target: &'a Target,
    /// True once the sender has left.
    pub(super) gone: &'a AtomicBool,
}

/// Who may reach a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surface {
    /// Anyone.
    Open,
    /// The agent under test, by the session's id.
    Agent,
    /// The admin.
    Control,
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Health,
    Ready,
    Metrics,
    Document,
    Yaml,
    Worlds,
    World,
    Tasks,
    Search,
    Check,
    Sessions,
    Create,
    Show,
    Delete,
    Reset,
    Fork,
    Clock,
    Heartbeat,
    Export,
    State,
    Diff,
    Log,
    Grade,
    Call,
    Batch,
    Task,
    Tools,
    Message,
    Finish,
    Mcp,
}

/// A route of the server itself.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) surface: Surface,
    pub(super) action: Action,
    pub(super) summary: &'static str,
}

/// All routes of the server itself, those of one path side by side; the document of the server is made from them.
pub(super) static ROUTES: [Route; 30] = [
    route("GET", "/healthz", Surface::Open, Action::Health, "Says that the server answers"),
    route("GET", "/readyz", Surface::Open, Action::Ready, "Says that the server takes requests"),
    route("GET", "/openapi.json", Surface::Open, Action::Document, "Describes the server's own API"),
    route("GET", "/openapi.yaml", Surface::Open, Action::Yaml, "Describes the server's own API, in YAML"),
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
    route("POST", "/v1/check", Surface::Control, Action::Check, "Holds a candidate against a world"),
    route("POST", "/v1/search", Surface::Agent, Action::Search, "Finds APIs by what they do"),
    route("POST", "/v1/calls", Surface::Agent, Action::Batch, "Makes calls of many sessions at once"),
    route("GET", "/v1/sessions", Surface::Control, Action::Sessions, "Lists the sessions, in pages"),
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
        "POST",
        "/v1/sessions/{id}/heartbeat",
        Surface::Control,
        Action::Heartbeat,
        "Renews a session's lease, or sets another",
    ),
    route(
        "GET",
        "/v1/sessions/{id}/export",
        Surface::Control,
        Action::Export,
        "Gives a session's log as a dialogue, a HAR file or a curl script",
    ),
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
    route(
        "GET",
        "/v1/sessions/{id}/tools",
        Surface::Control,
        Action::Tools,
        "Shows every tool that a task's session can come to call",
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
    route(
        "POST",
        "/v1/sessions/{id}/finish",
        Surface::Agent,
        Action::Finish,
        "Ends the goal that is open, with its outcome",
    ),
    route(
        "POST",
        "/v1/sessions/{id}/mcp",
        Surface::Agent,
        Action::Mcp,
        "Speaks the Model Context Protocol (streamable HTTP) with the session's world",
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

impl Route {
    /// Whether its path names a session.
    pub(super) fn of_session(&self) -> bool {
        self.path.starts_with("/v1/sessions/{id}")
    }
}

/// The route of a method, among those of one path.
pub(super) fn route_of(routes: &'static [Route], method: &Method) -> Option<&'static Route> {
    let wanted = if method == Method::HEAD { "GET" } else { method.as_str() };
    routes.iter().find(|route| route.method == wanted)
}

/// The header that carries the control token; `Authorization` belongs to the worlds.
pub(super) const CONTROL_HEADER: &str = "diorama-token";

impl Incoming<'_> {
    /// The body as JSON of a type; nothing is an empty object.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let blank = self.body.iter().all(u8::is_ascii_whitespace);
        if !blank {
            self.is_json()?;
        }
        let body = if blank { b"{}".as_slice() } else { self.body };
        let no_json = |error| Problem::new(400, format!("the body: expected JSON, found {error}"));
        if body.trim_ascii_start().first() != Some(&b'{') {
            serde_json::from_slice::<serde::de::IgnoredAny>(body).map_err(no_json)?;
            return Err(Problem::new(422, "the body: expected a JSON object, found another JSON value"));
        }
        serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => super::misread::problem::<T>(body, &error),
            _ => no_json(error),
        })
    }

    /// Refuses a body that says it is something else than JSON. A page of another site can send such bodies without
    /// asking first, so nothing is taken for JSON that does not say so.
    fn is_json(&self) -> Result<(), Problem> {
        let found = match media_type(self.headers) {
            // Programs may leave it out; a browser always says what it sends.
            None if !self.headers.contains_key(ORIGIN) => return Ok(()),
            None => "no content type".to_owned(),
            Some(kind) if is_json(&kind) => return Ok(()),
            Some(kind) => kind.chars().take(60).collect(),
        };
        let detail = format!("the body: expected application/json, found {found}");
        Err(Problem::new(415, detail).with("expected", "application/json"))
    }

    /// The form of the document that the path names, unless the caller asks for another.
    pub(super) fn document(&self) -> Option<Form> {
        self.target.document(self.uri.path())
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
        pairs.into_iter().find(|(given, _)| given == name).map(|(_, value)| value.into_owned())
    }
}

impl App {
    pub(super) fn dispatch(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        acceptable(request)?;
        let routes = match request.target.place {
            Place::World(from) => return self.world_request(from, request),
            Place::Server(routes) => routes,
            Place::Nothing => {
                let shown: String = request.uri.path().chars().take(200).collect();
                return Err(Problem::new(
                    404,
                    format!(
                        "no route fits {shown}; see /openapi.json, and for the API of a world /s/{{id}}/openapi.json with a session's id"
                    ),
                ));
            }
        };
        if let Some(route) = route_of(routes, request.method) {
            return self.act(route, request);
        }
        let mut allow: Vec<&str> = routes.iter().map(|route| route.method).collect();
        if allow.contains(&"GET") {
            allow.push("HEAD");
        }
        allow.push("OPTIONS");
        if request.method == Method::OPTIONS {
            return Ok(options(&allow.join(", ")));
        }
        Err(not_allowed(request.method, allow.join(", ")))
    }

    fn act(&self, route: &Route, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let id = &request.target.id;
        if request.uri.query().is_some_and(|query| super::text::pairs(query).is_none()) {
            return Err(Problem::new(
                400,
                "the query string: expected percent-encoded UTF-8, found other bytes",
            ));
        }
        let live = if route.of_session() { Some(self.sessions.get(id, self.now_ms())) } else { None };
        if route.surface == Surface::Control {
            self.authorise(request.headers, live.as_ref().and_then(|live| live.as_ref().ok()))?;
        }
        let live = live.transpose()?;
        let none = || Problem::new(500, "the route has no session");
        let of = || live.as_deref().ok_or_else(none);
        if route.surface == Surface::Control {
            self.at_home(request)?;
        }
        match route.action {
            Action::Health => Ok(reply(200, &serde_json::json!({"status": "ok"}))),
            Action::Ready if self.ending.load(Relaxed) => {
                Err(Problem::new(503, "the server is ending; ask another").retry_after(1))
            }
            Action::Ready => match self.store.as_ref().and_then(Store::ailing) {
                Some(error) => Err(unwritten(&error)),
                None => Ok(reply(200, &serde_json::json!({"status": "ready"}))),
            },
            Action::Metrics => Ok(text(
                200,
                "text/plain; version=0.0.4",
                self.metrics.text(self.sessions.count(), &self.scale),
            )),
            Action::Document | Action::Yaml => {
                let document = super::manage::document(&self.settings.public_url);
                Ok(Document::new(&document, wanted(request)).response(request.headers))
            }
            Action::Worlds => Ok(self.list_worlds()),
            Action::World => self.show_world(id),
            Action::Tasks => self.list_tasks(request),
            Action::Search => self.find_apis(request),
            Action::Check => self.check(request),
            Action::Sessions => self.list_sessions(request),
            Action::Create => self.create(request),
            Action::Show => Ok(self.show_session(of()?)),
            Action::Delete => self.delete(of()?),
            Action::Reset => self.reset(of()?),
            Action::Fork => self.fork(of()?, request),
            Action::Clock => self.set_clock(of()?, request),
            Action::Heartbeat => self.heartbeat(of()?, request),
            Action::Export => self.export(of()?, request),
            Action::State => super::control::state(of()?, request),
            Action::Diff => Ok(super::control::diff(of()?)),
            Action::Log => self.log(of()?, request),
            Action::Grade => self.grade(of()?, request),
            Action::Call => self.call(of()?, request),
            Action::Batch => self.batch(request),
            Action::Task => super::episode::task(of()?),
            Action::Tools => super::episode::tools(of()?),
            Action::Message => self.message(of()?, request),
            Action::Finish => self.finish(of()?, request),
            // Connections answer it before this; a request that gets here did not come by one.
            Action::Mcp => Err(Problem::new(501, "this needs a connection")),
        }
    }

    /// Lets the admin in: with the server's token, or with a session's own for that session.
    pub(super) fn authorise(&self, headers: &HeaderMap, live: Option<&Arc<Slot>>) -> Result<(), Problem> {
        let Some(token) = &self.settings.control_token else { return Ok(()) };
        let given = headers.get(CONTROL_HEADER).map(|value| value.as_bytes());
        let given = given
            .ok_or_else(|| Problem::new(401, "this needs the control token in the header Diorama-Token"))?;
        if same(given, token) || live.is_some_and(|live| same(given, &live.token)) {
            return Ok(());
        }
        Err(Problem::new(401, "the token in the header Diorama-Token is not the control token"))
    }
}

impl App {
    /// Where the surface is open because only this machine reaches it, a page of another site must not reach it through
    /// a browser on this machine: the request has to name this server, not a name that someone points here.
    fn at_home(&self, request: &Incoming<'_>) -> Result<(), Problem> {
        if self.settings.control_token.is_some() {
            return Ok(());
        }
        let Some(host) = request.headers.get(HOST).and_then(|host| host.to_str().ok()) else { return Ok(()) };
        let public = self.settings.public_url.split_once("://").map_or("", |(_, rest)| rest);
        let name = host_name(host);
        let loopback = name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        if loopback || name == "localhost" || name == host_name(public.split('/').next().unwrap_or_default())
        {
            return Ok(());
        }
        let shown: String = name.chars().take(60).collect();
        let detail =
            format!("found the host {shown}, expected this server's; set --public-url or a control token");
        Err(Problem::new(403, detail))
    }
}

/// The name of a host without its port.
fn host_name(host: &str) -> &str {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split_once(']').map_or(inner, |(name, _)| name);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// A path as logs may show it: ids of sessions are keys to them, and are cut.
pub(super) fn discreet(path: &str) -> String {
    let cut = |segment: &str| {
        let plain = decode(segment).unwrap_or(segment.into());
        if plain.len() == 32 && plain.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return format!("{}...", plain.get(..8).unwrap_or_default());
        }
        segment.chars().take(200).collect()
    };
    path.split('/').map(cut).collect::<Vec<_>>().join("/")
}

/// The refusal of a method.
pub(super) fn not_allowed(method: &Method, allow: String) -> Problem {
    let shown: String = method.as_str().chars().take(20).collect();
    Problem::new(405, format!("found {shown}, expected one of {allow}")).allowing(allow)
}
