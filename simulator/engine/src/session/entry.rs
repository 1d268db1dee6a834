//! Owns the log entry of a call, with its reply and changes.

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use diorama_seeds::value::{Instant, Str};

use crate::fault::FiredFault;
use crate::tools::TOOL_SEARCHER;
use crate::{Body, NeededConsent, RecordChange, Reply};

/// The log entry of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The call.
    pub call: Call,
    /// The API, if one has the called name.
    pub api: Option<ApiId>,
    /// The clock at the call.
    pub clock: Instant,
    /// The reply.
    pub reply: Reply,
    /// The changed records.
    pub changes: Vec<RecordChange>,
    /// The faults that fired. `reply` includes their effects.
    pub faults: Vec<FiredFault>,
    /// The policy rule that the call broke. Replies do not show it.
    pub broken: Option<Str>,
    /// The consent that a policy rule requires. Replies do not show it.
    pub needs: Option<NeededConsent>,
}

impl LogEntry {
    /// Returns the names of the found tools, if the call is a tool search.
    pub fn tools_found(&self) -> impl Iterator<Item = &str> {
        let is_search = self.api.is_none() && self.call.api == TOOL_SEARCHER && self.reply.is_success();
        let tools = self.reply.body.member("tools").filter(|_| is_search);
        let tools = tools.and_then(|tools| if let Body::List(tools) = tools { Some(tools) } else { None });
        tools.into_iter().flatten().filter_map(|tool| tool.member("name")?.value()?.as_str())
    }

    /// Returns true if both calls changed the same record.
    #[must_use]
    pub fn touches(&self, other: &Self) -> bool {
        self.changes.iter().any(|change| {
            other.changes.iter().any(|known| (known.resource, &known.key) == (change.resource, &change.key))
        })
    }
}
