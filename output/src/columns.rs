//! Owns the columns of a row: the single definition of their names, types and meanings.
//!
//! The Arrow schema, the encoder, the decoder, the checks of a row, `docs/dataset-columns.md`, the card's table and
//! `diorama schema dialogue` all read [`COLUMNS`].

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use diorama_seeds::task::Difficulty;
use serde_json::{Map, Value as Json, json};

use crate::row::{Dialogue, UnknownName, ability_name, parse_ability, parse_difficulty};

/// Version of the columns and of the folder layout. Version 3 had no column `difficulty`; version 2 also had a JSON file for each world and no
/// structured rows; module `older` translates version 1 when it is
/// read. Readers refuse others.
pub const SCHEMA_VERSION: u32 = 4;

/// The versions whose files have these columns, or all but those that came later.
pub(crate) const SAME_COLUMNS: [u32; 3] = [2, 3, SCHEMA_VERSION];
/// The version from which datasets have structured rows.
pub(crate) const STRUCTURED_VERSION: u32 = 3;

/// A kind of row file, which decides about its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// All columns, in `data/`.
    Dialogues,
    /// The columns for trainers of whole dialogues, in `structured/`.
    Structured,
}

impl Table {
    /// Returns the kind of a row file by its name.
    pub(crate) fn of_file(name: &str) -> Self {
        if name.starts_with("structured/") { Self::Structured } else { Self::Dialogues }
    }

    /// Returns the columns, in order.
    pub(crate) fn columns(self) -> &'static [Column] {
        const NAMES: [&str; 10] = [
            "id",
            "split",
            "ability",
            "tags",
            "difficulty",
            "domains",
            "tools",
            "messages",
            "license",
            "source",
        ];
        static STRUCTURED: LazyLock<Vec<Column>> = LazyLock::new(|| {
            let columns = COLUMNS.into_iter().filter(|column| NAMES.contains(&column.field.name));
            // Each structured row has its own `finish` tool, so `tools` does not repeat.
            columns
                .map(|column| Column {
                    is_repetitive: column.is_repetitive && column.field.name != "tools",
                    ..column
                })
                .collect()
        });
        match self {
            Self::Dialogues => &COLUMNS,
            Self::Structured => &STRUCTURED,
        }
    }

    /// Returns the Arrow schema of a row. List items are named `element`, as in the Parquet specification.
    pub fn schema(self) -> SchemaRef {
        static DIALOGUES: LazyLock<SchemaRef> = LazyLock::new(|| schema_of(&COLUMNS));
        static STRUCTURED: LazyLock<SchemaRef> = LazyLock::new(|| schema_of(Table::Structured.columns()));
        match self {
            Self::Dialogues => Arc::clone(&DIALOGUES),
            Self::Structured => Arc::clone(&STRUCTURED),
        }
    }

    /// The Arrow schema of a row in a file of an older version with these columns: without those that came later.
    pub(crate) fn schema_of_version(self, version: u32) -> SchemaRef {
        let is_there = |column: &&Column| column.since <= version;
        let columns: Vec<Column> = self.columns().iter().filter(is_there).copied().collect();
        schema_of(&columns)
    }
}

/// A column of a row.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name, type and meaning.
    pub field: Member,
    /// Access to the value in a row.
    pub(crate) cell: Cell,
    /// True if the column repeats few values, which then share a dictionary.
    pub(crate) is_repetitive: bool,
    /// True if an empty string is refused.
    pub(crate) is_needed: bool,
    /// The first schema version that has it. Rows of files before it hold its blank value.
    pub(crate) since: u32,
}

/// A column or a member of a message.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// True if the value may be null.
    pub nullable: bool,
    /// A description of the values, for the documentation.
    pub meaning: &'static str,
}

/// The type of a column or of a member of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// UTF-8 text that is JSON.
    Json,
    /// A 32-bit integer that is not negative.
    Integer,
    /// True or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of messages, see [`MESSAGE`].
    Messages,
    /// A list of calls: `{id, type, function: {name, arguments}}`.
    ToolCalls,
}

/// Getter and setter of a column's value in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// A string that is never null.
    Text(fn(&Dialogue) -> &str, fn(&mut Dialogue, String) -> Result<(), UnknownName>),
    /// A string that may be null.
    Optional(fn(&Dialogue) -> Option<&str>, fn(&mut Dialogue, Option<String>) -> Result<(), UnknownName>),
    /// A number that is never null.
    Number(fn(&Dialogue) -> u32, fn(&mut Dialogue, u32)),
    /// A number that may be null.
    OptionalNumber(fn(&Dialogue) -> Option<u32>, fn(&mut Dialogue, Option<u32>)),
    /// A list of texts.
    Texts(fn(&Dialogue) -> &Vec<String>, fn(&mut Dialogue, Vec<String>)),
    /// The messages.
    Messages,
}

const fn member(name: &'static str, kind: Kind, meaning: &'static str) -> Member {
    Member { name, kind, nullable: false, meaning }
}

