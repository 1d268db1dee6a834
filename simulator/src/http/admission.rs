//! Owns the admission to routes. It checks a request before its body is read.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, Method, Response};
use axum::middleware::Next;
use axum::response::IntoResponse;
use diorama_sessions::{Kind, MAX_NODE_CHARS, Problem, Slot};
use hyper::body::Body as _;

use super::answer::ProblemResponse;
use super::app::App;
use super::extract::decode_segment;
use super::negotiate::Accept;
use super::route::{Access, Admission};
use super::text::query_pairs;
use super::transport::body::{Whole, drain};
use super::world::auth::is_same_secret;

/// Header of the control token. `Authorization` belongs to the worlds.
const CONTROL_HEADER: &str = "diorama-token";
/// Header that names the node for a request whose path names no session.
const NODE_HEADER: &str = "diorama-node";
/// Position of the segment that names a session, in a path split at its slashes.
const SESSION_SEGMENT: usize = 3;

/// Passes on an admitted request, with the session that its path names.
pub(super) async fn admit(
    State((app, admission)): State<(Arc<App>, Admission)>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    match app.admits(&admission, &request) {
        Ok(slot) => {
            if let Some(slot) = slot {
                request.extensions_mut().insert(slot);
            }
            if matches!(*request.method(), Method::GET | Method::HEAD | Method::DELETE)
                && !request.body().is_end_stream()
            {
                // No such route has a body, but the sender must write all of it before it reads the reply.
                let (parts, body) = request.into_parts();
                if let Err(problem) = Whole::read(&app, &parts.headers, body).await {
                    return ProblemResponse(problem).into_response();
                }
                request = Request::from_parts(parts, Body::empty());
            }
            next.run(request).await
        }
        Err(problem) => {
            let (parts, body) = request.into_parts();
            drain(body, &parts.headers, app.settings.max_body_bytes).await;
            ProblemResponse(problem).into_response()
        }
    }
}

impl App {
    /// Returns the session in the path of a request, if its sender may use the route.
    fn admits(&self, admission: &Admission, request: &Request) -> Result<Option<Arc<Slot>>, Problem> {
        let headers = request.headers();
        self.check_node(headers)?;
        Accept::read(headers).check(admission.kinds)?;
        query_pairs(request.uri().query().unwrap_or_default())?;
        let slot = if admission.has_session {
            let segment = request.uri().path().split('/').nth(SESSION_SEGMENT);
            let id = decode_segment(segment.unwrap_or_default());
            // The node is checked before the token, because only its own node knows a session's token.
            self.sessions.check_here(&id)?;
            Some(self.sessions.get(&id))
        } else {
            None
        };
        if admission.access == Access::Admin {
            // Without a valid token, the reply must not show whether the session exists.
            self.check_token(headers, slot.as_ref().and_then(|slot| slot.as_ref().ok()))?;
        }
        let slot = slot.transpose()?;
        if admission.access == Access::Admin {
            self.check_host(headers)?;
        }
        if !admission.always {
            self.check_room()?;
        }
        Ok(slot)
    }

    /// Refuses a request if there is no room for its reply beside the unread ones.
    pub(super) fn check_room(&self) -> Result<(), Problem> {
        self.sessions.scale().takes_replies(self.settings.sessions.max_bytes)
    }

    /// Admits the holder of the server's control token, or of the session's own token for that session.
    fn check_token(&self, headers: &HeaderMap, slot: Option<&Arc<Slot>>) -> Result<(), Problem> {
        let Some(token) = &self.settings.control_token else { return Ok(()) };
        let given = headers.get(CONTROL_HEADER).map(|value| value.as_bytes());
        let given = given.ok_or_else(|| {
            Problem::new(Kind::Unauthorized, "this needs the control token in the header Diorama-Token")
        })?;
        if is_same_secret(given, token) || slot.is_some_and(|slot| is_same_secret(given, slot.token())) {
            return Ok(());
        }
        let detail = "the token in the header Diorama-Token is not the control token";
        Err(Problem::new(Kind::Unauthorized, detail))
    }

    /// Refuses a request that names another node.
    fn check_node(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(named) = headers.get(NODE_HEADER) else { return Ok(()) };
        let named: String =
            String::from_utf8_lossy(named.as_bytes()).chars().take(MAX_NODE_CHARS + 1).collect();
        self.sessions.check_node(&named)
    }

    /// Refuses other host names if there is no control token. Otherwise a page of another site could point
    /// its name at this machine, and reach the admin API through a local browser.
    pub(super) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if self.settings.control_token.is_some() {
            return Ok(());
        }
        let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return Ok(()) };
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
        Err(Problem::new(Kind::Forbidden, detail))
    }
}

/// Returns the name of a host without its port.
fn host_name(host: &str) -> &str {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split_once(']').map_or(inner, |(name, _)| name);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}
