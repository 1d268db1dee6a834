//! Owns the check of candidates against a served world.
//!
//! A crate above this one has the gates, and the program that starts the server sets them ([`Prover`]).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value as Json;

use diorama_engine::Base;

/// Checker of candidates against worlds.
pub trait Prover: Send + Sync {
    /// Returns each gate's verdict on a candidate. If `gone` becomes true, no request waits for it and it may
    /// stop.
    ///
    /// # Errors
    /// Returns the reason for which the body is not a candidate.
    fn check(&self, base: &Arc<Base>, candidate: &[u8], gone: &AtomicBool) -> Result<Json, NoCandidate>;
}

/// Reason for which a body is not a candidate: the value found and the value expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCandidate(pub String);
