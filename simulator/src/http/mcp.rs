//! Owns the MCP servers of sessions over streamable HTTP.
//!
//! The service keeps no state between requests: the path names the session, which has all state. Ten thousand
//! sessions thus cost no more than their worlds, and clients can continue after a restart. If the pool is too
//! large for a list, clients see the search and a tool that calls its results.

mod origin;
mod output;

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse;
use diorama_seeds::agent_tools;
use diorama_seeds::model::{Api, ApiId};
use diorama_seeds::task::Call;
use diorama_sessions::{Kind, Live, PendingSteps, Problem, Sessions, Slot, function_parts, run_blocking};
use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, InitializeRequestParams, InitializeResultMethod, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value as Json, json};

use self::output::output_schema;
use super::answer::{ProblemResponse, json_text};
use super::settings::Settings;
use super::text::{JSON, MAX_LINE_BYTES, media_type};
use diorama_engine::Base;
use diorama_engine::tools::TOOL_SEARCHER;

/// Maximum number of APIs that are listed one by one.
pub(super) const LISTED: usize = 100;

/// Name of the tool that calls an API by name, if there are too many to list.
pub(super) const TOOL_CALLER: &str = "ToolCaller";

/// Service that answers the MCP requests of all sessions.
type Service = StreamableHttpService<Mcp, NeverSessionManager>;

/// Session of a request, and the steps after it.
#[derive(Clone)]
struct RequestSession {
    /// Session that the path names.
    slot: Arc<Slot>,
    /// Steps that follow the response.
    after: Arc<Mutex<PendingSteps>>,
}

/// MCP side of a server.
#[derive(Clone)]
struct Mcp(Arc<Sessions>);

/// Endpoint of the MCP requests of a server's sessions.
pub struct Endpoint(Service);

impl Endpoint {
    /// Returns the response to a request whose body has been read, and the steps before it is sent.
    pub async fn answer(&self, slot: Arc<Slot>, parts: Parts, body: Bytes) -> (Response<Body>, PendingSteps) {
        let steps = Arc::new(Mutex::new(PendingSteps::default()));
        let says_json = media_type(&parts.headers).is_some_and(|kind| kind == JSON);
        let mut request = Request::from_parts(parts, http_body_util::Full::new(body.clone()));
        request.extensions_mut().insert(RequestSession { slot, after: Arc::clone(&steps) });
        let response = self.0.handle(request).await;
        let steps = std::mem::take(&mut *steps.lock().unwrap_or_else(PoisonError::into_inner));
        let as_io = |never: Infallible| -> io::Error { match never {} };
        let mut response = response.map(|body| Body::new(body.map_err(as_io)));
        if says_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            response = answer_unreadable(&body);
        } else if response.status().is_client_error() && !is_json(&response) {
            response = make_problem(response).await;
        }
        (response, steps)
    }

    pub(super) fn new(sessions: &Arc<Sessions>, settings: &Settings) -> Self {
        let mcp = Mcp(Arc::clone(sessions));
        let public_url = &settings.public_url;
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_hosts(origin::allowed_hosts(public_url))
            .with_allowed_origins(origin::allowed_origins(public_url))
            .with_max_request_body_bytes(settings.max_body_bytes);
        let sessions = Arc::new(NeverSessionManager::default());
        Self(StreamableHttpService::new(move || Ok(mcp.clone()), sessions, config))
    }
}

/// Returns the tools of a session.
fn list_tools_of(live: &Live) -> Vec<Tool> {
    let base = &live.world.base;
    // Faults may change the shape of replies, so that no output schema holds.
    let shaped = live.session.faults().is_none();
    let visible: Vec<ApiId> = live.session.visible().collect();
    let mut tools: Vec<Tool> = read_function(base.tool_searcher_schema()).into_iter().collect();
    if visible.len() > LISTED {
        tools.push(make_caller());
    } else {
        tools.extend(visible.into_iter().filter_map(|api| make_tool(base, api, shaped)));
    }
    // Clients that keep their first list of tools use one of these to call the results of searches.
    tools.extend(live.own_tools().iter().filter_map(read_function));
    tools
}

/// Makes the call of a tool call.
fn call(
    sessions: &Sessions,
    slot: &Slot,
    request: CallToolRequestParams,
) -> Result<(CallToolResult, PendingSteps), Problem> {
    let call = resolve_call(request, &slot.world.base)?;
    let called = sessions.call_by_name(&mut slot.lock(), call)?;
    let zone = &slot.world.world().zone;
    let text = vec![ContentBlock::text(called.body_text(zone))];
    if !called.is_success() {
        return Ok((CallToolResult::error(text), called.after));
    }
    let mut result = CallToolResult::success(text);
    result.structured_content = called.object(zone);
    Ok((result, called.after))
}

