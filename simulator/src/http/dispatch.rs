//! From a request to its route: which one it is, who may use it, and its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::response::IntoResponse;

use super::app::App;
use super::auth::same;
use super::incoming::{Access, Incoming};
use super::negotiate::{check_accept, finish, options};
use super::node::MAX_NODE_CHARS;
use super::problem::{Answer, Problem, not_allowed};
use super::route::{Handler, Route};
use super::routes::route_of;
use super::sessions::Slot;
use super::target::{Place, Target};
use super::text::pairs;

/// The header that carries the control token; `Authorization` belongs to the worlds.
pub(super) const CONTROL_HEADER: &str = "diorama-token";

/// The header that names the node a request is for, where its path names no session.
const NODE_HEADER: &str = "diorama-node";

impl App {
    /// Answers a request whose body has been read.
    #[must_use]
    pub fn respond(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
        let target = Target::of(uri.path());
        let (id, access, document) = (&*target.id, target.access(), target.document);
        let (gone, in_haste) = (&AtomicBool::new(false), false);
        let request = Incoming { method, uri, headers, body, id, access, document, gone, in_haste };
        let postponed = || Problem::postponed().into_response();
        self.answer(target.place, &request).unwrap_or_else(postponed)
    }

    /// Answers a request whose body and path have been read. None where it is postponed: nothing was done.
    pub(super) fn answer(&self, place: Place, request: &Incoming<'_>) -> Option<Response<Body>> {
        let answered = match place {
            Place::World(from) => self.world_request(from, request),
            Place::Server(routes) => self.server_request(routes, request),
            Place::Nowhere => check_accept(request, &["application/json"]).and_then(|()| {
                let shown: String = request.uri.path().chars().take(200).collect();
                Err(Problem::new(
                    404,
                    format!(
                        "no route fits {shown}; see /openapi.json, and for the API of a world /s/{{id}}/openapi.json with a session's id"
                    ),
                ))
            }),
        };
        if answered.as_ref().is_err_and(Problem::is_postponed) {
            return None;
        }
        let response = answered.unwrap_or_else(IntoResponse::into_response);
        self.metrics.answered(response.status().as_u16());
        Some(finish(request, response, || self.requests.fetch_add(1, Relaxed)))
    }

    fn server_request(&self, routes: &'static [Route], request: &Incoming<'_>) -> Answer {
        self.check_node(request)?;
        check_accept(request, routes.first().map_or(&[], |route| route.kinds))?;
        if let Some(route) = route_of(routes, request.method) {
            if pairs(request.uri.query().unwrap_or_default()).is_none() {
                let detail = "the query string: expected percent-encoded UTF-8, found other bytes";
                return Err(Problem::new(400, detail));
            }
            return match (&route.handler, self.admit(route, request)?) {
                (Handler::Server(handler), _) => handler(self, request),
                (Handler::Session(handler), Some(slot)) => handler(self, &slot, request),
                (Handler::Session(_), None) => Err(Problem::new(500, "the route has no session")),
            };
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

    /// The session of a route, once its sender may use the route.
    fn admit(&self, route: &Route, request: &Incoming<'_>) -> Result<Option<Arc<Slot>>, Problem> {
        if route.has_session() {
            // Before the token is checked: a session's own is known on its node alone.
            self.sessions.is_here(request.id)?;
        }
        let slot = route.has_session().then(|| self.sessions.get(request.id, self.now_ms()));
        if route.access != Access::Admin {
            return slot.transpose();
        }
        // Without the token it stays hidden whether a session is there.
        self.check_token(request.headers, slot.as_ref().and_then(|slot| slot.as_ref().ok()))?;
        let slot = slot.transpose()?;
        self.check_host(request)?;
        Ok(slot)
    }

    /// Admits the holder of the server's control token, or of a session's own for that session.
    pub(super) fn check_token(&self, headers: &HeaderMap, slot: Option<&Arc<Slot>>) -> Result<(), Problem> {
        let Some(token) = &self.settings.control_token else { return Ok(()) };
        let given = headers.get(CONTROL_HEADER).map(|value| value.as_bytes());
        let given = given
            .ok_or_else(|| Problem::new(401, "this needs the control token in the header Diorama-Token"))?;
        if same(given, token) || slot.is_some_and(|slot| same(given, &slot.token)) {
            return Ok(());
        }
        Err(Problem::new(401, "the token in the header Diorama-Token is not the control token"))
    }

    /// Refuses a request that names another node than this.
    fn check_node(&self, request: &Incoming<'_>) -> Result<(), Problem> {
        let Some(named) = request.headers.get(NODE_HEADER).map(|value| value.as_bytes()) else {
            return Ok(());
        };
        if self.settings.node().is_some_and(|own| own.as_bytes() == named) {
            return Ok(());
        }
        let named: String = String::from_utf8_lossy(named).chars().take(MAX_NODE_CHARS).collect();
        Err(self.sessions.misdirected(&named, "the header Diorama-Node names"))
    }

    /// Where the admin API is open because only this machine reaches it, a page of another site must not reach it through
    /// a browser on this machine: the request has to name this server, not a name that someone points here.
    fn check_host(&self, request: &Incoming<'_>) -> Result<(), Problem> {
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
