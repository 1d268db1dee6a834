//! Who answers a gold path: a session in this process, or a server on the same machine.

use std::time::Duration;

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Call;
use diorama_simulator::session::Session;
use serde_json::{Map, Value as Json};

use super::Service;

/// A session in this process.
pub struct InSession<'a> {
    doc: &'a WorldDoc,
    session: Session,
}

impl<'a> InSession<'a> {
    /// Calls the APIs of the document in a session of its world.
    #[must_use]
    pub const fn new(doc: &'a WorldDoc, session: Session) -> Self {
        Self { doc, session }
    }
}

impl Service for InSession<'_> {
    fn call(
        &mut self,
        method: &str,
        template: &str,
        arguments: &Map<String, Json>,
    ) -> Result<(u16, Json), String> {
        let api = self.doc.apis.iter().find(|api| api.method == method && api.path == template);
        let api = api.ok_or_else(|| format!("the world has no API {method} {template}"))?;
        let entry = self.session.call(&Call { api: api.name.clone(), arguments: arguments.clone() });
        let zone = &self.session.base().world().zone;
        Ok((entry.reply.status, entry.reply.json_tree(zone)))
    }
}

/// A server that answers the document's paths below a URL.
pub struct OverHttp {
    agent: ureq::Agent,
    base: String,
    /// Parameters of every query string: an API key.
    always: Vec<(String, String)>,
}

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl OverHttp {
    /// A client of the server at a URL; `always` stands in every query string.
    #[must_use]
    pub fn new(base: &str, always: Vec<(String, String)>) -> Self {
        let config =
            ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build();
        Self { agent: config.into(), base: base.trim_end_matches('/').to_owned(), always }
    }
}

impl Service for OverHttp {
    fn call(
        &mut self,
        method: &str,
        template: &str,
        arguments: &Map<String, Json>,
    ) -> Result<(u16, Json), String> {
        let url = url(&self.base, template, arguments, &self.always);
        let failed = |error: &dyn std::fmt::Display| format!("{method} {url}: {error}");
        let request =
            ureq::http::Request::builder().method(method).uri(&url).header("accept", "application/json");
        let request = request.body(()).map_err(|error| failed(&error))?;
        let mut response = self.agent.run(request).map_err(|error| failed(&error))?;
        let text = response.body_mut().read_to_string().map_err(|error| failed(&error))?;
        let body = serde_json::from_str(&text).unwrap_or(Json::String(text));
        Ok((response.status().as_u16(), body))
    }
}

fn url(base: &str, template: &str, arguments: &Map<String, Json>, always: &[(String, String)]) -> String {
    let mut path = template.to_owned();
    let mut pairs = Vec::new();
    for (name, value) in arguments {
        let text = encoded(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let hole = format!("{{{name}}}");
        if path.contains(&hole) {
            path = path.replace(&hole, &text);
        } else {
            pairs.push(format!("{}={text}", encoded(name)));
        }
    }
    pairs.extend(always.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))));
    let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    format!("{base}{path}{query}")
}

/// Percent-encoded: everything but letters, digits and `-._~`.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}
