//! One call of a session with its reply and changes.

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use diorama_seeds::value::{Instant, Str};

use crate::fault::Fired;
use crate::tools::TOOL_SEARCHER;
use crate::{Body, NeededConsent, RecordChange, Reply};

/// One call of a session, with its reply and changes.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The call.
    pub call: Call,
    /// The API, when there is one of that name.
    pub api: Option<ApiId>,
    /// The clock at the call.
    pub clock: Instant,
    /// The reply.
    pub reply: Reply,
    /// The records that it changed.
    pub changes: Vec<RecordChange>,
    /// The faults that fired; the reply is what they left of it.
    pub faults: Vec<Fired>,
    /// The rule of the domain's policy that it broke. No reply shows it.
    pub broken: Option<Str>,
    /// The yes of the user that a rule of the domain's policy asks for. No reply shows it.
    pub needs: Option<NeededConsent>,
}

impl LogEntry {
    /// Returns the names of the tools that it found, where it is a search for tools.
    pub fn tools_found(&self) -> impl Iterator<Item = &str> {
        let is_search = self.api.is_none() && self.call.api == TOOL_SEARCHER && self.reply.is_success();
        let tools = self.reply.body.member("tools").filter(|_| is_search);
        let tools = tools.and_then(|tools| if let Body::List(tools) = tools { Some(tools) } else { None });
        tools.into_iter().flatten().filter_map(|tool| tool.member("name")?.value()?.as_str())
    }

    /// Returns true if it changed a record that another call changed too.
    #[must_use]
    pub fn touches(&self, other: &Self) -> bool {
        self.changes.iter().any(|change| {
            other.changes.iter().any(|known| (known.resource, &known.key) == (change.resource, &change.key))
        })
    }
}
