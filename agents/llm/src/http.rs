//! Owns models behind servers that speak OpenAI's protocol. It sends a request once and never retries a
//! failure.

mod body;
mod endpoint;
mod reply;

use std::error::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, Url, redirect};

use crate::chat::{ChatReply, ChatRequest, Identity, JsonMode, MaxTokensField};
use crate::error::{ChatError, SettingsError};
use crate::model::{BoxFuture, ChatModel};
use crate::secret::Secret;

/// Maximum length of a body in bytes, far above any reply, so that a broken server cannot fill the memory.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Address of a model and settings of its requests.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Server, with or without `/v1`: `https://api.openai.com`, `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Model, as the server names it.
    pub model: String,
    /// Way of requesting JSON.
    pub json_mode: JsonMode,
    /// The field that bounds replies. None means `max_tokens`. If the server refuses that field with 400
    /// before its first reply, and accepts `max_completion_tokens`, the model uses the latter.
    pub max_tokens_field: Option<MaxTokensField>,
    /// Maximum time from connecting to the end of a reply.
    pub timeout: Duration,
}

impl HttpSettings {
    /// Makes settings with JSON mode `json_schema`, a timeout of ten minutes, and no fixed field for the
    /// length.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let (base_url, model) = (base_url.into(), model.into());
        let timeout = Duration::from_secs(600);
        Self { base_url, model, json_mode: JsonMode::default(), max_tokens_field: None, timeout }
    }
}

/// A model behind a server that speaks OpenAI's protocol.
#[derive(Debug)]
pub struct HttpModel {
    client: Client,
    url: Url,
    key: Option<Secret>,
    identity: Identity,
    timeout: Duration,
    /// True after the first reply in the JSON mode. Later refusals have other causes.
    json_mode_works: AtomicBool,
    /// The field that bounds replies, after the first reply.
    max_tokens_field: OnceLock<MaxTokensField>,
}

impl HttpModel {
    /// Makes a model without sending a request. Local servers need no key.
    ///
    /// # Errors
    /// Returns an error if the base URL or the key cannot be used, or no HTTP client can be made.
    pub fn new(settings: HttpSettings, key: Option<Secret>) -> Result<Self, SettingsError> {
        let url = endpoint::chat_completions(&settings.base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            let text = format!("Bearer {}", key.reveal());
            let mut value = HeaderValue::from_str(&text).map_err(|_| SettingsError::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // A redirect would turn the request into a GET, or send the key to another server. The environment
        // sets no proxy.
        let builder =
            Client::builder().default_headers(headers).redirect(redirect::Policy::none()).no_proxy();
        let client = builder.build().map_err(|error| SettingsError::Client { cause: cause(error) })?;
        let identity = Identity { model: settings.model, json_mode: settings.json_mode };
        let json_mode_works = AtomicBool::new(false);
        let max_tokens_field = settings.max_tokens_field.map(OnceLock::from).unwrap_or_default();
        let timeout = settings.timeout;
        Ok(Self { client, url, key, identity, timeout, json_mode_works, max_tokens_field })
    }

    /// Sends a request. Before the first reply, it sends a refused request again with the other field for the
    /// length.
    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let decided = self.max_tokens_field.get();
        let field = decided.copied().unwrap_or(MaxTokensField::MaxTokens);
        let first = self.send_with(field, request).await;
        let error = match first {
            Err(error) if decided.is_none() && error.is_bad_request() => error,
            Ok(reply) => {
                self.max_tokens_field.get_or_init(|| field);
                return Ok(reply);
            }
            Err(error) => return Err(error),
        };
        let field = MaxTokensField::MaxCompletionTokens;
        match self.send_with(field, request).await {
            // A server that refused the field would name it. This refusal has another cause, so the first
            // error is reported.
            Err(other) if other.is_bad_request() && !error.to_string().contains("max_tokens") => Err(error),
            Ok(reply) => {
                self.max_tokens_field.get_or_init(|| field);
                Ok(reply)
            }
            Err(other) => Err(other),
        }
    }

    async fn send_with(&self, field: MaxTokensField, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let has_format = request.schema.is_some() && self.identity.json_mode != JsonMode::None;
        let body = body::make(&self.identity, field, request).to_string();
        let sent = self.client.post(self.url.clone()).timeout(self.timeout).body(body).send().await;
        let response = sent.map_err(|error| self.make_transport_error(error))?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            let text = self.text(response).await?;
            if has_format {
                self.json_mode_works.store(true, Relaxed);
            }
            return reply::parse(&text);
        }
        let retry_after = retry_after(response.headers());
        // The text of a refusal helps the user. If it cannot be read, the status still explains the failure.
        let refusal = reply::refusal(&self.text(response).await.unwrap_or_default());
        let suspect_format = has_format && !self.json_mode_works.load(Relaxed);
        Err(self.error(status, refusal, retry_after, suspect_format))
    }

