//! What became of everything that was asked for and proposed, in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::complaints::Complaints;

/// Why a step has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The server gave no reply.
    NoReply,
    /// The model declined.
    Refusal,
    /// The replies were cut short at their longest.
    Cut,
    /// Neither JSON nor a document was found in the replies.
    NoJson,
    /// The JSON is not of the form asked for.
    Form,
}

/// How one step fared over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepCount {
    /// How often it was asked.
    pub asked: u64,
    /// Of those, where the first reply went back.
    pub sent_back: u64,
    /// Of those that went back, where the second reply was without fault.
    pub repaired: u64,
    /// Replies of which only a part could be used.
    pub in_part: u64,
    /// Where nothing could be used, by reason.
    pub lost: BTreeMap<Loss, u64>,
}

/// The way from proposals to worlds, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Funnel {
    /// Domains that the domain agent proposed.
    pub domains_proposed: u64,
    /// Of those, domains too near to one that exists.
    pub domains_too_near: u64,
    /// Worlds that were begun.
    pub worlds_begun: u64,
    /// Worlds that are written.
    pub worlds_written: u64,
    /// Worlds that were dropped, by reason.
    pub worlds_dropped: BTreeMap<String, u64>,
    /// APIs of the worlds as first read.
    pub apis_written: u64,
    /// APIs that are left.
    pub apis_kept: u64,
    /// APIs taken out, by what was found.
    pub apis_dropped: BTreeMap<String, u64>,
    /// Findings of `world check` in the first version of each world.
    pub findings: u64,
    /// Of those, what repair by the model mended.
    pub findings_mended: u64,
    /// Scenarios that were proposed.
    pub scenarios_written: u64,
    /// Of those, what repair by the model mended.
    pub scenarios_mended: u64,
    /// Scenarios that were dropped, by reason.
    pub scenarios_dropped: BTreeMap<String, u64>,
    /// Wordings that the query agent wrote for lines of scenarios.
    pub wordings_written: u64,
    /// Wordings of the query agent that became rows.
    pub wordings_kept: u64,
    /// Wordings that were dropped, by reason.
    pub wordings_dropped: BTreeMap<String, u64>,
    /// Calls of the smoke pass: succeeded, refused by a rule, and wrong ones that were refused.
    pub smoke: [u64; 3],
    /// By step.
    pub steps: BTreeMap<String, StepCount>,
}

impl Funnel {
    /// Counts what came of a step.
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

    /// Counts a world that comes to nothing.
    pub fn drop_world(&mut self, why: &str) {
        *self.worlds_dropped.entry(why.to_owned()).or_default() += 1;
    }
}
