//! Owns the checked security schemes of HTTP callers.

use crate::doc::KeyPlace;
use crate::value::Str;

/// A security scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityScheme {
    /// Name in the domain.
    pub name: Str,
    /// Credential that callers send.
    pub kind: SecurityKind,
}

/// A credential that callers send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecurityKind {
    /// A key in a header, parameter or cookie of its own name.
    ApiKey {
        /// Location of the key.
        place: KeyPlace,
        /// Name of the header, parameter or cookie.
        name: Str,
    },
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer` with a token from the world.
    OAuth2 {
        /// Path that issues tokens, with a leading slash. It is empty if the world has none.
        token_path: Str,
        /// Scopes, each with a description of what it allows.
        scopes: Vec<(Str, Str)>,
    },
}

/// A scheme that a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Position in [`super::Domain::security`].
    pub scheme: usize,
    /// Scopes that the token must have.
    pub scopes: Vec<Str>,
}
