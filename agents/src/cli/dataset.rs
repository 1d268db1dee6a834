//! Owns the command `diorama dataset`.

mod export;
mod merge;
mod stats;
pub mod verify;
pub(super) mod view;

use clap::{Args, Subcommand};

use super::error::CliError;
use super::{CommandEnd, Streams};

/// View, verify, measure, merge and export datasets.
#[derive(Debug, Args)]
pub struct DatasetCommand {
    /// The subcommand.
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Verify a dataset: replay every row from its files alone.
    Verify(verify::Verify),
    /// Measure a dataset: counts, diversity and the funnel of the gates.
    Stats(stats::StatsArgs),
    /// Complete a dataset that shards have written.
    Merge(merge::Merge),
    /// Export a dataset's rows in another format.
    Export(export::Export),
    /// Print rows as readable conversations, or show all rows in a browser.
    View(view::View),
}

impl DatasetCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        match self.command {
            Action::Verify(command) => command.run(streams),
            Action::Stats(command) => command.run(streams),
            Action::Merge(command) => command.run(streams),
            Action::Export(command) => command.run(streams),
            Action::View(command) => command.run(streams),
        }
    }
}
