//! Owns a server from its start to its end: connections, leases, the state folder.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use diorama_sessions::StoreError;
use tokio::net::TcpListener;
use tower::Service as _;

use super::app::App;
use super::router::service;
use super::transport::accept::accept;

/// Interval between checks of leases.
const SWEEP: Duration = Duration::from_secs(1);

/// Serves until `shutdown` completes. Open requests are finished first.
///
/// # Errors
/// Returns an error if the state folder is no longer reliable, because the disk did not confirm a write.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StoreError> {
    let service = service(&app);
    // The service is always ready, so that it is called directly.
    let answer = move |request: Request<hyper::body::Incoming>| service.clone().call(request.map(Body::new));
    let ending = {
        let app = Arc::clone(&app);
        async move {
            shutdown.await;
            app.ending.store(true, Relaxed);
        }
    };
    tokio::select! {
        () = accept(listener, Arc::clone(&app), answer, ending) => {}
        never = sweep(&app) => match never {},
        error = app.sessions.lost() => return Err(error),
    }
    app.sessions.take_snapshots();
    Ok(())
}

/// Serves another protocol on a listener of its own until `shutdown` completes. Its connections have the
/// bounds of the server's own, and may become WebSockets.
pub async fn serve_protocol<F, Answered>(
    listener: TcpListener,
    app: Arc<App>,
    answer: F,
    shutdown: impl Future<Output = ()> + Send,
) where
    F: Fn(Request<hyper::body::Incoming>) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    accept(listener, app, answer, shutdown).await;
}

/// Ends sessions with expired leases, in a loop.
async fn sweep(app: &Arc<App>) -> Infallible {
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        sweep.tick().await;
        // The store needs time if many leases expire at once, so that a thread of its own does this.
        let sessions = Arc::clone(&app.sessions);
        drop(tokio::task::spawn_blocking(move || sessions.sweep()));
    }
}
