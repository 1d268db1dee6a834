//! Owns the pages for a browser: worlds, sessions, the rows of a dataset and the episodes of a run.
//!
//! It has the presentation alone. Sessions answer through the types of the HTTP API, datasets and runs
//! through the traits [`Rows`] and [`Runs`]. The shown texts come from others and are escaped.

mod access;
mod answer;
mod assets;
mod call_form;
mod changes;
mod compare_page;
mod console;
mod export;
mod flow_page;
mod layout;
mod links;
mod pieces;
mod routes;
mod rows;
mod rows_page;
mod run_comparison_page;
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

pub use self::console::Console;
pub use self::rows::{Count, DatasetSummary, ReadError, Row, RowFilter, RowPage, RowSummary, Rows};
pub use self::runs::{
    Episode, EpisodeFilter, EpisodePage, EpisodePair, EpisodeSummary, PassRate, RunComparison, RunSummary,
    Runs, ShareInterval,
};
pub use self::turns::{Argument, CallTurn, Source, Speaker, Turn};

impl Pages for Console {
    fn answer(&self, app: &App, request: &Request<Bytes>) -> Response<Body> {
        routes::answer(self, app, request)
    }
}

impl Console {
    /// Writes the pages of the runs as files that open without a server, beginning with `index.html`. `write`
    /// gets the name and the text of each. Returns the number of pages.
    ///
    /// # Errors
    /// Returns an error if a page cannot be made, or if `write` fails.
    pub fn write_runs(
        &self,
        app: &App,
        write: &mut dyn FnMut(&str, &str) -> std::io::Result<()>,
    ) -> std::io::Result<usize> {
        export::write_runs(self, app, write)
    }
}

#[cfg(test)]
mod tests;
