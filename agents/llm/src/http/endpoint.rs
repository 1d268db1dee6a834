//! Owns the URL of requests, made from a base URL that a person wrote.

use reqwest::Url;

use crate::error::SettingsError;

/// Returns the URL of chat completions under a base URL, which may lack its version.
pub(super) fn chat_completions(base_url: &str) -> Result<Url, SettingsError> {
    let refuse = |found: &str| SettingsError::BaseUrl { found: found.to_owned() };
    let mut url = Url::parse(base_url.trim()).map_err(|error| refuse(&format!("not a URL ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refuse("not one of HTTP"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(
            "one with a user or password, which would be shown in messages (a key is given apart)",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("one with a query or fragment"));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path).to_owned();
    let version = if path.split('/').any(is_version) { "" } else { "/v1" };
    url.set_path(&format!("{path}{version}/chat/completions"));
    Ok(url)
}

/// Returns true if a segment of a path names a version, as in `v1` and `v1beta`.
fn is_version(segment: &str) -> bool {
    let mut letters = segment.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|second| second.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_read_with_or_without_its_version() {
        let check = |base: &str, expect: &str| assert_eq!(chat_completions(base).unwrap().as_str(), expect);
        check("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions");
        check("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions");
        check("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/chat/completions");
        check(" https://a.example/api/v1 ", "https://a.example/api/v1/chat/completions");
        check("https://a.example/proxy", "https://a.example/proxy/v1/chat/completions");
        check("https://a.example/v1beta/openai", "https://a.example/v1beta/openai/chat/completions");
        check("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions");
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        let check = |base: &str, expect: &str| {
            let found = chat_completions(base).unwrap_err().to_string();
            assert!(found.starts_with(expect), "{found}");
        };
        check("127.0.0.1", "the base URL is not a URL (");
        check("localhost:8000", "the base URL is not one of HTTP");
        check("https://user:word@a.example", "the base URL is one with a user or password");
        check("https://a.example/v1?key=1", "the base URL is one with a query");
    }
}
