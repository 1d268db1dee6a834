//! OpenEnv's JSON-RPC 2.0 form of MCP: `tools/list`, `tools/call`, and sessions.

use diorama_sessions::{Capacity, Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::env::OpenEnv;
use super::playing::Playing;
use super::wire::listed;
use crate::gym::{RequestRefusal, reward};
use crate::tools;

/// A JSON-RPC request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RpcRequest {
    jsonrpc: Version,
    method: String,
    #[serde(default)]
    params: Map<String, Json>,
    #[serde(default)]
    id: Option<RpcId>,
}

#[derive(Debug, Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum RpcId {
    Number(i64),
    Text(String),
}

/// A JSON-RPC error.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: String,
    data: Option<Json>,
}

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const INTERNAL_ERROR: i32 = -32_603;
const SERVER_ERROR: i32 = -32_000;

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Makes the error of a full server.
    pub(super) fn full(capacity: Capacity) -> Self {
        let Capacity { active, most } = capacity;
        let message = format!("the server has {active} of {most} sessions; close some, and try again");
        let data = json!({"active_sessions": active, "max_sessions": most});
        Self { code: SERVER_ERROR, message, data: Some(data) }
    }

    /// Returns the reply with this error.
    pub(super) fn reply(&self, id: &Json) -> Json {
        json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": self.code, "message": self.message, "data": self.data},
        })
    }
}

impl From<RequestRefusal> for RpcError {
    fn from(error: RequestRefusal) -> Self {
        match error {
            RequestRefusal::Full { capacity, .. } => Self::full(capacity),
            RequestRefusal::Because(problem) => problem.into(),
        }
    }
}

impl From<Problem> for RpcError {
    fn from(problem: Problem) -> Self {
        let code = match problem.status() {
            400 | 404 | 409 | 422 => INVALID_PARAMS,
            429 | 503 | 504 => SERVER_ERROR,
            _ => INTERNAL_ERROR,
        };
        Self::new(code, problem.detail())
    }
}

/// The transport of a request.
pub(super) enum Origin<'a> {
    /// HTTP. The parameters name the session.
    Http,
    /// A socket, with the name of its session and its episode.
    Socket { session: Option<&'a str>, playing: Option<&'a Playing> },
}

impl OpenEnv {
    /// Answers a message that should be a request.
    pub(super) async fn answer_rpc(&self, text: &[u8], origin: Origin<'_>) -> Json {
        let value: Json = match serde_json::from_slice(text) {
            Ok(value) => value,
            Err(error) => {
                return RpcError::new(PARSE_ERROR, format!("Parse error: {error}")).reply(&Json::Null);
            }
        };
        self.answer_rpc_value(value, origin).await
    }

    /// Answers a JSON value that should be a request.
    pub(super) async fn answer_rpc_value(&self, value: Json, origin: Origin<'_>) -> Json {
        let request = match RpcRequest::deserialize(value) {
            Ok(request) => request,
            Err(error) => {
                let message = format!(
                    "Invalid request: found {error}, expected `jsonrpc`, `method`, `params` and `id`"
                );
                return RpcError::new(INVALID_REQUEST, message).reply(&Json::Null);
            }
        };
        let RpcRequest { jsonrpc: Version::Two, method, params, id } = request;
        let id = json!(id);
        match self.call_method(&method, &params, origin).await {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => error.reply(&id),
        }
    }

    async fn call_method(
        &self,
        method: &str,
        params: &Map<String, Json>,
        origin: Origin<'_>,
    ) -> Result<Json, RpcError> {
        match method {
            "openenv/session/create" => self.create_session(&origin).await,
            "openenv/session/close" => self.close_session(params, &origin).await,
            "tools/list" => self.list_tools(params, &origin).await,
            "tools/call" => self.call_tool(params, &origin).await,
            _ => {
                let shown: String = method.chars().take(60).collect();
                let known = "tools/list, tools/call, openenv/session/create, openenv/session/close";
                Err(RpcError::new(
                    METHOD_NOT_FOUND,
                    format!("Method not found: {shown}; expected one of {known}"),
                ))
            }
        }
    }

