//! Owns the options of an export, and which of them each format accepts.

use std::fmt;

use super::error::ExportError;

/// The formats that a dataset can be exported in. Each line is one JSON object; `docs/exports.md` lists the fields of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
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

/// How the arguments of a call are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Arguments {
    /// As a JSON object.
    Object,
    /// As text that holds one.
    String,
}

/// The content of an assistant message that only calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Content {
    /// An empty text.
    Empty,
    /// Null.
    Null,
    /// No such member.
    Absent,
}

/// The form of an exported row whose APIs are found by searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SearchForm {
    /// The tools that searches have shown follow those visible at the start; not for whole dialogues.
    ///
    /// A search's reply names them. A whole dialogue would show all of them at its start.
    Deferred,
    /// Every API is called through call_api(name, arguments); replies hold schemas.
    Dispatch,
    /// The tool is ToolSearcher alone; replies hold schemas.
    ///
    /// This is API-Bank's form.
    Text,
}

/// The form of calls that are made together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Parallel {
    /// One message has all of them.
    #[default]
    Keep,
    /// Each has a message of its own, with its reply after it.
    Split,
}

/// The id of the row in a line: kept or dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RowId {
    /// The id stands first.
    #[default]
    Keep,
    /// A line has the format's own members alone.
    Drop,
}

/// How the goals of an exported row end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Answers {
    /// With a call of `finish`.
    Structured,
    /// With a message.
    Prose,
}

/// The options of an export. An unset option takes the default of the format's own readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// The form of arguments.
    pub arguments: Option<Arguments>,
    /// The content of messages with calls only.
    pub content: Option<Content>,
    /// The form of rows with searches.
    pub searched: Option<SearchForm>,
    /// The form of goal endings.
    pub answers: Option<Answers>,
    /// The form of calls that are made together.
    pub parallel: Option<Parallel>,
    /// The treatment of the row's id in a line: kept or dropped.
    pub row_id: Option<RowId>,
}

/// The options with all defaults filled in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) format: Format,
    pub(super) arguments: Arguments,
    pub(super) content: Content,
    pub(super) searched: SearchForm,
    pub(super) answers: Answers,
    pub(super) parallel: Parallel,
    pub(super) row_id: RowId,
}

impl Options {
    /// Returns the default options of a format.
    pub const fn new(format: Format) -> Self {
        Self {
            format,
            arguments: None,
            content: None,
            searched: None,
            answers: None,
            parallel: None,
            row_id: None,
        }
    }

    pub(super) fn shape(self) -> Result<Shape, ExportError> {
        let Self { format, .. } = self;
        let refuse = |given: bool, takes: bool, option| match given && !takes {
            true => Err(ExportError::NoPlace { format: format.as_str(), option }),
            false => Ok(()),
        };
        refuse(self.arguments.is_some(), format.takes_arguments(), "arguments")?;
        refuse(self.content.is_some(), format.takes_content(), "content")?;
        refuse(self.searched.is_some(), format.takes_searched(), "searched")?;
        // Reward formats are always structured, so asking for that is allowed.
        let is_own = format.is_reward() && self.answers == Some(Answers::Structured);
        refuse(self.answers.is_some() && !is_own, format.takes_answers(), "answers")?;
        refuse(self.searched == Some(SearchForm::Deferred), format.takes_deferred(), "searched deferred")?;
        refuse(self.parallel.is_some(), format.takes_answers(), "parallel")?;
        refuse(self.row_id.is_some(), format == Format::Openai, "row-id")?;
        let openai = format == Format::Openai;
        Ok(Shape {
            format,
            arguments: self.arguments.unwrap_or(if openai { Arguments::String } else { Arguments::Object }),
            content: self.content.unwrap_or(if openai { Content::Null } else { Content::Empty }),
            searched: self.searched.unwrap_or(if format.takes_deferred() && format != Format::NemoGym {
                SearchForm::Deferred
            } else {
                SearchForm::Dispatch
            }),
            answers: self.answers.unwrap_or(if format.is_reward() {
                Answers::Structured
            } else {
                Answers::Prose
            }),
            parallel: self.parallel.unwrap_or_default(),
            row_id: self.row_id.unwrap_or_default(),
        })
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 12] = [
        Self::Jsonl,
        Self::Openai,
        Self::Trl,
        Self::TrlPromptCompletion,
        Self::TrlPreference,
        Self::PromptOnly,
        Self::Sharegpt,
        Self::LlamaFactory,
        Self::Xlam,
        Self::ReverseChain,
        Self::NemoGym,
        Self::Verl,
    ];

    /// Returns the name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Openai => "openai",
            Self::Trl => "trl",
            Self::TrlPromptCompletion => "trl-prompt-completion",
            Self::TrlPreference => "trl-preference",
            Self::PromptOnly => "prompt-only",
            Self::Sharegpt => "sharegpt",
            Self::LlamaFactory => "llama-factory",
            Self::Xlam => "xlam",
            Self::ReverseChain => "reverse-chain",
            Self::NemoGym => "nemo-gym",
            Self::Verl => "verl",
        }
    }

    /// Returns true if a line has a prompt and the data for its reward.
    pub const fn is_reward(self) -> bool {
        matches!(self, Self::PromptOnly | Self::NemoGym | Self::Verl)
    }

    /// Returns true if trainers learn from every assistant message in a line.
    pub(super) const fn learns_all(self) -> bool {
        matches!(self, Self::Trl | Self::Sharegpt | Self::LlamaFactory)
    }

    const fn takes_content(self) -> bool {
        matches!(self, Self::Openai | Self::Trl | Self::TrlPromptCompletion | Self::TrlPreference)
    }

    const fn takes_arguments(self) -> bool {
        self.takes_content() || matches!(self, Self::Sharegpt | Self::LlamaFactory | Self::Xlam)
    }

    const fn takes_searched(self) -> bool {
        !matches!(self, Self::Jsonl | Self::ReverseChain)
    }

    /// Returns true if a line has a dialogue up to one message, with the tools visible there.
    const fn takes_deferred(self) -> bool {
        self.is_reward() || matches!(self, Self::TrlPromptCompletion | Self::TrlPreference)
    }

    const fn takes_answers(self) -> bool {
        !matches!(self, Self::Jsonl | Self::Xlam | Self::ReverseChain) && !self.is_reward()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
