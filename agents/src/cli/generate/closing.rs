//! What `generate` prints last on a terminal: one of the rows, and what to do next.

use std::io::IsTerminal as _;

use diorama_output::row::Dialogue;
use diorama_output::storage::Location;

use crate::cli::dataset::view::{conversation, shortened};
use crate::cli::files::open_dataset;

/// Rows among which a short one is looked for.
const ROWS_READ: usize = 50;
/// Lines of the row that are printed, and characters of each.
const MAX_LINES: usize = 12;
const MAX_LINE_CHARS: usize = 110;

/// Returns a row of a finished dataset and the commands that follow. Returns nothing where stdout is no terminal, or no row can be
/// read.
pub(super) fn closing(out: &Location) -> String {
    if !std::io::stdout().is_terminal() {
        return String::new();
    }
    let rows =
        open_dataset(out).ok().map(|folder| folder.rows().take(ROWS_READ).flatten().collect::<Vec<_>>());
    rows.as_deref().and_then(short_row).map_or_else(String::new, |row| text(row, out))
}

/// The row with the fewest messages among those that call an API.
fn short_row(rows: &[Dialogue]) -> Option<&Dialogue> {
    let calls = |row: &&Dialogue| row.messages.iter().any(|message| !message.tool_calls.is_empty());
    rows.iter().filter(calls).min_by_key(|row| row.messages.len())
}

fn text(row: &Dialogue, out: &Location) -> String {
    let all = conversation(row, MAX_LINE_CHARS);
    let mut lines: Vec<String> =
        all.lines().take(MAX_LINES).map(|line| shortened(line, MAX_LINE_CHARS)).collect();
    if all.lines().count() > MAX_LINES {
        lines.push("  ...".to_owned());
    }
    let row = lines.join("\n");
    format!(
        "\nOne of the rows:\n{row}\n\nNext:\n  diorama dataset view {out}\n  diorama dataset export {out} --split train --format trl --arguments string --answers structured --out rows.jsonl\n  \
         diorama eval {out} --agent oracle\n"
    )
}
