//! A world's REST API: `/s/{id}/...`.

use axum::body::Body;
use axum::http::{Method, Response};
use diorama_seeds::task::Call;

use super::App;
use super::negotiate::{Document, options, tagged};
use super::openapi::document;
use super::problem::{Problem, of_world};
use super::request::{Request, arguments};
use super::route::Found;
use super::sessions::{Slot, lock};
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
        let slot = self.sessions.get(&id, self.now_ms())?;
        if path == "openapi.json" && matches!(*request.method, Method::GET | Method::HEAD) {
            let world = std::sync::Arc::clone(&lock(&slot).world);
            let document = Document::new(&document(world.world(), &self.base_url(&id)));
            return Ok(tagged(document, request.headers));
        }
        self.route(&slot, &format!("/{path}"), request)
    }

    fn route(&self, slot: &Slot, path: &str, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let mut live = lock(slot);
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
        let query = request.uri.query().unwrap_or_default();
        let parts = Request { path: values, query, headers: request.headers, body: request.body };
        let declared = world.world().api(api);
        let arguments = arguments(declared, parts)?;
        let call = Call { api: declared.name.to_string(), arguments };
        // HEAD asks what GET would answer, and leaves no trace.
        if request.method == Method::HEAD {
            live.takes_calls(&self.settings)?;
            let entry = live.session.fork().call(&call);
            return Ok(of_world(&entry.reply, entry.reply.to_json(&world.world().zone)));
        }
        let (entry, after) = self.step(&mut live, &call)?;
        drop(live);
        Ok(after.on(of_world(&entry.reply, entry.reply.to_json(&world.world().zone))))
    }

    /// The absolute URL of a session's REST API.
    pub(super) fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }
}
