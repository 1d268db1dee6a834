//! The target of a request's path: read once, and looked at by all that need to know.

use std::sync::LazyLock;

use matchit::Router;

use super::incoming::{Access, Format};
use super::route::{Cost, Route};
use super::routes::ROUTES;
use super::text::decode;

/// The target of a request's path.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) place: Place,
    /// The session or world in the path, decoded; empty where there is none.
    pub(super) id: String,
    /// The format of the OpenAPI document that the path names, if it names one.
    pub(super) document: Option<Format>,
}

/// Where a path leads.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The REST API of a session's world, whose own path begins at this byte.
    World(usize),
    /// Routes of the server itself, which differ in their methods.
    Server(&'static [Route]),
    Nowhere,
}

/// The paths of [`ROUTES`]. A test finds every route, so that none is refused here.
static PATHS: LazyLock<Router<&'static [Route]>> = LazyLock::new(|| {
    let mut paths = Router::new();
    for routes in ROUTES.chunk_by(|route, next| route.path == next.path) {
        let _ = routes.first().map(|first| paths.insert(first.path, routes));
    }
    paths
});

/// The REST APIs of sessions are below this path.
const WORLDS: &str = "/s/";

impl Target {
    /// The target of a path, which is still percent-encoded.
    pub(super) fn of(path: &str) -> Self {
        if let Some(rest) = path.strip_prefix(WORLDS) {
            let id = rest.split('/').next().unwrap_or(rest);
            let from = WORLDS.len() + id.len();
            let document = path.get(from..).and_then(Format::of_path);
            return Self { place: Place::World(from), id: plain(id), document };
        }
        match PATHS.at(path) {
            // The router lets a parameter be empty; no id is.
            Ok(found) if found.params.get("id") != Some("") => Self {
                place: Place::Server(found.value),
                id: found.params.get("id").map(plain).unwrap_or_default(),
                document: Format::of_path(path),
            },
            _ => Self { place: Place::Nowhere, id: String::new(), document: None },
        }
    }

    /// The callers that may use the path: its least guarded route counts.
    pub(super) fn access(&self) -> Access {
        match self.place {
            Place::World(_) => Access::Agent,
            Place::Server(routes) => routes.first().map_or(Access::Open, |route| route.access),
            Place::Nowhere => Access::Open,
        }
    }

    /// Returns true if one of the path's routes is so, whatever the method.
    pub(super) fn has(&self, is_so: impl Fn(&Route) -> bool) -> bool {
        matches!(self.place, Place::Server(routes) if routes.iter().any(is_so))
    }

    /// Returns true if the reply may be large.
    pub(super) fn may_be_large(&self) -> bool {
        matches!(self.place, Place::World(_)) || self.has(|route| route.cost.is_large())
    }

    /// Returns true if a request takes microseconds: a call, above all.
    pub(super) fn is_quick(&self) -> bool {
        match self.place {
            Place::World(_) => self.document.is_none(),
            _ => self.has(|route| route.cost.is_quick()),
        }
    }

    /// Returns true if requests are messages of the Model Context Protocol.
    pub(super) fn is_mcp(&self) -> bool {
        self.has(|route| route.cost == Cost::Mcp)
    }
}

/// An id without its escapes. No id is other than UTF-8, so that one stays as it is and is not found.
fn plain(id: &str) -> String {
    decode(id).map_or_else(|| id.to_owned(), |id| id.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_found_at_its_path() {
        for route in ROUTES.iter() {
            let target = Target::of(&route.path.replace("{id}", "a%62"));
            assert!(target.has(|found| found.id == route.id), "{}", route.path);
            assert_eq!(target.id, if route.path.contains("{id}") { "ab" } else { "" }, "{}", route.path);
        }
    }

    #[test]
    fn paths_name_worlds_documents_and_nothing() {
        let check = |path: &str, expect: (&str, Access, Option<Format>, bool)| {
            let target = Target::of(path);
            assert_eq!((&*target.id, target.access(), target.document, target.is_quick()), expect, "{path}");
        };
        check("/s/7", ("7", Access::Agent, None, true));
        check("/s/7/openapi.yaml", ("7", Access::Agent, Some(Format::Yaml), false));
        check("/s/7/a/openapi.yaml", ("7", Access::Agent, None, true));
        check("/openapi.json", ("", Access::Open, Some(Format::Json), false));
        check("/v1/sessions/7/call", ("7", Access::Agent, None, true));
        check("/v1/sessions/%ff/call", ("%ff", Access::Agent, None, true));
        check("/v1/sessions/7", ("7", Access::Admin, None, false));
        check("/v1/sessions//call", ("", Access::Open, None, false));
        check("/v1/sessions/7/8/call", ("", Access::Open, None, false));
        check("/", ("", Access::Open, None, false));
    }
}
