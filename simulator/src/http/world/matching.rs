//! Owns the routing from a method and a path to an API. Literal segments take precedence over parameters.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::model::{ApiId, DomainId, Method, World};
use diorama_seeds::value::Str;
use diorama_seeds::world::api_path;

use crate::http::text::decode;
use diorama_engine::search::words::nearest;

/// Routes of a world by their number of segments, because only those of a path's length can match.
#[derive(Debug)]
pub(super) struct Routes(Vec<Vec<Route>>);

/// Maximum number of segments at the start of the server's own paths: `/v1/sessions`.
const OWN_LITERALS: usize = 2;

/// Minimum number of distinct method names after dots (`info`, `list`, `delete`) in a domain whose paths are
/// method names.
const MIN_METHOD_ENDINGS: usize = 4;

#[derive(Debug)]
struct Route {
    api: ApiId,
    method: Method,
    /// Path in the form of the served document.
    template: String,
    /// Query parameters or headers that select the route, with their values.
    chosen_by: Vec<(Str, Str)>,
    segments: Vec<Segment>,
    /// Order of precedence. The least value comes first.
    rank: (Vec<usize>, Reverse<usize>),
    /// True for a read whose arguments callers post. Its path is the name of a method (`users.info`).
    is_rpc_read: bool,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    Parameter(String),
    /// Text and parameters in turn: `{id}.json`, `{owner}:{name}`.
    Mixed(Vec<Piece>),
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Parameter(String),
}

/// Result of looking up a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathMatch<'a> {
    /// An API, with the values of its path's parameters.
    Api(ApiId, Vec<(&'a str, Cow<'a, str>)>),
    /// A path with other methods.
    Methods(BTreeSet<&'static str>),
    /// No route. The list has similar ones, in the form of the document.
    Nothing(Vec<String>),
}

