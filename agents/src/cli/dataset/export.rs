//! `diorama dataset export`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use diorama_output::export::{
    self, Answers, Arguments, Content, Format, Options, Parallel, RowId, Searched, Source, export,
};
use diorama_output::storage::Location;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::rows::{self, RowsArgs};
use crate::cli::{Done, Streams};
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
    format: FormatName,
    /// How to write the arguments of calls [default: the format's own way].
    #[arg(long, value_enum)]
    arguments: Option<ArgumentsName>,
    /// Content of assistant messages that only call [default: the format's own].
    #[arg(long, value_enum)]
    content: Option<ContentName>,
    /// How to write rows whose APIs are found by search [default: deferred where lines end at one message, dispatch for others].
    #[arg(long, value_enum)]
    searched: Option<SearchedName>,
    /// How goals end [default: prose]. Formats whose rows become rewards (prompt-only, nemo-gym, verl) are structured.
    #[arg(long, value_enum)]
    answers: Option<AnswersName>,
    /// How to write calls that are made together [default: keep].
    #[arg(long, value_enum)]
    parallel: Option<ParallelName>,
    /// The id of the row in lines of the format openai [default: keep]. An upload to OpenAI takes no such member.
    #[arg(long, value_enum)]
    row_id: Option<RowIdName>,
    /// File to write. An existing file is replaced once the new one is complete.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Rows to write.
    #[command(flatten)]
    rows: RowsArgs,
}

/// How goals end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AnswersName {
    /// With a call of `finish`.
    Structured,
    /// With a message.
    Prose,
}

impl From<AnswersName> for Answers {
    fn from(name: AnswersName) -> Self {
        match name {
            AnswersName::Structured => Self::Structured,
            AnswersName::Prose => Self::Prose,
        }
    }
}

/// The form of calls that are made together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ParallelName {
    /// One message has all of them.
    Keep,
    /// Each has a message of its own, with its reply after it.
    Split,
}

impl From<ParallelName> for Parallel {
    fn from(name: ParallelName) -> Self {
        match name {
            ParallelName::Keep => Self::Keep,
            ParallelName::Split => Self::Split,
        }
    }
}

/// The id of the row in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowIdName {
    /// The id stands first.
    Keep,
    /// A line has the format's own members alone.
    Drop,
}

impl From<RowIdName> for RowId {
    fn from(name: RowIdName) -> Self {
        match name {
            RowIdName::Keep => Self::Keep,
            RowIdName::Drop => Self::Drop,
        }
    }
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// The rows as they are, all columns.
    Jsonl,
    /// OpenAI's format for fine-tuning; arguments as text.
    Openai,
    /// Messages and tools for TRL; arguments as mappings.
    Trl,
    /// One prompt and completion for each assistant message, for TRL.
    TrlPromptCompletion,
    /// Pairs of a message and the same message with a mutant that does not solve the task, for TRL.
    TrlPreference,
    /// Prompts with the task, for TRL's online trainers.
    PromptOnly,
    /// ShareGPT's turns.
    Sharegpt,
    /// ShareGPT's turns as LLaMA-Factory reads them.
    LlamaFactory,
    /// xLAM's query, tools and answers.
    Xlam,
    /// Reverse Chain's requests with nested labels.
    ReverseChain,
    /// NeMo Gym's tasks.
    NemoGym,
    /// verl's prompts.
    Verl,
}

/// How arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ArgumentsName {
    /// As a JSON object.
    Object,
    /// As text that holds one.
    String,
}

/// The content of messages that only call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ContentName {
    /// An empty text.
    Empty,
    /// Null.
    Null,
    /// No such member.
    Absent,
}

/// The form of rows with searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SearchedName {
    /// The tools that searches have shown follow those visible at the start; not for whole dialogues.
    Deferred,
    /// Every API is called through call_api(name, arguments); replies hold schemas.
    Dispatch,
    /// The tool is ToolSearcher alone; replies hold schemas.
    Text,
}

impl Export {
    /// Runs the command.
    ///
    /// # Errors
    /// When the format has no place for an option, when rows cannot be read or when the file cannot be written.
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let options = Options {
            format: self.format.into(),
            arguments: self.arguments.map(Arguments::from),
            content: self.content.map(Content::from),
            searched: self.searched.map(Searched::from),
            answers: self.answers.map(Answers::from),
            parallel: self.parallel.map(Parallel::from),
            row_id: self.row_id.map(RowId::from),
        };
        let folder = open_dataset(&self.folder)?;
        let selection = self.rows.selection();
        rows::check(&selection, &folder)?;
        let mutants = WorldMutants::new(Worlds::new(folder.clone()));
        let list_mutants = |row: &_| mutants.list(row);
        let source = Source { folder: &folder, selection: &selection, list_mutants: &list_mutants };
        let done = export(&source, options, &self.out).map_err(|error| match error {
            export::ExportError::NoPlace { .. } => CliError::Usage(error.to_string()),
            other => CliError::Export(other),
        })?;
        let export::Exported { rows, lines, left_out, fault } = done;
        if rows == 0 {
            return Err(rows::none(&folder));
        }
        let fault = fault.map(|fault| fault.to_string());
        let out = self.out.display().to_string();
        let data = json!({"rows": rows, "lines": lines, "left_out": left_out, "fault": fault, "out": out});
        streams.print(&data, || {
            let lines = if lines == rows { String::new() } else { format!(", {lines} lines") };
            let left_out = match left_out {
                0 => String::new(),
                some => format!(", {some} of them left out, for which the format has no line"),
            };
            let fault = fault.map(|fault| format!("\nThe first with a fault: {fault}")).unwrap_or_default();
            format!("{rows} rows{lines}{left_out}{fault}\n{out}\n")
        })?;
        Ok(Done::Met)
    }
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Openai => Self::Openai,
            FormatName::Trl => Self::Trl,
            FormatName::TrlPromptCompletion => Self::TrlPromptCompletion,
            FormatName::TrlPreference => Self::TrlPreference,
            FormatName::PromptOnly => Self::PromptOnly,
            FormatName::Sharegpt => Self::Sharegpt,
            FormatName::LlamaFactory => Self::LlamaFactory,
            FormatName::Xlam => Self::Xlam,
            FormatName::ReverseChain => Self::ReverseChain,
            FormatName::NemoGym => Self::NemoGym,
            FormatName::Verl => Self::Verl,
        }
    }
}

impl From<ArgumentsName> for Arguments {
    fn from(name: ArgumentsName) -> Self {
        match name {
            ArgumentsName::Object => Self::Object,
            ArgumentsName::String => Self::String,
        }
    }
}

impl From<ContentName> for Content {
    fn from(name: ContentName) -> Self {
        match name {
            ContentName::Empty => Self::Empty,
            ContentName::Null => Self::Null,
            ContentName::Absent => Self::Absent,
        }
    }
}

impl From<SearchedName> for Searched {
    fn from(name: SearchedName) -> Self {
        match name {
            SearchedName::Deferred => Self::Deferred,
            SearchedName::Dispatch => Self::Dispatch,
            SearchedName::Text => Self::Text,
        }
    }
}
