//! Owns the router of a server: its own routes, the APIs of worlds, and the layers around both.

use std::any::Any as Panic;
use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, HOST};
use axum::http::{HeaderName, HeaderValue, Method, Response, Version};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use diorama_sessions::{Kind, PendingSteps, Problem};
use serde_json::Value as Json;
use tower::util::MapResponseLayer;
use tower::{Service, ServiceBuilder, ServiceExt as _, service_fn};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::trace::TraceLayer;
use tracing::{Level, Span};

use super::admission::admit;
use super::answer::{Answer, ProblemResponse, other_method};
use super::app::{App, PAGES_PATH};
use super::cors::{Page, share};
use super::extract::cut_ids;
use super::pages;
use super::route::document::document;
use super::route::{Access, RESERVED_PREFIX};
use super::routes::routes;
use super::text::MAX_LINE_BYTES;
use super::transport::HangUp;
use super::transport::body::drain;
use super::world;

/// Header of a request's id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of an uncompressed reply, in bytes.
const MAX_PLAIN_BYTES: u16 = 32 << 10;
/// OpenAPI document of the server itself, without its URL.
static DOCUMENT: LazyLock<Json> = LazyLock::new(|| document(&routes()));

/// Makes the service that answers the requests of a server.
///
/// Calls of worlds bypass the router, which has a future on the heap for each of its layers.
pub(super) fn service(
    app: &Arc<App>,
) -> impl Service<Request, Response = Response<Body>, Error = Infallible, Future: Send> + Clone + Send + 'static
{
    let _ = app.document.set(&DOCUMENT);
    let own = own_router(app);
    // A single reference count per request suffices for both values.
    let server = Arc::new((Arc::clone(app), own.clone().nest(RESERVED_PREFIX, own)));
    let answered = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move {
            let (app, router) = &*server;
            let response = settle(answer(app, router, request).await).await;
            app.sessions.metrics().answered(response.status().as_u16());
            Ok(response)
        }
    });
    // Requests have times and spans only if a log records them.
    let traced = tracing::enabled!(Level::INFO).then(|| {
        let trace = TraceLayer::new_for_http().make_span_with(span).on_request(()).on_failure(());
        (MapResponseLayer::new(|response: Response<_>| response.map(Body::new)), trace.on_response(log))
    });
    ServiceBuilder::new()
        .option_layer(traced)
        .map_response(|response: Response<_>| response.map(Body::new))
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(MAX_PLAIN_BYTES)))
        .layer(CatchPanicLayer::custom(failed))
        .service(answered)
}

/// Answers a request.
///
/// Rarely used futures are boxed here and in [`world`]. A future is as large as the largest one that it
/// awaits, and each layer moves it.
async fn answer(app: &Arc<App>, router: &Router, request: Request) -> Response<Body> {
    if let Err(problem) = check_one_host(&request) {
        let (parts, body) = request.into_parts();
        Box::pin(drain(body, &parts.headers, MAX_LINE_BYTES)).await;
        let mut response = ProblemResponse(problem).into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    if let Some(pages) = app.pages.get()
        && request.uri().path().starts_with(PAGES_PATH)
    {
        return Box::pin(pages::answer(app, pages, request)).await;
    }
    // The paths of the world at the root take precedence over the server's own.
    let of_world = if request.uri().path().starts_with(world::SESSIONS) {
        true
    } else if app.settings.default_session {
        let root = match app.root_world.get() {
            Some(root) => Ok(Arc::clone(root)),
            None => Box::pin(app.prepare_root_world()).await,
        };
        match root {
            Ok(root) => world::claims_path(&root, &request),
            Err(problem) => return ProblemResponse(problem).into_response(),
        }
    } else {
        false
    };
    if !of_world {
        return Box::pin(router.clone().oneshot(request)).await.unwrap_or_else(|never| match never {});
    }
    let (id, page) = (request.headers().get(&REQUEST_ID).cloned(), Page::read(&request));
    let mut response = world::answer(app, request).await.into_response();
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    page.share(response)
}

/// Makes the router of the server's own routes.
fn own_router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    let mut all = routes().into_iter().peekable();
    while let Some(first) = all.next() {
        let (path, access) = (first.path, first.admission.access);
        let admitted = |route: super::route::Route| {
            route.handler.route_layer(from_fn_with_state((Arc::clone(app), route.admission), admit))
        };
        let mut allow = allowed(&first.method).to_owned();
        let mut methods = admitted(first);
        while let Some(next) = all.next_if(|next| next.path == path) {
            allow = format!("{allow}, {}", allowed(&next.method));
            methods = methods.merge(admitted(next));
        }
        allow.push_str(", OPTIONS");
        let methods = methods.fallback(async move |method: Method| other_method(&method, &allow));
        router = router.route(path, layered(app, access, methods));
    }
    let elsewhere = MethodRouter::new().fallback(nowhere);
    router
        .route("/", get(pages::redirect).fallback(nowhere))
        .fallback_service(layered(app, Access::Open, elsewhere).with_state(Arc::clone(app)))
        .with_state(Arc::clone(app))
}

