//! `diorama dataset view`

use std::fmt::Write as _;

use clap::Args;
use diorama_output::row::{Dialogue, Role, Split, ability_name};
use diorama_output::storage::Location;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::{Done, Streams};

/// Print rows as readable conversations.
#[derive(Debug, Args)]
pub(super) struct View {
    /// Dataset: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    folder: Location,
    /// Maximum rows to print.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    limit: usize,
    /// Rows to skip before the first one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Id of a row to print. Repeatable [default: all].
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// Split of the rows: train or test [default: both].
    #[arg(long, value_name = "SPLIT")]
    split: Option<Split>,
    /// Tag that the rows must have [default: any].
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Maximum characters to print per reply.
    #[arg(long, value_name = "N", default_value_t = 400)]
    width: usize,
}

impl View {
    /// Runs the command.
    ///
    /// # Errors
    /// When the dataset cannot be read, or no row is as asked for.
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let wanted = |row: &Dialogue| {
            (self.id.is_empty() || self.id.contains(&row.id))
                && self.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
        };
        let folder = open_dataset(&self.folder)?;
        // An error is no row to skip: it ends the command.
        let rows = folder.rows_of_split(self.split).filter(|row| row.as_ref().map_or(true, wanted));
        let rows = rows.skip(self.skip).take(self.limit.max(self.id.len()));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            let folder = &self.folder;
            return Err(CliError::Empty(format!(
                "found no such row in {folder}; give another --id, --split, --tag or --skip"
            )));
        }
        let text = |row: &Dialogue| conversation(row, self.width);
        streams.print(&rows, || rows.iter().map(text).collect::<Vec<_>>().join("\n"))?;
        Ok(Done::Met)
    }
}

/// A row in plain text: its labels, then who says or calls what.
pub(in crate::cli) fn conversation(row: &Dialogue, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {}  depth {}  {}  {}",
        row.id,
        ability_name(row.ability),
        row.depth,
        row.domains.join(", "),
        row.tags.join(", ")
    );
    for message in &row.messages {
        let content = message.content.as_deref().unwrap_or_default();
        match message.role {
            Role::System => line(&mut text, "SYSTEM", content),
            Role::User => line(&mut text, "USER", content),
            Role::Tool => line(&mut text, "  ->", &shortened(content, width)),
            Role::Assistant => {
                if !content.is_empty() {
                    line(&mut text, "ASSISTANT", content);
                }
                for call in &message.tool_calls {
                    line(&mut text, "  CALL", &format!("{} {}", call.function.name, call.function.arguments));
                }
            }
        }
    }
    text
}

fn line(text: &mut String, speaker: &str, content: &str) {
    let _ = writeln!(text, "  {speaker}: {}", content.replace('\n', "\n      "));
}

pub(in crate::cli) fn shortened(content: &str, width: usize) -> String {
    match content.char_indices().nth(width) {
        Some((end, _)) => format!("{} ...", &content[..end]),
        None => content.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_reply_is_cut_between_characters() {
        assert_eq!(shortened("Größe", 3), "Grö ...");
        assert_eq!(shortened("Größe", 5), "Größe");
    }
}
