//! Calls whose result is known, because the same call was made on the same state before.
//!
//! The engine is a pure function of state and call, so a result may be used again. Faults and variants of one
//! reference solution share most of their calls; what must prove a replay does without a memo.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;

use diorama_seeds::task::Call;
use rustc_hash::FxHasher;

use super::calls::Session;
use super::entry::LogEntry;
use crate::State;

/// The calls made so far, each with the state that it was made on and the one that it led to.
#[derive(Debug, Default)]
pub struct Memo {
    /// By hash of the call.
    known: HashMap<u64, Vec<Known>, BuildHasherDefault<FxHasher>>,
}

#[derive(Debug)]
struct Known {
    before: State,
    entry: Arc<LogEntry>,
    /// Where it led; none of a call that only reads, which leads nowhere on whatever seed.
    after: Option<State>,
}

impl Known {
    /// The state that the call leads to from another, if known.
    fn led(&self, state: &State) -> Option<State> {
        match &self.after {
            Some(after) => self.before.is(state).then(|| after.clone()),
            None => self.before.reads_as(state).then(|| state.clone()),
        }
    }
}

impl Memo {
    /// An empty memo.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, hash: u64, state: &State, call: &Call) -> Option<(Arc<LogEntry>, State)> {
        // In another order the same arguments are another call, which only costs making it.
        let same = |known: &&Known| {
            let made = &known.entry.call;
            made.api == call.api && made.arguments.iter().eq(&call.arguments)
        };
        let mut alike = self.known.get(&hash)?.iter().filter(same);
        alike.find_map(|known| Some((Arc::clone(&known.entry), known.led(state)?)))
    }
}

impl Session {
    /// [`Session::call`], with the result taken from the memo where the call is known there, and put into it where
    /// it is not. All sessions of a memo must be of one base.
    pub fn call_again(&mut self, call: &Call, memo: &mut Memo) -> Arc<LogEntry> {
        // The effect of faults depends on the number of the call, too.
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
            memo.known.entry(hash).or_default().push(Known { before, entry: Arc::clone(&entry), after: led });
            (entry, after)
        });
        self.take(entry, state)
    }
}