/// Returns the session of a request.
fn find_reached(context: &RequestContext<RoleServer>) -> Result<&RequestSession, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let reached = parts.and_then(|parts| parts.extensions.get::<RequestSession>());
    reached.ok_or_else(|| ErrorData::internal_error("the request names no session", None))
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("diorama", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "The tools are the APIs of one simulated world; their calls read and change its records. {TOOL_SEARCHER} \
                 finds APIs by keywords. Where few tools are listed, {TOOL_CALLER} calls what it found."
            ))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let slot = Arc::clone(&find_reached(&context)?.slot);
        // The list has one page, because many clients never ask for a second one.
        if request.is_some_and(|request| request.cursor.is_some()) {
            let detail = "found a cursor, expected none: all tools are on one page";
            return Err(ErrorData::invalid_params(detail, None));
        }
        let tools = run_blocking(move || Ok(list_tools_of(&slot.lock()))).await;
        let failed = |problem: Problem| ErrorData::internal_error(problem.detail().to_owned(), None);
        tools.map(ListToolsResult::with_all_items).map_err(failed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let sessions = Arc::clone(&self.0);
        let RequestSession { slot, after: to_do } = find_reached(&context)?.clone();
        let called = run_blocking(move || call(&sessions, &slot, request)).await;
        // A mistake of the model becomes a result, so that the model can read it.
        let (result, after) =
            called.unwrap_or_else(|problem| (make_error_result(&problem), PendingSteps::default()));
        *to_do.lock().unwrap_or_else(PoisonError::into_inner) = after;
        Ok(result.into())
    }

    // The server refuses a list of a feature that it lacks, rather than returning an empty one.

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Requests of the protocol come here if their parameters do not fit it.
        let method = request.method.as_str();
        let params = request.params.unwrap_or_default();
        let wrong = match method {
            CallToolRequestMethod::VALUE => serde_json::from_value::<CallToolRequestParams>(params).err(),
            InitializeResultMethod::VALUE => serde_json::from_value::<InitializeRequestParams>(params).err(),
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        let found = wrong.map_or_else(|| "others".to_owned(), |error| error.to_string());
        let detail = format!("`params` of {method}: expected those of the protocol, found {found}");
        Err(ErrorData::invalid_params(detail, None))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(make_lacking_error("prompts"))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(make_lacking_error("resources"))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(make_lacking_error("resource templates"))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(make_lacking_error("completions"))
    }
}

fn is_json(response: &Response<Body>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.contains("json"))
}

/// Converts a refusal of MCP's transport, which is a line of text, into a problem document.
async fn make_problem(response: Response<Body>) -> Response<Body> {
    let status = response.status().as_u16();
    let said = axum::body::to_bytes(response.into_body(), MAX_LINE_BYTES).await.unwrap_or_default();
    let kind = match status {
        403 => Kind::Forbidden,
        405 => Kind::MethodNotAllowed,
        406 => Kind::NotAcceptable,
        413 => Kind::BodyTooLarge,
        415 => Kind::UnsupportedMediaType,
        _ => Kind::Malformed,
    };
    ProblemResponse(Problem::new(kind, String::from_utf8_lossy(&said))).into_response()
}

/// Returns the JSON-RPC response to an unreadable message.
fn answer_unreadable(body: &[u8]) -> Response<Body> {
    let (id, error) = match serde_json::from_slice::<Json>(body) {
        Err(error) => {
            let detail = format!("the body: expected JSON, found {error}");
            (Json::Null, ErrorData::parse_error(detail, None))
        }
        Ok(message) => {
            let id = message.get("id").filter(|id| id.is_string() || id.is_number());
            let error = if message["jsonrpc"] == "2.0" && message["method"].is_string() && id.is_some() {
                ErrorData::invalid_params("`params`: expected those of the method, found others", None)
            } else {
                let detail = "the body: expected a message of JSON-RPC 2.0 with `jsonrpc`, `id` and `method`";
                ErrorData::invalid_request(detail, None)
            };
            (id.cloned().unwrap_or_default(), error)
        }
    };
    json_text(400, json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
}

/// Returns the call of a tool call.
fn resolve_call(request: CallToolRequestParams, base: &Base) -> Result<Call, Problem> {
    let arguments = request.arguments.unwrap_or_default();
    let by = match &*request.name {
        TOOL_CALLER => "api",
        agent_tools::CALL_API if base.api_named(agent_tools::CALL_API).is_none() => "name",
        _ => return Ok(Call { api: request.name.into_owned(), arguments }),
    };
    let wrong = |parameter: &str, expected: &str| {
        let found = match arguments.get(parameter) {
            Some(found) => found.to_string().chars().take(60).collect(),
            None => "nothing".to_owned(),
        };
        Problem::about(parameter, expected, found)
    };
    let expected = format!("the name of an API that {TOOL_SEARCHER} shows");
    let api = arguments.get(by).and_then(Json::as_str).ok_or_else(|| wrong(by, &expected))?.to_owned();
    let arguments = match arguments.get("arguments") {
        None | Some(Json::Null) => JsonObject::new(),
        Some(Json::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(wrong("arguments", "an object of the arguments that its schema names")),
    };
    Ok(Call { api, arguments })
}

/// Returns the result of a call that was not made. It has no structured content, because clients validate
/// that against the output schema even for errors.
fn make_error_result(problem: &Problem) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(problem.body().to_string())])
}

fn make_tool(base: &Base, id: ApiId, shaped: bool) -> Option<Tool> {
    let api: &Api = base.world().api(id);
    let mut tool = read_function(base.tool_schema(id)?)?;
    if shaped {
        tool.output_schema = output_schema(base.world(), api).map(Arc::new);
    }
    tool.annotations = Some(ToolAnnotations::new().read_only(!api.writes()).open_world(false));
    Some(tool)
}

/// Makes a tool from OpenAI's function format.
fn read_function(schema: &Json) -> Option<Tool> {
    let (name, description, parameters) = function_parts(schema)?;
    Some(Tool::new(name, description, parameters))
}

fn make_caller() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "api": {"type": "string", "description": format!("Name of an API, as {TOOL_SEARCHER} shows it")},
            "arguments": {"type": "object", "description": "Its arguments, as its schema says"},
        },
        "required": ["api"],
    });
    let description = format!("Calls an API that {TOOL_SEARCHER} has found, by its name.");
    Tool::new(TOOL_CALLER, description, schema.as_object().cloned().unwrap_or_default())
}

fn make_lacking_error(what: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("found no {what} here, expected a call of a tool"),
        None,
    )
}
