//! Connections: what axum's own accept loop cannot do.
//!
//! - `accept` hands connections to hyper: it leaves the date out of replies, hangs up where a fault loses a reply, and lets requests that
//!   have begun finish at the end. axum's loop has no setting for any of these.
//! - `connections` shares places out by address, closes idle connections for new ones, and ends silent ones.
//! - `outgoing` counts the bytes of replies that wait for their readers, and ends writes that make no progress. Timed streams of
//!   other crates leave what they wrote with the operating system.
//! - `body` bounds the bytes of all bodies together, and reads refused bodies away, so that their senders see the refusal.
//! - `agent_check` tells HAProxy in a protocol of its own how full the server is.

pub(super) mod accept;
pub(super) mod agent_check;
pub(super) mod body;
mod connections;
mod outgoing;

pub(super) use self::outgoing::OfWorld;

/// Marks a response whose connection ends without it: a fault asked for it.
#[derive(Clone, Copy)]
pub(super) struct HangUp;
