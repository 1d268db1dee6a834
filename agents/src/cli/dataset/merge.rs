//! `diorama dataset merge`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::{Done, Streams};

/// Join the folders of shards into one dataset.
///
/// Every shard of the run must be there, made with the same settings. The result has the same bytes as a run without
/// shards.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Folders made by `diorama generate --shard`.
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// Folder for the dataset; must be new or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Merge {
    /// Runs the command.
    ///
    /// # Errors
    /// When the shards do not make a whole, or the dataset cannot be written.
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let summary = diorama_output::merge::merge(&self.shards, &self.out)?;
        let data = json!({
            "dialogues": summary.counts.dialogues,
            "worlds": summary.worlds.len(),
            "shards": self.shards.len(),
            "out": self.out.display().to_string(),
        });
        streams.print(&data, || {
            format!(
                "{} dialogues of {} shards\n{}\n",
                summary.counts.dialogues,
                self.shards.len(),
                self.out.display()
            )
        })?;
        Ok(Done::Met)
    }
}
