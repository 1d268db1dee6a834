//! Serialised sessions: the current state of a session, without the calls that led to it.

use rpds::RedBlackTreeSetSync;
use serde::{Deserialize, Serialize};

use super::calls::Session;
use super::log::Log;
use crate::KeptState;

/// The current state of a session, in serialised form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptSession {
    calls: usize,
    state: KeptState,
    /// The state that stale reads return, if there are faults.
    before: Option<KeptState>,
    /// The names of the APIs that may be called. If none, all.
    visible: Option<Vec<String>>,
}

impl Session {
    /// Returns the serialised session.
    pub fn kept(&self) -> KeptSession {
        let world = self.base.world();
        let names = || self.visible().map(|api| world.api(api).name.to_string()).collect();
        KeptSession {
            calls: self.calls(),
            state: self.state.kept(),
            before: self.faults.as_ref().map(|_| self.before.kept()),
            visible: self.visible.as_ref().map(|_| names()),
        }
    }

    /// Restores a serialised session, which must have started like this one. Shares equal parts with this
    /// session. The result has no log, so a reader must replay the calls. Returns none if the serialised
    /// session does not fit.
    pub fn resumed(&self, kept: &KeptSession) -> Option<Self> {
        let mut session = self.clone();
        session.state = self.state.resumed(&self.base, &kept.state)?;
        session.before = match &kept.before {
            Some(before) => session.state.resumed(&self.base, before)?,
            None => session.state.clone(),
        };
        session.visible = match &kept.visible {
            Some(names) => {
                let mut visible = RedBlackTreeSetSync::new_sync();
                for name in names {
                    visible.insert_mut(self.base.api_named(name)?);
                }
                Some(visible)
            }
            None => None,
        };
        if session.visible.is_some() != self.visible_at_first.is_some() {
            return None;
        }
        session.log = Log::Counted(kept.calls);
        Some(session)
    }

    /// Returns true if the session has its calls, and not only their number.
    pub const fn knows_its_calls(&self) -> bool {
        !matches!(self.log, Log::Counted(calls) if calls > 0)
    }
}
