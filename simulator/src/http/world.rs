//! Owns the REST API of a world, under `/s/{id}/...` and optionally at the root of the server.

pub(super) mod auth;
pub(super) mod documents;
mod format;
mod kinds;
mod matching;
pub mod openapi;
mod reply;
mod request;

use std::borrow::Cow;
use std::sync::{Arc, MutexGuard};

use axum::extract::Request;
use axum::http::header::LINK;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use diorama_engine::TOTALS;
use diorama_seeds::contract::plain;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Method as ApiMethod, World};
use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use diorama_sessions::{Kind, Live, Problem, Ready, Slot};
use percent_encoding::utf8_percent_encode;

use self::auth::TokenRequest;
use self::documents::Documents;
use self::kinds::choose_kind;
use self::matching::{PathMatch, Routes};
use self::openapi::described;
use self::reply::{make_problem_response, make_response};
use self::request::{Parts, arguments, read_posted_query};
use super::answer::{Answer, after, other_method};
use super::app::App;
use super::extract::decode_segment;
use super::negotiate::{Accept, Format, choose_format};
use super::text::{JSON, SEGMENT};
use super::transport::body::{Whole, drain};
use diorama_engine::session::LogEntry;

/// Path prefix of the REST APIs of sessions.
pub(super) const SESSIONS: &str = "/s/";
/// Maximum length of a body that a thread of the runtime may parse itself, in bytes.
const MAX_QUICK_BODY_BYTES: usize = 32 << 10;

/// Data that the server derives from a world once.
struct Tables {
    routes: Routes,
    /// Documents of sessions that show all APIs.
    documents: Documents,
}

/// Request whose body has been read.
struct WorldRequest<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
    body: &'a [u8],
    /// Path inside the world.
    path: &'a str,
}

impl<'a> WorldRequest<'a> {
    /// Makes a request whose path inside the world begins at the byte `from`.
    fn new(uri: &'a Uri, headers: &'a HeaderMap, method: &'a Method, body: &'a [u8], from: usize) -> Self {
        let path = uri.path().get(from..).filter(|path| !path.is_empty()).unwrap_or("/");
        Self { method, uri, headers, body, path }
    }

    /// Returns true if the request has a query parameter or header with this name. A non-empty `value` must
    /// match as well.
    fn has(&self, name: &str, value: &str) -> bool {
        let fits = |given: &str| value.is_empty() || given == value;
        let query = self.uri.query().unwrap_or_default();
        let header = self.headers.get(name).and_then(|given| given.to_str().ok());
        header.is_some_and(fits)
            || form_urlencoded::parse(query.as_bytes()).any(|(own, given)| own == name && fits(&given))
    }
}

impl Tables {
    fn get(world: &Ready) -> Result<&Self, Problem> {
        let tables =
            world.attached(|world| Self { routes: Routes::new(world), documents: Documents::default() });
        tables.ok_or_else(|| Problem::new(Kind::Failed, "the world's routes cannot be made"))
    }

    /// Returns the API of a request, among those that its session sees.
    fn find<'a>(
        &'a self,
        server_path: &str,
        sees: impl Fn(ApiId) -> bool + Copy,
        request: &WorldRequest<'a>,
    ) -> PathMatch<'a> {
        let has = |name: &str, value: &str| request.has(name, value);
        let path = match strip_server_path(server_path, request.path) {
            Some(below) if !self.routes.has_path(request.path, sees, has) => below,
            _ => request.path,
        };
        self.routes.find(request.method.as_str(), path, sees, has)
    }

    /// Returns true if some API has the request's path, with any method, and takes precedence over the
    /// server's own paths.
    fn claims_path(&self, server_path: &str, request: &WorldRequest<'_>) -> bool {
        let is_known =
            |path| self.routes.claims_path(path, |name: &str, value: &str| request.has(name, value));
        is_known(request.path) || strip_server_path(server_path, request.path).is_some_and(is_known)
    }
}

/// Returns the path below the server path of an imported document. Callers may keep that prefix before the
/// world's own paths.
fn strip_server_path<'p>(server_path: &str, path: &'p str) -> Option<&'p str> {
    let below = path.strip_prefix(server_path).filter(|_| !server_path.is_empty())?;
    below.starts_with('/').then_some(below)
}

