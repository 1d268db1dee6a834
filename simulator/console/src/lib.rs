//! Pages for a browser: worlds, sessions, the rows of a dataset and the episodes of a run.
//!
//! Owns how things look. It holds no logic of its own: sessions answer through the types that the HTTP API calls, datasets and
//! runs through the traits [`Rows`] and [`Runs`]. All text that is shown was written by others and is escaped.

mod access;
mod answer;
mod assets;
mod call_form;
mod changes;
mod compare_page;
mod layout;
mod links;
mod pieces;
mod routes;
mod rows;
mod rows_page;
mod runs;
mod runs_page;
mod session_page;
mod sessions_page;
mod state_page;
mod turns;
mod verdicts;
mod visit;
mod worlds_page;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use diorama_simulator::http::{App, Pages};

pub use self::rows::{Count, DatasetSummary, ReadError, Row, RowFilter, RowPage, RowSummary, Rows};
pub use self::runs::{Episode, EpisodeFilter, EpisodePage, EpisodeSummary, RunSummary, Runs, ShareInterval};
pub use self::turns::{Argument, CallTurn, Source, Speaker, Turn};

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

impl Pages for Console {
    fn answer(&self, app: &App, request: &Request<Bytes>) -> Response<Body> {
        routes::answer(self, app, request)
    }
}

#[cfg(test)]
mod tests;
