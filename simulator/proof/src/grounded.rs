//! Defines candidates that were run: the source of each argument, and the facts that each goal states.

use std::ops::Range;
use std::sync::Arc;

use diorama_engine::State;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::SearchVersion;
use diorama_seeds::model::{ApiId, FieldId, ResourceId};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Call, Checks, GoldCall, Outcome, RefusalClass};
use diorama_seeds::value::Instant;

use crate::answer::RequestedFact;
use crate::candidate::Candidate;
use crate::reason::Reason;

/// A candidate that was run, with the source of everything in it.
#[derive(Clone, Debug)]
pub struct GroundedCandidate {
    /// The proposed task and solution.
    pub candidate: Candidate,
    /// The system message.
    pub system: String,
    /// The APIs that are visible at the start.
    pub visible: Vec<ApiId>,
    /// The seed of the session.
    pub seed: u64,
    /// The clock at the start.
    pub clock: Instant,
    /// The version of the search for tools.
    pub search: SearchVersion,
    /// The state at the start.
    pub initial: State,
    /// The state at the end.
    pub last: State,
    /// The calls, each argument with its source.
    pub gold: Vec<GoldCall>,
    /// The calls of each message with calls, as ranges.
    pub messages: Vec<Range<usize>>,
    /// The calls of each question for consent to which the user agreed.
    pub consents: Vec<Range<usize>>,
    /// The log entry of each call.
    pub entries: Vec<Arc<LogEntry>>,
    /// The user's messages, in order.
    pub user_turns: Vec<String>,
    /// One entry for each goal of the candidate.
    pub goals: Vec<GroundedGoal>,
    /// The same conversation as a script.
    pub script: Script,
    /// The conditions that a solution must meet.
    pub checks: Checks,
    /// Faults that grounding found.
    pub faults: Vec<Reason>,
}

/// A goal that was run.
#[derive(Clone, Debug)]
pub struct GroundedGoal {
    /// The range of its calls.
    pub calls: Range<usize>,
    /// The number of the user's turns by its end.
    pub user_turns: usize,
    /// The outcome of the goal.
    pub outcome: Outcome,
    /// For refusals: the right classes of the reason, the best first.
    pub refusal: Vec<RefusalClass>,
    /// For refusals: the index of the call that gives the reason.
    pub refused_by: Option<usize>,
    /// For refusals: the call that a rule of a policy forbids.
    pub declined: Option<DeclinedCall>,
    /// The facts that its last message states.
    pub asked: Vec<RequestedFact>,
    /// The fields that it asks for in vain.
    pub asks: Vec<(ResourceId, FieldId)>,
    /// Its last message.
    pub answer: String,
}

/// A call that the user asks for and a rule of a told policy forbids.
#[derive(Clone, Debug)]
pub struct DeclinedCall {
    /// The forbidden call.
    pub call: Call,
    /// The data that the verdict depends on.
    pub basis: Basis,
}

/// The data that the verdict of a rule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// No data: every such call is forbidden.
    Nothing,
    /// The call and the clock alone.
    Call,
    /// Records: replies must show why the rule forbids the call.
    Records,
}
