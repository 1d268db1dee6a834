//! Chat models behind servers that speak OpenAI's protocol: one request, one reply, no second attempt.

mod body;
mod endpoint;
mod formats;
mod reply;

use std::error::Error;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Proxy, Response, Url, redirect};
use serde_json::{Map, Value as Json};

use self::formats::Formats;
use crate::chat::{ChatModel, ChatReply, ChatRequest, Format, Identity, Soon};
use crate::error::ChatError;
use crate::secret::Secret;

/// The longest body that is read: far above any reply, so that a broken server cannot fill the memory.
const MAX_BODY_BYTES: usize = 32 << 20;

/// Where a model is and how it is asked.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The server, with or without `/v1`: `https://api.openai.com`, `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The model, as the server names it.
    pub model: String,
    /// How JSON is asked for.
    pub format: Format,
    /// What happens when the server does not take that.
    pub fallback: Fallback,
    /// The name under which the length of the reply is sent.
    pub length: LengthField,
    /// Members that are added to every request, such as `reasoning_effort`.
    pub extra: Map<String, Json>,
    /// The longest time from connecting to the end of a reply.
    pub timeout: Duration,
    /// An HTTP proxy. None is taken from the environment.
    pub proxy: Option<String>,
}

impl HttpSettings {
    /// Makes settings that most servers take: `json_schema` with fall-back, ten minutes.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            format: Format::JsonSchema,
            fallback: Fallback::Poorer,
            length: LengthField::MaxTokens,
            extra: Map::new(),
            timeout: Duration::from_secs(600),
            proxy: None,
        }
    }
}

/// What happens when a server does not take the configured [`Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The request fails.
    Off,
    /// The next poorer format is tried, and kept for the run where it works.
    Poorer,
}

/// The name under which the length of a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthField {
    /// `max_tokens`, which all servers but OpenAI's newer models take.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models want.
    MaxCompletionTokens,
}

/// Settings that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The base URL.
    #[error("the base URL is {found}; expected a server such as http://127.0.0.1:8000/v1")]
    BaseUrl {
        /// What is wrong with it.
        found: String,
    },
    /// The key.
    #[error(
        "the key holds characters that no header can carry; expected printable ASCII, as the provider shows it"
    )]
    Key,
    /// The proxy.
    #[error("the proxy is not a URL; expected one such as http://127.0.0.1:3128")]
    Proxy,
    /// The client, as when the machine has no certificates.
    #[error("no HTTP client ({cause}); check the machine's certificates")]
    Client {
        /// What is wrong.
        cause: String,
    },
}

/// A model behind a server that speaks OpenAI's protocol.
#[derive(Debug)]
pub struct HttpModel {
    client: Client,
    url: Url,
    key: Option<Secret>,
    identity: Identity,
    length: LengthField,
    timeout: Duration,
    formats: Formats,
}

impl HttpModel {
    /// Makes a model; nothing is sent yet. Local servers need no key.
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
        // A redirect would turn the request into a GET, or take the key elsewhere.
        let builder = Client::builder().default_headers(headers).redirect(redirect::Policy::none());
        let builder = match &settings.proxy {
            None => builder.no_proxy(),
            Some(proxy) => builder.proxy(Proxy::all(proxy).map_err(|_| SettingsError::Proxy)?),
        };
        let client = builder.build().map_err(|error| SettingsError::Client { cause: cause(error) })?;
        Ok(Self {
            client,
            url,
            key,
            formats: Formats::new(settings.format, settings.fallback),
            identity: Identity { model: settings.model, format: settings.format, extra: settings.extra },
            length: settings.length,
            timeout: settings.timeout,
        })
    }

    /// Says how JSON is asked for by now, after any fall-back.
    pub fn format(&self) -> Format {
        self.formats.current()
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let asked = request.schema.as_ref().map(|schema| self.formats.choose(schema));
        let format = asked.as_ref().map(|asked| asked.format);
        let body = body::of(&self.identity, request, format, self.length).to_string();
        let sent = self.client.post(self.url.clone()).timeout(self.timeout).body(body).send().await;
        let response = sent.map_err(|error| self.lost(error))?;
        let status = response.status().as_u16();
        let wait = wait(response.headers());
        if response.status().is_success() {
            let text = self.text(response).await?;
            if let Some(asked) = &asked {
                self.formats.taken(asked);
            }
            return reply::read(&text, format);
        }
        // The words of a refusal are a help; without them the status still says enough.
        let said = self.text(response).await.unwrap_or_default();
        let refusal = reply::refusal(&said);
        if let Some(asked) = &asked
            && self.formats.refused(asked, status)
        {
            return Err(ChatError::FormatRefused { status, said: refusal.said, format: asked.format });
        }
        Err(match status {
            429 if refusal.out_of_credit => self.refused(status, refusal.said),
            429 | 503 => ChatError::Busy { status, said: refusal.said, wait },
            408 | 409 | 500.. => ChatError::Failing { status, said: refusal.said, wait },
            _ => self.refused(status, refusal.said),
        })
    }

    fn refused(&self, status: u16, said: String) -> ChatError {
        let advice = match status {
            300..=399 => "give the URL that it redirects to as the base URL",
            400 | 422 => "check that the model takes these settings (docs/models.md)",
            401 | 403 => "check the key, and that it may use this model",
            402 | 429 => "check the credit of the account",
            404 => "check the base URL and the name of the model",
            413 => "use a model with a longer context",
            _ => "check the base URL and the server's log",
        };
        ChatError::Refused { status, url: self.url.to_string(), said, advice }
    }

    /// Reads a body to its end, without the key.
    async fn text(&self, mut response: Response) -> Result<String, ChatError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            if bytes.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(ChatError::Unreadable { found: format!("longer than {MAX_BODY_BYTES} bytes") });
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| ChatError::Unreadable { found: "not UTF-8 text".to_owned() })?;
        Ok(match &self.key {
            Some(key) => key.hide(text),
            None => text,
        })
    }

    fn lost(&self, error: reqwest::Error) -> ChatError {
        // A time-out while connecting is also one of connecting: then nothing was sent.
        if error.is_connect() {
            ChatError::Unreachable { url: self.url.to_string(), cause: cause(error) }
        } else if error.is_timeout() {
            ChatError::Late { after: self.timeout }
        } else {
            ChatError::Broken { cause: cause(error) }
        }
    }
}

impl ChatModel for HttpModel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// The innermost cause: reqwest's own message repeats the URL and says little.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// How long a server asks to wait: a number of seconds, or a date that is compared with the server's own clock.
fn wait(headers: &HeaderMap) -> Option<Duration> {
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
        assert_eq!(wait(&headers), expect.map(Duration::from_secs), "{retry_after}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("Mon, 02 Mar 2026 09:01:30 GMT", Some(90));
        check("Mon, 02 Mar 2026 08:00:00 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        assert_eq!(wait(&HeaderMap::new()), None);
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
        let proxied = HttpSettings { proxy: Some("::".to_owned()), ..at("http://127.0.0.1:1") };
        assert!(refused(proxied, "k").starts_with("the proxy is not a URL"));
        assert!(!refused(at("http://ana:hidden@127.0.0.1:1"), "k").contains("hidden"));
    }
}
