//! Candidates that were run: the source of each argument, and the goals with what they state.

use std::ops::Range;
use std::sync::Arc;

use diorama_engine::State;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::SearchVersion;
use diorama_seeds::model::{ApiId, FieldId, ResourceId};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Call, Checks, GoldCall, Outcome, RefusalClass};
use diorama_seeds::value::Instant;

use crate::answer::Asked;
use crate::candidate::Candidate;
use crate::reason::Reason;

/// A candidate that was run, with the source of everything in it.
#[derive(Clone, Debug)]
pub struct Grounded {
    /// What was proposed.
    pub candidate: Candidate,
    /// The system message.
    pub system: String,
    /// APIs visible at the start.
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
    /// The calls of each message that calls.
    pub messages: Vec<Range<usize>>,
    /// The calls of each question for a yes, to which the user said it.
    pub consents: Vec<Range<usize>>,
    /// What each call gave.
    pub entries: Vec<Arc<LogEntry>>,
    /// What the user says, in order.
    pub user_turns: Vec<String>,
    /// The goals.
    pub goals: Vec<GroundedGoal>,
    /// The same conversation as a script.
    pub script: Script,
    /// What must hold for the task to be solved.
    pub checks: Checks,
    /// What was found wrong.
    pub faults: Vec<Reason>,
}

/// A goal that was run.
#[derive(Clone, Debug)]
pub struct GroundedGoal {
    /// Its calls.
    pub calls: Range<usize>,
    /// How many turns the user had said by its end.
    pub user_turns: usize,
    /// How it ends.
    pub outcome: Outcome,
    /// For refusals: the classes of the reason that are right, the best first.
    pub refusal: Vec<RefusalClass>,
    /// For refusals: the call that gives the reason.
    pub refused_by: Option<usize>,
    /// For refusals: the call that a rule of a policy forbids.
    pub declined: Option<Declined>,
    /// The facts that its last message states.
    pub asked: Vec<Asked>,
    /// The fields that it asks for in vain.
    pub asks: Vec<(ResourceId, FieldId)>,
    /// Its last message.
    pub answer: String,
}

/// A call that the user asks for and a rule of a told policy forbids.
#[derive(Clone, Debug)]
pub struct Declined {
    /// The call.
    pub call: Call,
    /// What the verdict depends on.
    pub basis: Basis,
}

/// What the verdict of a rule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Nothing: every such call is forbidden.
    Nothing,
    /// The call and the clock alone.
    Call,
    /// Records: replies must show why the rule forbids the call.
    Records,
}
