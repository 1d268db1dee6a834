//! OpenEnv's messages: actions, observations, states and errors.

use diorama_sessions::{Capacity, GradeReply, Prompt};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::gym::{RequestRefusal, reward};
use crate::tools::Tool;

/// An action.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Action {
    /// Lists the tools.
    ListTools {
        #[serde(default, rename = "metadata")]
        _metadata: Map<String, Json>,
    },
    /// Calls a tool.
    CallTool {
        tool_name: String,
        #[serde(default)]
        arguments: Map<String, Json>,
        #[serde(default, rename = "metadata")]
        _metadata: Map<String, Json>,
    },
}

impl Action {
    /// Parses an action. Without a type, it calls a tool.
    ///
    /// # Errors
    /// A message with the found and the expected form.
    pub(super) fn read(mut data: Map<String, Json>) -> Result<Self, String> {
        data.entry("type").or_insert_with(|| json!("call_tool"));
        let expected =
            "{\"type\": \"list_tools\"} or {\"type\": \"call_tool\", \"tool_name\", \"arguments\"}";
        Self::deserialize(Json::Object(data))
            .map_err(|error| format!("the action: found {error}, expected {expected}"))
    }
}

/// The result of a reset or a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Outcome {
    pub(super) observation: Json,
    /// Null at a reset and for an excluded episode. 0 before the end.
    pub(super) reward: Option<f64>,
    pub(super) done: bool,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) metadata: Map<String, Json>,
}

impl Outcome {
    /// Makes the first observation of an episode: its messages and tools.
    pub(super) fn of_reset(prompt: &Prompt, tools: &[Tool], episode_id: Option<&str>) -> Self {
        let metadata = Map::from_iter([("episode_id".to_owned(), json!(episode_id))]);
        let observation = json!({
            "task_id": prompt.task,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            // Clients read an observation with the member `tools` as a reply to `list_tools`, so this member
            // has another name.
            "available_tools": listed(tools),
            "metadata": metadata,
        });
        Self { observation, reward: None, done: false, metadata }
    }

    /// Makes the observation that lists the tools.
    pub(super) fn of_tools(tools: &[Tool], done: bool) -> Self {
        let observation = json!({"tools": listed(tools), "metadata": {}});
        Self { observation, reward: Some(0.0), done, metadata: Map::new() }
    }

    /// Makes the observation of a tool's reply, with the grade if the call ended the episode.
    pub(super) fn of_reply(tool: &str, status: u16, result: Json, grade: Option<&GradeReply>) -> Self {
        let mut metadata = Map::from_iter([("status".to_owned(), json!(status))]);
        if let Some(grade) = grade {
            metadata.insert("grade".to_owned(), grade_view(grade));
        }
        let observation = json!({"tool_name": tool, "result": result, "error": null, "metadata": metadata});
        let reward = grade.map_or(Some(0.0), reward);
        Self { observation, reward, done: grade.is_some(), metadata }
    }

    /// Makes the observation of a failed call.
    pub(super) fn of_error(tool: &str, kind: ToolErrorType, message: &str, done: bool) -> Self {
        let error = json!({"error_type": kind, "message": message});
        let observation = json!({"tool_name": tool, "result": null, "error": error, "metadata": {}});
        Self { observation, reward: Some(0.0), done, metadata: Map::new() }
    }
}

/// The reason for which a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolErrorType {
    ExecutionError,
    ToolNotFound,
    Timeout,
}

/// Returns the verdicts of an episode.
pub(super) fn grade_view(grade: &GradeReply) -> Json {
    let GradeReply { version, success, components, goal_rewards, excluded, .. } = grade;
    json!({
        "grader": version,
        "success": success,
        "excluded": excluded,
        "components": components,
        "goal_rewards": goal_rewards,
    })
}

/// Returns tools in OpenEnv's form.
pub(super) fn listed(tools: &[Tool]) -> Vec<Json> {
    let view = |Tool { name, description, parameters }: &Tool| json!({"name": name, "description": description, "input_schema": parameters});
    tools.iter().map(view).collect()
}

/// The state of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct State {
    pub(super) episode_id: Option<String>,
    pub(super) step_count: u64,
    pub(super) task_id: Option<String>,
    pub(super) done: bool,
}

/// The codes of errors on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum ErrorCode {
    InvalidJson,
    UnknownType,
    ValidationError,
    ExecutionError,
    CapacityReached,
    SessionError,
}

/// An error on a socket.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SocketError {
    code: ErrorCode,
    message: String,
    capacity: Option<Capacity>,
}

impl SocketError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), capacity: None }
    }

    /// Makes the error of a full server.
    pub(super) fn full(capacity: Capacity) -> Self {
        let Capacity { active, most } = capacity;
        let message = format!("the server has {active} of {most} sessions; close some, and try again");
        Self { code: ErrorCode::CapacityReached, message, capacity: Some(capacity) }
    }

    /// Returns the frame with this error.
    pub(super) fn frame(&self) -> Json {
        let mut data = json!({"message": self.message, "code": self.code});
        if let Some(Capacity { active, most }) = self.capacity {
            data["active_sessions"] = json!(active);
            data["max_sessions"] = json!(most);
        }
        if self.code == ErrorCode::ValidationError {
            data["errors"] = json!([{"type": "value_error", "loc": [], "msg": self.message}]);
        }
        json!({"type": "error", "data": data})
    }
}

impl From<RequestRefusal> for SocketError {
    fn from(error: RequestRefusal) -> Self {
        match error {
            RequestRefusal::Full { capacity, .. } => Self::full(capacity),
            RequestRefusal::Because(problem) => {
                let code = if problem.status() < 500 {
                    ErrorCode::ValidationError
                } else {
                    ErrorCode::ExecutionError
                };
                Self::new(code, problem.detail())
            }
        }
    }
}
