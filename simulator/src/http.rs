//! Owns the HTTP server: the agent API, the admin API, and the APIs of the worlds behind their sessions.
//!
//! The agent API serves calls by name, and the task from the user's view. The world of each session has its
//! REST API and an MCP server. The admin API makes, shows and grades sessions, and requires the control token
//! if there is one. No route serves reference calls, checks or user facts. Requests become calls of
//! [`diorama_sessions::Sessions`], which alone decides their effect. No reply of a session holds the time of
//! the machine or a random number.

mod admin;
mod admission;
mod answer;
mod api;
mod app;
pub mod check;
mod cors;
mod extract;
mod mcp;
mod misread;
mod negotiate;
mod pages;
mod reply_types;
mod request_types;
mod route;
mod router;
mod routes;
mod serve;
mod settings;
mod start;
mod text;
mod transport;
mod view;
mod world;

pub use self::answer::json_text;
pub use self::app::{App, PAGES_PATH, Pages};
pub use self::mcp::Endpoint;
pub use self::serve::{serve, serve_protocol};
pub use self::settings::{
    BODY_TIMEOUT, FIRST_REQUEST_TIMEOUT, MAX_BODY_BYTES, MAX_CONNECTIONS, Settings, WRITE_TIMEOUT,
};
pub use self::start::{StartError, check_exposure};
pub use self::transport::agent_check::agent_check;
pub use self::world::auth::{Auth, is_same_secret};
pub use self::world::openapi;

#[cfg(test)]
mod tests;
