//! Calls by name from any protocol: to the world's APIs, and to the conversation tools (`finish`, `ask_user`,
//! `confirm`).

use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use serde_json::Value as Json;

use super::after::PendingSteps;
use super::live::Live;
use super::problem::Problem;
use super::sessions::Sessions;
use diorama_engine::session::LogEntry;

/// The result of a call by name.
pub struct NamedCall {
    reply: NamedReply,
    /// The steps before the reply is sent.
    pub after: PendingSteps,
}

enum NamedReply {
    /// The world's reply, from the log.
    World(Arc<LogEntry>),
    /// The reply of a conversation tool.
    Conversation { status: u16, body: Json },
}

impl Sessions {
    /// Calls an API or a conversation tool.
    ///
    /// # Errors
    /// The problem of a call that was refused before it was made.
    pub fn call_by_name(&self, live: &mut Live, call: Call) -> Result<NamedCall, Problem> {
        if let Some((status, body, after)) = self.converse(live, &call) {
            return Ok(NamedCall { reply: NamedReply::Conversation { status, body }, after });
        }
        let (entry, after) = self.step(live, call)?;
        Ok(NamedCall { reply: NamedReply::World(entry), after })
    }
}

impl NamedCall {
    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match &self.reply {
            NamedReply::World(entry) => entry.reply.status,
            NamedReply::Conversation { status, .. } => *status,
        }
    }

    /// Returns true for a status from 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status())
    }

    /// Writes the body as JSON.
    pub fn write_body(&self, zone: &Zone, out: &mut String) {
        match &self.reply {
            NamedReply::World(entry) => entry.reply.body.write_json(out, zone),
            NamedReply::Conversation { body, .. } => out.push_str(&body.to_string()),
        }
    }

    /// Returns the body as JSON text.
    #[must_use]
    pub fn body_text(&self, zone: &Zone) -> String {
        let mut text = String::with_capacity(1_024);
        self.write_body(zone, &mut text);
        text
    }

    /// Returns the body as a JSON value, if it is an object.
    #[must_use]
    pub fn object(&self, zone: &Zone) -> Option<Json> {
        let tree = match &self.reply {
            NamedReply::World(entry) => entry.reply.json_tree(zone),
            NamedReply::Conversation { body, .. } => body.clone(),
        };
        Some(tree).filter(Json::is_object)
    }
}
