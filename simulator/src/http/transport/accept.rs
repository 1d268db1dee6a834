//! Owns the acceptance of connections: admission, limits, and ends.
//!
//! It has no protocol above HTTP/1. A function answers the requests, of this server's own API or of another
//! one on a port of its own.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{interval, sleep};

use super::HangUp;
use super::connections::{Connection, Connections, Full};
use super::outgoing::{Outgoing, Socket};
use crate::http::app::App;

/// Interval between searches for silent connections. A look at all of them costs less than a timer per
/// request.
const LOOK: Duration = Duration::from_secs(1);
/// Pause after a failed accept, for example because too many files are open.
pub(super) const BREATH: Duration = Duration::from_millis(50);

/// End of a connection without a response.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped")]
struct HungUp;

/// Answers the requests of a listener's connections with a function until `shutdown` completes. Open requests
/// are finished first.
pub(in crate::http) async fn accept<F, Answered>(
    listener: TcpListener,
    app: Arc<App>,
    answer: F,
    shutdown: impl Future<Output = ()> + Send,
) where
    F: Fn(Request<Incoming>) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    let answer = Arc::new(answer);
    let mut connections = Connections::new(&app.settings);
    let mut tasks = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    let mut look = interval(LOOK);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else {
                    sleep(BREATH).await;
                    continue;
                };
                while let Some(ended) = tasks.try_join_next_with_id() {
                    connections.remove(id_of(&ended));
                }
                let now_ms = app.sessions.now_ms();
                if let Err(full) = connections.make_room(peer.ip(), now_ms) {
                    refuse(stream, full);
                    continue;
                }
                let connection = Connection::new(peer.ip(), now_ms);
                let served = connect(Arc::clone(&app), Arc::clone(&answer), stream, Arc::clone(&connection));
                connections.add(tasks.spawn(served).id(), connection);
            }
            Some(ended) = tasks.join_next_with_id() => {
                connections.remove(id_of(&ended));
            }
            _ = look.tick() => connections.end_silent(app.sessions.now_ms()),
            () = &mut shutdown => break,
        }
    }
    drop(listener);
    connections.end();
    while tasks.join_next().await.is_some() {}
}

/// Returns the id of the task that ended or panicked.
fn id_of(ended: &Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((id, ())) => *id,
        Err(error) => error.id(),
    }
}

/// Serves a connection until it ends, or becomes a WebSocket.
async fn connect<F, Answered>(app: Arc<App>, answer: Arc<F>, stream: TcpStream, connection: Arc<Connection>)
where
    F: Fn(Request<Incoming>) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    // A date would make a world's replies differ between runs. `Connections` ends requests with incomplete
    // heads.
    http.auto_date_header(false).header_read_timeout(None);
    let (state, sessions) = (&*connection, &app.sessions);
    let answered = service_fn(|request| {
        state.begin();
        let answered = answer(request);
        async move {
            let response = answered.await.unwrap_or_else(|never| match never {});
            state.finish(sessions.now_ms());
            if response.extensions().get::<HangUp>().is_some() {
                return Err(HungUp);
            }
            Ok(Outgoing::response(response, sessions.scale()))
        }
    });
    let socket = Socket::new(stream, Arc::clone(&connection), app.settings.write_timeout);
    let mut serving = pin!(http.serve_connection(socket, answered).with_upgrades());
    let ended = tokio::select! {
        biased;
        ended = serving.as_mut() => ended,
        () = connection.ended() => {
            // An incomplete first head is no open request, so that the end of the server does not wait for
            // it.
            if !connection.has_asked() {
                return;
            }
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Tells a connection that there are too many. The write does not block, so that a slow peer may not get all
/// of it.
fn refuse(stream: TcpStream, full: Full) {
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(full.response().as_bytes());
    }
}
