//! The HTTP server: the agent API, the admin API, and the sessions behind them.
//!
//! The agent API serves a world's REST API, calls by name and the task as a user would put it. The admin API makes,
//! shows and grades sessions; it needs the control token where there is one. Reference calls, checks and user facts are never
//! served. Nothing here decides what a call does: requests become [`diorama_engine::session::Session`] calls.
//!
//! A request is read whole, answered by one synchronous function ([`App::respond`]), and written whole, so that the
//! server can be tested without a network. No reply of a session holds the time of the machine or a random number.

mod accept;
mod after;
mod agent_check;
mod app;
mod auth;
mod batch;
mod body;
pub mod check;
mod connections;
mod control;
mod create;
mod creation;
mod dispatch;
mod documents;
mod episode;
mod episodes;
mod format;
mod incoming;
mod kinds;
mod mcp;
mod metrics;
mod misread;
mod named_call;
mod negotiate;
mod node;
pub mod openapi;
mod outgoing;
mod own_tools;
mod pace;
mod problem;
mod random;
mod record;
mod reply_types;
mod request;
mod request_types;
mod rest;
mod route;
mod routes;
mod server;
mod server_document;
mod sessions;
mod settings;
mod start;
mod step;
mod store;
mod target;
pub mod tasks;
mod text;
mod view;
mod weight;
mod world_reply;
mod world_routes;
mod worlds;

pub use self::accept::serve_protocol;
pub use self::agent_check::agent_check;
pub use self::app::App;
pub use self::auth::Auth;
pub use self::creation::SessionKey;
pub use self::episodes::{Called, Capacity, Episodes, Graded, NewEpisode, Prompt};
pub use self::node::{NoNode, Node};
pub use self::problem::Problem;
pub use self::random::unguessable;
pub use self::server::serve;
pub use self::settings::{
    BODY_TIMEOUT, FIRST_REQUEST_TIMEOUT, MAX_BODY_BYTES, MAX_BYTES, MAX_CALLS, MAX_CONNECTIONS,
    MAX_REPLY_BYTES, MAX_SESSION_BYTES, MAX_SESSIONS, Settings, StateFolder, WRITE_TIMEOUT,
};
pub use self::start::{StartError, check_exposure};
pub use self::store::StoreError;
pub use self::store::restore::LeftOut;
pub use self::worlds::{Ready, SameName, WorldSource};

#[cfg(test)]
mod tests;
