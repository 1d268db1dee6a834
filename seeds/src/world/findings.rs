//! Owns a bounded list of findings, which is filled during the walk over a document.

use std::fmt::Display;

use crate::expr::ExprError;
use diorama_format::{Finding, Severity};

/// Maximum number of findings of one report.
const MAX_FINDINGS: usize = 500;

/// Adds an error with its path, the found and expected values, and the correction. Both texts are format
/// strings with their own values: `error!(findings, path.name("scale") => "found {scale}, expected 0 to 9";
/// "use fewer decimal places")`.
macro_rules! error {
    ($findings:expr, $path:expr => $message:literal $(, $value:expr)*; $fix:literal $(, $other:expr)*) => {
        $findings.error($path, format!($message $(, $value)*), format!($fix $(, $other)*))
    };
}

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    hidden: usize,
    errors: usize,
}

impl Findings {
    pub(crate) fn error(&mut self, path: impl Display, message: impl Into<String>, fix: impl Into<String>) {
        self.errors += 1;
        self.push(|| Finding::error(path.to_string(), message, fix));
    }

    pub(crate) fn warning(&mut self, path: impl Display, message: impl Into<String>, fix: impl Into<String>) {
        self.push(|| Finding::warning(path.to_string(), message, fix));
    }

    fn push(&mut self, finding: impl FnOnce() -> Finding) {
        if self.is_full() {
            self.hidden += 1;
        } else {
            self.list.push(finding());
        }
    }

    /// Adds an error inside the text at the path. `at` is its byte offset.
    pub(crate) fn error_at(
        &mut self,
        path: impl Display,
        at: usize,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let before = self.list.len();
        self.error(path, message, fix);
        if let Some(finding) = self.list.get_mut(before) {
            finding.offset = u32::try_from(at).ok();
        }
    }

    pub(crate) fn expression(&mut self, path: impl Display, error: &ExprError) {
        let fix = "see the section Expressions of docs/world-format.md";
        self.error_at(path, error.offset, error.message.clone(), fix);
    }

    pub(crate) const fn errors(&self) -> usize {
        self.errors
    }

    pub(crate) const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns true if further findings are only counted.
    pub(crate) const fn is_full(&self) -> bool {
        self.list.len() >= MAX_FINDINGS
    }

    pub(crate) fn into_list(mut self) -> Vec<Finding> {
        if self.hidden > 0 {
            let severity = if self.errors > 0 { Severity::Error } else { Severity::Warning };
            let message = format!("{} more findings are not shown", self.hidden);
            self.list.push(Finding { severity, ..Finding::error("", message, "mend those above first") });
        }
        self.list
    }
}
