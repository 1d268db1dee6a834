//! Owns the secrets of a session, and their comparison with those of a request.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use diorama_seeds::model::{Domain, SecurityScheme, World};
use diorama_seeds::value::Instant;

/// Strictness of the checks of a world's security.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// An API's credentials must be present and well formed. Any key or token is accepted, but a token in the
    /// form of a session's must be issued and unexpired.
    #[default]
    Shown,
    /// Keys and secrets must also be those of the session.
    Enforced,
    /// No credentials are required.
    Off,
}

/// The data of a session on which its keys depend.
#[derive(Clone, Copy)]
pub(in crate::http) struct Holder<'a> {
    pub(in crate::http) world: &'a World,
    pub(in crate::http) world_hash: &'a str,
    pub(in crate::http) seed: u64,
    pub(in crate::http) clock: Instant,
}

impl Holder<'_> {
    /// Returns a secret of the session, 128 bits in hexadecimal.
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

/// Name of the only client of every session.
pub(super) const CLIENT: &str = "diorama";

/// Returns the credentials after a scheme in `Authorization`.
pub(in crate::http) fn authorization<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h str> {
    let (given, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// Returns true if two secrets are equal. Its duration does not depend on the position of a difference.
#[must_use]
pub fn is_same_secret(given: impl AsRef<[u8]>, secret: &str) -> bool {
    // Hashes compare in constant time.
    blake3::hash(given.as_ref()) == blake3::hash(secret.as_bytes())
}
