//! The agent API: what an agent under test may do with a session's id.

pub(super) mod batch;
pub(super) mod calls;
pub(super) mod episode;
pub(super) mod mcp;
pub(super) mod search;
