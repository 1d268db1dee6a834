//! `diorama export`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use diorama_output::export::{Format, export};
use diorama_output::folder::Folder;
use diorama_output::row::Split;
use serde_json::json;

use super::error::CliError;
use super::{Done, Streams};

/// Write a dataset's rows in another format, one JSON object per line.
#[derive(Debug, Args)]
pub struct Export {
    /// The dataset's folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The format.
    #[arg(long, value_enum)]
    pub format: FormatName,
    /// Only rows of this split: train or test.
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,
    /// The file to write; one that is there is replaced when the new one is complete.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// The rows as they are, all columns.
    Jsonl,
    /// Conversational messages and tools for TRL; arguments as mappings.
    Trl,
    /// OpenAI's format for fine-tuning.
    Openai,
    /// ShareGPT's turns with tools.
    Sharegpt,
}

impl Export {
    /// Runs the command.
    ///
    /// # Errors
    /// When rows cannot be read or the file cannot be written.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let format = match self.format {
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Trl => Format::Trl,
            FormatName::Openai => Format::Openai,
            FormatName::Sharegpt => Format::Sharegpt,
        };
        let split = self.split.as_deref().map(str::parse::<Split>).transpose();
        let split = split.map_err(|error| CliError::Usage(error.to_string()))?;
        let rows = export(&Folder::open(&self.folder)?, format, split, &self.out)?;
        let data = json!({ "rows": rows, "out": self.out.display().to_string() });
        streams.print(&data, || format!("{rows} rows\n{}\n", self.out.display()))?;
        Ok(Done::Met)
    }
}
