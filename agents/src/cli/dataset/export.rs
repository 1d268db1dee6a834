//! Owns the command `diorama dataset export`.

use std::path::PathBuf;

use clap::Args;
use diorama_output::export::{
    self, Answers, Arguments, Content, ExportError, Format, Options, Parallel, RowId, SearchForm, Source,
    export, write_lines,
};
use diorama_output::storage::Location;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::rows::{self, RowsArgs};
use crate::cli::{CommandEnd, Streams, terminal};
use crate::episode::Worlds;
use crate::mutants::WorldMutants;

/// Write a dataset's rows in another format, one JSON object per line.
///
/// Every line has the row's `id`. docs/exports.md lists the fields of each format, where its definition stands, and what it
/// has no place for.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Dataset: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    folder: Location,
    /// Format to write.
    #[arg(long, value_enum)]
    format: Format,
    /// How to write the arguments of calls [default: the format's own way].
    #[arg(long, value_enum)]
    arguments: Option<Arguments>,
    /// Content of assistant messages that only call [default: the format's own].
    #[arg(long, value_enum)]
    content: Option<Content>,
    /// How to write rows whose APIs are found by search [default: deferred where lines end at one message, dispatch for others].
    #[arg(long, value_enum)]
    searched: Option<SearchForm>,
    /// How goals end [default: prose]. Formats whose rows become rewards (prompt-only, nemo-gym, verl) are structured.
    #[arg(long, value_enum)]
    answers: Option<Answers>,
    /// How to write calls that are made together [default: keep].
    #[arg(long, value_enum)]
    parallel: Option<Parallel>,
    /// The id of the row in lines of the format openai [default: keep]. An upload to OpenAI takes no such member.
    #[arg(long, value_enum)]
    row_id: Option<RowId>,
    /// File to write; `-` is stdout. An existing file is replaced once the new one is complete, and its folder is made where it is missing.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Rows to write.
    #[command(flatten)]
    rows: RowsArgs,
}

impl Export {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let options = Options {
            format: self.format,
            arguments: self.arguments,
            content: self.content,
            searched: self.searched,
            answers: self.answers,
            parallel: self.parallel,
            row_id: self.row_id,
        };
        let folder = open_dataset(&self.folder)?;
        let selection = self.rows.selection();
        rows::check(&selection, &folder)?;
        let mutants = WorldMutants::new(Worlds::new(folder.clone()));
        let list_mutants = |row: &_| mutants.list(row);
        let source = Source { folder: &folder, selection: &selection, list_mutants: &list_mutants };
        let to_stdout = self.out.as_os_str() == "-";
        let done = match to_stdout {
            true => write_lines(&source, options, streams.out),
            false => export(&source, options, &self.out),
        };
        let done = done.map_err(|error| match error {
            ExportError::NoPlace { .. } => CliError::Usage(error.to_string()),
            ExportError::Line(error) => CliError::Output(error),
            other => CliError::Export(other),
        })?;
        let export::ExportCounts { rows, lines, left_out, goals_left_out, fault } = done;
        if rows == 0 {
            return Err(rows::make_no_rows_error(&folder));
        }
        let fault = fault.map(|fault| fault.to_string());
        let out = self.out.display().to_string();
        let data = json!({"rows": rows, "lines": lines, "left_out": left_out, "goals_left_out": goals_left_out,
            "fault": fault, "out": out});
        let text = || {
            let lines = if lines == rows { String::new() } else { format!(", {lines} lines") };
            let left_out = match left_out {
                0 => String::new(),
                some => format!(", {some} of them left out, for which the format has no line"),
            };
            let goals = match goals_left_out {
                0 => String::new(),
                some => format!("; {some} goals of rows with lines have none"),
            };
            let fault = fault.map(|fault| format!("\nThe first with a fault: {fault}")).unwrap_or_default();
            format!("{rows} rows{lines}{left_out}{goals}{fault}\n{out}\n")
        };
        if to_stdout {
            streams.out.flush()?;
            terminal::note(streams, text().trim_end());
        } else {
            streams.print(&data, text)?;
        }
        Ok(CommandEnd::Met)
    }
}
