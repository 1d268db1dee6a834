//! Owns `--gym`, which serves RL protocols on ports beside the server's own.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use diorama_gym::{Protocol, UnknownProtocol};
use diorama_simulator::http::App;
use serde_json::{Map, Value as Json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cli::error::CliError;

/// Protocol with its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GymPort {
    protocol: Protocol,
    /// Number of the port. 0 picks a free one.
    port: u16,
}

/// Error in a text for a protocol and its port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGymPort {
    /// The name is not that of a protocol.
    #[error(transparent)]
    Protocol(#[from] UnknownProtocol),
    /// The text after the name is not a port.
    #[error("found the port `{0}`, expected a number from 0 to 65535")]
    Port(String),
}

impl FromStr for GymPort {
    type Err = NoGymPort;

    fn from_str(text: &str) -> Result<Self, NoGymPort> {
        let (name, port) = text.split_once(':').unwrap_or((text, "0"));
        let port = port.parse().map_err(|_| NoGymPort::Port(port.chars().take(20).collect()))?;
        Ok(Self { protocol: name.parse()?, port })
    }
}

/// Listeners of protocols.
pub(super) struct GymPorts {
    listening: Vec<(Protocol, TcpListener, SocketAddr)>,
}

impl GymPorts {
    /// Listens on the ports.
    ///
    /// # Errors
    /// Returns an error if the server cannot listen on a port.
    pub(super) async fn listen(ports: &[GymPort], host: &str, address: IpAddr) -> Result<Self, CliError> {
        let mut listening = Vec::with_capacity(ports.len());
        for GymPort { protocol, port } in ports.iter().copied() {
            let failed = |source| CliError::Listen { host: host.to_owned(), port, source };
            let listener = TcpListener::bind((address, port)).await.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            listening.push((protocol, listener, bound));
        }
        Ok(Self { listening })
    }

    /// Returns the addresses by protocol.
    pub(super) fn addresses(&self) -> Json {
        let address = |(protocol, _, bound): &(Protocol, TcpListener, SocketAddr)| {
            (protocol.to_string(), Json::from(format!("http://{bound}")))
        };
        Json::Object(self.listening.iter().map(address).collect::<Map<_, _>>())
    }

    /// Returns the notes on the ports, for people.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |(protocol, _, bound): &(Protocol, TcpListener, SocketAddr)| {
            let open = if bound.ip().is_loopback() {
                ""
            } else {
                ", and whoever reaches that port can begin episodes"
            };
            format!("{protocol} is served on http://{bound}{open}")
        };
        self.listening.iter().map(note).collect()
    }

    /// Serves the protocols until the futures of `shutdown` complete.
    pub(super) async fn serve<Ended>(self, app: &Arc<App>, lease_seconds: u64, shutdown: impl Fn() -> Ended)
    where
        Ended: Future<Output = ()> + Send + 'static,
    {
        let mut serving = JoinSet::new();
        for (protocol, listener, _) in self.listening {
            serving.spawn(diorama_gym::serve(listener, protocol, Arc::clone(app), lease_seconds, shutdown()));
        }
        while serving.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_follows_the_protocol() {
        let check = |text: &str, expect: Result<(Protocol, u16), &str>| {
            let found = text.parse::<GymPort>().map(|found| (found.protocol, found.port));
            assert_eq!(found.map_err(|error| error.to_string()), expect.map_err(str::to_owned), "{text}");
        };
        check("nemo-gym", Ok((Protocol::NemoGym, 0)));
        check("openenv:8000", Ok((Protocol::OpenEnv, 8_000)));
        check("ors:0", Ok((Protocol::Ors, 0)));
        check("gym", Err("found the protocol `gym`, expected nemo-gym, openenv or ors"));
        check("ors:x", Err("found the port `x`, expected a number from 0 to 65535"));
        check("ors:70000", Err("found the port `70000`, expected a number from 0 to 65535"));
    }
}
