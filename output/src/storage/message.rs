//! Messages of object store errors, without credentials.

use object_store::Error;

/// Maximum number of characters of a store's answer in a message.
const MAX_ANSWER_CHARS: usize = 300;

/// Returns the values of settings that are credentials, by the names of the settings.
pub(super) fn secrets(settings: &[(String, String)]) -> Vec<String> {
    let secret = ["KEY", "SECRET", "TOKEN", "PASSWORD", "SAS", "CREDENTIAL"];
    settings
        .iter()
        .filter(|(key, value)| value.len() >= 6 && secret.iter().any(|name| key.contains(name)))
        .map(|(_, value)| value.clone())
        .collect()
}

/// Returns the message of an error with those of its sources.
pub(super) fn text_of(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let below = error.to_string();
        if !text.contains(&below) {
            text = format!("{text}: {below}");
        }
        source = error.source();
    }
    text
}

/// Returns a text without secrets and without query strings of URLs, which contain signatures. It has one
/// line and a limited length.
pub(super) fn redacted(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        text = text.replace(secret, "...");
    }
    let words = text.split_whitespace().map(|word| match word.split_once('?') {
        Some((url, _)) if url.contains("://") => format!("{url}?..."),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ").chars().take(MAX_ANSWER_CHARS).collect()
}

/// Returns the `<Code>` of a store's XML, which states the reason of a refusal.
pub(super) fn code(text: &str) -> String {
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map_or("status 401 or 403", |(code, _)| code).to_owned()
}

/// Returns a message for an endpoint without TLS, unless the settings allow it.
pub(super) fn plain_http(settings: &[(String, String)]) -> Option<String> {
    let endpoint =
        settings.iter().find(|(key, value)| key.contains("ENDPOINT") && value.starts_with("http://"));
    let (key, _) = endpoint?;
    let allowed = settings.iter().any(|(key, value)| key.ends_with("ALLOW_HTTP") && value == "true");
    let prefix = key.split('_').next().unwrap_or_default();
    (!allowed).then(|| format!("{key} begins with http://; use https://, or set {prefix}_ALLOW_HTTP=true"))
}

#[cfg(test)]
mod tests {
    use super::{code, plain_http, redacted, secrets};

    #[test]
    fn messages_hold_no_credentials() {
        let settings = [("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI"), ("AWS_REGION", "us-east-1")];
        let settings: Vec<(String, String)> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let text =
            "GET https://account.blob.core.windows.net/c/x?sv=2024&sig=abc in us-east-1\n with wJalrXUtnFEMI";
        assert_eq!(
            redacted(text, &secrets(&settings)),
            "GET https://account.blob.core.windows.net/c/x?... in us-east-1 with ..."
        );
    }

    #[test]
    fn an_endpoint_without_tls_must_be_allowed() {
        let settings = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let plain = [("AWS_ENDPOINT", "http://localhost:9000")];
        assert_eq!(
            plain_http(&settings(&plain)).unwrap(),
            "AWS_ENDPOINT begins with http://; use https://, or set AWS_ALLOW_HTTP=true"
        );
        assert_eq!(plain_http(&settings(&[plain[0], ("AWS_ALLOW_HTTP", "true")])), None);
        assert_eq!(plain_http(&settings(&[("AWS_ENDPOINT", "https://localhost:9000")])), None);
    }

    #[test]
    fn a_refusal_names_the_code_of_the_store() {
        let text = "403: <Error><Code>InvalidAccessKeyId</Code></Error>";
        assert_eq!(code(text), "InvalidAccessKeyId");
        assert_eq!(code(""), "status 401 or 403");
    }
}
