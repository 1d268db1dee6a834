//! Writes one row in each format.

mod benchmarks;
mod chat;
mod rewards;
mod sharegpt;

use serde_json::{Map, Value as Json};

use super::conversation::{Call, Conversation, fault};
use super::damage::{self, ListMutants};
use super::options::{Answers, Arguments, Format, Parallel, RowId, Shape};
use super::{endings, searched};
use crate::row::{Dialogue, RowFault};

/// The lines of a row in a format.
#[derive(Debug, Default)]
pub(super) struct ExportLines {
    /// Lines without line ends. Most formats have one. None if the format cannot represent the row.
    pub(super) lines: Vec<String>,
    /// Number of goals without a line, in a row with lines. Only for the format with one line per goal.
    pub(super) goals_left_out: u64,
}

/// Writes a row in a format.
///
/// # Errors
/// Returns the fault of a row that cannot be written.
pub(super) fn write(
    shape: &Shape,
    number: u64,
    row: &Dialogue,
    list_mutants: ListMutants<'_>,
) -> Result<ExportLines, RowFault> {
    if shape.format == Format::ReverseChain {
        return benchmarks::reverse_chain(row, number, Conversation::of(row)?);
    }
    Ok(ExportLines { lines: lines(shape, number, row, list_mutants)?, goals_left_out: 0 })
}

fn lines(
    shape: &Shape,
    number: u64,
    row: &Dialogue,
    list_mutants: ListMutants<'_>,
) -> Result<Vec<String>, RowFault> {
    if shape.format == Format::Jsonl {
        let line = serde_json::to_string(row).map_err(|error| fault(row, "id", error.to_string()))?;
        return Ok(vec![line]);
    }
    let mut conversation = Conversation::of(row)?;
    if shape.answers == Answers::Structured {
        if shape.format.is_reward() {
            endings::offer(&mut conversation, &endings::checks(row)?);
        } else {
            endings::apply(row, &mut conversation)?;
        }
    }
    conversation.number_calls(&row.id);
    if shape.parallel == Parallel::Split {
        conversation.split_calls();
    }
    if shape.format.learns_all() && !conversation.end_before_mistakes() {
        return Ok(Vec::new());
    }
    let damaged = match shape.format {
        Format::TrlPreference => damage::make_pairs(&conversation, &list_mutants(row), &row.id),
        _ => Vec::new(),
    };
    searched::render(&mut conversation, shape.searched);
    let rows = match shape.format {
        Format::Jsonl | Format::ReverseChain => Vec::new(),
        Format::Openai => vec![chat::openai(shape, &conversation)],
        Format::Trl => vec![chat::trl(shape, &conversation)],
        Format::TrlPromptCompletion => chat::prompt_completion(shape, &conversation),
        Format::TrlPreference => {
            damaged.into_iter().map(|damaged| chat::preference(shape, &conversation, damaged)).collect()
        }
        Format::PromptOnly => vec![rewards::prompt_only(shape, &conversation, row)],
        Format::NemoGym => rewards::nemo_gym(shape, &conversation, row).into_iter().collect(),
        Format::Verl => vec![rewards::verl(shape, &conversation, row, number)],
        Format::Sharegpt => vec![sharegpt::plain(shape, &conversation)],
        Format::LlamaFactory => vec![sharegpt::alternating(shape, &conversation)],
        Format::Xlam => vec![benchmarks::xlam(shape, &conversation)],
    };
    Ok(rows
        .into_iter()
        .map(|members| match shape.row_id {
            RowId::Keep => with_id(row, members),
            RowId::Drop => members.to_string(),
        })
        .collect())
}

/// Returns the line of an object with the id as first member.
fn with_id(row: &Dialogue, members: Json) -> String {
    let mut object = Map::new();
    object.insert("id".to_owned(), row.id.as_str().into());
    if let Json::Object(members) = members {
        object.extend(members);
    }
    Json::Object(object).to_string()
}

/// Returns the arguments of a call in the requested form.
fn arguments(shape: &Shape, call: &Call) -> Json {
    match shape.arguments {
        Arguments::Object => Json::Object(call.arguments.clone()),
        Arguments::String => Json::String(call.text.clone()),
    }
}
