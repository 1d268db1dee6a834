//! A world's REST API: `/s/{id}/...`.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Response};
use diorama_seeds::model::{Api, BehaviourKind};
use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::app::App;
use super::auth::{self, Asked};
use super::format;
use super::incoming::Incoming;
use super::kinds::preferred;
use super::negotiate::{check_accept, options, preferred_format};
use super::openapi::described;
use super::problem::{Problem, not_allowed};
use super::request::{Request, arguments};
use super::sessions::{Slot, lock};
use super::world_reply::{problem_response, reply_response};
use super::world_routes::Found;
use diorama_engine::session::LogEntry;

impl App {
    /// Answers a request below `/s/{id}`; the world's own path begins at the byte `from`.
    pub(super) fn world_request(
        &self,
        from: usize,
        request: &Incoming<'_>,
    ) -> Result<Response<Body>, Problem> {
        let id = request.id;
        let slot = self.sessions.get(id, self.now_ms())?;
        if request.document.is_some() && matches!(*request.method, Method::GET | Method::HEAD) {
            check_accept(request, &["application/json"])?;
            // The document leaves out the APIs that are to be found by searching.
            let visible = lock(&slot).session.visible_if_limited();
            let (world, auth, form) = (slot.world.world(), self.settings.auth, preferred_format(request));
            let document = match visible {
                None => {
                    let describe = |id: &str| described(world, &self.base_url(id), auth, |_| true);
                    slot.world.documents.describe_all(id, form, describe)?
                }
                Some(visible) => {
                    let describe =
                        || described(world, &self.base_url(id), auth, |api| visible.contains(&api));
                    slot.world.documents.partial(form, describe)
                }
            };
            return Ok(document.response(request.headers));
        }
        let path = request.uri.path().get(from..).filter(|path| !path.is_empty()).unwrap_or("/");
        if *request.method == Method::POST
            && let Some(issued) = self.token(&slot, path, request)
        {
            return issued;
        }
        self.route(&slot, path, request)
    }

    fn route(&self, slot: &Slot, path: &str, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let world = &slot.world;
        let method = request.method.as_str();
        let live = if slot.shows_all { None } else { Some(slot.enter(request)?) };
        let sees = |api| live.as_ref().is_none_or(|live| live.session.is_visible(api));
        let has = |name: &str, value: &str| has(request, name, value);
        let mut found = world.routes.find(method, path, sees, has);
        // The server path of an imported document stands before the paths of callers that keep it.
        if let (Found::Nothing(_), Some(below)) = (&found, path.strip_prefix(&*world.server_path))
            && !world.server_path.is_empty()
            && below.starts_with('/')
        {
            found = world.routes.find(method, below, sees, has);
        }
        drop(live);
        let (api, values) = match found {
            Found::Api(api, values) => (api, values),
            Found::Methods(methods) => {
                let allow = methods.into_iter().collect::<Vec<_>>().join(", ");
                if request.method != Method::OPTIONS {
                    return Err(not_allowed(request.method, allow));
                }
                return Ok(options(&allow));
            }
            Found::Nothing(near) => {
                let shown: String = path.chars().take(200).collect();
                let hint = match near.as_slice() {
                    [] => "see openapi.json".to_owned(),
                    near => format!("did you mean {}?", near.join(", ")),
                };
                let detail = format!("no route of this world fits {method} {shown}; {hint}");
                return Err(Problem::new(404, detail).with("near", near));
            }
        };
        if request.in_haste && world.pace.is_slow(Some(api)) {
            return Err(Problem::postponed());
        }
        let declared = world.world().api(api);
        match world.pace.time(Some(api), || self.call_by_route(slot, declared, values, request)) {
            Err(problem) if !problem.is_postponed() => Ok(problem_response(declared, problem)),
            answered => answered,
        }
    }

    fn call_by_route(
        &self,
        slot: &Slot,
        api: &Api,
        path: Vec<(String, String)>,
        request: &Incoming<'_>,
    ) -> Result<Response<Body>, Problem> {
        let world = &slot.world;
        let kind = preferred(request, api.contract.as_deref())?;
        let query = request.uri.query().unwrap_or_default();
        if !api.security.is_empty() {
            auth::check(&slot.enter(request)?.holder(), api, self.settings.auth, request.headers, query)?;
        }
        let own = auth::without_keys(world.world(), api, query);
        let query = own.as_deref().unwrap_or(query);
        let parts = Request { path, query, headers: request.headers, body: request.body };
        let arguments = arguments(api, parts)?;
        format::check(api, &arguments)?;
        let call = Call { api: api.name.to_string(), arguments };
        // Only the call itself keeps others from the session.
        let mut live = slot.enter(request)?;
        let (entry, after) = self.step(&mut live, &call)?;
        drop(live);
        let zone = &world.world().zone;
        let mut response = reply_response(api, &entry.reply, kind, zone);
        let declared = declared(api, request.uri.path(), &entry, zone);
        response.headers_mut().extend(declared);
        Ok(after.on(response))
    }

    /// A token of the session, where the path is one at which tokens are issued. A document may describe it as an operation,
    /// whose made-up token would let nobody in; an API of the world's own that signs users in goes first.
    fn token(
        &self,
        slot: &Slot,
        path: &str,
        request: &Incoming<'_>,
    ) -> Option<Result<Response<Body>, Problem>> {
        let below = path.strip_prefix(&*slot.world.server_path).unwrap_or(path);
        let world = slot.world.world();
        let (domain, scheme) = auth::issuer(world, path).or_else(|| auth::issuer(world, below))?;
        if let Found::Api(api, _) =
            slot.world.routes.find("POST", path, |_| true, |name, value| has(request, name, value))
            && matches!(world.api(api).behaviour.kind, BehaviourKind::SignIn { .. })
        {
            return None;
        }
        let asked = Asked { headers: request.headers, body: request.body, mode: self.settings.auth };
        Some(slot.enter(request).map(|live| auth::issue(&live.holder(), domain, scheme, &asked)))
    }
}

/// Returns true if a request has a query parameter or a header of a name, with a value where that is not empty.
fn has(request: &Incoming<'_>, name: &str, value: &str) -> bool {
    let fits = |given: &str| value.is_empty() || given == value;
    let query = request.uri.query().unwrap_or_default();
    let header = request.headers.get(name).and_then(|given| given.to_str().ok());
    header.is_some_and(fits)
        || form_urlencoded::parse(query.as_bytes()).any(|(own, given)| own == name && fits(&given))
}

/// Characters that are not escaped in a segment of a path.
const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The headers that an API declares for a success. `Location` is the path of what was made: that of the request, and its key.
fn declared(api: &Api, path: &str, entry: &LogEntry, zone: &Zone) -> Vec<(HeaderName, HeaderValue)> {
    let contract = api.contract.as_ref().filter(|contract| !contract.headers.is_empty());
    let Some(contract) = contract.filter(|_| entry.reply.is_success()) else { return Vec::new() };
    let made =
        entry.changes.iter().find(|change| change.before.is_none()).map(|change| change.key.to_text(zone));
    let location =
        made.map(|key| format!("{}/{}", path.trim_end_matches('/'), utf8_percent_encode(&key, &SEGMENT)));
    let shown = entry.reply.json_tree(zone);
    let all = contract.headers_of(&shown, 0, entry.clock.0).filter_map(|(name, value)| {
        let is_location = name.eq_ignore_ascii_case("location");
        let value = location.clone().filter(|_| is_location).unwrap_or(value);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?))
    });
    all.collect()
}
