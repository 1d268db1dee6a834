//! HTTP for object stores, by the client that the rest of the workspace uses.

use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, Error};

/// Time to connect in. A store that is down is asked again a few times.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which some byte of a reply must come.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes clients.
#[derive(Debug)]
pub(super) struct Connector;

#[derive(Debug)]
struct Client(reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let client = reqwest::Client::builder()
            .https_only(allow_http.as_deref() != Some("true"))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .user_agent(concat!("diorama/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = client.map_err(|error| Error::Generic { store: "client", source: Box::new(error) })?;
        Ok(HttpClient::new(Client(client)))
    }
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string();
        let url = url.parse().map_err(|error| HttpError::new(HttpErrorKind::Request, ParseError(error)))?;
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(reqwest::Body::wrap(body));
        let reply: http::Response<reqwest::Body> = self.0.execute(request).await.map_err(error_of)?.into();
        let (parts, body) = reply.into_parts();
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(error_of))))
    }
}

/// A URL that a store's own parts make up wrongly.
#[derive(Debug, thiserror::Error)]
#[error("the URL of a request is wrong: {0}")]
struct ParseError(<reqwest::Url as std::str::FromStr>::Err);

/// Sorts an error, so that the store knows whether to ask again.
fn error_of(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else if error.is_builder() {
        HttpErrorKind::Unknown
    } else {
        // Bodies that end early, connections that are closed: asked again.
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}
