//! Owns the hosts and origins that the endpoint answers, as the Model Context Protocol requires (version
//! 2025-11-25, "Security Warning"). A page of another site must not reach a local server through a browser,
//! even if its name resolves to this machine.

use std::net::IpAddr;

use axum::http::Uri;

/// Names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns the hosts that requests may name. A server with a local URL accepts those of this machine only.
/// Any other accepts all hosts (an empty list), because proxies send names of their own.
pub(super) fn allowed_hosts(public_url: &str) -> Vec<String> {
    let local = public_url.parse::<Uri>().is_ok_and(|url| url.host().is_some_and(is_loopback));
    if local { LOOPBACK.map(str::to_owned).to_vec() } else { Vec::new() }
}

/// Returns the origins whose pages may send requests: those of this machine, and the server's own.
pub(super) fn allowed_origins(public_url: &str) -> Vec<String> {
    let local =
        LOOPBACK.iter().flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")));
    local.chain(origin(public_url)).collect()
}

/// Returns the origin of a URL, with its port.
fn origin(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    let (scheme, host) = (url.scheme_str()?, url.host()?);
    let port = url.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some(format!("{scheme}://{host}:{port}"))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_this_machine_is_reached_by_its_names_alone() {
        let check = |url: &str, hosts: usize, own: &str| {
            assert_eq!(allowed_hosts(url).len(), hosts, "{url}");
            assert_eq!(allowed_origins(url).last().map(String::as_str), Some(own), "{url}");
        };
        check("http://127.0.0.1:8080", 3, "http://127.0.0.1:8080");
        check("http://[::1]:8080", 3, "http://[::1]:8080");
        check("http://localhost", 3, "http://localhost:80");
        check("https://mock.example/diorama", 0, "https://mock.example:443");
        check("http://0.0.0.0:8080", 0, "http://0.0.0.0:8080");
    }
}
