//! Names that a row gives, and the name of the MCP server.

use diorama_sessions::{Kind, Problem};
use serde_json::{Map, Value as Json};

/// The member in which a row names its session.
pub(super) const SESSION_MEMBER: &str = "_ng_session_id";
/// The name by which agents know the MCP server.
pub(super) const MCP_SERVER: &str = "diorama";

/// Returns the name that a row gives its session.
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
