//! The dataset and the runs that a console shows beside the worlds and sessions of its server.

use crate::rows::Rows;
use crate::runs::Runs;

/// The pages of a server.
#[derive(Default)]
pub struct Console {
    rows: Option<Box<dyn Rows>>,
    runs: Option<Box<dyn Runs>>,
}

impl Console {
    /// Shows the rows of a dataset, too.
    #[must_use]
    pub fn with_rows(self, rows: Box<dyn Rows>) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Shows stored runs, too.
    #[must_use]
    pub fn with_runs(self, runs: Box<dyn Runs>) -> Self {
        Self { runs: Some(runs), ..self }
    }

    pub(crate) fn runs(&self) -> Option<&dyn Runs> {
        self.runs.as_deref()
    }

    pub(crate) fn rows(&self) -> Option<&dyn Rows> {
        self.rows.as_deref()
    }
}
