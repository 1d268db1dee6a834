//! Serving a protocol on a listener.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use diorama_simulator::http::{App, serve_protocol};
use tokio::net::TcpListener;
use tower_service::Service as _;

use crate::gym::Gym;
use crate::nemo_gym;
use crate::openenv;
use crate::ors;
use crate::protocol::Protocol;

/// Serves a protocol on a listener until `shutdown` completes. An episode without requests is closed after
/// `lease_seconds`; 0 means never.
pub async fn serve(
    listener: TcpListener,
    protocol: Protocol,
    app: Arc<App>,
    lease_seconds: u64,
    shutdown: impl Future<Output = ()> + Send,
) {
    let router = router(protocol, &Arc::new(Gym::new(protocol, Arc::clone(&app), lease_seconds)));
    let answer = move |request: axum::http::Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        if protocol == Protocol::NemoGym {
            nemo_gym::strip_rollout(&mut request);
        }
        // A router is always ready, so `poll_ready` is not needed.
        router.clone().call(request)
    };
    serve_protocol(listener, app, answer, shutdown).await;
}

fn router(protocol: Protocol, gym: &Arc<Gym>) -> Router {
    match protocol {
        Protocol::NemoGym => nemo_gym::router(gym),
        Protocol::OpenEnv => openenv::router(gym),
        Protocol::Ors => ors::router(gym),
    }
}
