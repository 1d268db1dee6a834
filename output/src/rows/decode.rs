//! Decodes an Arrow record batch to rows. The batch has the right schema, but its content is untrusted.

use std::fmt;
use std::str::FromStr;

use arrow_array::{Array, BooleanArray, Int32Array, ListArray, RecordBatch, StringArray, StructArray};
use arrow_schema::DataType;
use diorama_seeds::task::Ability;

use crate::columns::{Cell, Table};
use crate::row::{Dialogue, FunctionCall, Message, Role, Split, ToolCall, UnknownName};

/// The reason for which a stored row is no valid dialogue.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// A column is missing.
    #[error("column `{0}` is missing")]
    Missing(&'static str),
    /// A column has another type.
    #[error("column `{column}` has type {found}")]
    Type {
        /// The column.
        column: &'static str,
        /// Its type.
        found: DataType,
    },
    /// A required value is null.
    #[error("{0} is null")]
    Null(Place),
    /// A list has a null item.
    #[error("column `{0}` holds null")]
    NullItem(&'static str),
    /// A count is negative.
    #[error("column `{column}` is {found}, expected 0 or more")]
    Negative {
        /// The column.
        column: &'static str,
        /// The number.
        found: i32,
    },
    /// A name is unknown.
    #[error("column `{column}`: {source}")]
    Name {
        /// The column.
        column: &'static str,
        /// The error with the found name.
        source: UnknownName,
    },
    /// A call is no function call.
    #[error("found a call of type `{0}`, expected `function`")]
    CallType(String),
    /// A message is invalid.
    #[error("message {message}: {source}")]
    Message {
        /// The message, from 0.
        message: usize,
        /// The error in the message.
        source: Box<Self>,
    },
}

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a column of the row.
    Column(&'static str),
    /// In a member of a message.
    Message(&'static str),
    /// In a member of a call of a message.
    Call(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => write!(f, "column `{name}`"),
            Self::Message(name) => write!(f, "`{name}`"),
            Self::Call(name) => write!(f, "`{name}` of a call"),
        }
    }
}

/// Decodes the rows of a batch. Columns that it lacks stay empty. An error has the index of its row.
pub(crate) fn decode(batch: &RecordBatch, table: Table) -> Result<Vec<Dialogue>, (usize, ColumnError)> {
    let columns = Columns::of(batch, table).map_err(|error| (0, error))?;
    (0..batch.num_rows()).map(|row| columns.row(row).map_err(|error| (row, error))).collect()
}

/// The identifying columns of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowHead {
    /// The row's id.
    pub id: String,
    /// Its split.
    pub split: Split,
    /// Its ability.
    pub ability: Ability,
    /// Its world.
    pub world_id: String,
}

/// The columns of [`RowHead`].
pub(crate) const HEAD_COLUMNS: [&str; 4] = ["id", "split", "ability", "world_id"];

impl From<Dialogue> for RowHead {
    fn from(row: Dialogue) -> Self {
        Self { id: row.id, split: row.split, ability: row.ability, world_id: row.world_id }
    }
}

/// Decodes the heads of a batch's rows. Other columns may be missing.
pub(crate) fn decode_heads(batch: &RecordBatch) -> Result<Vec<RowHead>, (usize, ColumnError)> {
    let head = |row: usize| {
        let mut dialogue = Dialogue::blank();
        for column in
            Table::Dialogues.columns().iter().filter(|column| HEAD_COLUMNS.contains(&column.field.name))
        {
            let name = column.field.name;
            let Cell::Text(_, set) = column.cell else { continue };
            let texts: &StringArray = array(batch.column_by_name(name).map(AsRef::as_ref), name)?;
            parse(name, set(&mut dialogue, value(texts, row).ok_or(null(name))?))?;
        }
        Ok(dialogue.into())
    };
    (0..batch.num_rows()).map(|row| head(row).map_err(|error| (row, error))).collect()
}

struct Columns<'a> {
    batch: &'a RecordBatch,
    table: Table,
    messages: Messages<'a>,
}