    /// Creates a session of the first task. A reset on a socket that joins the session replaces its episode.
    async fn create_session(&self, origin: &Origin<'_>) -> Result<Json, RpcError> {
        if let Origin::Socket { session: Some(session), .. } = origin {
            return Ok(json!({"session_id": session}));
        }
        let name = self.new_name()?;
        Playing::reset(&self.gym, &Map::new(), Some(&name)).await?;
        Ok(json!({"session_id": name}))
    }

    async fn close_session(&self, params: &Map<String, Json>, origin: &Origin<'_>) -> Result<Json, RpcError> {
        let name = params.get("session_id").and_then(Json::as_str);
        let name =
            name.ok_or_else(|| RpcError::new(INVALID_PARAMS, "Invalid params - 'session_id' is required"))?;
        if matches!(origin, Origin::Socket { session: Some(own), .. } if *own == name) {
            return Err(RpcError::new(
                INVALID_REQUEST,
                "a socket's own session ends with the socket; close that",
            ));
        }
        if self.attachments.close_later(name) {
            return Ok(json!({"session_id": name, "closed": false, "closing": true}));
        }
        let id = self.gym.named(name).ok_or_else(|| unknown_session(name))?;
        self.gym.episodes.close(&id).await?;
        Ok(json!({"session_id": name, "closed": true}))
    }

    async fn list_tools(&self, params: &Map<String, Json>, origin: &Origin<'_>) -> Result<Json, RpcError> {
        let tools = match self.session(params, origin)? {
            Some(id) => self.gym.tools(&id).await?,
            None => tools::shared(),
        };
        Ok(json!({"tools": listed(&tools)}))
    }

    async fn call_tool(&self, params: &Map<String, Json>, origin: &Origin<'_>) -> Result<Json, RpcError> {
        let name = params.get("name").and_then(Json::as_str).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| RpcError::new(INVALID_PARAMS, "Missing 'name' in params"))?;
        let arguments = match params.get("arguments") {
            None | Some(Json::Null) => Map::new(),
            Some(Json::Object(arguments)) => arguments.clone(),
            Some(_) => {
                return Err(RpcError::new(
                    INVALID_PARAMS,
                    "`arguments`: expected an object, found another value",
                ));
            }
        };
        let id = self.session(params, origin)?.ok_or_else(|| {
            RpcError::new(INVALID_PARAMS, "found no `session_id`, expected the one of openenv/session/create")
        })?;
        if !self.gym.has_tool(&id, name)? {
            let shown: String = name.chars().take(60).collect();
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("Tool not found: {shown}; tools/list shows them"),
            ));
        }
        let called = self.gym.call(&id, name, arguments).await?;
        let grade = self.gym.grade_if_over(&id, &called).await?;
        let data: Json = serde_json::from_str(&called.body).unwrap_or(Json::Null);
        let mut result = json!({
            "content": [{"type": "text", "text": called.body}],
            "data": data,
            "isError": called.status >= 400,
        });
        if let Some(grade) = grade {
            result["done"] = json!(true);
            result["reward"] = json!(reward(&grade));
        }
        Ok(result)
    }

    /// Returns the id of the session that a request concerns, if any.
    fn session(&self, params: &Map<String, Json>, origin: &Origin<'_>) -> Result<Option<String>, RpcError> {
        if let Origin::Socket { playing, .. } = origin {
            return Ok(playing.map(|playing| playing.id.clone()));
        }
        match params.get("session_id") {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(name)) => self.gym.named(name).map(Some).ok_or_else(|| unknown_session(name)),
            Some(_) => {
                Err(RpcError::new(INVALID_PARAMS, "`session_id`: expected a text, found another value"))
            }
        }
    }
}

fn unknown_session(name: &str) -> RpcError {
    let shown: String = name.chars().take(60).collect();
    RpcError::new(INVALID_PARAMS, format!("Unknown session_id: {shown}"))
}
