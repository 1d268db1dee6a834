//! Owns the HTTP client for object stores, with the same library as the rest of the workspace.

use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, Error};

/// Time limit for a connection. The store's client retries a few times.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit between two bytes of a reply.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

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

/// A store implementation produced an invalid URL.
#[derive(Debug, thiserror::Error)]
#[error("the URL of a request is wrong: {0}")]
struct ParseError(<reqwest::Url as std::str::FromStr>::Err);

/// Classifies an error, so that the store's client knows if it should retry.
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
        // Truncated bodies and closed connections are retried.
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}
