//! Owns a parsed row: its tools, and its messages with parsed arguments.

use std::collections::{HashMap, VecDeque};

use diorama_seeds::agent_tools::CONFIRM;
use diorama_seeds::ending::FINISH;
use serde_json::{Map, Value as Json, json};

use crate::row::{Dialogue, Message, Role, RowFault, ToolCall};

/// The API that finds others.
pub(super) const TOOL_SEARCHER: &str = "ToolSearcher";

/// A conversation to export.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    /// The tools in OpenAI's function format: those visible at the start, then others in the order of their
    /// discovery.
    pub(super) tools: Vec<Json>,
    /// Number of tools visible before each turn. All of them for a turn without an entry.
    pub(super) visible: Vec<usize>,
    pub(super) turns: Vec<Turn>,
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) content: Option<String>,
    pub(super) calls: Vec<Call>,
    /// In a tool message: the id of the answered call.
    pub(super) call_id: Option<String>,
    /// In a tool message: the name of the API.
    pub(super) name: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) train: bool,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Map<String, Json>,
    /// The arguments in the row's original spelling.
    pub(super) text: String,
}

impl Conversation {
    pub(super) fn of(row: &Dialogue) -> Result<Self, RowFault> {
        let tools: Json = serde_json::from_str(&row.tools)
            .map_err(|error| fault(row, "tools", format!("is not JSON: {error}")))?;
        let Json::Array(tools) = tools else {
            return Err(fault(row, "tools", "is not a list".to_owned()));
        };
        let turns = row.messages.iter().map(|message| Turn::of(row, message));
        Ok(Self { tools, visible: Vec::new(), turns: turns.collect::<Result<_, _>>()? })
    }

    /// Returns the columns `tools` and `messages`.
    pub(super) fn into_columns(self) -> (String, Vec<Message>) {
        (Json::Array(self.tools).to_string(), self.turns.into_iter().map(Turn::into_message).collect())
    }

    /// Gives every call an id that all chat templates accept. It has nine letters and digits and follows from
    /// the row's id and the call's number.
    pub(super) fn number_calls(&mut self, row: &str) {
        let mut ids: HashMap<String, String> = HashMap::new();
        let mut number = 0;
        for turn in &mut self.turns {
            for call in &mut turn.calls {
                let id = call_id(row, number);
                number += 1;
                ids.insert(std::mem::replace(&mut call.id, id.clone()), id);
            }
            if let Some(id) = turn.call_id.as_mut()
                && let Some(known) = ids.get(id)
            {
                id.clone_from(known);
            }
        }
    }

    /// Splits messages with several calls into one message per call, each followed by its reply.
    pub(super) fn split_calls(&mut self) {
        let mut turns: Vec<Turn> = Vec::with_capacity(self.turns.len());
        // Split messages that wait for the replies before them.
        let mut waiting: VecDeque<Turn> = VecDeque::new();
        for mut turn in std::mem::take(&mut self.turns) {
            if turn.role != Role::Tool {
                turns.extend(waiting.drain(..));
            }
            let further: Vec<Call> = turn.calls.split_off(turn.calls.len().min(1));
            let train = turn.train;
            let answers = turn.role == Role::Tool;
            turns.push(turn);
            if answers {
                turns.extend(waiting.pop_front());
            }
            waiting
                .extend(further.into_iter().map(|call| Turn { train, ..Turn::assistant(None, vec![call]) }));
        }
        turns.extend(waiting);
        self.turns = turns;
    }

    /// Ends the conversation before the first assistant message that is no training target. The last message
    /// is then the training target before it. Returns false if there is none.
    pub(super) fn end_before_mistakes(&mut self) -> bool {
        let is_mistake = |turn: &Turn| turn.role == Role::Assistant && !turn.train;
        let Some(first) = self.turns.iter().position(is_mistake) else { return true };
        let last = self.turns[..first].iter().rposition(|turn| turn.role == Role::Assistant);
        self.turns.truncate(last.map_or(0, |last| last + 1));
        last.is_some()
    }

    /// Returns true if a name is a conversation tool and no API of the world.
    pub(super) fn is_own_tool(&self, name: &str) -> bool {
        let is_own = |tool: &Json| is_finish(tool) || is_confirm(tool);
        self.tools.iter().any(|tool| tool_name(tool) == name && is_own(tool))
    }

    /// Returns true if the assistant has to search for its APIs.
    pub(super) fn is_searched(&self) -> bool {
        self.tools.first().is_some_and(|tool| tool_name(tool) == TOOL_SEARCHER)
    }

    /// Returns the tools visible before a turn.
    pub(super) fn tools_at(&self, turn: usize) -> &[Json] {
        let count = self.visible.get(turn).copied().unwrap_or(self.tools.len());
        self.tools.get(..count).unwrap_or(&self.tools)
    }

