//! Owns the command `diorama dataset merge`.

use clap::Args;
use diorama_output::merge::{MergeError, MergedDataset, merge};
use diorama_output::storage::Location;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::files::open_storage;
use crate::cli::{CommandEnd, Streams};

/// Complete a dataset that shards have written.
///
/// Reads the markers that `generate --shard` leaves, and no row. Writes the dataset card, then the manifest: the result has
/// the same bytes as a run without shards. Names shards that have not finished, and exits with 3 then.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Place that all shards wrote to: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    place: Location,
}

impl Merge {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let place = self.place.to_string();
        match merge(&open_storage(&self.place)?) {
            Ok(MergedDataset { summary, shards }) => {
                let data = json!({
                    "dialogues": summary.counts.dialogues,
                    "worlds": summary.worlds.len(),
                    "skeletons": summary.skeleton_count,
                    "shards": shards,
                    "out": place,
                });
                streams.print(&data, || {
                    let of = match shards {
                        Some(shards) => format!("of {shards} shards"),
                        None => "in a dataset that was complete already".to_owned(),
                    };
                    format!("{} dialogues {of}\n{place}\n", summary.counts.dialogues)
                })?;
                Ok(CommandEnd::Met)
            }
            Err(error) => {
                let MergeError::Missing { missing, count } = &error else { return Err(error.into()) };
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                let data = json!({ "missing": missing, "shards": count, "out": place });
                streams.print(&data, || format!("{error}\n"))?;
                Ok(CommandEnd::NotMet)
            }
        }
    }
}
