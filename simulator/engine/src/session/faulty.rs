//! Calls with injected faults.

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;

use super::calls::Session;
use crate::fault::{self, Faults, FiredFault, Kind};
use crate::{CallResult, apply};

impl Session {
    /// Sets the faults, which fire from the next call on.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = (!faults.rules().is_empty()).then(|| std::sync::Arc::new(faults));
        self
    }

    /// Returns the faults, if there are any.
    #[must_use]
    pub fn faults(&self) -> Option<&Faults> {
        self.faults.as_deref()
    }

    /// Returns the result of a call with faults, and the faults that had an effect.
    pub(super) fn faulty(&self, call: &Call, api: ApiId, rules: &Faults) -> (CallResult, Vec<FiredFault>) {
        let declared = self.base.world().api(api);
        let fired = rules.at(self.seed(), self.log.len() as u64, declared);
        let answering = fired.iter().find(|fault| fault.kind.answers());
        if let Some((answer, rule)) = answering.and_then(|fault| Some((fault, rules.rule(fault)?))) {
            let reply = fault::instead(rule);
            let applied = if answer.executed {
                CallResult { reply, ..apply(&self.base, &self.state, call) }
            } else {
                CallResult { reply, state: self.state.clone(), changes: Vec::new(), needs: None }
            };
            let noteworthy = |fault: &&FiredFault| fault.kind.answers() || fault.kind == Kind::Latency;
            return (applied, fired.iter().filter(noteworthy).cloned().collect());
        }
        let mut applied = apply(&self.base, &self.state, call);
        let mut noted = Vec::new();
        for fault in fired {
            let Some(rule) = rules.rule(&fault) else { continue };
            let reply = &mut applied.reply;
            let body = match fault.kind {
                Kind::Stale if fault::reads(declared) => {
                    let older = apply(&self.base, &self.before, call).reply;
                    (older != *reply).then(|| {
                        reply.status = older.status;
                        older.body
                    })
                }
                Kind::Partial if reply.is_success() => fault::shortened(&reply.body, rule),
                Kind::Rename if reply.is_success() => fault::renamed(&reply.body, rule),
                Kind::Latency => Some(reply.body.clone()),
                _ => None,
            };
            if let Some(body) = body {
                applied.reply.body = body;
                noted.push(fault);
            }
        }
        (applied, noted)
    }
}
