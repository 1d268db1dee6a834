//! Owns the admin API, for the holder of the control token.

pub(super) mod export;
pub(super) mod records;
pub(super) mod server;
pub(super) mod sessions;
pub(super) mod worlds;
