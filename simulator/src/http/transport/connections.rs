//! Owns the open connections, their clients, and the choice of the ones to close for new ones.
//!
//! Each address has a share of all connections. If the address or the server is full, an idle connection is
//! closed: first one that never sent a request. Connections with an open request stay.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use tokio::sync::Notify;
use tokio::task::Id;

use crate::http::settings::Settings;

/// Minimum time for which a new connection stays, because it is about to send its request, in milliseconds.
const NEW_STAYS_MS: u64 = 1_000;
/// Minimum time for which an idle connection of a client stays between two requests, in milliseconds.
const IDLE_STAYS_MS: u64 = 5_000;
/// Maximum time for the head of a request, and maximum silence between two requests, in milliseconds.
const MAX_SILENCE_MS: u64 = 75_000;
/// Number of bytes of an IPv6 address that identify its network. One client may have all addresses of a
/// network.
const NETWORK_BYTES: usize = 8;

/// State of a connection, on which the choice of the one to close depends.
#[derive(Debug)]
pub(super) struct Connection {
    from: IpAddr,
    /// Start of its idle time, in milliseconds.
    since_ms: AtomicU64,
    asked: AtomicBool,
    answering: AtomicBool,
    /// True while a reply is being written.
    writing: AtomicBool,
    ended: Notify,
}

impl Connection {
    pub(super) fn new(from: IpAddr, now_ms: u64) -> Arc<Self> {
        Arc::new(Self {
            from: client(from),
            since_ms: AtomicU64::new(now_ms),
            asked: AtomicBool::new(false),
            answering: AtomicBool::new(false),
            writing: AtomicBool::new(false),
            ended: Notify::new(),
        })
    }

    /// Records the start of a request.
    pub(super) fn begin(&self) {
        self.asked.store(true, Relaxed);
        self.answering.store(true, Relaxed);
    }

    /// Records the end of a request.
    pub(super) fn finish(&self, now_ms: u64) {
        self.since_ms.store(now_ms, Relaxed);
        self.answering.store(false, Relaxed);
    }

    /// Records whether a reply is being written.
    pub(super) fn set_writing(&self, writing: bool) {
        self.writing.store(writing, Relaxed);
    }

    /// Returns true if the connection ever sent a request.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }

    /// Waits until the connection must end.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    /// Returns its idle time, or none while a request is open or a reply is being written.
    fn silence_ms(&self, now_ms: u64) -> Option<u64> {
        let is_busy = self.answering.load(Relaxed) || self.writing.load(Relaxed);
        (!is_busy).then(|| now_ms.saturating_sub(self.since_ms.load(Relaxed)))
    }

    /// Returns its order of closing: connections without a request first, then by idle time. None means that
    /// it must stay.
    fn turn(&self, now_ms: u64) -> Option<(bool, Reverse<u64>)> {
        let (asked, silence_ms) = (self.has_asked(), self.silence_ms(now_ms)?);
        let stays = if asked { IDLE_STAYS_MS } else { NEW_STAYS_MS };
        (silence_ms >= stays).then_some((asked, Reverse(silence_ms)))
    }
}

/// Reasons for which a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The server has its maximum number of connections.
    Server,
    /// The address has its maximum number of connections.
    Address,
}

impl Full {
    /// Returns the response, which is written without reading the request.
    pub(super) fn response(self) -> String {
        let detail = match self {
            Self::Server => "the server has as many connections as it takes (--max-connections); close some",
            Self::Address => {
                "the server has as many connections of this address as it takes (--max-connections-per-address); \
                 close some"
            }
        };
        let body = diorama_sessions::Problem::new(diorama_sessions::Kind::Unavailable, detail).body();
        format!(
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
             connection: close\r\n\r\n{body}"
        )
    }
}

/// Connections of a server.
pub(super) struct Connections {
    most: usize,
    most_of_one: usize,
    /// Maximum silence of a connection before its first request, in milliseconds.
    first_ms: u64,
    all: HashMap<Id, Arc<Connection>>,
    /// Number of connections of each client.
    of: HashMap<IpAddr, usize>,
}

