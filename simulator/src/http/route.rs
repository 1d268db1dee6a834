//! From a method and a path to an API: literal segments win over parameters.

use std::borrow::Cow;
use std::collections::BTreeSet;

use diorama_seeds::model::{ApiId, Method, World};

use super::text::decode;
use crate::engine::tools::nearest;

/// The routes of a world.
#[derive(Debug)]
pub(super) struct Routes {
    routes: Vec<Route>,
    /// Routes by how many segments they have: only those can fit.
    by_length: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Route {
    api: ApiId,
    method: Method,
    /// As the served document writes it.
    template: String,
    segments: Vec<Segment>,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    Parameter(String),
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An API, with the values of its path's parameters.
    Api(ApiId, Vec<(String, String)>),
    /// A path that has other methods.
    Methods(BTreeSet<&'static str>),
    /// No route; those that are near, as the document writes them.
    Nothing(Vec<String>),
}

impl Routes {
    pub(super) fn new(world: &World) -> Self {
        let routes = world.apis.iter().enumerate().map(|(position, api)| {
            let base = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.base_path);
            let template = format!("{base}{}", api.path);
            let segments = split(&template).map(|segment| {
                match segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
                    Some(name) => Segment::Parameter(name.to_owned()),
                    None => Segment::Literal(decode(segment).unwrap_or_else(|| segment.to_owned())),
                }
            });
            let segments = segments.collect();
            Route { api: ApiId(position as u16), method: api.method, template, segments }
        });
        let routes: Vec<Route> = routes.collect();
        let mut by_length: Vec<Vec<usize>> = Vec::new();
        for (position, route) in routes.iter().enumerate() {
            let length = route.segments.len();
            if by_length.len() <= length {
                by_length.resize_with(length + 1, Vec::new);
            }
            if let Some(same) = by_length.get_mut(length) {
                same.push(position);
            }
        }
        Self { routes, by_length }
    }

    /// Finds the API of a request. The path is as it stands in the request, still encoded.
    pub(super) fn find(&self, method: &str, path: &str) -> Found {
        let Some(given) = split(path).map(decoded).collect::<Option<Vec<Cow<'_, str>>>>() else {
            return Found::Nothing(Vec::new());
        };
        let as_long = self.by_length.get(given.len()).map(Vec::as_slice).unwrap_or_default();
        let as_long = as_long.iter().filter_map(|position| self.routes.get(*position));
        let mut fitting: Vec<&Route> = as_long.filter(|route| route.fits(&given)).collect();
        // OpenAPI: a path without parameters is matched before its templated counterparts, whatever the method.
        if fitting.iter().any(|route| route.is_literal()) {
            fitting.retain(|route| route.is_literal());
        }
        if fitting.is_empty() {
            return Found::Nothing(self.near(path));
        }
        // HEAD is GET without the body.
        let wanted = if method == "HEAD" { "GET" } else { method };
        let best = fitting.iter().filter(|route| route.method.as_str() == wanted);
        match best.min_by_key(|route| route.rank()) {
            Some(route) => Found::Api(route.api, route.values(given)),
            None => {
                let mut methods: BTreeSet<&'static str> =
                    fitting.iter().map(|route| route.method.as_str()).collect();
                if methods.contains("GET") {
                    methods.insert("HEAD");
                }
                methods.insert("OPTIONS");
                Found::Methods(methods)
            }
        }
    }

    fn near(&self, path: &str) -> Vec<String> {
        let shown: String = path.chars().take(200).collect();
        let templates: BTreeSet<&str> = self.routes.iter().map(|route| &*route.template).collect();
        let near = nearest(&shown, templates.into_iter());
        let named = |template: &str| {
            let of = self.routes.iter().filter(|route| route.template == template);
            of.map(|route| format!("{} {}", route.method.as_str(), route.template)).collect::<Vec<_>>()
        };
        near.into_iter().flat_map(named).collect()
    }
}

