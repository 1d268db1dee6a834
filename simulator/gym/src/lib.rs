//! RL protocols over the sessions of a server: NeMo Gym, OpenEnv and the Open Reward Standard (ORS).
//!
//! Owns translation alone: each protocol's requests become calls on [`diorama_sessions::Episodes`], and what comes of them is written in the
//! protocol's forms. Sessions, the user's answers, `finish` and grades are the simulator's; no reward is made here. Each protocol is
//! served on a port of its own, because the clients of two of them put names of tools and environments first in the path.

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
