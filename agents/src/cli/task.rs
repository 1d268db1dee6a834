//! Owns the command `diorama task`.

pub mod check;
mod grade;

use clap::{Args, Subcommand};

use super::error::CliError;
use super::{CommandEnd, Streams};

/// Check proposed tasks against the six gates, and measure the grader.
#[derive(Debug, Args)]
pub struct TaskCommand {
    /// The subcommand.
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check candidates: print the verdict of each gate.
    Check(check::Check),
    /// Grade labelled episodes and print how often the grader errs.
    Grade(grade::Grade),
}

impl TaskCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        match self.command {
            Action::Check(command) => command.run(streams),
            Action::Grade(command) => command.run(streams),
        }
    }
}
