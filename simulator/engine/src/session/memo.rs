//! Owns the memo: results of calls that were made on the same state before.
//!
//! The engine is a pure function of state and call, so results can be reused. Mutants and variants of one
//! reference solution share most of their calls. A proof by replay must not use a memo.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use diorama_seeds::task::Call;
use rustc_hash::FxHasher;

use super::calls::Session;
use super::entry::LogEntry;
use crate::State;

/// MemoEntry calls, each with the states before and after it.
#[derive(Debug, Default)]
pub struct Memo {
    /// The known calls by hash.
    known: HashMap<u64, Vec<MemoEntry>, BuildHasherDefault<FxHasher>>,
}

#[derive(Debug)]
struct MemoEntry {
    before: State,
    entry: Arc<LogEntry>,
    /// The state after the call. None for a read, which changes no state.
    after: Option<State>,
}

impl MemoEntry {
    /// Returns the state after the call on another state, if known.
    fn led(&self, state: &State) -> Option<State> {
        match &self.after {
            Some(after) => self.before.is(state).then(|| after.clone()),
            None => self.before.reads_as(state).then(|| state.clone()),
        }
    }
}

impl Memo {
    /// Makes an empty memo.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, hash: u64, state: &State, call: &Call) -> Option<(Arc<LogEntry>, State)> {
        // Arguments in another order count as another call, which only costs time.
        let same = |known: &&MemoEntry| {
            let made = &known.entry.call;
            made.api == call.api && made.arguments.iter().eq(&call.arguments)
        };
        let mut alike = self.known.get(&hash)?.iter().filter(same);
        alike.find_map(|known| Some((Arc::clone(&known.entry), known.led(state)?)))
    }
}

impl Session {
    /// Makes a call like [`Session::call`], but reuses a result from the memo. New results are added. All
    /// sessions of a memo must have the same base.
    pub fn call_again(&mut self, call: &Call, memo: &mut Memo) -> Arc<LogEntry> {
        // The effect of faults also depends on the call's number.
        if self.faults.is_some() {
            return self.call(call);
        }
        let api = self.base.api_named(&call.api);
        // The visible APIs are not part of the state.
        if let Some(refusal) = self.refused(call, api) {
            return self.refuse(call.clone(), api, refusal);
        }
        let hash = memo.known.hasher().hash_one((&call.api, &call.arguments));
        let (entry, state) = memo.find(hash, &self.state, call).unwrap_or_else(|| {
            let (entry, after) = self.execute(call.clone(), api);
            let before = self.state.clone();
            let reads = api.is_none_or(|api| !self.base.world().api(api).writes()) && after.is(&before);
            let led = (!reads).then(|| after.clone());
            memo.known.entry(hash).or_default().push(MemoEntry {
                before,
                entry: Arc::clone(&entry),
                after: led,
            });
            (entry, after)
        });
        self.take(entry, state)
    }
}