impl Routes {
    pub(super) fn new(world: &World) -> Self {
        let routes = world.apis.iter().enumerate().map(|(position, api)| {
            let base = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.base_path);
            let template = format!("{base}{}", api.path);
            // A compiled world has literal base paths, and valid paths.
            let below = api_path::segments(&api.path).unwrap_or_default();
            let base = split(base).map(|text| Segment::of(&[api_path::Piece::Literal(text)]));
            let segments: Vec<Segment> = base.chain(below.iter().map(|pieces| Segment::of(pieces))).collect();
            let (api, method, chosen_by) = (ApiId(position as u16), api.method, api.chosen_by.clone());
            let rank = (segments.iter().map(Segment::rank).collect(), Reverse(chosen_by.len()));
            Route { api, method, template, chosen_by, segments, rank, is_rpc_read: false }
        });
        let mut routes: Vec<Route> = routes.collect();
        mark_rpc_reads(&mut routes, world);
        let mut by_length: Vec<Vec<Route>> = Vec::new();
        for route in routes {
            let length = route.segments.len();
            if by_length.len() <= length {
                by_length.resize_with(length + 1, Vec::new);
            }
            by_length[length].push(route);
        }
        Self(by_length)
    }

    /// Finds the API of a request, among those that its session sees. The path is still encoded. `has`
    /// returns true if the request has a query parameter or header with a name, and with a value unless that
    /// is empty.
    pub(super) fn find<'a>(
        &'a self,
        method: &str,
        path: &'a str,
        sees: impl Fn(ApiId) -> bool,
        has: impl Fn(&str, &str) -> bool,
    ) -> PathMatch<'a> {
        let Some(given) = segments(path) else { return PathMatch::Nothing(Vec::new()) };
        let mut fitting = self.fitting(&given, &sees, has);
        // OpenAPI matches a path without parameters before its templated counterparts, regardless of the
        // method.
        if fitting.iter().any(|route| route.is_literal()) {
            fitting.retain(|route| route.is_literal());
        }
        if fitting.is_empty() {
            return PathMatch::Nothing(self.near(path, sees));
        }
        let is_written = fitting.iter().any(|route| route.method == Method::Post);
        let takes_posts = !is_written && fitting.iter().any(|route| route.is_rpc_read);
        let wanted = match method {
            // HEAD is GET without the body.
            "HEAD" => "GET",
            // Callers of methods by name post their arguments even to reads.
            "POST" if takes_posts => "GET",
            method => method,
        };
        let best = fitting.iter().filter(|route| route.method.as_str() == wanted);
        match best.min_by(|one, other| one.rank.cmp(&other.rank)) {
            Some(route) => PathMatch::Api(route.api, route.values(given)),
            None => {
                let mut methods: BTreeSet<&'static str> =
                    fitting.iter().map(|route| route.method.as_str()).collect();
                if methods.contains("GET") {
                    methods.insert("HEAD");
                }
                if takes_posts {
                    methods.insert("POST");
                }
                methods.insert("OPTIONS");
                PathMatch::Methods(methods)
            }
        }
    }

    /// Returns true if some API has the request's path, with any method.
    pub(super) fn has_path(
        &self,
        path: &str,
        sees: impl Fn(ApiId) -> bool,
        has: impl Fn(&str, &str) -> bool,
    ) -> bool {
        segments(path).is_some_and(|given| !self.fitting(&given, sees, has).is_empty())
    }

    /// Returns true if some API has the request's path, with any method and with literal first segments. A
    /// template like `/{folder}/{file}` must not hide `/v1/sessions`.
    pub(super) fn claims_path(&self, path: &str, has: impl Fn(&str, &str) -> bool) -> bool {
        let is_written = |route: &&Route| {
            route.segments.iter().take(OWN_LITERALS).all(|segment| matches!(segment, Segment::Literal(_)))
        };
        segments(path).is_some_and(|given| self.fitting(&given, |_| true, has).iter().any(is_written))
    }

    /// Returns the routes of a path that a session sees, of all methods.
    fn fitting(
        &self,
        given: &[Cow<'_, str>],
        sees: impl Fn(ApiId) -> bool,
        has: impl Fn(&str, &str) -> bool,
    ) -> Vec<&Route> {
        let as_long = self.0.get(given.len()).map(Vec::as_slice).unwrap_or_default().iter();
        let chosen = |route: &&Route| route.chosen_by.iter().all(|(name, value)| has(name, value));
        as_long.filter(|route| route.fits(given)).filter(chosen).filter(|route| sees(route.api)).collect()
    }

    /// Returns the visible routes with paths similar to a path.
    fn near(&self, path: &str, sees: impl Fn(ApiId) -> bool) -> Vec<String> {
        let shown: String = path.chars().take(200).collect();
        let seen: Vec<&Route> = self.0.iter().flatten().filter(|route| sees(route.api)).collect();
        let templates: BTreeSet<&str> = seen.iter().map(|route| &*route.template).collect();
        let near = nearest(&shown, templates.into_iter());
        let named = |template: &str| {
            let of = seen.iter().filter(|route| route.template == template);
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
                Segment::Mixed(pieces) => values(pieces, given).is_some(),
            })
    }

    /// Returns the method name after the last dot of a path without parameters: `list` for `/users.list`,
    /// none for `/v1.0`.
    fn method_ending(&self) -> Option<&str> {
        let Some(Segment::Literal(last)) = self.segments.last().filter(|_| self.is_literal()) else {
            return None;
        };
        let (noun, ending) = last.rsplit_once('.')?;
        let is_name = ending.starts_with(|first: char| first.is_ascii_lowercase())
            && ending.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        (is_name && !noun.is_empty()).then_some(ending)
    }

    fn is_literal(&self) -> bool {
        self.segments.iter().all(|segment| matches!(segment, Segment::Literal(_)))
    }

    fn values<'a>(&'a self, given: Vec<Cow<'a, str>>) -> Vec<(&'a str, Cow<'a, str>)> {
        let mut found = Vec::new();
        for (segment, given) in self.segments.iter().zip(given) {
            match segment {
                Segment::Parameter(name) => found.push((name.as_str(), given)),
                Segment::Literal(_) => {}
                Segment::Mixed(pieces) => {
                    let pairs = values(pieces, &given).unwrap_or_default();
                    found.extend(pairs.into_iter().map(|(name, text)| (name, Cow::Owned(text.to_owned()))));
                }
            }
        }
        found
    }
}

