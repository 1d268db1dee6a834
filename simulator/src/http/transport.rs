//! Connections: what axum's own accept loop cannot do.
//!
//! It shares connections out by address and closes idle ones for new ones, times heads and writes out, leaves the date out of replies,
//! counts the bytes of replies that wait for their readers, and hangs up where a fault loses a reply.

pub(super) mod accept;
pub(super) mod agent_check;
pub(super) mod body;
mod connections;
mod outgoing;

pub(super) use self::outgoing::OfWorld;

/// Marks a response whose connection ends without it: a fault asked for it.
#[derive(Clone, Copy)]
pub(super) struct HangUp;
