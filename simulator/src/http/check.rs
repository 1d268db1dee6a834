//! Candidates held against a served world: each gate's verdict.
//!
//! The gates are another crate's, which stands on this one; who starts the server brings them ([`Prover`]).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value as Json;

use diorama_engine::Base;

/// Holds candidates against worlds.
pub trait Prover: Send + Sync {
    /// Each gate's verdict on a candidate. Once `gone` is true nobody waits for it, and it may end at once.
    ///
    /// # Errors
    /// Why the body is no candidate.
    fn check(&self, base: &Arc<Base>, candidate: &[u8], gone: &AtomicBool) -> Result<Json, NoCandidate>;
}

/// Why a body is no candidate: what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCandidate(pub String);