/// Answers a request for a session's world, or for the world at the root. Without a world, it refuses the
/// request.
pub(super) async fn answer(app: &Arc<App>, request: Request) -> Answer {
    let path = request.uri().path();
    let (slot, from) = match path.strip_prefix(SESSIONS) {
        Some(below) => {
            let encoded = below.split('/').next().unwrap_or(below);
            (app.sessions.get(&decode_segment(encoded)), SESSIONS.len() + encoded.len())
        }
        None if app.settings.default_session => (Box::pin(app.root_session()).await, 0),
        None => {
            Accept::read(request.headers()).check(&[JSON])?;
            let shown: String = path.chars().take(200).collect();
            let detail = format!(
                "no route fits {shown}; see /openapi.json, and for the API of a world /s/{{id}}/openapi.json with a session's id"
            );
            return Box::pin(refuse(app, request, Problem::new(Kind::NotFound, detail))).await;
        }
    };
    match slot.and_then(|slot| app.check_room().map(|()| slot)) {
        Ok(slot) => respond(app, slot, from, request).await,
        Err(problem) => Box::pin(refuse(app, request, problem)).await,
    }
}

/// Returns true if a world has an API at the request's path, with any method, and takes precedence over the
/// server's own paths.
pub(super) fn claims_path(world: &Ready, request: &Request) -> bool {
    let received = WorldRequest::new(request.uri(), request.headers(), request.method(), &[], 0);
    Tables::get(world).is_ok_and(|tables| tables.claims_path(&world.server_path, &received))
}

/// Refuses a request and discards its body, so that the sender reads the answer.
async fn refuse(app: &App, request: Request, problem: Problem) -> Answer {
    let (parts, body) = request.into_parts();
    drain(body, &parts.headers, app.settings.max_body_bytes).await;
    Err(problem.into())
}

/// Answers a request for a session's world, whose own path begins at the byte `from`.
async fn respond(app: &Arc<App>, slot: Arc<Slot>, from: usize, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let whole = Whole::read(app, &parts.headers, body).await?;
    let below = parts.uri.path().get(from..).unwrap_or_default();
    if let (Some(format), true) =
        (Format::of_path(below), from > 0 && matches!(parts.method, Method::GET | Method::HEAD))
    {
        let server = Arc::clone(app);
        return Box::pin(app.large(move || document(&server, &slot, format, &parts.headers))).await;
    }
    let received = |whole| WorldRequest::new(&parts.uri, &parts.headers, &parts.method, whole, from);
    if whole.bytes.len() <= MAX_QUICK_BODY_BYTES
        && let Some(answered) = answer_quickly(app, &slot, &received(&whole.bytes))
    {
        return answered;
    }
    let server = Arc::clone(app);
    let answered = app.large(move || {
        let received = WorldRequest::new(&parts.uri, &parts.headers, &parts.method, &whole.bytes, from);
        let live = slot.lock();
        let found = find_api(&slot, &live, &received)?;
        Ok(answer_found(&server, &slot, live, found, &received))
    });
    Box::pin(answered).await?
}

/// Returns the document of a session's API, without the APIs that the agent must find by searching.
fn document(
    app: &App,
    slot: &Slot,
    named: Format,
    headers: &HeaderMap,
) -> Result<axum::response::Response, Problem> {
    Accept::read(headers).check(named.kinds())?;
    let visible = slot.lock().session.visible_if_limited();
    let (world, auth, form) = (slot.world.world(), app.settings.auth, choose_format(headers, named));
    let (documents, url) = (&Tables::get(&slot.world)?.documents, |id: &str| app.base_url(id));
    let document = match visible {
        None => documents.describe_all(slot.id(), form, |id| described(world, &url(id), auth, |_| true))?,
        Some(visible) => {
            let sees = |api| visible.contains(&api);
            documents.partial(form, || described(world, &url(slot.id()), auth, sees))
        }
    };
    Ok(document.response(headers))
}

fn find_api<'a>(slot: &'a Slot, live: &Live, request: &WorldRequest<'a>) -> Result<PathMatch<'a>, Problem> {
    let sees = |api| slot.shows_all() || live.session.is_visible(api);
    Ok(Tables::get(&slot.world)?.find(&slot.world.server_path, sees, request))
}

/// Returns the answer to a request that takes microseconds. None means that it may take longer, or that the
/// session is in use; then nothing was done.
fn answer_quickly(app: &App, slot: &Slot, request: &WorldRequest<'_>) -> Option<Answer> {
    let live = slot.lock_soon()?;
    let found = match find_api(slot, &live, request) {
        Ok(found) => found,
        Err(problem) => return Some(Err(problem.into())),
    };
    match found {
        PathMatch::Api(api, _) if slot.world.is_slow(api) => None,
        found => Some(answer_found(app, slot, live, found, request)),
    }
}

