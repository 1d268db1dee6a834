//! Errors: the faults of an attempt, and the reasons for which checks are refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::evidence::EvidenceError;
use super::fact::FactError;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;

/// A fault of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeError {
    /// The class.
    pub class: ErrorClass,
    /// Details for people.
    pub message: String,
}

/// Classes of errors. The last five are API-Bank's, diagnosed from the calls of an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The agent did not give an expected fact.
    MissingFact,
    /// The agent gave another value for an expected fact.
    Contradiction,
    /// No reply of the episode shows the given fact.
    NoEvidence,
    /// The episode did not make an expected change.
    MissingChange,
    /// A changed record has another value.
    WrongValue,
    /// The agent changed a record that no goal asks to change.
    CollateralDamage,
    /// The agent made a change before the user asked for it.
    PrematureChange,
    /// The agent made a change after the goal that asks for it had ended.
    LateChange,
    /// A call broke a policy rule that the agent knew, or came before a reply showed the records that the
    /// rule reads.
    PolicyViolation,
    /// The episode has more calls and replies than the grader accepts.
    TooLong,
    /// The conversation did not reach an expected goal.
    MissingGoal,
    /// The goal ended with an outcome other than the expected one.
    WrongOutcome,
    /// The agent called no API.
    NoApiCall,
    /// The agent called an API that does not exist or that it had not seen.
    ApiHallucination,
    /// An argument is wrong.
    InvalidInputParameters,
    /// A required argument is missing.
    MissInputParameters,
    /// The API refused the call or failed.
    HasException,
}

/// The reason for which checks are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The grader does not know the version of the checks.
    #[error("checks of version {found} cannot be graded, expected version {expected}")]
    Version {
        /// The version of the checks.
        found: u32,
        /// The version that the grader reads.
        expected: u32,
    },
    /// The checks have no goal.
    #[error("checks without a goal pass nothing; say how each goal must end")]
    NoGoal,
    /// A change names a goal that does not exist.
    #[error("a change is asked for in goal {found}, expected a goal below {goals}")]
    Goal {
        /// The goal that the change names.
        found: u32,
        /// Number of goals in the checks.
        goals: usize,
    },
    /// The checks name a policy of an unknown domain.
    #[error("policy: the world has no domain `{0}`")]
    Policy(String),
    /// An episode without any call would pass.
    #[error(
        "the checks expect neither a change nor a fact nor evidence, so doing nothing would pass; say what must be shown"
    )]
    PassesAnything,
    /// A fact has no evidence.
    #[error("the {0} has no evidence, so a guess would pass; name where a reply shows it")]
    Unevidenced(String),
    /// A goal gives refusal classes, but its outcome is not `refused`.
    #[error("a goal gives classes of refusal, but does not end refused")]
    Refusal,
    /// A fact does not parse.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// A change does not fit the world.
    #[error("changes: {0}")]
    Change(#[from] ChangeError),
    /// Evidence does not fit the world.
    #[error("evidence: {0}")]
    Evidence(#[from] EvidenceError),
    /// An allowance does not fit the world.
    #[error("allowed: {0}")]
    Allowance(ChangeError),
}

/// The reason for which no episode can make an expected change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The world has no such resource.
    #[error("the world has no resource `{0}`; use a qualified name")]
    Resource(String),
    /// The resource has no such field.
    #[error("the resource `{0}` has no field `{1}`")]
    Field(String, String),
    /// The field's type does not allow the value.
    #[error("`{0}.{1}` cannot be {2}: {3}")]
    Value(String, String, String, String),
    /// A check refers to a new record that no check creates.
    #[error(
        "a check refers to new record {0}, but none of the changes creates it; add a created change with this number"
    )]
    Unknown(u32),
    /// Two checks create the same new record.
    #[error("new record {0} is expected twice; number new records from 0, each once")]
    Twice(u32),
    /// The parts of a check contradict each other.
    #[error("{0}")]
    Kind(&'static str),
}

impl GradeError {
    pub(crate) const fn new(class: ErrorClass, message: String) -> Self {
        Self { class, message }
    }
}

/// Returns one error per class and API for the failed calls of a failed attempt.
pub(crate) fn find_call_errors(log: &[Arc<LogEntry>]) -> Vec<GradeError> {
    if log.is_empty() {
        return vec![GradeError::new(ErrorClass::NoApiCall, "no API was called".to_owned())];
    }
    let mut errors: Vec<GradeError> = Vec::new();
    for entry in log {
        if entry.reply.is_success() {
            continue;
        }
        let api = &entry.call.api;
        let unknown = entry.api.is_none() && api != TOOL_SEARCHER;
        let class = match entry.reply.status {
            _ if unknown => ErrorClass::ApiHallucination,
            400 | 422 if is_missing(entry) => ErrorClass::MissInputParameters,
            400 => ErrorClass::InvalidInputParameters,
            _ => ErrorClass::HasException,
        };
        let shown: String = api.chars().take(60).collect();
        let message = format!("{shown} answered {}", entry.reply.status);
        let error = GradeError::new(class, message);
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    errors
}

/// Returns true if a refused call lacks an argument: the reply names a parameter that the call does not have.
fn is_missing(entry: &LogEntry) -> bool {
    let named =
        entry.reply.body.member("parameter").and_then(|body| body.value()).and_then(|value| value.as_str());
    named.is_some_and(|name| !entry.call.arguments.contains_key(name))
}
