//! Owns HAProxy's agent check: a line of text per connection, which gives the server's share of new sessions.

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::accept::BREATH;
use crate::http::app::App;

/// Maximum number of connections that stay open until their peer has read the line. Others are closed at
/// once.
const MAX_OPEN_CONNECTIONS: usize = 64;
/// Maximum time for which such a connection stays open.
const OPEN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of bytes read from a peer. HAProxy sends none unless `agent-send` is set.
const MAX_READ_BYTES: u64 = 4_096;
/// Steepness of the weight. A server that is a ninth full takes a quarter of the sessions of an empty one.
const STEEPNESS: f64 = 9.0;

/// Answers agent checks until the future is dropped.
pub async fn agent_check(listener: TcpListener, app: Arc<App>) -> Infallible {
    let mut open = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(BREATH).await;
            continue;
        };
        while open.try_join_next().is_some() {}
        let sent = send_line(stream, &app.agent_reply());
        if let Ok(stream) = sent
            && open.len() < MAX_OPEN_CONNECTIONS
        {
            open.spawn(async move { drop(timeout(OPEN_TIMEOUT, drain_input(stream)).await) });
        }
    }
}

/// Writes the line. It fits into the send buffer of a new connection, so that no peer can block this.
fn send_line(stream: TcpStream, line: &str) -> io::Result<TcpStream> {
    let mut stream = stream.into_std()?;
    stream.write_all(line.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    TcpStream::from_std(stream)
}

/// Reads the input of a peer. Closing a connection with unread bytes resets it, and the peer may lose the
/// line.
async fn drain_input(stream: TcpStream) -> io::Result<u64> {
    copy(&mut stream.take(MAX_READ_BYTES), &mut sink()).await
}

impl App {
    /// Returns the reply to an agent check. `up` and `ready` cancel an earlier `drain`.
    pub(in crate::http) fn agent_reply(&self) -> String {
        if self.ending.load(Relaxed) || self.sessions.ailing().is_some() {
            return "drain\n".to_owned();
        }
        format!("up ready {}%\n", weight(self.sessions.count(), self.sessions.most()))
    }
}

/// Returns the weight of a server among others, in percent: 100 without sessions, 0 if it is full. It falls
/// steeply, so that the server with the fewest sessions soon catches up.
fn weight(sessions: usize, most: usize) -> u32 {
    if sessions >= most {
        return 0;
    }
    let full = sessions as f64 / most as f64;
    ((100.0 / (1.0 + STEEPNESS * full).powi(2)) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn the_weight_falls_with_each_ninth_and_ends_where_nothing_fits() {
        let weights = [0, 1, 100, 1_000, 1_111, 5_000, 9_999, 10_000, 20_000].map(|of| weight(of, 10_000));
        assert_eq!(weights, [100, 99, 84, 27, 25, 3, 1, 0, 0]);
        assert_eq!([weight(0, 1), weight(1, 1), weight(0, 0)], [100, 0, 0]);
        assert_eq!(weight(usize::MAX - 1, usize::MAX), 1);
        assert!((0..10_000).all(|of| weight(of, 10_000) >= weight(of + 1, 10_000)));
    }
}
