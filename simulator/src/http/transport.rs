//! Owns the connections. It has features that the accept loop of axum lacks.
//!
//! - `accept` passes connections to hyper. It omits the date of replies, hangs up if a fault loses a reply,
//!   and finishes open requests at the end. The loop of axum has no setting for these.
//! - `connections` limits connections by address, closes idle ones for new ones, and ends silent ones.
//! - `outgoing` counts the bytes of unread replies, and ends writes without progress. Timed streams of other
//!   crates leave written bytes with the operating system.
//! - `body` bounds the bytes of all bodies together, and discards refused bodies, so that their senders see
//!   the refusal.
//! - `agent_check` reports the load of the server to HAProxy, in a protocol of its own.

pub(super) mod accept;
pub(super) mod agent_check;
pub(super) mod body;
mod connections;
mod outgoing;

pub(super) use self::outgoing::OfWorld;

/// Marks a response that a fault loses: its connection ends without it.
#[derive(Clone, Copy)]
pub(super) struct HangUp;