const fn nullable(name: &'static str, kind: Kind, meaning: &'static str) -> Member {
    Member { name, kind, nullable: true, meaning }
}

impl Column {
    const fn new(field: Member, cell: Cell) -> Self {
        Self { field, cell, is_repetitive: false, is_needed: false, since: 1 }
    }

    const fn needed(self) -> Self {
        Self { is_needed: true, ..self }
    }

    const fn repetitive(self) -> Self {
        Self { is_repetitive: true, ..self }
    }

    const fn since(self, version: u32) -> Self {
        Self { since: version, ..self }
    }
}

/// Defines a text column for the row's field of the same name.
macro_rules! text {
    ($name:ident, $kind:ident, $meaning:literal) => {
        Column::new(
            member(stringify!($name), Kind::$kind, $meaning),
            Cell::Text(
                |row| &row.$name,
                |row, text| {
                    row.$name = text;
                    Ok(())
                },
            ),
        )
    };
}

/// The columns of a row, in order.
pub const COLUMNS: [Column; 25] = [
    text!(id, Text, "Identifier, unique in the dataset.").needed(),
    Column::new(
        member("split", Kind::Text, "`train` or `test`. No domain is in both."),
        Cell::Text(|row| row.split.as_str(), |row, text| text.parse().map(|split| row.split = split)),
    )
    .repetitive(),
    Column::new(
        member("ability", Kind::Text, "API-Bank's ability: `call`, `retrieve_call` or `plan_retrieve_call`."),
        Cell::Text(
            |row| ability_name(row.ability),
            |row, text| parse_ability(&text).map(|ability| row.ability = ability),
        ),
    )
    .repetitive(),
    Column::new(
        member("depth", Kind::Integer, "Calls nested through their arguments; 0 without calls."),
        Cell::Number(|row| row.depth, |row, depth| row.depth = depth),
    ),
    Column::new(
        nullable(
            "rc_level",
            Kind::Integer,
            "Reverse Chain's level: 1 = depth 2, 2 = depth 3, 3 = depth 4 and more.",
        ),
        Cell::OptionalNumber(|row| row.rc_level, |row, level| row.rc_level = level),
    ),
    Column::new(
        member("tags", Kind::Texts, "What the dialogue shows, by name: `correction`, `refusal`, ..."),
        Cell::Texts(|row| &row.tags, |row, tags| row.tags = tags),
    ),
    Column::new(
        nullable(
            "difficulty",
            Kind::Text,
            "The band of difficulty: `easy`, `medium` or `hard`. It follows from counts of the proof, which `provenance` holds; null in rows \
             made before the column.",
        ),
        Cell::Optional(
            |row| row.difficulty.map(Difficulty::name),
            |row, name| {
                row.difficulty = name.as_deref().map(parse_difficulty).transpose()?;
                Ok(())
            },
        ),
    )
    .repetitive()
    .since(4),
    text!(world_id, Text, "The world it runs in; the files of `worlds/` have it by this id.").needed().repetitive(),
    text!(world_hash, Text, "BLAKE3 of the world's text, in hexadecimal.").needed().repetitive(),
    Column::new(
        member("domains", Kind::Texts, "The domains whose APIs are called, in the order of their first calls."),
        Cell::Texts(|row| &row.domains, |row, domains| row.domains = domains),
    ),
    text!(query, Text, "The request."),
    text!(tools, Json, "Tools visible at the start, a list in the OpenAI function format.").repetitive(),
    Column::new(member("messages", Kind::Messages, "The dialogue, see below."), Cell::Messages),
    text!(
        episode,
        Json,
        "What a replay needs: clock, zone, session seed, identity, outages (what the first call of an API meets, once), search version, ordered events, hashes of the words."
    ),
    text!(gold_calls, Json, "The reference calls, a list; each argument with the source it is derived from. A call with `mistake` is an \
         avoidable error (400) and not of the solution, one with `care` a read that only makes sure."),
    Column::new(
        nullable(
            "gold_plan",
            Kind::Text,
            "The reference calls nested as one label, in Reverse Chain's notation.",
        ),
        Cell::Optional(
            |row| row.gold_plan.as_deref(),
            |row, plan| {
                row.gold_plan = plan;
                Ok(())
            },
        ),
    ),
    text!(
        gold_answer,
        Json,
        "The claims of the author about each goal: when it opens, how it ends, and the facts asked for by their places in replies."
    ),
    text!(checks, Json, "What must hold for the task to be solved; the grader reads it."),
    text!(
        user_facts,
        Json,
        "The script: what the user wants, goal by goal, and what they keep to themselves until asked."
    ),
    text!(initial_state_hash, Text, "Digest of the records before the first call."),
    text!(final_state_hash, Text, "Digest of the records after the last call."),
    text!(gates, Json, "What each gate found."),
    text!(
        license,
        Text,
        "Licence of the world: an SPDX expression, else the name or address that its document gives; `unstated` where it \
         gives none."
    )
    .needed()
    .repetitive(),
    text!(
        source,
        Text,
        "What the world was made from: provider, title and version of a document, or domains of the catalog; \
         `unstated` where nothing says it."
    )
    .needed()
    .repetitive(),
    text!(provenance, Json, "Backend, model, prompt hash, seed, row, attempt and version."),
];

