//! Owns the command `diorama eval show`, which shows stored runs in a browser.

use std::path::PathBuf;

use clap::Args;
use diorama_console::Console;
use diorama_output::storage::Location;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::pages::serve_pages;
use crate::cli::{CommandEnd, Streams};
use crate::console::{DatasetRows, StoredRuns};

/// Show runs that `eval --out` kept in a browser. Runs nothing.
///
/// Prints the address, which this machine alone reaches. With --tasks it also shows success by domain, ability and tag, and the
/// reference beside each episode.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Folders of the runs.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Dataset that holds the tasks: a folder or a URL (s3://, gs://, az://).
    #[arg(long, value_name = "LOCATION")]
    tasks: Option<Location>,
    /// Port to listen on. 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8082)]
    port: u16,
}

impl Show {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let runs = open_runs(&self.runs, self.tasks.as_ref())?;
        serve_pages(Console::default().with_runs(Box::new(runs)), self.port, "runs", streams)
    }
}

/// Opens runs and, if `tasks` is set, the dataset with their tasks.
///
/// # Errors
/// Returns an error if a folder holds no run, or if the dataset cannot be read.
pub(super) fn open_runs(runs: &[PathBuf], tasks: Option<&Location>) -> Result<StoredRuns, CliError> {
    let open = |location| DatasetRows::open(open_dataset(location)?);
    StoredRuns::open(runs, tasks.map(open).transpose()?)
}
