//! An Arrow record batch to rows. The batch has the right schema; its content is still untrusted.

use std::str::FromStr;

use arrow_array::{Array, BooleanArray, Int32Array, ListArray, RecordBatch, StringArray, StructArray};

use crate::row::{Dialogue, FunctionCall, Message, Role, Split, ToolCall, UnknownName, parse_ability};

/// The rows of a batch. An error says which row of the batch and what is wrong.
pub(crate) fn decode(batch: &RecordBatch) -> Result<Vec<Dialogue>, (usize, String)> {
    let columns = Columns::of(batch).map_err(|what| (0, what))?;
    (0..batch.num_rows()).map(|row| columns.row(row).map_err(|what| (row, what))).collect()
}

struct Columns<'a> {
    batch: &'a RecordBatch,
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
    fn of(batch: &'a RecordBatch) -> Result<Self, String> {
        let list: &ListArray = array(batch.column_by_name("messages").map(AsRef::as_ref), "messages")?;
        let message: &StructArray = array(Some(list.values().as_ref()), "messages")?;
        let calls: &ListArray = array(member(message, "tool_calls"), "tool_calls")?;
        let call: &StructArray = array(Some(calls.values().as_ref()), "tool_calls")?;
        let function: &StructArray = array(member(call, "function"), "function")?;
        let text = |holder, name| array(member(holder, name), name);
        Ok(Self {
            batch,
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

    fn row(&self, row: usize) -> Result<Dialogue, String> {
        let text = |name| self.text(name, row);
        Ok(Dialogue {
            id: text("id")?,
            split: parse("split", Split::from_str(&text("split")?))?,
            ability: parse("ability", parse_ability(&text("ability")?))?,
            depth: self.integer("depth", row)?.ok_or("column `depth` is null")?,
            rc_level: self.integer("rc_level", row)?,
            phenomena: self.phenomena(row)?,
            world_id: text("world_id")?,
            world_hash: text("world_hash")?,
            archetype: text("archetype")?,
            domain: text("domain")?,
            query: text("query")?,
            tools: text("tools")?,
            messages: self.messages.of_row(row)?,
            episode: text("episode")?,
            gold_calls: text("gold_calls")?,
            gold_plan: self.optional("gold_plan", row)?,
            gold_answer: text("gold_answer")?,
            checks: text("checks")?,
            user_facts: text("user_facts")?,
            initial_state_hash: text("initial_state_hash")?,
            final_state_hash: text("final_state_hash")?,
            gates: text("gates")?,
            license: text("license")?,
            provenance: text("provenance")?,
        })
    }

    fn column(&self, name: &str) -> Option<&'a dyn Array> {
        self.batch.column_by_name(name).map(AsRef::as_ref)
    }

    fn optional(&self, name: &'static str, row: usize) -> Result<Option<String>, String> {
        Ok(value(array(self.column(name), name)?, row))
    }

    fn text(&self, name: &'static str, row: usize) -> Result<String, String> {
        self.optional(name, row)?.ok_or_else(|| format!("column `{name}` is null"))
    }

    fn integer(&self, name: &'static str, row: usize) -> Result<Option<u32>, String> {
        let numbers: &Int32Array = array(self.column(name), name)?;
        if numbers.is_null(row) {
            return Ok(None);
        }
        let number = numbers.value(row);
        u32::try_from(number)
            .map(Some)
            .map_err(|_| format!("column `{name}` is {number}, expected 0 or more"))
    }

    fn phenomena(&self, row: usize) -> Result<Vec<String>, String> {
        let list: &ListArray = array(self.column("phenomena"), "phenomena")?;
        let names: &StringArray = array(Some(list.values().as_ref()), "phenomena")?;
        range(list, row)
            .ok_or("column `phenomena` is null")?
            .map(|index| value(names, index).ok_or_else(|| "column `phenomena` holds null".to_owned()))
            .collect()
    }
}

impl Messages<'_> {
    fn of_row(&self, row: usize) -> Result<Vec<Message>, String> {
        let range = range(self.list, row).ok_or("column `messages` is null")?;
        range
            .enumerate()
            .map(|(number, index)| self.message(index).map_err(|what| format!("message {number}: {what}")))
            .collect()
    }

    fn message(&self, index: usize) -> Result<Message, String> {
        let role = value(self.role, index).ok_or("`role` is null")?;
        if self.train.is_null(index) {
            return Err("`train` is null".to_owned());
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

    fn call(&self, index: usize) -> Result<ToolCall, String> {
        let part =
            |texts, name: &str| value(texts, index).ok_or_else(|| format!("`{name}` of a call is null"));
        let kind = part(self.call_type, "type")?;
        if kind != "function" {
            return Err(format!("found a call of type `{kind}`, expected `function`"));
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

fn array<'a, T: 'static>(column: Option<&'a dyn Array>, name: &str) -> Result<&'a T, String> {
    let column = column.ok_or_else(|| format!("column `{name}` is missing"))?;
    column.as_any().downcast_ref().ok_or_else(|| format!("column `{name}` has type {}", column.data_type()))
}

fn value(texts: &StringArray, index: usize) -> Option<String> {
    (index < texts.len() && texts.is_valid(index)).then(|| texts.value(index).to_owned())
}

/// The items of a list, as indices into its values; nothing when it is null.
fn range(list: &ListArray, row: usize) -> Option<std::ops::Range<usize>> {
    if list.is_null(row) {
        return None;
    }
    let offsets = list.value_offsets();
    let start = usize::try_from(*offsets.get(row)?).ok()?;
    let end = usize::try_from(*offsets.get(row.checked_add(1)?)?).ok()?;
    (start <= end && end <= list.values().len()).then_some(start..end)
}

fn parse<T>(name: &str, parsed: Result<T, UnknownName>) -> Result<T, String> {
    parsed.map_err(|error| format!("column `{name}`: {error}"))
}
