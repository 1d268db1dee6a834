//! The names that a row gives, and the name of the server.

use diorama_sessions::{Kind, Problem};
use serde_json::{Map, Value as Json};

/// The member of a row by which its caller names the session.
pub(super) const SESSION_MEMBER: &str = "_ng_session_id";
/// The name under which agents know the tools of the Model Context Protocol.
pub(super) const MCP_SERVER: &str = "diorama";

/// The name that a row gives to its session.
pub(super) fn session_name(row: &Map<String, Json>) -> Result<Option<String>, Problem> {
    match row.get(SESSION_MEMBER) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(name)) if (1..=128).contains(&name.len()) => Ok(Some(name.clone())),
        Some(_) => Err(Problem::new(
            Kind::Invalid,
            format!("`{SESSION_MEMBER}`: expected a text of 1 to 128 bytes, found another value"),
        )),
    }
}