/// Answers a request without a route. If there is a world at the root, its answer names similar paths.
async fn nowhere(State(app): State<Arc<App>>, request: Request) -> Answer {
    world::answer(&app, request).await
}

/// Returns the methods that a route with this method allows.
fn allowed(method: &Method) -> &str {
    if method == Method::GET { "GET, HEAD" } else { method.as_str() }
}

/// Adds the layers of a path, which depend on its callers.
fn layered(app: &Arc<App>, access: Access, methods: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    let methods = methods.layer(PropagateRequestIdLayer::new(REQUEST_ID));
    // Replies of the agent API must be equal in every run, so that they get no ids.
    let methods = match access {
        Access::Agent => methods,
        _ => methods.layer(SetRequestIdLayer::new(REQUEST_ID, Numbers(Arc::clone(app)))),
    };
    match access {
        Access::Admin => methods,
        _ => methods.layer(from_fn(share)),
    }
}

/// Generator of ids for requests without one.
#[derive(Clone)]
struct Numbers(Arc<App>);

impl MakeRequestId for Numbers {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        let number = self.0.requests.fetch_add(1, Relaxed);
        HeaderValue::from_str(&format!("r{number}")).ok().map(RequestId::new)
    }
}

/// Refuses a request with no host or several (RFC 9112, 3.2). HTTP/1.0 requires none.
fn check_one_host(request: &Request) -> Result<(), Problem> {
    let found = request.headers().get_all(HOST).iter().count();
    if found == 1 || (found == 0 && request.version() < Version::HTTP_11) {
        return Ok(());
    }
    Err(Problem::new(Kind::Malformed, format!("the header Host: expected one, found {found}")))
}

/// Waits for the steps before a response is sent. If a fault loses the response, the transport must hang up.
async fn settle(mut response: Response<Body>) -> Response<Body> {
    let Some(after) = response.extensions_mut().remove::<PendingSteps>() else { return response };
    match Box::pin(after.settle()).await {
        Ok(()) => response,
        Err(lost) if lost.kind() == Kind::ReplyLost => {
            response.extensions_mut().insert(HangUp);
            response
        }
        Err(problem) => ProblemResponse(problem).into_response(),
    }
}

fn failed(_: Box<dyn Panic + Send>) -> Response<Body> {
    ProblemResponse(Problem::new(Kind::Failed, "the server failed to answer this request")).into_response()
}

/// Makes the span of a request. Ids of sessions are shortened, because they give access to them.
fn span(request: &Request) -> Span {
    tracing::info_span!("request", method = %request.method(), path = cut_ids(request.uri().path()))
}

fn log<B>(response: &Response<B>, took: Duration, _: &Span) {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if response.extensions().get::<HangUp>().is_some() {
        tracing::info!(micros, "dropped");
        return;
    }
    let id = response.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok());
    tracing::info!(status = response.status().as_u16(), micros, id, "answered");
}
