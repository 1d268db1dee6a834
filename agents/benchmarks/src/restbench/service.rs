//! Answers a gold path: a session in this process, or a server on the same machine.

use std::error::Error;
use std::time::Duration;

use diorama_engine::session::Session;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Call;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::blocking::Client;
use reqwest::header::ACCEPT;
use serde_json::{Map, Value as Json};

use super::operation::fill;

/// Answers calls: a session in this process, or a server.
pub trait Service {
    /// Makes a call of the document. `template` is the document's path, `arguments` its path and query parameters.
    ///
    /// # Errors
    /// When there is no reply at all.
    fn call(
        &mut self,
        method: &str,
        template: &str,
        arguments: &Map<String, Json>,
    ) -> Result<(u16, Json), ServiceError>;
}

/// Why there is no reply at all.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// A call of an API that is not the world's.
    #[error("the world has no API {method} {template}")]
    NoApi {
        /// The method.
        method: String,
        /// The document's path.
        template: String,
    },
    /// A method that HTTP does not have.
    #[error("found the method `{0}`, expected one of HTTP")]
    NoMethod(String),
    /// A server that does not answer.
    #[error("{call}: {}; is a server running there?", format_causes(source))]
    NoReply {
        /// The request.
        call: String,
        /// Why there is no answer.
        source: reqwest::Error,
    },
}

/// Writes an error and its causes: only these say, for example, that a connection was refused.
fn format_causes(error: &reqwest::Error) -> String {
    let all = std::iter::successors(Some(error as &dyn Error), |error| (*error).source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

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
    ) -> Result<(u16, Json), ServiceError> {
        let api = self.doc.apis.iter().find(|api| api.method.as_str() == method && api.path == template);
        let no_api = || ServiceError::NoApi { method: method.to_owned(), template: template.to_owned() };
        let api = api.ok_or_else(no_api)?;
        let entry = self.session.call(&Call { api: api.name.clone(), arguments: arguments.clone() });
        let zone = &self.session.base().world().zone;
        Ok((entry.reply.status, entry.reply.json_tree(zone)))
    }
}

/// A server that answers the document's paths below a URL.
#[derive(Clone)]
pub struct OverHttp {
    client: Client,
    base: String,
    /// Parameters of every query string: an API key.
    always: Vec<(String, String)>,
}

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Characters that are escaped in a segment of a path: all but letters, digits and `-._~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl OverHttp {
    /// A client of the server at a URL; `always` stands in every query string.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn new(base: &str, always: Vec<(String, String)>) -> Result<Self, ServiceError> {
        let client = Client::builder().timeout(PATIENCE).build();
        let client = client.map_err(|source| ServiceError::NoReply { call: base.to_owned(), source })?;
        Ok(Self { client, base: base.trim_end_matches('/').to_owned(), always })
    }
}

impl Service for OverHttp {
    fn call(
        &mut self,
        method: &str,
        template: &str,
        arguments: &Map<String, Json>,
    ) -> Result<(u16, Json), ServiceError> {
        let escape = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        let (path, mut query) = fill(template, arguments, escape);
        query.extend_from_slice(&self.always);
        let call = format!("{method} {path}");
        let method = method.parse().map_err(|_| ServiceError::NoMethod(method.to_owned()))?;
        let request = self.client.request(method, format!("{}{path}", self.base)).query(&query);
        let answered = request.header(ACCEPT, "application/json").send().and_then(|response| {
            let status = response.status().as_u16();
            Ok((status, response.text()?))
        });
        let (status, text) = answered.map_err(|source| ServiceError::NoReply { call, source })?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Json::String(text))))
    }
}
