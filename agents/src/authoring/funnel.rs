//! Owns the counts of requests, proposals and results of a run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::complaints::Complaints;

/// Reasons for which a step has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The server gave no reply.
    NoReply,
    /// The model declined.
    Refusal,
    /// The replies reached their maximum length.
    Cut,
    /// The replies hold neither JSON nor a document.
    NoJson,
    /// The JSON does not have the requested form.
    Form,
}

/// Counts of one step over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepCount {
    /// Number of requests.
    pub asked: u64,
    /// Requests whose first reply went back.
    pub sent_back: u64,
    /// Requests whose second reply had no fault.
    pub repaired: u64,
    /// Replies of which only a part was usable.
    pub in_part: u64,
    /// Requests without a usable reply, by reason.
    pub lost: BTreeMap<Loss, u64>,
}

/// Counts on the way from proposals to worlds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Funnel {
    /// Domains that the domain agent proposed.
    pub domains_proposed: u64,
    /// Proposed domains that were too near to an existing one.
    pub domains_too_near: u64,
    /// Worlds that the API agent began.
    pub worlds_begun: u64,
    /// Worlds that were written.
    pub worlds_written: u64,
    /// Worlds that were dropped, by reason.
    pub worlds_dropped: BTreeMap<String, u64>,
    /// APIs in the first version of each world.
    pub apis_written: u64,
    /// APIs in the written worlds.
    pub apis_kept: u64,
    /// APIs that were removed, by the finding.
    pub apis_dropped: BTreeMap<String, u64>,
    /// Findings of `world check` in the first version of each world.
    pub findings: u64,
    /// Findings that the model repaired.
    pub findings_mended: u64,
    /// Scenarios that the query agent proposed.
    pub scenarios_written: u64,
    /// Scenarios that the model repaired.
    pub scenarios_mended: u64,
    /// Scenarios that were dropped, by reason.
    pub scenarios_dropped: BTreeMap<String, u64>,
    /// Wordings that the query agent wrote for lines of scenarios.
    pub wordings_written: u64,
    /// Wordings of the query agent that became rows.
    pub wordings_kept: u64,
    /// Wordings that were dropped, by reason.
    pub wordings_dropped: BTreeMap<String, u64>,
    /// Calls of the smoke pass: successes, refusals by a rule, and refusals of invalid calls.
    pub smoke: [u64; 3],
    /// Counts by step.
    pub steps: BTreeMap<String, StepCount>,
}

impl Funnel {
    /// Counts the result of a step.
    pub fn asked(&mut self, step: &str, turns: u32, wrong: &Complaints, lost: Option<Loss>) {
        let count = self.steps.entry(step.to_owned()).or_default();
        count.asked += 1;
        count.sent_back += u64::from(turns > 1);
        count.repaired += u64::from(turns > 1 && wrong.is_empty());
        match lost {
            Some(loss) => *count.lost.entry(loss).or_default() += 1,
            None => count.in_part += u64::from(!wrong.is_empty()),
        }
    }

    /// Counts a dropped world.
    pub fn drop_world(&mut self, why: &str) {
        *self.worlds_dropped.entry(why.to_owned()).or_default() += 1;
    }
}
