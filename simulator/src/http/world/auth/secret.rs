//! Secrets of a session, and how a request's are compared with them.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use diorama_seeds::model::{Domain, SecurityScheme, World};
use diorama_seeds::value::Instant;

/// How much of a world's security is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// The credentials that an API needs must be there and well formed; any key or token will do,
    /// but a token of the form that sessions issue must be issued and still hold.
    #[default]
    Shown,
    /// Keys and secrets must be those of the session, too.
    Enforced,
    /// No credentials are needed.
    Off,
}

/// A session, as far as its keys follow from it.
#[derive(Clone, Copy)]
pub(in crate::http) struct Holder<'a> {
    pub(in crate::http) world: &'a World,
    pub(in crate::http) world_hash: &'a str,
    pub(in crate::http) seed: u64,
    pub(in crate::http) clock: Instant,
}

impl Holder<'_> {
    /// A secret of the session, 128 bits in hexadecimal.
    pub(super) fn secret(&self, domain: &Domain, scheme: &SecurityScheme, of: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in ["credential/1", self.world_hash, &domain.name, &scheme.name, of] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(&self.seed.to_le_bytes());
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

/// The one client of every session.
pub(super) const CLIENT: &str = "diorama";

/// The credentials that follow a scheme in `Authorization`.
pub(in crate::http) fn authorization<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h str> {
    let (given, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// Returns true if two secrets are the same; how long it takes tells nothing about where they differ.
#[must_use]
pub fn is_same_secret(given: impl AsRef<[u8]>, secret: &str) -> bool {
    // Hashes compare in constant time.
    blake3::hash(given.as_ref()) == blake3::hash(secret.as_bytes())
}