impl Segment {
    /// Returns the rank of a segment. A literal comes first, then text with a parameter (longer text first),
    /// then a parameter.
    fn rank(&self) -> usize {
        match self {
            Self::Literal(_) => 0,
            Self::Parameter(_) => usize::MAX,
            Self::Mixed(pieces) => usize::MAX - 1 - pieces.iter().map(Piece::text_length).sum::<usize>(),
        }
    }

    fn of(pieces: &[api_path::Piece<'_>]) -> Self {
        let plain = |text: &str| decode(text).map_or_else(|| text.to_owned(), Cow::into_owned);
        match pieces {
            [api_path::Piece::Literal(text)] => Self::Literal(plain(text)),
            [api_path::Piece::Parameter(name)] => Self::Parameter((*name).to_owned()),
            mixed => Self::Mixed(
                mixed
                    .iter()
                    .map(|piece| match piece {
                        api_path::Piece::Literal(text) => Piece::Text(plain(text)),
                        api_path::Piece::Parameter(name) => Piece::Parameter((*name).to_owned()),
                    })
                    .collect(),
            ),
        }
    }
}

impl Piece {
    fn text_length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parameter(_) => 0,
        }
    }
}

/// Marks the reads of domains whose paths are method names. Such a domain has several endings, and `POST`
/// calls at least one. File types (`all.json`, `all.csv`) have reads only.
fn mark_rpc_reads(routes: &mut [Route], world: &World) {
    let mut found: BTreeMap<DomainId, (BTreeSet<&str>, bool)> = BTreeMap::new();
    for (route, api) in routes.iter().zip(&world.apis) {
        let Some(ending) = route.method_ending() else { continue };
        let (endings, is_posted) = found.entry(api.domain).or_default();
        endings.insert(ending);
        *is_posted |= route.method == Method::Post;
    }
    found.retain(|_, (endings, is_posted)| *is_posted && endings.len() >= MIN_METHOD_ENDINGS);
    let domains: BTreeSet<DomainId> = found.into_keys().collect();
    for (route, api) in routes.iter_mut().zip(&world.apis) {
        route.is_rpc_read =
            route.method == Method::Get && route.method_ending().is_some() && domains.contains(&api.domain);
    }
}

/// Returns the values of a segment's parameters. Each has at least one character, and all but the last are as
/// short as possible.
fn values<'p, 'g>(pieces: &'p [Piece], given: &'g str) -> Option<Vec<(&'p str, &'g str)>> {
    let mut rest = given;
    let mut found = Vec::new();
    let mut open: Option<&'p str> = None;
    for (position, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Parameter(name) => open = Some(name),
            Piece::Text(text) => match open.take() {
                None => rest = rest.strip_prefix(text.as_str())?,
                Some(name) => {
                    let last = position + 1 == pieces.len();
                    let first = rest.chars().next()?.len_utf8();
                    let end = match last {
                        true => rest.strip_suffix(text.as_str()).map(str::len).filter(|end| *end >= first)?,
                        false => first + rest.get(first..)?.find(text.as_str())?,
                    };
                    found.push((name, rest.get(..end)?));
                    rest = rest.get(end + text.len()..)?;
                }
            },
        }
    }
    match open {
        Some(name) if !rest.is_empty() => found.push((name, rest)),
        None if rest.is_empty() => {}
        _ => return None,
    }
    Some(found)
}

/// Returns the decoded segments of a path, or none if one is not UTF-8.
fn segments(path: &str) -> Option<Vec<Cow<'_, str>>> {
    split(path).map(decode).collect()
}