fn answer_found(
    app: &App,
    slot: &Slot,
    live: MutexGuard<'_, Live>,
    found: PathMatch<'_>,
    request: &WorldRequest<'_>,
) -> Answer {
    if *request.method == Method::POST
        && let Some(issued) = issue_token(app, slot, &live, &found, request)
    {
        return Ok(issued);
    }
    match found {
        PathMatch::Api(api, values) => {
            let declared = slot.world.world().api(api);
            let call = || call_by_route(app, slot, live, declared, values, request);
            Ok(slot.world.time(api, call).unwrap_or_else(|problem| make_problem_response(declared, &problem)))
        }
        PathMatch::Methods(methods) => {
            Ok(other_method(request.method, &methods.into_iter().collect::<Vec<_>>().join(", ")))
        }
        PathMatch::Nothing(near) => {
            let (method, shown) =
                (request.method.as_str(), request.path.chars().take(200).collect::<String>());
            let hint = match near.as_slice() {
                [] => "see openapi.json".to_owned(),
                near => format!("did you mean {}?", near.join(", ")),
            };
            let detail = format!("no route of this world fits {method} {shown}; {hint}");
            Err(Problem::new(Kind::NotFound, detail).with("near", near).into())
        }
    }
}

fn call_by_route(
    app: &App,
    slot: &Slot,
    mut live: MutexGuard<'_, Live>,
    api: &Api,
    path: Vec<(&str, Cow<'_, str>)>,
    request: &WorldRequest<'_>,
) -> Result<axum::response::Response, Problem> {
    let (world, headers, here) = (slot.world.world(), request.headers, request.uri.path());
    let kind = choose_kind(headers, api.contract.as_deref())?;
    let query = request.uri.query().unwrap_or_default();
    auth::check(&auth::holder(&live), api, app.settings.auth, headers, query)?;
    let own = auth::without_keys(world, api, query);
    let query = own.as_deref().unwrap_or(query);
    // A read called by POST has its arguments in its body.
    let is_posted = *request.method == Method::POST && api.method == ApiMethod::Get;
    let posted = is_posted.then(|| read_posted_query(query, headers, request.body)).transpose()?;
    let (query, body) = posted.as_deref().map_or((query, request.body), |posted| (posted, b"".as_slice()));
    let arguments = arguments(api, Parts { path, query, headers, body })?;
    format::check(api, &arguments)?;
    let (entry, steps) = app.sessions.step(&mut live, Call { api: api.name.to_string(), arguments })?;
    drop(live);
    let next = entry.reply.next_at(format_args!("{}{here}", app.settings.public_url));
    let mut response = make_response(api, &entry.reply, kind, &world.zone, next.as_deref());
    response.headers_mut().extend(make_declared_headers(api, &entry, &world.zone, here, next.as_deref()));
    Ok(after(steps, response))
}

/// Returns a token of the session, if the path issues tokens. A document may describe that path as an
/// operation, whose generated token would be invalid. An API of the world that signs users in takes
/// precedence.
fn issue_token(
    app: &App,
    slot: &Slot,
    live: &Live,
    found: &PathMatch,
    request: &WorldRequest<'_>,
) -> Option<axum::response::Response> {
    let world: &World = slot.world.world();
    let below = request.path.strip_prefix(&*slot.world.server_path).unwrap_or(request.path);
    let (domain, scheme) = auth::issuer(world, request.path).or_else(|| auth::issuer(world, below))?;
    if let PathMatch::Api(api, _) = found
        && matches!(world.api(*api).behaviour.kind, BehaviourKind::SignIn { .. })
    {
        return None;
    }
    let asked = TokenRequest { headers: request.headers, body: request.body, mode: app.settings.auth };
    Some(auth::issue(&auth::holder(live), domain, scheme, &asked))
}

/// Returns the headers that an API declares for a success. `Location` is the path of a new record: the path
/// of the request and its key. `Link` is the address of the next page (RFC 8288), and `X-Total-Count` the
/// number of items of the whole list.
fn make_declared_headers(
    api: &Api,
    entry: &LogEntry,
    zone: &Zone,
    path: &str,
    next: Option<&str>,
) -> Vec<(HeaderName, HeaderValue)> {
    let contract = api.contract.as_ref().filter(|contract| !contract.headers.is_empty());
    let Some(contract) = contract.filter(|_| entry.reply.is_success()) else { return Vec::new() };
    let made =
        entry.changes.iter().find(|change| change.before.is_none()).map(|change| change.key.to_text(zone));
    let location =
        made.map(|key| format!("{}/{}", path.trim_end_matches('/'), utf8_percent_encode(&key, &SEGMENT)));
    let shown = entry.reply.json_tree(zone);
    let all = contract.headers_of(&shown, 0, entry.clock.0).filter_map(|(name, value)| {
        if name.eq_ignore_ascii_case("link") {
            let link = format!("<{}>; rel=\"next\"", next?);
            return Some((LINK, HeaderValue::from_str(&link).ok()?));
        }
        let counts_all = || TOTALS.contains(&&*plain(name.trim_start_matches("X-").trim_start_matches("x-")));
        let total = entry.reply.total.filter(|_| counts_all()).map(|total| total.to_string());
        let is_location = name.eq_ignore_ascii_case("location");
        let value = location.clone().filter(|_| is_location).or(total).unwrap_or(value);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?))
    });
    all.collect()
}
