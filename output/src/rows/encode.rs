//! Encodes rows as an Arrow record batch.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};

use crate::columns::{Cell, Table, call_fields, element, function_fields, message_fields};
use crate::row::{CallKind, Dialogue, Message, ToolCall};

/// Encodes rows as one batch. A text column is limited to two gigabytes, so callers keep batches far below.
pub(crate) fn encode(rows: &[Dialogue], table: Table) -> Result<RecordBatch, ArrowError> {
    let columns: Result<Vec<ArrayRef>, ArrowError> = table
        .columns()
        .iter()
        .map(|column| match column.cell {
            Cell::Text(get, _) => Ok(encode_texts(rows, get)),
            Cell::Optional(get, _) => Ok(encode_optional(rows.iter().map(get))),
            Cell::Number(get, _) => encode_integers(rows.iter().map(|row| Some(get(row)))),
            Cell::OptionalNumber(get, _) => encode_integers(rows.iter().map(get)),
            Cell::Texts(get, _) => Ok(encode_lists(rows, get)),
            Cell::Messages => encode_messages(rows),
        })
        .collect();
    RecordBatch::try_new(table.schema(), columns?)
}

fn encode_texts<T>(items: &[T], text: impl Fn(&T) -> &str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(items.iter().map(text)))
}

fn encode_optional<'a>(items: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(items.collect::<StringArray>())
}

fn encode_integers(items: impl Iterator<Item = Option<u32>>) -> Result<ArrayRef, ArrowError> {
    let numbers: Vec<Option<i32>> = items
        .map(|item| item.map(i32::try_from).transpose())
        .collect::<Result<_, _>>()
        .map_err(|_| ArrowError::InvalidArgumentError("found a number over 2147483647".to_owned()))?;
    Ok(Arc::new(Int32Array::from(numbers)))
}

fn encode_lists(rows: &[Dialogue], texts: fn(&Dialogue) -> &Vec<String>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for row in rows {
        for text in texts(row) {
            builder.values().append_value(text);
        }
        builder.append(true);
    }
    Arc::new(builder.finish())
}

fn encode_messages(rows: &[Dialogue]) -> Result<ArrayRef, ArrowError> {
    let all: Vec<&Message> = rows.iter().flat_map(|row| &row.messages).collect();
    let columns: Vec<ArrayRef> = vec![
        encode_texts(&all, |message| message.role.as_str()),
        encode_optional(all.iter().map(|message| message.content.as_deref())),
        encode_calls(&all)?,
        encode_optional(all.iter().map(|message| message.tool_call_id.as_deref())),
        encode_optional(all.iter().map(|message| message.name.as_deref())),
        encode_optional(all.iter().map(|message| message.reasoning_content.as_deref())),
        Arc::new(BooleanArray::from(all.iter().map(|message| message.train).collect::<Vec<_>>())),
    ];
    let structs = StructArray::try_new_with_length(message_fields(), columns, None, all.len())?;
    encode_list(rows.iter().map(|row| row.messages.len()), structs, None)
}

/// Encodes calls by message. A message without calls gets null, so that chat templates see no empty list.
fn encode_calls(messages: &[&Message]) -> Result<ArrayRef, ArrowError> {
    let all: Vec<&ToolCall> = messages.iter().flat_map(|message| &message.tool_calls).collect();
    let function: Vec<ArrayRef> = vec![
        encode_texts(&all, |call| &call.function.name),
        encode_texts(&all, |call| &call.function.arguments),
    ];
    let columns: Vec<ArrayRef> = vec![
        encode_texts(&all, |call| &call.id),
        encode_texts(&all, |call| match call.kind {
            CallKind::Function => "function",
        }),
        Arc::new(StructArray::try_new_with_length(function_fields(), function, None, all.len())?),
    ];
    let structs = StructArray::try_new_with_length(call_fields(), columns, None, all.len())?;
    let present: NullBuffer = messages.iter().map(|message| !message.tool_calls.is_empty()).collect();
    encode_list(messages.iter().map(|message| message.tool_calls.len()), structs, Some(present))
}

fn encode_list(
    lengths: impl Iterator<Item = usize>,
    items: StructArray,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::<i32>::try_from_lengths(lengths)
        .map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
    let field = element(DataType::Struct(items.fields().clone()));
    Ok(Arc::new(ListArray::try_new(field, offsets, Arc::new(items), nulls)?))
}