impl Connections {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            most: settings.max_connections,
            most_of_one: settings.connections_per_address(),
            first_ms: settings.first_request_timeout.as_millis().try_into().unwrap_or(MAX_SILENCE_MS),
            all: HashMap::new(),
            of: HashMap::new(),
        }
    }

    /// Makes room for a connection from an address.
    ///
    /// # Errors
    /// Returns an error if there is no room, and no idle connection to close.
    pub(super) fn make_room(&mut self, from: IpAddr, now_ms: u64) -> Result<(), Full> {
        let from = client(from);
        if self.of.get(&from).is_some_and(|count| *count >= self.most_of_one) {
            return self.close_one(Some(from), now_ms).ok_or(Full::Address);
        }
        if self.all.len() >= self.most {
            return self.close_one(None, now_ms).ok_or(Full::Server);
        }
        Ok(())
    }

    /// Closes the connections whose silence exceeds the maximum.
    pub(super) fn end_silent(&self, now_ms: u64) {
        for connection in self.all.values() {
            let most =
                if connection.has_asked() { MAX_SILENCE_MS } else { self.first_ms.min(MAX_SILENCE_MS) };
            match connection.silence_ms(now_ms) {
                Some(silence_ms) if silence_ms >= most => connection.ended.notify_one(),
                Some(_) => {}
                None => connection.since_ms.store(now_ms, Relaxed),
            }
        }
    }

    /// Closes an idle connection.
    fn close_one(&mut self, from: Option<IpAddr>, now_ms: u64) -> Option<()> {
        let those = self.all.iter().filter(|(_, one)| from.is_none_or(|from| one.from == from));
        let turns = those.filter_map(|(id, one)| Some((one.turn(now_ms)?, *id)));
        let (_, id) = turns.min_by_key(|(turn, _)| *turn)?;
        let closed = self.remove(id)?;
        closed.ended.notify_one();
        Some(())
    }

    pub(super) fn add(&mut self, id: Id, connection: Arc<Connection>) {
        *self.of.entry(connection.from).or_default() += 1;
        self.all.insert(id, connection);
    }

    /// Removes a connection. None means that it was already closed to make room.
    pub(super) fn remove(&mut self, id: Id) -> Option<Arc<Connection>> {
        let connection = self.all.remove(&id)?;
        if let Some(count) = self.of.get_mut(&connection.from) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&connection.from);
            }
        }
        Some(connection)
    }

    /// Ends all connections. Open requests are finished first.
    pub(super) fn end(&self) {
        self.all.values().for_each(|connection| connection.ended.notify_one());
    }
}

/// Returns the client of an address, which for IPv6 is the network.
fn client(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let mut bytes = address.octets();
            bytes.iter_mut().skip(NETWORK_BYTES).for_each(|byte| *byte = 0);
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a connection of a client with the start of its idle time.
    fn add(all: &mut Connections, from: &str, since_ms: u64, asked: bool) -> Arc<Connection> {
        let from = from.parse().unwrap();
        let connection = Connection::new(from, since_ms);
        if asked {
            connection.begin();
            connection.finish(since_ms);
        }
        let tasks = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let id = tasks.spawn(async {}).id();
        all.add(id, Arc::clone(&connection));
        connection
    }

    fn holding(most: usize, most_of_one: usize) -> Connections {
        let mut settings = Settings::new("http://test");
        settings.max_connections = most;
        settings.max_connections_per_address = Some(most_of_one);
        Connections::new(&settings)
    }

    #[test]
    fn an_address_has_its_share() {
        let mut all = holding(4, 2);
        let busy: Vec<_> = (0..2).map(|_| add(&mut all, "10.0.0.1", 0, true)).collect();
        busy.iter().for_each(|one| one.begin());
        let room = |all: &mut Connections, from: &str| all.make_room(from.parse().unwrap(), 60_000);
        assert_eq!(room(&mut all, "10.0.0.1"), Err(Full::Address));
        assert_eq!(room(&mut all, "::ffff:10.0.0.1"), Err(Full::Address));
        assert_eq!(room(&mut all, "10.0.0.2"), Ok(()));
        for end in ["1", "2"] {
            add(&mut all, &format!("2001:db8::{end}"), 0, true).begin();
        }
        assert_eq!(room(&mut all, "2001:db8::3"), Err(Full::Address), "a network is one client");
        assert_eq!(room(&mut all, "10.0.0.2"), Err(Full::Server));
        busy[0].finish(0);
        assert_eq!((room(&mut all, "10.0.0.2"), all.all.len()), (Ok(()), 3));
    }

    #[test]
    fn who_never_asked_goes_first_and_who_is_busy_never() {
        let mut all = holding(5, 5);
        let idle = add(&mut all, "10.0.0.1", 1_000, true);
        let answering = add(&mut all, "10.0.0.1", 0, true);
        answering.begin();
        let reading = add(&mut all, "10.0.0.1", 0, true);
        reading.set_writing(true);
        let silent = add(&mut all, "10.0.0.1", 5_000, false);
        let newer = add(&mut all, "10.0.0.2", 5_500, false);
        let mut closed = |now_ms: u64| {
            let before = all.all.len();
            let room = all.make_room("10.0.0.3".parse().unwrap(), now_ms);
            if all.all.len() < before {
                // A new connection takes its place at once.
                add(&mut all, "10.0.0.3", u64::MAX, true);
            }
            let there = |one: &Arc<Connection>| all.all.values().any(|other| Arc::ptr_eq(one, other));
            (room, [&idle, &silent, &newer].map(there))
        };
        assert_eq!(closed(5_900), (Err(Full::Server), [true, true, true]), "all may still ask");
        assert_eq!(closed(6_600), (Ok(()), [true, false, true]));
        assert_eq!(closed(6_600), (Ok(()), [true, false, false]));
        assert_eq!(closed(6_600), (Ok(()), [false, false, false]));
        assert_eq!(closed(60_000), (Err(Full::Server), [false, false, false]));
    }
}
