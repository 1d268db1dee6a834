//! A world's REST API: `/s/{id}/...`.

use std::sync::Mutex;

use axum::body::Body;
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::{Method, Response};
use diorama_seeds::task::Call;

use super::App;
use super::openapi::document;
use super::problem::{Problem, of_world, reply, text};
use super::request::{Request, arguments};
use super::route::Found;
use super::sessions::{Live, lock};
use super::surface::{Incoming, not_allowed};
use super::text::decode;

impl App {
    /// Answers a request below `/s/`; `rest` is what follows that.
    pub(super) fn world_request(
        &self,
        rest: &str,
        request: &Incoming<'_>,
    ) -> Result<Response<Body>, Problem> {
        let (id, path) = match rest.split_once('/') {
            Some((id, path)) => (id, path),
            None => (rest, ""),
        };
        let id = decode(id).unwrap_or_default();
        let live = self.sessions.get(&id)?;
        if path == "openapi.json" && matches!(*request.method, Method::GET | Method::HEAD) {
            let live = lock(&live);
            return Ok(reply(200, &document(live.world.world(), &self.base_url(&live.id))));
        }
        self.route(&live, &format!("/{path}"), request)
    }

    fn route(
        &self,
        live: &Mutex<Live>,
        path: &str,
        request: &Incoming<'_>,
    ) -> Result<Response<Body>, Problem> {
        let mut live = lock(live);
        let world = std::sync::Arc::clone(&live.world);
        let method = request.method.as_str();
        let mut found = world.routes.find(method, path);
        // The server path of an imported document stands before the paths of callers that keep it.
        if let (Found::Nothing(_), Some(below)) = (&found, path.strip_prefix(&*world.server_path))
            && !world.server_path.is_empty()
            && below.starts_with('/')
        {
            found = world.routes.find(method, below);
        }
        let (api, values) = match found {
            Found::Api(api, values) => (api, values),
            Found::Methods(methods) => {
                let allow = methods.into_iter().collect::<Vec<_>>().join(", ");
                if request.method != Method::OPTIONS {
                    return Err(not_allowed(request.method, allow));
                }
                let mut response = text(204, "application/json", String::new());
                if let Ok(allow) = HeaderValue::from_str(&allow) {
                    response.headers_mut().insert(ALLOW, allow);
                }
                return Ok(response);
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
        let query = request.uri.query().unwrap_or_default();
        let parts = Request { path: values, query, headers: request.headers, body: request.body };
        let declared = world.world().api(api);
        let arguments = arguments(declared, parts)?;
        let call = Call { api: declared.name.to_string(), arguments };
        live.takes_calls()?;
        // HEAD asks what GET would answer, and leaves no trace.
        let entry = if request.method == Method::HEAD {
            live.session.fork().call(&call)
        } else {
            live.session.call(&call)
        };
        drop(live);
        self.metrics.called(entry.reply.status);
        Ok(of_world(&entry.reply, entry.reply.to_json(&world.world().zone)))
    }

    /// The absolute URL of a session's REST API.
    pub(super) fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }
}
