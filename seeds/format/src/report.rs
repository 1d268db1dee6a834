//! Findings about a document, each with a position and a fix.

use std::fmt;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The world cannot run.
    Error,
    /// The world runs, and something in it is probably a mistake.
    Warning,
}

/// A fault of a document, with its position and its fix.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// An error prevents a run; a warning does not.
    pub severity: Severity,
    /// Path in the document. Example: `apis[3].behaviour.require[0].that`. Names that are not identifiers are
    /// quoted in brackets: `apis[0].parameters["vote.gte"]`.
    pub path: String,
    /// The file, if it is not the report's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<str>>,
    /// Line in the text, from 1, if known.
    pub line: Option<u32>,
    /// Column in the text, in characters from 1, if known.
    pub column: Option<u32>,
    /// Byte offset of the fault inside the expression at `path`.
    #[serde(skip)]
    pub offset: Option<u32>,
    /// A message with the found and the expected value.
    pub message: String,
    /// The suggested correction.
    pub fix: String,
}

impl Finding {
    /// Makes an error.
    pub fn error(path: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::of(Severity::Error, path, message, fix)
    }

    /// Makes a warning.
    pub fn warning(path: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::of(Severity::Warning, path, message, fix)
    }

    fn of(
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            path: path.into(),
            file: None,
            line: None,
            column: None,
            offset: None,
            message: message.into(),
            fix: fix.into(),
        }
    }

    /// Returns the finding with a line and a column.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

/// Findings about one document. As an error, it means that the document cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Report {
    /// The file, or the world's name if there is no file.
    pub name: String,
    /// The findings, in document order if their lines are known.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Makes a report of one finding.
    pub fn one(name: &str, finding: Finding) -> Self {
        Self { name: name.to_owned(), findings: vec![finding] }
    }

    /// Counts the findings that are errors.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }
}

/// Writes `file:line:column: message`, then the fix on the next line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            f.write_str(finding.file.as_deref().unwrap_or(&self.name))?;
            if let Some(line) = finding.line {
                write!(f, ":{line}:{}", finding.column.unwrap_or(1))?;
            }
            write!(f, ": {finding}")?;
        }
        Ok(())
    }
}

/// Writes the finding without its file and line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, "\n  fix: {}", self.fix) }
    }
}