    /// Makes the error of a status. `suspect_format` is true if the JSON mode may be the cause.
    fn error(
        &self,
        status: u16,
        refusal: reply::Refusal,
        retry_after: Option<Duration>,
        suspect_format: bool,
    ) -> ChatError {
        let (said, url, mode) = (refusal.said, self.url.to_string(), self.identity.json_mode);
        let advice = match status {
            // Some servers return an error for a response format that they do not know.
            400 | 422 | 500 | 501 if suspect_format => {
                return ChatError::JsonModeRefused { status, url, said, mode };
            }
            429 if refusal.out_of_credit => "check the credit of the account",
            429 | 503 => {
                let advice = "too many requests; lower --concurrency";
                return ChatError::Failing { status, said, advice, retry_after };
            }
            408 | 409 | 500 | 502.. => {
                let advice = "see the server's log";
                return ChatError::Failing { status, said, advice, retry_after };
            }
            300..=399 => "give the URL that it redirects to as the base URL",
            400 | 422 | 501 => "check that the model takes these settings (docs/models.md)",
            401 | 403 => "check the key, and that it may use this model",
            402 => "check the credit of the account",
            404 => "check the base URL and the name of the model",
            413 => "use a model with a longer context",
            _ => "check the base URL and the server's log",
        };
        ChatError::Refused { status, url, said, advice }
    }

    /// Reads a body to its end, and removes the key from it.
    async fn text(&self, mut response: Response) -> Result<String, ChatError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.make_transport_error(error))? {
            if bytes.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(ChatError::unreadable(format_args!("longer than {MAX_BODY_BYTES} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes).map_err(|_| ChatError::unreadable("not UTF-8 text"))?;
        Ok(match &self.key {
            Some(key) => key.hide(text),
            None => text,
        })
    }

    fn make_transport_error(&self, error: reqwest::Error) -> ChatError {
        // reqwest also calls a timeout during the connection a connection error. In that case no request was
        // sent.
        if error.is_connect() {
            return ChatError::Unreachable { url: self.url.to_string(), cause: cause(error) };
        }
        let found = if error.is_timeout() {
            let seconds = self.timeout.as_secs_f64();
            format!("no whole reply within {seconds} s; allow more time, or ask for fewer tokens")
        } else {
            let cause = cause(error);
            format!("the connection ended before the whole reply had arrived ({cause}); see the server's log")
        };
        ChatError::LostReply { found, usage: None }
    }
}

impl ChatModel for HttpModel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// Returns the innermost cause, because reqwest's own message repeats the URL and omits the cause.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// Returns the wait that a server asks for: a number of seconds, or a date, compared with the server's own
/// clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(retry_after: &str, expect: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static("Mon, 02 Mar 2026 09:00:00 GMT"));
        headers.insert(RETRY_AFTER, HeaderValue::from_str(retry_after).unwrap());
        assert_eq!(super::retry_after(&headers), expect.map(Duration::from_secs), "{retry_after}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("Mon, 02 Mar 2026 09:01:30 GMT", Some(90));
        check("Mon, 02 Mar 2026 08:00:00 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        assert_eq!(super::retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn settings_that_cannot_work_are_refused_without_showing_them() {
        let refused = |settings: HttpSettings, key: &str| {
            HttpModel::new(settings, Some(Secret::new(key))).unwrap_err().to_string()
        };
        let at = |url: &str| HttpSettings::new(url, "m");
        assert_eq!(
            refused(at("http://127.0.0.1:1"), "top-secret\u{7f}key"),
            "the key holds characters that no header can carry; expected printable ASCII, as the provider shows it"
        );
        assert!(!refused(at("http://ana:hidden@127.0.0.1:1"), "k").contains("hidden"));
    }
}
