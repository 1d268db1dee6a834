//! Owns the authentication of HTTP callers, for worlds with `security`.
//!
//! Tool calls by name need no credentials. Keys, secrets and tokens are functions of the session's seed and
//! the world, so that a replay issues the same ones. The server stores none: a token states its scopes and
//! its expiry under a seal.

mod secret;
mod token;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use diorama_seeds::model::{Api, Domain, KeyPlace, Need, SecurityKind, SecurityScheme, World};
use diorama_sessions::{Kind, Live, Problem};
use serde_json::{Map, Value as Json, json};

use self::secret::CLIENT;
pub use self::secret::{Auth, is_same_secret};
pub(super) use self::secret::{Holder, authorization};
pub(super) use self::token::{TokenRequest, issue};
use crate::http::text::pairs;

/// Returns the data of a session on which its keys depend.
pub(in crate::http) fn holder(live: &Live) -> Holder<'_> {
    Holder {
        world: live.world.world(),
        world_hash: &live.world.hash,
        seed: live.session.seed(),
        clock: live.session.state().clock(),
    }
}

/// Admits a request, or returns the missing credentials as a problem.
pub(super) fn check(
    holder: &Holder<'_>,
    api: &Api,
    mode: Auth,
    headers: &HeaderMap,
    query: &str,
) -> Result<(), Problem> {
    if mode == Auth::Off || api.security.is_empty() {
        return Ok(());
    }
    let Some(domain) = holder.world.domains.get(api.domain.index()) else { return Ok(()) };
    let shown = RequestCredentials { holder, domain, mode, headers, query };
    let mut refusal = None;
    for alternative in &api.security {
        match alternative.iter().try_for_each(|need| shown.satisfies(need)) {
            Ok(()) => return Ok(()),
            // A token without the right scope is a more useful problem than a missing one.
            Err(problem) if refusal.as_ref().is_none_or(|_| problem.kind() == Kind::Forbidden) => {
                refusal = Some(problem)
            }
            Err(_) => {}
        }
    }
    refusal.map_or(Ok(()), Err)
}

/// Returns the query string without the keys of security schemes, if it has any.
pub(super) fn without_keys(world: &World, api: &Api, query: &str) -> Option<String> {
    let domain = world.domains.get(api.domain.index())?;
    let key = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        api.parameter_named(name).is_none()
            && domain.security.iter().any(|scheme| query_key(scheme) == Some(name))
    };
    if !query.split('&').any(key) {
        return None;
    }
    Some(query.split('&').filter(|pair| !key(pair)).collect::<Vec<_>>().join("&"))
}

fn query_key(scheme: &SecurityScheme) -> Option<&str> {
    match &scheme.kind {
        SecurityKind::ApiKey { place: KeyPlace::Query, name } => Some(name),
        _ => None,
    }
}

/// Returns the credentials of a session's client, by the name of the scheme. `base` is the session's absolute
/// URL.
pub(in crate::http) fn credentials(holder: &Holder<'_>, base: &str) -> Map<String, Json> {
    let mut all = Map::new();
    for domain in &holder.world.domains {
        for scheme in &domain.security {
            let secret = holder.secret(domain, scheme, "secret");
            let shown = match &scheme.kind {
                SecurityKind::ApiKey { place, name } => {
                    json!({"type": "apiKey", "in": place_name(*place), "name": &**name, "value": secret})
                }
                SecurityKind::Bearer => json!({"type": "bearer", "value": secret}),
                SecurityKind::Basic => json!({"type": "basic", "username": CLIENT, "password": secret}),
                SecurityKind::OAuth2 { scopes, .. } => json!({
                    "type": "oauth2",
                    "token_url": format!("{base}{}", token_path(domain, scheme)),
                    "client_id": CLIENT,
                    "client_secret": secret,
                    "scopes": scopes.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
                }),
            };
            all.insert(scheme_name(holder.world, domain, scheme), shown);
        }
    }
    all
}

/// A credential in a request: its place, its name there, and its value.
pub(in crate::http) type Proof = (KeyPlace, String, String);

/// Returns the credentials for a request to an API, for the first of the accepted alternatives.
pub(in crate::http) fn proofs(holder: &Holder<'_>, api: &Api) -> Vec<Proof> {
    let Some(domain) = holder.world.domains.get(api.domain.index()) else { return Vec::new() };
    let needs = api.security.first().into_iter().flatten();
    let schemes = needs.filter_map(|need| domain.security.get(need.scheme));
    let header = |value: String| (KeyPlace::Header, "authorization".to_owned(), value);
    let proof = |scheme: &SecurityScheme| {
        let secret = holder.secret(domain, scheme, "secret");
        match &scheme.kind {
            SecurityKind::ApiKey { place, name } => (*place, name.to_string(), secret),
            SecurityKind::Bearer => header(format!("Bearer {secret}")),
            SecurityKind::Basic => header(token::basic_header(CLIENT, &secret)),
            SecurityKind::OAuth2 { .. } => {
                header(format!("Bearer {}", token::access(holder, domain, scheme)))
            }
        }
    };
    schemes.map(proof).collect()
}

/// Returns the security schemes of a world for its served document.
pub(super) fn schemes(world: &World, base: &str) -> Map<String, Json> {
    let mut all = Map::new();
    for domain in &world.domains {
        for scheme in &domain.security {
            let shown = match &scheme.kind {
                SecurityKind::ApiKey { place, name } => {
                    json!({"type": "apiKey", "in": place_name(*place), "name": &**name})
                }
                SecurityKind::Bearer => json!({"type": "http", "scheme": "bearer"}),
                SecurityKind::Basic => json!({"type": "http", "scheme": "basic"}),
                SecurityKind::OAuth2 { scopes, .. } => {
                    let scopes: Map<String, Json> =
                        scopes.iter().map(|(name, text)| (name.to_string(), Json::from(&**text))).collect();
                    let token_url = format!("{base}{}", token_path(domain, scheme));
                    json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": scopes}}})
                }
            };
            all.insert(scheme_name(world, domain, scheme), shown);
        }
    }
    all
}

