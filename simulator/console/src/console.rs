//! Owns the dataset and the runs that a console shows beside the worlds and sessions of its server.

use crate::rows::{DatasetSummary, Rows};
use crate::runs::Runs;

/// Pages of a server.
#[derive(Default)]
pub struct Console {
    rows: Option<Box<dyn Rows>>,
    second_dataset: Option<DatasetSummary>,
    runs: Option<Box<dyn Runs>>,
}

impl Console {
    /// Adds the rows of a dataset.
    #[must_use]
    pub fn with_rows(self, rows: Box<dyn Rows>) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Adds the summary of another dataset, which stands beside that of the rows.
    #[must_use]
    pub fn with_second_dataset(self, second: DatasetSummary) -> Self {
        Self { second_dataset: Some(second), ..self }
    }

    /// Adds stored runs.
    #[must_use]
    pub fn with_runs(self, runs: Box<dyn Runs>) -> Self {
        Self { runs: Some(runs), ..self }
    }

    pub(crate) fn runs(&self) -> Option<&dyn Runs> {
        self.runs.as_deref()
    }

    pub(crate) const fn second_dataset(&self) -> Option<&DatasetSummary> {
        self.second_dataset.as_ref()
    }

    pub(crate) fn rows(&self) -> Option<&dyn Rows> {
        self.rows.as_deref()
    }
}
