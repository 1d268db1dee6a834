//! Calls by name, whichever way they came: of the world's APIs, and of the tools of the conversation (`finish`, `ask_user`, `confirm`).

use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use serde_json::Value as Json;

use super::after::After;
use super::live::Live;
use super::problem::Problem;
use super::sessions::Sessions;
use diorama_engine::session::LogEntry;

/// The outcome of a call by name.
pub struct NamedCall {
    reply: NamedReply,
    /// The steps that are left.
    pub after: After,
}

enum NamedReply {
    /// A world's reply, as the log has it.
    World(Arc<LogEntry>),
    /// The reply of a tool of the conversation.
    Conversation { status: u16, body: Json },
}

impl Sessions {
    /// Makes a call of an API or of a tool of the conversation.
    ///
    /// # Errors
    /// The problem of a call that was not made.
    pub fn call_by_name(&self, live: &mut Live, call: Call) -> Result<NamedCall, Problem> {
        if let Some((status, body, after)) = self.converse(live, &call) {
            return Ok(NamedCall { reply: NamedReply::Conversation { status, body }, after });
        }
        let (entry, after) = self.step(live, call)?;
        Ok(NamedCall { reply: NamedReply::World(entry), after })
    }
}

impl NamedCall {
    /// The status, as HTTP has it.
    #[must_use]
    pub fn status(&self) -> u16 {
        match &self.reply {
            NamedReply::World(entry) => entry.reply.status,
            NamedReply::Conversation { status, .. } => *status,
        }
    }

    /// Returns true if the call did what it was to do.
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

    /// The body as JSON text.
    #[must_use]
    pub fn body_text(&self, zone: &Zone) -> String {
        let mut text = String::with_capacity(1_024);
        self.write_body(zone, &mut text);
        text
    }

    /// The body as a tree, where it is an object.
    #[must_use]
    pub fn object(&self, zone: &Zone) -> Option<Json> {
        let tree = match &self.reply {
            NamedReply::World(entry) => entry.reply.json_tree(zone),
            NamedReply::Conversation { body, .. } => body.clone(),
        };
        Some(tree).filter(Json::is_object)
    }
}
