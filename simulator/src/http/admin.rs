//! The admin API: what the holder of the control token may do.

pub(super) mod export;
pub(super) mod records;
pub(super) mod server;
pub(super) mod sessions;
pub(super) mod worlds;