    /// Returns the number of turns before the assistant's first.
    pub(super) fn prompt_len(&self) -> usize {
        self.turns.iter().position(|turn| turn.role == Role::Assistant).unwrap_or(self.turns.len())
    }

    /// Returns the texts of a role's messages, in order.
    pub(super) fn texts(&self, role: Role) -> impl Iterator<Item = &str> {
        self.turns.iter().filter(move |turn| turn.role == role).filter_map(|turn| turn.content.as_deref())
    }

    /// Returns the calls in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().flat_map(|turn| &turn.calls)
    }

    /// Returns the reply to a call.
    pub(super) fn reply(&self, call: &Call) -> Option<&str> {
        let replied = |turn: &&Turn| turn.call_id.as_deref() == Some(&call.id);
        self.turns.iter().find(replied)?.content.as_deref()
    }
}

impl Turn {
    fn of(row: &Dialogue, message: &Message) -> Result<Self, RowFault> {
        let calls = message.tool_calls.iter().map(|call| Call::of(row, call));
        Ok(Self {
            role: message.role,
            content: message.content.clone(),
            calls: calls.collect::<Result<_, _>>()?,
            call_id: message.tool_call_id.clone(),
            name: message.name.clone(),
            reasoning: message.reasoning_content.clone(),
            train: message.train,
        })
    }

    fn into_message(self) -> Message {
        let calls = self.calls.into_iter().map(|call| ToolCall::new(call.id, call.name, call.text));
        Message {
            role: self.role,
            content: self.content,
            tool_calls: calls.collect(),
            tool_call_id: self.call_id,
            name: self.name,
            reasoning_content: self.reasoning,
            train: self.train,
        }
    }

    /// Makes an assistant message with text, or with calls.
    pub(super) fn assistant(content: Option<String>, calls: Vec<Call>) -> Self {
        Self {
            role: Role::Assistant,
            content,
            calls,
            call_id: None,
            name: None,
            reasoning: None,
            train: true,
        }
    }

    /// Makes the reply to a call.
    pub(super) fn reply(call: &Call, content: String) -> Self {
        Self {
            role: Role::Tool,
            content: Some(content),
            calls: Vec::new(),
            call_id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            reasoning: None,
            train: false,
        }
    }

    /// Returns its text, or none if it is empty.
    pub(super) fn text(&self) -> Option<&str> {
        self.content.as_deref().filter(|text| !text.is_empty())
    }
}

impl Call {
    fn of(row: &Dialogue, call: &ToolCall) -> Result<Self, RowFault> {
        let text = call.function.arguments.clone();
        let arguments = serde_json::from_str(&text).map_err(|error| {
            let name = &call.function.name;
            fault(row, "messages", format!("the arguments of `{name}` are no JSON object: {error}"))
        })?;
        Ok(Self { id: call.id.clone(), name: call.function.name.clone(), arguments, text })
    }

    pub(super) fn new(id: String, name: String, arguments: Map<String, Json>) -> Self {
        let text = Json::Object(arguments.clone()).to_string();
        Self { id, name, arguments, text }
    }
}

/// Returns six base-36 digits from the row's id and three from the call's number.
fn call_id(row: &str, number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let hash = blake3::hash(row.as_bytes());
    let of_row = hash.as_bytes().iter().take(6).map(|byte| usize::from(*byte));
    let of_call = [number / 1296, number / 36, number];
    of_row.chain(of_call).map(|digit| char::from(DIGITS[digit % DIGITS.len()])).collect()
}

/// Returns the function of a tool without its wrapper.
pub(super) fn unwrap_function(tool: &Json) -> &Json {
    tool.get("function").unwrap_or(tool)
}

/// Wraps a function as a tool.
pub(super) fn wrap_function(function: Json) -> Json {
    json!({"type": "function", "function": function})
}

pub(super) fn tool_name(tool: &Json) -> &str {
    unwrap_function(tool).get("name").and_then(Json::as_str).unwrap_or_default()
}

/// Returns true for the conversation tool `finish`, false for an API with that name.
pub(super) fn is_finish(tool: &Json) -> bool {
    tool_name(tool) == FINISH && unwrap_function(tool).pointer("/parameters/properties/outcome").is_some()
}

/// Returns true for the conversation tool `confirm`, false for an API with that name.
pub(super) fn is_confirm(tool: &Json) -> bool {
    tool_name(tool) == CONFIRM && unwrap_function(tool).pointer("/parameters/properties/calls").is_some()
}

/// Returns the parameters of a tool, each with its schema and true if it is required.
pub(super) fn parameters(tool: &Json) -> Vec<(&str, &Json, bool)> {
    let schema = unwrap_function(tool).get("parameters");
    let required = schema.and_then(|schema| schema.get("required")).and_then(Json::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)));
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, of)| (name.as_str(), of, is_required(name))).collect()
}

pub(super) fn fault(row: &Dialogue, column: &'static str, what: String) -> RowFault {
    RowFault { row: row.id.clone(), column, what }
}
