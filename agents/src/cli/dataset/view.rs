//! Owns the command `diorama dataset view`.

use std::fmt::Write as _;

use clap::Args;
use diorama_console::Console;
use diorama_output::folder::Selection;
use diorama_output::row::{Dialogue, Role, ability_name};
use diorama_output::storage::Location;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::pages::serve_pages;
use crate::cli::rows::{self, RowsArgs};
use crate::cli::{CommandEnd, Streams};
use crate::console::{DatasetRows, summarise};

/// Number of rows to print by default.
const USUAL_ROWS: usize = 3;

/// Print rows as readable conversations, or show all rows in a browser.
#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.help("Maximum rows, the first ones [default: 3, or those of --id]")))]
pub(super) struct View {
    /// Dataset: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    folder: Location,
    /// Rows to skip before the first one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Rows to print.
    #[command(flatten)]
    rows: RowsArgs,
    /// Maximum characters to print per reply.
    #[arg(long, value_name = "N", default_value_t = 400)]
    width: usize,
    /// Show the rows in a browser: filters, counts, the source of each argument. Prints the address, which this machine alone reaches.
    #[arg(long, conflicts_with_all = ["skip", "width", "split", "domain", "ability", "tag", "difficulty", "id", "limit"])]
    web: bool,
    /// With --web: another dataset, whose counts stand beside those of the first.
    #[arg(long, value_name = "LOCATION", requires = "web")]
    beside: Option<Location>,
    /// With --web: port to listen on. 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8081, requires = "web")]
    port: u16,
}

impl View {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let folder = open_dataset(&self.folder)?;
        if self.web {
            let console = Console::default().with_rows(Box::new(DatasetRows::open(folder)?));
            let (console, first) = match &self.beside {
                Some(other) => (console.with_second_dataset(summarise(&open_dataset(other)?)), "dataset"),
                None => (console, "rows"),
            };
            return serve_pages(console, self.port, first, streams);
        }
        let usual = if self.rows.id.is_empty() { USUAL_ROWS } else { self.rows.id.len() };
        let limit = self.rows.limit.unwrap_or(usual);
        let selection = Selection { limit: Some(self.skip.saturating_add(limit)), ..self.rows.selection() };
        rows::check(&selection, &folder)?;
        let rows = folder.select(&selection).skip(self.skip).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(rows::make_no_rows_error(&folder));
        }
        let text = |row: &Dialogue| conversation(row, self.width);
        streams.print(&rows, || rows.iter().map(text).collect::<Vec<_>>().join("\n"))?;
        Ok(CommandEnd::Met)
    }
}

/// Formats a row as plain text: its labels, then its messages and calls.
pub(in crate::cli) fn conversation(row: &Dialogue, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {}{}  depth {}  {}  {}",
        row.id,
        ability_name(row.ability),
        row.difficulty.map_or_else(String::new, |band| format!("  {band}")),
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
