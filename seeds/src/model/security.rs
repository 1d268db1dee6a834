//! How HTTP callers prove who they are, checked.

use crate::doc::KeyPlace;
use crate::value::Str;

/// A way to prove who one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityScheme {
    /// Its name in the domain.
    pub name: Str,
    /// The credential that callers send.
    pub kind: SecurityKind,
}

/// A credential that callers send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecurityKind {
    /// A key under a name of its own.
    ApiKey {
        /// Where it stands.
        place: KeyPlace,
        /// Name of the header, parameter or cookie.
        name: Str,
    },
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer` with a token that the world issues.
    OAuth2 {
        /// The path at which tokens are issued, with a leading slash; empty when the world names none.
        token_path: Str,
        /// The scopes there are, with what they allow.
        scopes: Vec<(Str, Str)>,
    },
}

/// One scheme that a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Position in [`super::Domain::security`].
    pub scheme: usize,
    /// Scopes that the token must have.
    pub scopes: Vec<Str>,
}
