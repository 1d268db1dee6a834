//! Owns the last lines of `generate`: the number of rows, and on a terminal a row and the next commands.

use std::io::IsTerminal as _;

use diorama_output::row::Dialogue;
use diorama_output::storage::Location;

use crate::cli::dataset::view::{conversation, shortened};
use crate::cli::files::open_dataset;

/// Number of rows among which the shortest is chosen.
const ROWS_READ: usize = 50;
/// Maximum number of printed lines of the row, and of characters per line.
const MAX_LINES: usize = 12;
const MAX_LINE_CHARS: usize = 110;

/// Returns the number of rows, their location and the speed. On a terminal, a row and the next commands
/// follow.
pub(super) fn closing(rows: u64, out: &Location, seconds: f64) -> String {
    let speed = if seconds > 0.0 { rows as f64 / seconds } else { 0.0 };
    let sample = if std::io::stdout().is_terminal() { sample(out) } else { String::new() };
    format!("{rows} dialogues in {out} ({seconds:.1} s, {speed:.0} a second)\n{sample}")
}

/// Returns a row of a dataset and the next commands. The text is empty if no row can be read.
fn sample(out: &Location) -> String {
    let rows =
        open_dataset(out).ok().map(|folder| folder.rows().take(ROWS_READ).flatten().collect::<Vec<_>>());
    rows.as_deref().and_then(short_row).map_or_else(String::new, |row| text(row, out))
}

/// Returns the row with the fewest messages among those that call an API.
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
        "\nOne of the rows:\n{row}\n\nNext:\n  diorama dataset view {out}\n  diorama dataset export {out} --split train --format trl --answers structured --out rows.jsonl\n  \
         diorama eval {out} --agent oracle\n"
    )
}
