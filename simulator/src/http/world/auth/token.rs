//! Owns OAuth 2.0 tokens (RFC 6749), which the world's token path issues and each call checks.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use diorama_seeds::model::{Domain, SecurityKind, SecurityScheme};
use diorama_seeds::value::Str;
use diorama_sessions::{Kind, Problem};
use serde_json::{Value as Json, json};

use super::secret::{Auth, CLIENT, Holder, authorization, is_same_secret};
use crate::http::answer::json_text;
use crate::http::text::pairs;

/// Lifetime of a token, in seconds of the session's clock.
const LIFE_S: i64 = 3_600;

/// Request for a token.
pub(in crate::http) struct TokenRequest<'a> {
    pub(in crate::http) headers: &'a HeaderMap,
    pub(in crate::http) body: &'a [u8],
    pub(in crate::http) mode: Auth,
}

/// Issues a token, or returns an error of RFC 6749.
pub(in crate::http) fn issue(
    holder: &Holder<'_>,
    domain: &Domain,
    scheme: &SecurityScheme,
    asked: &TokenRequest<'_>,
) -> Response<Body> {
    let mut response = match grant(holder, domain, scheme, asked) {
        Ok(token) => json_text(200, token.to_string()),
        Err((status, error, detail)) => {
            let body = json!({"error": error, "error_description": detail});
            json_text(status, body.to_string())
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

type TokenError = (u16, &'static str, String);

fn grant(
    holder: &Holder<'_>,
    domain: &Domain,
    scheme: &SecurityScheme,
    asked: &TokenRequest<'_>,
) -> Result<Json, TokenError> {
    let form = form(asked).ok_or_else(|| {
        (400, "invalid_request", "expected a form (application/x-www-form-urlencoded) or JSON".to_owned())
    })?;
    let given = |name: &str| form.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let of_header = authorization(asked.headers, "basic").and_then(basic);
    let of_form =
        || Some((given("client_id")?.to_owned(), given("client_secret").unwrap_or_default().to_owned()));
    let (client, secret) = of_header.or_else(of_form).ok_or_else(|| {
        (401, "invalid_client", "give client_id and client_secret, in the form or as Basic".to_owned())
    })?;
    let known = client == CLIENT && is_same_secret(&secret, &holder.secret(domain, scheme, "secret"));
    if (asked.mode == Auth::Enforced && !known) || client.is_empty() {
        return Err((401, "invalid_client", "the client is not the session's".to_owned()));
    }
    let missing = |name: &str| (400, "invalid_request", format!("`{name}` is missing"));
    let kept = match given("grant_type") {
        Some("client_credentials") => None,
        Some("password") => given("username").map(|_| None).ok_or_else(|| missing("username"))?,
        Some("authorization_code") => given("code").map(|_| None).ok_or_else(|| missing("code"))?,
        Some("refresh_token") => {
            let token = given("refresh_token").ok_or_else(|| missing("refresh_token"))?;
            let read = Token::read(token)
                .filter(|token| token.seal == holder.seal(domain, scheme, "refresh", token));
            Some(
                read.ok_or_else(|| (400, "invalid_grant", "the token was not issued here".to_owned()))?
                    .scopes,
            )
        }
        None => return Err(missing("grant_type")),
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            return Err((
                400,
                "unsupported_grant_type",
                format!("found `{other}`, expected client_credentials"),
            ));
        }
    };
    let SecurityKind::OAuth2 { scopes: known, .. } = &scheme.kind else {
        return Err((400, "invalid_request", "the scheme issues no tokens".to_owned()));
    };
    let all = || known.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    let allowed = kept.unwrap_or_else(all);
    let scopes: Vec<String> = match given("scope").map(|text| text.split_whitespace()) {
        Some(asked) => asked.map(str::to_owned).collect(),
        None => allowed.clone(),
    };
    if let Some(unknown) = scopes.iter().find(|scope| !allowed.contains(scope)) {
        let unknown: String = unknown.chars().take(60).collect();
        return Err((400, "invalid_scope", format!("found `{unknown}`, expected {}", allowed.join(" "))));
    }
    let expires = holder.clock.0.saturating_add(LIFE_S);
    Ok(json!({
        "access_token": holder.sealed(domain, scheme, "access", expires, &scopes),
        "token_type": "Bearer",
        "expires_in": LIFE_S,
        "scope": scopes.join(" "),
        "refresh_token": holder.sealed(domain, scheme, "refresh", i64::MAX, &scopes),
    }))
}

/// Returns an access token with every scope of a scheme.
pub(super) fn access(holder: &Holder<'_>, domain: &Domain, scheme: &SecurityScheme) -> String {
    let scopes = match &scheme.kind {
        SecurityKind::OAuth2 { scopes, .. } => scopes.iter().map(|(name, _)| name.to_string()).collect(),
        _ => Vec::new(),
    };
    holder.sealed(domain, scheme, "access", holder.clock.0.saturating_add(LIFE_S), &scopes)
}

/// Returns the value of `Authorization: Basic` for a name and a password.
pub(super) fn basic_header(name: &str, password: &str) -> String {
    let encoder = GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new());
    format!("Basic {}", encoder.encode(format!("{name}:{password}")))
}

fn form(asked: &TokenRequest<'_>) -> Option<Vec<(String, String)>> {
    let kind = asked.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let text = std::str::from_utf8(asked.body).ok()?;
    if !kind.to_ascii_lowercase().starts_with("application/json") {
        return Some(pairs(text)?.into_owned().collect());
    }
    let Json::Object(members) = serde_json::from_str(text).ok()? else { return None };
    members.into_iter().map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
}

/// Admits an issued, unexpired token with the scopes. If any key is accepted, so is a token in another form
/// than a session's, because clients with a token of their own request none.
pub(super) fn check(
    holder: &Holder<'_>,
    domain: &Domain,
    scheme: &SecurityScheme,
    mode: Auth,
    given: &str,
    scopes: &[Str],
) -> Result<(), Problem> {
    let refuse = |detail: &str| Problem::new(Kind::Unauthorized, detail).with("parameter", "Authorization");
    let token = Token::read(given);
    if token.is_none() && mode != Auth::Enforced && !given.is_empty() {
        return Ok(());
    }
    let token = token
        .filter(|token| is_same_secret(&token.seal, &holder.seal(domain, scheme, "access", token)))
        .ok_or_else(|| refuse("the bearer token was not issued by this session's token endpoint"))?;
    if token.expires <= holder.clock.0 {
        return Err(refuse("the bearer token has expired; ask for another"));
    }
    match scopes.iter().find(|scope| !token.scopes.iter().any(|own| own == &***scope)) {
        None => Ok(()),
        Some(scope) => {
            let detail = format!("the bearer token lacks the scope `{scope}`");
            Err(Problem::new(Kind::Forbidden, detail)
                .with("parameter", "Authorization")
                .with("expected", &**scope))
        }
    }
}

/// A token `<expiry>.<scopes>.<seal>`: the expiry and the seal in hexadecimal, the scopes in URL-safe base64.
struct Token {
    expires: i64,
    scopes: Vec<String>,
    seal: String,
}

impl Token {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (expires, scopes, seal) = (parts.next()?, parts.next()?, parts.next()?);
        let scopes = String::from_utf8(URL_SAFE_NO_PAD.decode(scopes).ok()?).ok()?;
        let token = Self {
            expires: i64::from_str_radix(expires, 16).ok()?,
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
            seal: seal.to_owned(),
        };
        parts.next().is_none().then_some(token)
    }
}

impl Holder<'_> {
    fn seal(&self, domain: &Domain, scheme: &SecurityScheme, kind: &str, token: &Token) -> String {
        self.secret(domain, scheme, &format!("{kind} {:x} {}", token.expires, token.scopes.join(" ")))
    }

    fn sealed(
        &self,
        domain: &Domain,
        scheme: &SecurityScheme,
        kind: &str,
        expires: i64,
        scopes: &[String],
    ) -> String {
        let token = Token { expires, scopes: scopes.to_vec(), seal: String::new() };
        let seal = self.seal(domain, scheme, kind, &token);
        let scopes = URL_SAFE_NO_PAD.encode(scopes.join(" "));
        format!("{expires:x}.{scopes}.{seal}")
    }
}

/// Decoder settings that accept missing padding.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// The alphabet of RFC 7617, and the one that some clients use instead.
const ALPHABETS: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&STANDARD, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)];

/// Returns the name and password of `Authorization: Basic`.
pub(super) fn basic(text: &str) -> Option<(String, String)> {
    let decoded = ALPHABETS.iter().find_map(|alphabet| alphabet.decode(text).ok())?;
    let (name, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_read_from_their_encoding() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            assert_eq!(
                basic(text),
                expect.map(|(name, password)| (name.to_owned(), password.to_owned())),
                "{text}"
            );
        };
        check("YWRhOnNlY3JldA==", Some(("ada", "secret")));
        check("YWRhOg", Some(("ada", "")));
        check("YTo_Pg", Some(("a", "?>")));
        check("YTo/Pg==", Some(("a", "?>")));
        check("YWRh", None);
        check("Y", None);
        check("%%%", None);
    }
}
