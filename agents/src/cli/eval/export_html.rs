//! Owns the command `diorama eval export-html`, which writes the pages of stored runs as files.

use std::path::PathBuf;

use clap::Args;
use diorama_console::Console;
use diorama_output::storage::Location;
use serde_json::json;

use super::show::open_runs;
use crate::cli::error::CliError;
use crate::cli::pages::unserved;
use crate::cli::{CommandEnd, Streams};

/// Write runs that `eval --out` kept as pages that open from a disk or a page host. Runs nothing.
///
/// The pages are those of `eval show`, beginning with `index.html`.
#[derive(Debug, Args)]
pub(super) struct ExportHtml {
    /// Folders of the runs.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Dataset that holds the tasks: a folder or a URL (s3://, gs://, az://).
    #[arg(long, value_name = "LOCATION")]
    tasks: Option<Location>,
    /// Folder for the pages. It must be new or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl ExportHtml {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let runs = open_runs(&self.runs, self.tasks.as_ref())?;
        std::fs::create_dir_all(&self.out)?;
        if std::fs::read_dir(&self.out)?.next().is_some() {
            let shown = self.out.display();
            return Err(CliError::Usage(format!(
                "--out: found files in {shown}, expected a new or empty folder"
            )));
        }
        let console = Console::default().with_runs(Box::new(runs));
        let mut write = |name: &str, text: &str| std::fs::write(self.out.join(name), text);
        let pages = console.write_runs(&*unserved("http://127.0.0.1")?, &mut write)?;
        let first = self.out.join("index.html").display().to_string();
        streams.print(&json!({"pages": pages, "first": first}), || {
            format!("{pages} pages, the first is {first}\n")
        })?;
        Ok(CommandEnd::Met)
    }
}