struct Messages<'a> {
    list: &'a ListArray,
    role: &'a StringArray,
    content: &'a StringArray,
    calls: &'a ListArray,
    call_id: &'a StringArray,
    call_type: &'a StringArray,
    call_name: &'a StringArray,
    call_arguments: &'a StringArray,
    tool_call_id: &'a StringArray,
    name: &'a StringArray,
    reasoning: &'a StringArray,
    train: &'a BooleanArray,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch, table: Table) -> Result<Self, ColumnError> {
        let list: &ListArray = array(batch.column_by_name("messages").map(AsRef::as_ref), "messages")?;
        let message: &StructArray = array(Some(list.values().as_ref()), "messages")?;
        let calls: &ListArray = array(member(message, "tool_calls"), "tool_calls")?;
        let call: &StructArray = array(Some(calls.values().as_ref()), "tool_calls")?;
        let function: &StructArray = array(member(call, "function"), "function")?;
        let text = |holder, name| array(member(holder, name), name);
        Ok(Self {
            batch,
            table,
            messages: Messages {
                list,
                role: text(message, "role")?,
                content: text(message, "content")?,
                calls,
                call_id: text(call, "id")?,
                call_type: text(call, "type")?,
                call_name: text(function, "name")?,
                call_arguments: text(function, "arguments")?,
                tool_call_id: text(message, "tool_call_id")?,
                name: text(message, "name")?,
                reasoning: text(message, "reasoning_content")?,
                train: array(member(message, "train"), "train")?,
            },
        })
    }

    fn row(&self, row: usize) -> Result<Dialogue, ColumnError> {
        let mut dialogue = Dialogue::blank();
        for column in self.table.columns() {
            let name = column.field.name;
            // The reader has checked which columns a file of its version lacks.
            if column.since > 1 && self.column(name).is_none() {
                continue;
            }
            match column.cell {
                Cell::Text(_, set) => parse(name, set(&mut dialogue, self.text(name, row)?))?,
                Cell::Optional(_, set) => parse(name, set(&mut dialogue, self.optional(name, row)?))?,
                Cell::Number(_, set) => set(&mut dialogue, self.integer(name, row)?.ok_or(null(name))?),
                Cell::OptionalNumber(_, set) => set(&mut dialogue, self.integer(name, row)?),
                Cell::Texts(_, set) => set(&mut dialogue, self.texts(name, row)?),
                Cell::Messages => dialogue.messages = self.messages.of_row(row)?,
            }
        }
        Ok(dialogue)
    }

    fn column(&self, name: &str) -> Option<&'a dyn Array> {
        self.batch.column_by_name(name).map(AsRef::as_ref)
    }

    fn optional(&self, name: &'static str, row: usize) -> Result<Option<String>, ColumnError> {
        Ok(value(array(self.column(name), name)?, row))
    }

    fn text(&self, name: &'static str, row: usize) -> Result<String, ColumnError> {
        self.optional(name, row)?.ok_or(null(name))
    }

    fn integer(&self, name: &'static str, row: usize) -> Result<Option<u32>, ColumnError> {
        let numbers: &Int32Array = array(self.column(name), name)?;
        if numbers.is_null(row) {
            return Ok(None);
        }
        let number = numbers.value(row);
        u32::try_from(number).map(Some).map_err(|_| ColumnError::Negative { column: name, found: number })
    }

    fn texts(&self, name: &'static str, row: usize) -> Result<Vec<String>, ColumnError> {
        let list: &ListArray = array(self.column(name), name)?;
        let texts: &StringArray = array(Some(list.values().as_ref()), name)?;
        range(list, row)
            .ok_or(null(name))?
            .map(|index| value(texts, index).ok_or(ColumnError::NullItem(name)))
            .collect()
    }
}

impl Messages<'_> {
    fn of_row(&self, row: usize) -> Result<Vec<Message>, ColumnError> {
        let range = range(self.list, row).ok_or(null("messages"))?;
        let wrong = |message, error| ColumnError::Message { message, source: Box::new(error) };
        range
            .enumerate()
            .map(|(number, index)| self.message(index).map_err(|error| wrong(number, error)))
            .collect()
    }

    fn message(&self, index: usize) -> Result<Message, ColumnError> {
        let role = value(self.role, index).ok_or(ColumnError::Null(Place::Message("role")))?;
        if self.train.is_null(index) {
            return Err(ColumnError::Null(Place::Message("train")));
        }
        Ok(Message {
            role: parse("role", Role::from_str(&role))?,
            content: value(self.content, index),
            tool_calls: range(self.calls, index)
                .unwrap_or(0..0)
                .map(|call| self.call(call))
                .collect::<Result<_, _>>()?,
            tool_call_id: value(self.tool_call_id, index),
            name: value(self.name, index),
            reasoning_content: value(self.reasoning, index),
            train: self.train.value(index),
        })
    }

    fn call(&self, index: usize) -> Result<ToolCall, ColumnError> {
        let part = |texts, name| value(texts, index).ok_or(ColumnError::Null(Place::Call(name)));
        let kind = part(self.call_type, "type")?;
        if kind != "function" {
            return Err(ColumnError::CallType(kind));
        }
        Ok(ToolCall {
            id: part(self.call_id, "id")?,
            kind: Default::default(),
            function: FunctionCall {
                name: part(self.call_name, "name")?,
                arguments: part(self.call_arguments, "arguments")?,
            },
        })
    }
}

fn member<'a>(holder: &'a StructArray, name: &str) -> Option<&'a dyn Array> {
    holder.column_by_name(name).map(AsRef::as_ref)
}

fn array<'a, T: 'static>(column: Option<&'a dyn Array>, name: &'static str) -> Result<&'a T, ColumnError> {
    let column = column.ok_or(ColumnError::Missing(name))?;
    let found = || ColumnError::Type { column: name, found: column.data_type().clone() };
    column.as_any().downcast_ref().ok_or_else(found)
}

fn null(column: &'static str) -> ColumnError {
    ColumnError::Null(Place::Column(column))
}

fn value(texts: &StringArray, index: usize) -> Option<String> {
    (index < texts.len() && texts.is_valid(index)).then(|| texts.value(index).to_owned())
}

/// Returns the items of a list as indexes into its values, or none if it is null.
fn range(list: &ListArray, row: usize) -> Option<std::ops::Range<usize>> {
    if list.is_null(row) {
        return None;
    }
    let offsets = list.value_offsets();
    let start = usize::try_from(*offsets.get(row)?).ok()?;
    let end = usize::try_from(*offsets.get(row.checked_add(1)?)?).ok()?;
    (start <= end && end <= list.values().len()).then_some(start..end)
}

fn parse<T>(column: &'static str, parsed: Result<T, UnknownName>) -> Result<T, ColumnError> {
    parsed.map_err(|source| ColumnError::Name { column, source })
}