/// Returns the security requirements of an API for the served document.
pub(super) fn requirements(world: &World, api: &Api) -> Option<Json> {
    let domain = world.domains.get(api.domain.index()).filter(|_| !api.security.is_empty())?;
    let alternative = |needs: &Vec<Need>| -> Json {
        let named = needs.iter().filter_map(|need| {
            let scheme = domain.security.get(need.scheme)?;
            let scopes: Vec<&str> = need.scopes.iter().map(|scope| &**scope).collect();
            Some((scheme_name(world, domain, scheme), json!(scopes)))
        });
        Json::Object(named.collect())
    };
    Some(api.security.iter().map(alternative).collect())
}

/// Returns the domain and scheme that issue tokens at a path.
pub(super) fn issuer<'w>(world: &'w World, path: &str) -> Option<(&'w Domain, &'w SecurityScheme)> {
    let mut all =
        world.domains.iter().flat_map(|domain| domain.security.iter().map(move |scheme| (domain, scheme)));
    all.find(|(domain, scheme)| {
        matches!(scheme.kind, SecurityKind::OAuth2 { .. }) && token_path(domain, scheme) == path
    })
}

fn token_path(domain: &Domain, scheme: &SecurityScheme) -> String {
    let path = match &scheme.kind {
        SecurityKind::OAuth2 { token_path, .. } if !token_path.is_empty() => token_path,
        _ => "/oauth/token",
    };
    format!("{}{path}", domain.base_path)
}

const fn place_name(place: KeyPlace) -> &'static str {
    match place {
        KeyPlace::Header => "header",
        KeyPlace::Query => "query",
        KeyPlace::Cookie => "cookie",
    }
}

/// Returns the name of a scheme in the world. Composed domains may each have an `api_key`, so the name of the
/// domain precedes it.
fn scheme_name(world: &World, domain: &Domain, scheme: &SecurityScheme) -> String {
    if world.domains.len() < 2 { scheme.name.to_string() } else { format!("{}.{}", domain.name, scheme.name) }
}

/// Credentials in a request.
struct RequestCredentials<'a> {
    holder: &'a Holder<'a>,
    domain: &'a Domain,
    mode: Auth,
    headers: &'a HeaderMap,
    query: &'a str,
}

impl RequestCredentials<'_> {
    fn satisfies(&self, need: &Need) -> Result<(), Problem> {
        let Some(scheme) = self.domain.security.get(need.scheme) else { return Ok(()) };
        let secret = || self.holder.secret(self.domain, scheme, "secret");
        let fits = |given: &str| self.mode != Auth::Enforced || is_same_secret(given, &secret());
        match &scheme.kind {
            SecurityKind::ApiKey { place, name } => {
                let place_name = match place {
                    KeyPlace::Query => "query string",
                    other => place_name(*other),
                };
                let given = self.key(*place, name).filter(|given| !given.is_empty());
                let given =
                    given.ok_or_else(|| missing(&format!("the key `{name}` in the {place_name}"), name))?;
                if fits(&given) { Ok(()) } else { Err(wrong(&format!("the key `{name}`"), name)) }
            }
            SecurityKind::Bearer => {
                let given = self.authorization("bearer").filter(|given| !given.is_empty());
                let given = given.ok_or_else(|| missing("`Authorization: Bearer`", "Authorization"))?;
                if fits(given) { Ok(()) } else { Err(wrong("the bearer token", "Authorization")) }
            }
            SecurityKind::Basic => {
                let given = self.authorization("basic").and_then(token::basic);
                let (name, password) =
                    given.ok_or_else(|| missing("`Authorization: Basic`", "Authorization"))?;
                let known = self.mode != Auth::Enforced || name == CLIENT;
                if known && fits(&password) {
                    Ok(())
                } else {
                    Err(wrong("the name or password", "Authorization"))
                }
            }
            SecurityKind::OAuth2 { .. } => {
                let given = self.authorization("bearer").ok_or_else(|| {
                    let path = token_path(self.domain, scheme);
                    missing(&format!("`Authorization: Bearer` with a token of POST {path}"), "Authorization")
                })?;
                token::check(self.holder, self.domain, scheme, self.mode, given, &need.scopes)
            }
        }
    }

    fn key(&self, place: KeyPlace, name: &str) -> Option<String> {
        match place {
            KeyPlace::Header => Some(self.headers.get(name)?.to_str().ok()?.to_owned()),
            KeyPlace::Query => {
                pairs(self.query)?.find(|(given, _)| given == name).map(|(_, value)| value.into_owned())
            }
            KeyPlace::Cookie => cookie(self.headers, name).map(str::to_owned),
        }
    }

    fn authorization(&self, scheme: &str) -> Option<&str> {
        authorization(self.headers, scheme)
    }
}

/// Returns the first cookie with a name.
pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, value)| value.trim())
}

fn missing(what: &str, name: &str) -> Problem {
    Problem::new(Kind::Unauthorized, format!("this call needs {what}, found none"))
        .with("parameter", name)
        .with("expected", what)
}

fn wrong(what: &str, name: &str) -> Problem {
    let detail =
        format!("{what} is not the session's; the reply that made the session lists its credentials");
    Problem::new(Kind::Unauthorized, detail).with("parameter", name)
}