impl Route {
    fn fits(&self, given: &[Cow<'_, str>]) -> bool {
        self.segments.len() == given.len()
            && self.segments.iter().zip(given).all(|(segment, given)| match segment {
                Segment::Literal(text) => *text == **given,
                Segment::Parameter(_) => !given.is_empty(),
            })
    }

    fn is_literal(&self) -> bool {
        self.segments.iter().all(|segment| matches!(segment, Segment::Literal(_)))
    }

    /// Less is better: from the left, a literal comes before a parameter.
    fn rank(&self) -> Vec<bool> {
        self.segments.iter().map(|segment| matches!(segment, Segment::Parameter(_))).collect()
    }

    fn values(&self, given: Vec<Cow<'_, str>>) -> Vec<(String, String)> {
        let pairs = self.segments.iter().zip(given);
        pairs
            .filter_map(|(segment, given)| match segment {
                Segment::Parameter(name) => Some((name.clone(), given.into_owned())),
                Segment::Literal(_) => None,
            })
            .collect()
    }
}

/// A segment with its escapes decoded; most have none.
fn decoded(segment: &str) -> Option<Cow<'_, str>> {
    if segment.contains('%') { decode(segment).map(Cow::Owned) } else { Some(Cow::Borrowed(segment)) }
}

/// The segments of a path; slashes at its ends do not count.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    // The root path has no segment, while an empty segment inside a path is one.
    let root = path.is_empty();
    path.split('/').filter(move |_| !root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::base;

    const WORLD: &str = "
world: 1
name: inn
materialised: 0
clock: 2026-03-02T09:00
domain: {name: inn, base_path: /inn}
resources:
  room:
    key: room_id
    fields: {room_id: {type: integer}, name: {type: string}}
    records:
      - {room_id: 1, name: Blue}
apis:
  - {name: ListRooms, method: GET, path: /rooms, behaviour: {list: room}}
  - {name: FirstRoom, method: GET, path: /rooms/first, behaviour: {compute: {first: '1'}}}
  - {name: GetRoom, method: GET, path: '/rooms/{room_id}', parameters: {room_id: {ref: room}}, behaviour: {get: room}}
  - {name: DropRoom, method: DELETE, path: '/rooms/{room_id}', parameters: {room_id: {ref: room}}, behaviour: {delete: room}}
";

    #[test]
    fn literals_win() {
        let base = base(WORLD);
        let routes = Routes::new(base.world());
        let check = |method: &str, path: &str, expect: &str| {
            let found = match routes.find(method, path) {
                Found::Api(api, values) => format!("{} {values:?}", base.world().api(api).name),
                other => format!("{other:?}"),
            };
            assert_eq!(found, expect, "{method} {path}");
        };
        check("GET", "/inn/rooms", "ListRooms []");
        check("GET", "/inn/rooms/", "ListRooms []");
        check("HEAD", "/inn/rooms/first", "FirstRoom []");
        check("GET", "/inn/rooms/a%2Fb", r#"GetRoom [("room_id", "a/b")]"#);
        check("DELETE", "/inn/rooms/2", r#"DropRoom [("room_id", "2")]"#);
        check("DELETE", "/inn/rooms/first", r#"Methods({"GET", "HEAD", "OPTIONS"})"#);
        check("PUT", "/inn/rooms", r#"Methods({"GET", "HEAD", "OPTIONS"})"#);
        check(
            "GET",
            "/inn/room",
            r#"Nothing(["GET /inn/rooms", "GET /inn/rooms/first", "GET /inn/rooms/{room_id}", "DELETE /inn/rooms/{room_id}"])"#,
        );
        check("GET", "/inn/rooms/%ff", "Nothing([])");
        check(
            "GET",
            "/inn/rooms//",
            "Nothing([\"GET /inn/rooms\", \"GET /inn/rooms/first\", \"GET /inn/rooms/{room_id}\", \"DELETE /inn/rooms/{room_id}\"])",
        );
    }
}