/// Returns the segments of a path, without slashes at its ends.
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
    use crate::shared::base;

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
  - {name: RoomSheet, method: GET, path: '/rooms/{room_id}.pdf', parameters: {room_id: {ref: room}}, behaviour: {get: room}}
  - {name: RoomsBetween, method: GET, path: '/rooms/{least}...{most}', parameters: {least: {type: integer}, most: {type: integer}}, behaviour: {list: room, filters: {least: {field: room_id, op: ge}, most: {field: room_id, op: le}}}}
  - {name: DropRoom, method: DELETE, path: '/rooms/{room_id}', parameters: {room_id: {ref: room}}, behaviour: {delete: room}}
";

    #[test]
    fn literals_win() {
        let base = base(WORLD);
        let routes = Routes::new(base.world());
        let check = |method: &str, path: &str, expect: &str| {
            let found = match routes.find(method, path, |_| true, |_, _| false) {
                PathMatch::Api(api, values) => format!("{} {values:?}", base.world().api(api).name),
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
        check("GET", "/inn/rooms/1.pdf", r#"RoomSheet [("room_id", "1")]"#);
        check("GET", "/inn/rooms/1.pdf.pdf", r#"RoomSheet [("room_id", "1.pdf")]"#);
        check("GET", "/inn/rooms/.pdf", r#"GetRoom [("room_id", ".pdf")]"#);
        check("GET", "/inn/rooms/1...9", r#"RoomsBetween [("least", "1"), ("most", "9")]"#);
        check("GET", "/inn/rooms/1....9", r#"RoomsBetween [("least", "1"), ("most", ".9")]"#);
        check("GET", "/inn/rooms/...9", r#"GetRoom [("room_id", "...9")]"#);
        check("GET", "/inn/rooms/\u{e4}.pdf", r#"RoomSheet [("room_id", "ä")]"#);
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

    #[test]
    fn posts_reach_reads_where_paths_are_names_of_methods() {
        let check = |endings: [&str; 4], write: &str, expect: &str| {
            let read = |(name, ending): (char, &str)| {
                format!(
                    "  - {{name: Read{name}, method: GET, path: /rooms.{ending}, behaviour: {{list: room}}}}\n"
                )
            };
            let reads: String = ('A'..='D').zip(endings).map(read).collect();
            let base = base(&format!("{WORLD}{reads}{write}"));
            let routes = Routes::new(base.world());
            let path = format!("/inn/rooms.{}", endings[0]);
            let found = |method: &str| match routes.find(method, &path, |_| true, |_, _| false) {
                PathMatch::Api(api, _) => base.world().api(api).name.to_string(),
                PathMatch::Methods(methods) => methods.into_iter().collect::<Vec<_>>().join(" "),
                PathMatch::Nothing(_) => "nothing".to_owned(),
            };
            assert_eq!(format!("{}, {}", found("POST"), found("PUT")), expect, "{endings:?}");
        };
        let write = "  - {name: AddRoom, method: POST, path: /rooms.add, parameters: {name: {like: room.name}}, behaviour: {create: room}}\n";
        check(["list", "info", "find", "count"], write, "ReadA, GET HEAD OPTIONS POST");
        check(["list", "info", "find", "count"], "", "GET HEAD OPTIONS, GET HEAD OPTIONS");
        check(["json", "csv", "v1", "v2"], write, "GET HEAD OPTIONS, GET HEAD OPTIONS");
    }

    #[test]
    fn routes_that_a_session_does_not_see_are_not_there() {
        let base = base(WORLD);
        let routes = Routes::new(base.world());
        let seen = ["GetRoom"].map(|name| base.api_named(name).unwrap());
        let check = |method: &str, path: &str, expect: PathMatch<'_>| {
            assert_eq!(
                routes.find(method, path, |api| seen.contains(&api), |_, _| false),
                expect,
                "{method} {path}"
            );
        };
        let get = |id: &'static str| PathMatch::Api(seen[0], vec![("room_id", Cow::Borrowed(id))]);
        check("GET", "/inn/rooms/1", get("1"));
        check("GET", "/inn/rooms/first", get("first"));
        check("DELETE", "/inn/rooms/1", PathMatch::Methods(["GET", "HEAD", "OPTIONS"].into()));
        check("GET", "/inn/rooms", PathMatch::Nothing(vec!["GET /inn/rooms/{room_id}".to_owned()]));
    }
}
