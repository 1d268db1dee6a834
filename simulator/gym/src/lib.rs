//! RL protocols over the sessions of a server: NeMo Gym, OpenEnv and the Open Reward Standard (ORS).
//!
//! Owns translation only. It turns each protocol's requests into calls of [`diorama_sessions::Episodes`], and
//! their results into the protocol's replies. The simulator owns sessions, user answers, `finish` and grades;
//! this crate computes no reward. Each protocol has its own port, because two of them use names of tools and
//! environments as the first path segment.

mod body;
mod gym;
mod nemo_gym;
mod openenv;
mod ors;
mod protocol;
mod reply;
mod serving;
mod setup;
mod task_routes;
mod tasks;
mod tools;

pub use self::protocol::{Protocol, UnknownProtocol};
pub use self::serving::serve;
