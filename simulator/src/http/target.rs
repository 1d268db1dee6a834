//! What the path of a request names: read once, and looked at by all who need to know.

use matchit::{InsertError, Router};

use super::surface::{Action, ROUTES, Route, Surface};
use super::text::decode;

/// What the path of a request names.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) place: Place,
    /// The session or world in the path, decoded; empty where there is none.
    pub(super) id: String,
}

/// Where a path leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The REST API of a session's world, whose own path begins at this byte.
    World(usize),
    /// Routes of the server itself, which differ in their methods.
    Server(&'static [Route]),
    /// Nowhere.
    Nothing,
}

/// What a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Yaml,
}

/// The paths of the server itself.
pub(super) struct Paths(Router<&'static [Route]>);

impl Paths {
    /// The paths of [`ROUTES`].
    ///
    /// # Errors
    /// When two of them cannot be told apart.
    pub(super) fn new() -> Result<Self, InsertError> {
        let mut router = Router::new();
        for routes in ROUTES.chunk_by(|route, next| route.path == next.path) {
            if let Some(first) = routes.first() {
                router.insert(first.path, routes)?;
            }
        }
        Ok(Self(router))
    }

    /// What a path names, which is still percent-encoded.
    pub(super) fn target(&self, path: &str) -> Target {
        if let Some(rest) = path.strip_prefix(WORLDS) {
            let id = rest.split('/').next().unwrap_or(rest);
            return Target { place: Place::World(WORLDS.len() + id.len()), id: plain(id) };
        }
        match self.0.at(path) {
            // The router lets a parameter be empty; no id is.
            Ok(found) if found.params.get("id") != Some("") => Target {
                place: Place::Server(found.value),
                id: found.params.get("id").map(plain).unwrap_or_default(),
            },
            _ => Target { place: Place::Nothing, id: String::new() },
        }
    }
}

/// Below it are the REST APIs of sessions.
const WORLDS: &str = "/s/";

/// An id without its escapes. No id is other than UTF-8, so that one stays as it is and is not found.
fn plain(id: &str) -> String {
    decode(id).map_or_else(|| id.to_owned(), |id| id.into_owned())
}

impl Target {
    /// Whose the path is: its least guarded route's.
    pub(super) fn surface(&self) -> Surface {
        match self.place {
            Place::World(_) => Surface::Agent,
            Place::Server(routes) => routes.first().map_or(Surface::Open, |route| route.surface),
            Place::Nothing => Surface::Open,
        }
    }

    /// Whether the path is a route of the server that does this, whatever the method.
    pub(super) fn does(&self, what: impl Fn(Action) -> bool) -> bool {
        matches!(self.place, Place::Server(routes) if routes.iter().any(|route| what(route.action)))
    }

    /// The form of the document that the path names, unless the caller asks for another.
    pub(super) fn document(&self, path: &str) -> Option<Form> {
        match self.place {
            Place::World(from) => match path.get(from..)? {
                "/openapi.json" => Some(Form::Json),
                "/openapi.yaml" => Some(Form::Yaml),
                _ => None,
            },
            _ if self.does(|action| action == Action::Document) => Some(Form::Json),
            _ if self.does(|action| action == Action::Yaml) => Some(Form::Yaml),
            _ => None,
        }
    }

    /// Returns true if the reply may be large.
    pub(super) fn may_be_large(&self) -> bool {
        let large = |action| {
            use Action::{Batch, Call, Diff, Document, Export, Log, State, Tools, Yaml};
            matches!(action, Batch | Call | Diff | Document | Export | Log | State | Tools | Yaml)
        };
        matches!(self.place, Place::World(_)) || self.does(large)
    }

    /// Whether a request takes microseconds: a call, above all.
    pub(super) fn is_quick(&self, path: &str) -> bool {
        let quick = |action| {
            use Action::{Call, Clock, Fork, Heartbeat, Message, Reset};
            matches!(action, Call | Reset | Clock | Message | Heartbeat | Fork)
        };
        match self.place {
            Place::World(_) => self.document(path).is_none(),
            _ => self.does(quick),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_found_at_its_path() {
        let paths = Paths::new().unwrap();
        for route in &ROUTES {
            let target = paths.target(&route.path.replace("{id}", "a%62"));
            assert!(target.does(|action| action == route.action), "{}", route.path);
            assert_eq!(target.id, if route.path.contains("{id}") { "ab" } else { "" }, "{}", route.path);
        }
    }

    #[test]
    fn paths_name_worlds_documents_and_nothing() {
        let paths = Paths::new().unwrap();
        let check = |path: &str, expect: (&str, Surface, Option<Form>, bool)| {
            let target = paths.target(path);
            let found = (&*target.id, target.surface(), target.document(path), target.is_quick(path));
            assert_eq!(found, expect, "{path}");
        };
        check("/s/7", ("7", Surface::Agent, None, true));
        check("/s/7/openapi.yaml", ("7", Surface::Agent, Some(Form::Yaml), false));
        check("/s/7/a/openapi.yaml", ("7", Surface::Agent, None, true));
        check("/openapi.json", ("", Surface::Open, Some(Form::Json), false));
        check("/v1/sessions/7/call", ("7", Surface::Agent, None, true));
        check("/v1/sessions/%ff/call", ("%ff", Surface::Agent, None, true));
        check("/v1/sessions/7", ("7", Surface::Control, None, false));
        check("/v1/sessions//call", ("", Surface::Open, None, false));
        check("/v1/sessions/7/8/call", ("", Surface::Open, None, false));
        check("/", ("", Surface::Open, None, false));
    }
}
