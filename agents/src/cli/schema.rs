//! Owns the command `diorama schema`.

use clap::{Args, ValueEnum};

use super::error::CliError;
use super::{CommandEnd, Streams};

/// Print a JSON Schema.
#[derive(Debug, Args)]
pub struct Schema {
    /// Kind of document that the schema describes.
    #[arg(value_enum)]
    pub of: SchemaKind,
}

/// A format that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// A world document.
    World,
    /// A candidate, for `check` and `POST /v1/check`.
    Candidate,
    /// A row of a dataset, as a line of `dataset export --format jsonl`.
    Dialogue,
    /// The task of a row: the columns `checks` and `gold_calls`.
    Task,
}

impl Schema {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let schema = match self.of {
            SchemaKind::World => diorama_seeds::check::json_schema(),
            SchemaKind::Candidate => diorama_proof::candidate::json_schema(),
            SchemaKind::Dialogue => diorama_output::columns::json_schema(),
            SchemaKind::Task => diorama_seeds::task::json_schema(),
        };
        streams.print(&schema, || {
            serde_json::to_string_pretty(&schema).map(|text| text + "\n").unwrap_or_default()
        })?;
        Ok(CommandEnd::Met)
    }
}
