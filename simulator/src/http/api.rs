//! Owns the agent API, for the holder of a session's id.

pub(super) mod batch;
pub(super) mod calls;
pub(super) mod episode;
pub(super) mod mcp;
pub(super) mod search;
