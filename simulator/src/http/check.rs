//! Candidates held against a served world: each gate's verdict.
//!
//! The gates are another crate's, which stands on this one; who starts the server brings them ([`Prover`]).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::body::Body;
use axum::http::Response;
use serde::Deserialize;
use serde_json::Value as Json;

use super::App;
use super::problem::{Problem, reply};
use super::surface::Incoming;
use crate::engine::Base;
use crate::grade::Vocabulary;

/// Holds candidates against worlds.
pub trait Prover: Send + Sync {
    /// Each gate's verdict on a candidate. Once `gone` is true nobody waits for it, and it may end at once.
    ///
    /// # Errors
    /// Why the body is no candidate.
    fn check(
        &self,
        base: &Arc<Base>,
        vocabulary: &Vocabulary,
        candidate: &[u8],
        gone: &AtomicBool,
    ) -> Result<Json, NoCandidate>;
}

/// Why a body is no candidate: what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCandidate(pub String);

/// The world that a candidate names.
#[derive(Deserialize)]
struct Named {
    world: Option<String>,
}

impl App {
    /// Has candidates held against worlds by this prover.
    pub fn prove_with(&self, prover: Box<dyn Prover>) {
        let _ = self.prover.set(prover);
    }

    /// Each gate's verdict on a candidate.
    pub(super) fn check(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let Named { world } = request.json()?;
        let none = || Problem::new(404, "this server checks no candidates; use `diorama serve`");
        let prover = self.prover.get().ok_or_else(none)?;
        let served = match &world {
            Some(name) => self.worlds.named(name)?,
            None => self.worlds.only()?,
        };
        let ready = served.ready()?;
        let verdicts = prover.check(&ready.base, ready.vocabulary(), request.body, request.gone);
        Ok(reply(200, &verdicts.map_err(|error| Problem::new(422, error.to_string()))?))
    }
}
