//! Errors of attempts and of checks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::evidence::EvidenceError;
use super::fact::FactError;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;

/// What is wrong with an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeError {
    /// The class.
    pub class: ErrorClass,
    /// What exactly, for people.
    pub message: String,
}

/// Classes of errors. The last five are API-Bank's, diagnosed from the calls of an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// An expected fact was not given.
    MissingFact,
    /// An expected fact was given another value.
    Contradiction,
    /// No reply of the episode shows what was given.
    NoEvidence,
    /// An expected change was not made.
    MissingChange,
    /// A changed record has another value.
    WrongValue,
    /// Something was changed that nobody asked to change.
    CollateralDamage,
    /// Something was changed before the user had asked for it.
    PrematureChange,
    /// Something was changed after the goal that asks for it had ended.
    LateChange,
    /// A rule of a told policy was broken, or a change was made before a reply showed what the rule depends on.
    PolicyViolation,
    /// The episode has more calls and replies than can be judged.
    TooLong,
    /// A goal of the conversation was not reached.
    MissingGoal,
    /// The episode ended in another way.
    WrongOutcome,
    /// No API was called.
    NoApiCall,
    /// An API was called that does not exist, or that the agent had not seen.
    ApiHallucination,
    /// An argument is wrong.
    InvalidInputParameters,
    /// A required argument is missing.
    MissInputParameters,
    /// The API refused the call or failed.
    HasException,
}

/// Why checks are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The format is not known.
    #[error("checks of version {found} cannot be graded, expected version {expected}")]
    Version {
        /// What was there.
        found: u32,
        /// What is known.
        expected: u32,
    },
    /// Nothing is said of how the conversation ends.
    #[error("checks without a goal pass nothing; say how each goal must end")]
    NoGoal,
    /// A change of a goal that is not there.
    #[error("a change is asked for in goal {found}, expected a goal below {goals}")]
    Goal {
        /// The goal that was named.
        found: u32,
        /// How many goals there are.
        goals: usize,
    },
    /// A policy of a domain that is not there.
    #[error("policy: the world has no domain `{0}`")]
    Policy(String),
    /// Anything would pass.
    #[error(
        "the checks expect neither a change nor a fact nor evidence, so doing nothing would pass; say what must be shown"
    )]
    PassesAnything,
    /// A fact without evidence.
    #[error("the {0} has no evidence, so a guess would pass; name where a reply shows it")]
    Unevidenced(String),
    /// A reason for a refusal where none is expected.
    #[error("a goal gives classes of refusal, but does not end refused")]
    Refusal,
    /// A fact that cannot be read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// A change that cannot be compared.
    #[error("changes: {0}")]
    Change(#[from] ChangeError),
    /// Evidence that cannot be found.
    #[error("evidence: {0}")]
    Evidence(#[from] EvidenceError),
    /// An allowance that is none.
    #[error("allowed: {0}")]
    Allowance(ChangeError),
}

/// Why an expected change can never be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// A resource that is not there.
    #[error("the world has no resource `{0}`; use a qualified name")]
    Resource(String),
    /// A field that is not there.
    #[error("the resource `{0}` has no field `{1}`")]
    Field(String, String),
    /// A value that the field cannot have.
    #[error("`{0}.{1}` cannot be {2}: {3}")]
    Value(String, String, String, String),
    /// A new record that is not expected.
    #[error(
        "a check refers to new record {0}, but none of the changes creates it; add a created change with this number"
    )]
    Unknown(u32),
    /// A new record that is expected twice.
    #[error("new record {0} is expected twice; number new records from 0, each once")]
    Twice(u32),
    /// A combination without meaning.
    #[error("{0}")]
    Kind(&'static str),
}

impl GradeError {
    pub(crate) const fn new(class: ErrorClass, message: String) -> Self {
        Self { class, message }
    }
}

/// What the calls of a failed attempt ran into, each class once for each API.
pub(crate) fn of_calls(log: &[Arc<LogEntry>]) -> Vec<GradeError> {
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

/// Whether a refused call lacks an argument: the reply names a parameter that the call does not have.
fn is_missing(entry: &LogEntry) -> bool {
    let named =
        entry.reply.body.member("parameter").and_then(|body| body.value()).and_then(|value| value.as_str());
    named.is_some_and(|name| !entry.call.arguments.contains_key(name))
}