/// The members of a message, in order.
pub const MESSAGE: [Member; 7] = [
    member("role", Kind::Text, "`system`, `user`, `assistant` or `tool`."),
    nullable("content", Kind::Text, "What is said; null in a message that only calls."),
    nullable(
        "tool_calls",
        Kind::ToolCalls,
        "Calls of an assistant message, `{id, type, function: {name, arguments}}`; `arguments` is a JSON object as \
         text. Null when there are none.",
    ),
    nullable("tool_call_id", Kind::Text, "In a tool message: the call it answers."),
    nullable("name", Kind::Text, "In a tool message: the API that replied."),
    nullable("reasoning_content", Kind::Text, "What a model thought before it spoke; null without a model."),
    member(
        "train",
        Kind::Boolean,
        "Whether to learn from the message: false for an assistant message with an avoidable error and for all \
         other roles.",
    ),
];

fn schema_of(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(fields(columns.iter().map(|column| column.field))))
}

/// Returns the Arrow fields of a message.
pub(crate) fn message_fields() -> Fields {
    fields(MESSAGE)
}

/// Returns the Arrow fields of a call.
pub(crate) fn call_fields() -> Fields {
    Fields::from(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("type", DataType::Utf8, false),
        Field::new("function", DataType::Struct(function_fields()), false),
    ])
}

/// Returns the Arrow fields of a called function.
pub(crate) fn function_fields() -> Fields {
    Fields::from(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("arguments", DataType::Utf8, false),
    ])
}

/// Returns the Arrow field of list items.
pub(crate) fn element(item: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", item, false))
}

/// Returns the JSON Schema of a row as one JSON object (a line of `dataset export --format jsonl`).
pub fn json_schema() -> Json {
    let mut schema = object_schema(&COLUMNS.map(|column| column.field));
    if let Some(members) = schema.as_object_mut() {
        members.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        members.insert("title".to_owned(), json!("Dialogue"));
        members.insert("description".to_owned(), json!("One row of a Diorama dataset: one dialogue."));
    }
    schema
}

/// Returns the column table in Markdown, for the card and the documentation.
pub fn markdown() -> String {
    let mut text = String::from("| column | type | holds |\n| --- | --- | --- |\n");
    table_rows(&mut text, &COLUMNS.map(|column| column.field));
    text.push_str("\nEach message is a struct:\n\n| member | type | holds |\n| --- | --- | --- |\n");
    table_rows(&mut text, &MESSAGE);
    text
}

fn table_rows(text: &mut String, columns: &[Member]) {
    for column in columns {
        let null = if column.nullable { ", null" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {}{null} | {} |", column.name, column.kind.label(), column.meaning);
    }
}

fn fields(columns: impl IntoIterator<Item = Member>) -> Fields {
    columns.into_iter().map(|column| Field::new(column.name, column.kind.arrow(), column.nullable)).collect()
}

fn object_schema(columns: &[Member]) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for column in columns {
        let mut schema = column.kind.json_schema();
        if let Some(members) = schema.as_object_mut() {
            if column.nullable
                && let Some(Json::String(name)) = members.get("type").cloned()
            {
                members.insert("type".to_owned(), json!([name, "null"]));
            }
            members.insert("description".to_owned(), json!(column.meaning));
        }
        properties.insert(column.name.to_owned(), schema);
        if !column.nullable {
            required.push(column.name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

impl Kind {
    fn arrow(self) -> DataType {
        match self {
            Self::Text | Self::Json => DataType::Utf8,
            Self::Integer => DataType::Int32,
            Self::Boolean => DataType::Boolean,
            Self::Texts => DataType::List(element(DataType::Utf8)),
            Self::Messages => DataType::List(element(DataType::Struct(message_fields()))),
            Self::ToolCalls => DataType::List(element(DataType::Struct(call_fields()))),
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Json => "string (JSON)",
            Self::Integer => "int32",
            Self::Boolean => "bool",
            Self::Texts => "list of string",
            Self::Messages | Self::ToolCalls => "list of struct",
        }
    }

    fn json_schema(self) -> Json {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Json => json!({"type": "string", "contentMediaType": "application/json"}),
            Self::Integer => json!({"type": "integer", "minimum": 0, "maximum": i32::MAX}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Messages => json!({"type": "array", "items": object_schema(&MESSAGE)}),
            Self::ToolCalls => json!({"type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "type": {"const": "function"},
                    "function": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "arguments": {"type": "string", "contentMediaType": "application/json"},
                        },
                        "required": ["name", "arguments"],
                        "additionalProperties": false,
                    },
                },
                "required": ["id", "type", "function"],
                "additionalProperties": false,
            }}),
        }
    }
}

#[cfg(test)]
mod tests;
