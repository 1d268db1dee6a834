//! The protocols, and serving one of them.

use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use diorama_simulator::http::{Episodes, serve_protocol};
use tokio::net::TcpListener;
use tower_service::Service as _;

use crate::gym::Gym;
use crate::{nemo_gym, openenv, ors};

/// A protocol that trainers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A resources server of NVIDIA NeMo Gym.
    NemoGym,
    /// An environment of OpenEnv.
    OpenEnv,
    /// An environment of the Open Reward Standard.
    Ors,
}

/// A name that no protocol has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found the protocol `{0}`, expected nemo-gym, openenv or ors")]
pub struct UnknownProtocol(String);

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 3] = [Self::NemoGym, Self::OpenEnv, Self::Ors];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NemoGym => "nemo-gym",
            Self::OpenEnv => "openenv",
            Self::Ors => "ors",
        }
    }

    fn router(self, gym: &Arc<Gym>) -> Router {
        match self {
            Self::NemoGym => nemo_gym::router(gym),
            Self::OpenEnv => openenv::router(gym),
            Self::Ors => ors::router(gym),
        }
    }
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.name() == name);
        found.ok_or_else(|| UnknownProtocol(name.chars().take(60).collect()))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Serves a protocol on a listener until `shutdown` is done. An episode that nobody asks for ends after `lease_seconds`; 0 is for
/// ever.
pub async fn serve(
    listener: TcpListener,
    protocol: Protocol,
    episodes: Episodes,
    lease_seconds: u64,
    shutdown: impl Future<Output = ()> + Send,
) {
    let app = Arc::clone(episodes.app());
    let router = protocol.router(&Arc::new(Gym::new(protocol, episodes, lease_seconds)));
    let answer = move |request: axum::http::Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        if protocol == Protocol::NemoGym {
            nemo_gym::strip_rollout(&mut request);
        }
        // A router is always ready.
        router.clone().call(request)
    };
    serve_protocol(listener, app, answer, shutdown).await;
}
