//! Owns the errors of verification.

use crate::episode::EpisodeError;

/// First mismatch of a row.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The row or its world cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A stored value differs from the replay's.
    #[error("{what}: found {found}, the replay gives {expected}")]
    Differs {
        /// Name of the value.
        what: String,
        /// Stored value.
        found: String,
        /// Value of the replay.
        expected: String,
    },
    /// A column contradicts another.
    #[error("{column}: {what}")]
    Column {
        /// Name of the column.
        column: &'static str,
        /// Found and expected value.
        what: String,
    },
    /// The reference solution fails the checks, or another solution passes them.
    #[error("checks: {0}")]
    Checks(String),
}

pub(super) fn column(column: &'static str, what: impl Into<String>) -> VerifyError {
    VerifyError::Column { column, what: what.into() }
}

pub(super) fn same(what: &str, found: &str, expected: &str) -> Result<(), VerifyError> {
    if found == expected {
        return Ok(());
    }
    let short = |text: &str| -> String {
        let cut: String = text.chars().take(120).collect();
        if cut.len() < text.len() { format!("{cut}…") } else { cut }
    };
    Err(VerifyError::Differs { what: what.to_owned(), found: short(found), expected: short(expected) })
}
