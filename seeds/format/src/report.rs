//! Findings about a document, each with a place and a correction.

use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The world cannot run.
    Error,
    /// The world runs, and something in it is probably a mistake.
    Warning,
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Place in the document: `apis[3].behaviour.require[0].that`. Names that are not identifiers stand in
    /// brackets and quotes: `apis[0].parameters["vote.gte"]`.
    pub path: String,
    /// The file, where it is another one than the report's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<str>>,
    /// Line in the text, from 1, where it is known.
    pub line: Option<u32>,
    /// Column in the text, in characters from 1, where it is known.
    pub column: Option<u32>,
    /// Byte inside the text at `path` (an expression) that the finding is about.
    #[serde(skip)]
    pub offset: Option<u32>,
    /// A message that names the value found and the value expected.
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

    /// The same finding at a place in the text.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

/// Findings about one document. As an error it stands for a document that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Report {
    /// The file, or the world where there is no file.
    pub name: String,
    /// The findings, in the order of the document where lines are known.
    pub findings: Vec<Finding>,
}

impl Report {
    /// A report of one error.
    pub fn one(name: &str, finding: Finding) -> Self {
        Self { name: name.to_owned(), findings: vec![finding] }
    }

    /// How many findings are errors.
    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }
}

/// `file:line:column: message`, then the fix on a line of its own.
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

/// The finding without its file and line.
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
