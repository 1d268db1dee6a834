//! Calls whose result is known, because the same call was made on the same state before.
//!
//! The engine is a pure function of state and call, so a result may be used again. Faults and variants of one
//! reference solution share most of their calls; what must prove a replay does without a memo.

use std::sync::Arc;

use diorama_seeds::task::Call;

use super::{LogEntry, Session};
use crate::engine::State;

/// The calls made so far, each with the state that it was made on and the one that it led to.
#[derive(Debug, Default)]
pub struct Memo {
    known: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    before: State,
    entry: Arc<LogEntry>,
    after: State,
}

impl Memo {
    /// Nothing made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, state: &State, call: &Call) -> Option<(Arc<LogEntry>, State)> {
        // In another order the same arguments are another call, which only costs making it.
        let same = |known: &&Known| {
            let made = &known.entry.call;
            made.api == call.api && made.arguments.iter().eq(&call.arguments) && known.before.is(state)
        };
        let found = self.known.iter().find(same)?;
        Some((Arc::clone(&found.entry), found.after.clone()))
    }
}

impl Session {
    /// [`Session::call`], with the result taken from the memo where the call is known there, and put into it where
    /// it is not. All sessions of a memo must be of one base.
    pub fn call_again(&mut self, call: &Call, memo: &mut Memo) -> Arc<LogEntry> {
        // What faults do depends on the number of the call, too.
        if self.faults.is_some() {
            return self.call(call);
        }
        let api = self.base.api_named(&call.api);
        // What a caller has been shown is not part of the state.
        if let Some(refusal) = self.refused(call, api) {
            return self.refuse(call, api, refusal);
        }
        let (entry, state) = memo.find(&self.state, call).unwrap_or_else(|| {
            let (entry, after) = self.execute(call, api);
            let before = self.state.clone();
            memo.known.push(Known { before, entry: Arc::clone(&entry), after: after.clone() });
            (entry, after)
        });
        self.take(entry, state)
    }
}
