//! The errors of a program.

/// Values that are made or looked at, and bytes of text among them.
pub(super) const MAX_STEPS: usize = 2_000_000;

/// The reason for which a program has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JqError {
    /// It cannot be read.
    #[error("{0}")]
    Program(String),
    /// It fails on this value.
    #[error("{0}")]
    Value(String),
    /// It takes too long, or makes too much.
    #[error("the program takes more than {MAX_STEPS} steps; ask for less")]
    Bound,
}

pub(super) fn fails<T>(what: impl Into<String>) -> Result<T, JqError> {
    Err(JqError::Value(what.into()))
}

pub(super) fn unknown<T>(what: impl std::fmt::Display) -> Result<T, JqError> {
    Err(JqError::Program(format!(
        "{what} cannot be used here; use paths, select, map, sort_by, group_by, add, length, join and such"
    )))
}
