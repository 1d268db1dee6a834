//! Owns an environment of the Open Reward Standard: sessions by header, tools by name, and rewards in the
//! replies of tools.
//!
//! A caller chooses the name of a session, or gets one from `/create_session`. `/create` starts its episode.
//! The call that ends the episode returns the reward. Later calls are refused.

mod names;
mod replies;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::{HeaderMap, HeaderName, Method, Uri};
use axum::middleware::from_fn;
use axum::routing::{get, post};
use diorama_sessions::{CallReply, Kind, Problem, quoted, unguessable};
use diorama_simulator::http::json_text;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use self::names::{for_python, from_python, may_be_renamed};
use self::replies::RecentReplies;
use self::stream::{events, result_events};
use crate::gym::{Gym, JsonBody, RequestRefusal, reward};
use crate::reply::{self, Answer};
use crate::setup::{AnyTask, Setup};
use crate::task_routes::{self, ENVIRONMENT, check_environment, check_path};
use crate::tools::{self, Tool};

/// The header that names a session.
const SESSION_HEADER: HeaderName = HeaderName::from_static("x-session-id");
/// Maximum bytes of a session's name.
const MAX_NAME_BYTES: usize = 200;

/// The environment, with the replies that clients may ask for again.
#[derive(Clone)]
pub(crate) struct Ors {
    gym: Arc<Gym>,
    replies: Arc<RecentReplies>,
}

impl FromRef<Ors> for Arc<Gym> {
    fn from_ref(ors: &Ors) -> Self {
        Self::clone(&ors.gym)
    }
}

/// The body of `/create`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    env_name: Option<String>,
    task_spec: Option<Map<String, Json>>,
    split: Option<String>,
    index: Option<i64>,
    toolset_name: Option<String>,
}

/// The body of `/call`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    name: String,
    input: Map<String, Json>,
    /// The id of an earlier reply that the client asks for again.
    task_id: Option<String>,
}

fn text_block(text: String) -> Json {
    json!({"text": text, "detail": null, "type": "text"})
}

/// Returns the output of a tool call that was not executed.
fn error_output(reason: &str, error: String) -> Json {
    json!({"ok": false, "error": error, "reason": reason})
}

/// Builds the routes. Those of the environment also exist without its name.
pub(crate) fn router(gym: &Arc<Gym>) -> Router {
    let ors = Ors { gym: Arc::clone(gym), replies: Arc::default() };
    let version = json!({"version": env!("CARGO_PKG_VERSION"), "build_sha": null});
    let of_environment = Router::new()
        .route("/tools", get(list_shared_tools))
        .route("/task_tools", get(list_task_tools))
        .route("/prompt", get(show_prompt))
        .route("/messages", get(show_messages))
        .route("/call", post(call))
        .route_layer(from_fn(check_path));
    Router::new()
        .route("/health", get(|| async { reply::json(&json!({"status": "ok"})) }))
        .route("/version", get(move || async move { reply::json(&version) }))
        .route("/ping", post(ping))
        .route("/create_session", post(create_session))
        .route("/delete_session", post(delete_session))
        .route("/create", post(create))
        .route("/delete", post(delete))
        .nest("/{environment}", of_environment.clone())
        .merge(of_environment)
        .with_state(ors)
        .merge(task_routes::router().with_state(Arc::clone(gym)))
        .fallback(|method: Method, uri: Uri| async move { redirect_or_refuse(&method, &uri) })
}

/// Redirects requests without the environment's name to the only environment, as the standard's own server
/// does.
fn redirect_or_refuse(method: &Method, uri: &Uri) -> Answer {
    const OF_TASKS: [&str; 5] = ["/splits", "/tasks", "/num_tasks", "/task", "/task_range"];
    if OF_TASKS.contains(&uri.path()) {
        let mut response = json_text(308, String::new());
        if let Ok(place) = format!("/{ENVIRONMENT}{}", uri.path()).parse() {
            response.headers_mut().insert(axum::http::header::LOCATION, place);
        }
        return Ok(response);
    }
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!("no route fits {method} {shown}, expected one of the Open Reward Standard");
    Err(Problem::new(Kind::NotFound, detail).into())
}

/// Returns the session name in a request's header.
fn session_name(headers: &HeaderMap) -> Result<String, Problem> {
    let name = headers.get(&SESSION_HEADER).and_then(|name| name.to_str().ok()).map(str::trim);
    let expected =
        format!("a name of 1 to {MAX_NAME_BYTES} visible characters, such as the one of /create_session");
    match name {
        None | Some("") => {
            Err(Problem::new(Kind::Malformed, format!("X-Session-ID header is required: {expected}")))
        }
        Some(name) if name.len() > MAX_NAME_BYTES || !name.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err(Problem::new(Kind::Malformed, format!("the header X-Session-ID: expected {expected}")))
        }
        Some(name) => Ok(name.to_owned()),
    }
}

impl Ors {
    /// Returns the id of the episode that a request concerns.
    fn episode(&self, headers: &HeaderMap) -> Result<String, Problem> {
        let name = session_name(headers)?;
        let id = self.gym.named(&name).filter(|id| self.gym.episodes.is_live(id));
        id.ok_or_else(|| {
            Problem::new(
                Kind::NotFound,
                "Active environment not found: POST /create begins it, and idle ones end",
            )
        })
    }
}

/// Returns a new session name. The server stores nothing until `/create`.
async fn create_session() -> Answer {
    let name = unguessable().map_err(Problem::no_random)?;
    Ok(events(&[("task_id", &name), ("end", "")]))
}

async fn delete_session(headers: HeaderMap) -> Answer {
    Ok(reply::json(&json!({"sid": session_name(&headers)?})))
}

/// Starts the episode of a session.
async fn create(State(ors): State<Ors>, headers: HeaderMap, JsonBody(asked): JsonBody<Create>) -> Answer {
    let gym = &ors.gym;
    let name = session_name(&headers)?;
    let Create { env_name, task_spec, split, index, toolset_name } = asked;
    check_environment(env_name.as_deref().unwrap_or(ENVIRONMENT))?;
    if let Some(toolset) = toolset_name {
        let detail = format!("unknown toolset {}, expected none", quoted(&toolset, 60));
        return Err(Problem::new(Kind::Malformed, detail).into());
    }
    let setup = match (task_spec, split, index) {
        (Some(spec), None, None) => Setup::read(&spec)?,
        (None, Some(split), Some(index)) => {
            let named = [("split".to_owned(), json!(split)), ("index".to_owned(), json!(index))];
            Setup::read(&Map::from_iter(named))?
        }
        _ => {
            let detail = "Provide either task_spec or both split and index, not both/neither";
            return Err(Problem::new(Kind::Invalid, detail).into());
        }
    };
    let start = setup.start(&gym.tasks, AnyTask::Never)?;
    let exists = || RequestRefusal::from(Problem::new(Kind::Malformed, "Session already exists"));
    if gym.named(&name).is_some() {
        return Err(exists());
    }
    gym.begin(start, Some(&name), &[]).await.map_err(|refused| match refused {
        RequestRefusal::Because(problem) if problem.is_about_key() => exists(),
        other => other,
    })?;
    Ok(reply::json(&json!({"sid": name})))
}

/// Ends the episode of a session. Ending it twice is no error.
async fn delete(State(ors): State<Ors>, headers: HeaderMap) -> Answer {
    let name = session_name(&headers)?;
    if let Some(id) = ors.gym.named(&name) {
        ors.gym.episodes.close(&id).await?;
    }
    Ok(reply::json(&json!({"sid": name})))
}

/// Renews the lease of a session.
async fn ping(State(ors): State<Ors>, headers: HeaderMap) -> Answer {
    ors.episode(&headers)?;
    Ok(reply::json(&json!({"status": "ok"})))
}

fn listed(tools: &[Tool]) -> Json {
    let view = |Tool { name, description, parameters }: &Tool| json!({"name": name, "description": description, "input_schema": for_python(parameters)});
    json!({
        "tools": tools.iter().map(view).collect::<Vec<_>>(),
        "terminal_tool": null,
        "supports_score_group": false,
        "message_block_types": ["text"],
    })
}

/// Lists the tools that every task has.
async fn list_shared_tools() -> Answer {
    Ok(reply::json(&listed(&tools::shared())))
}

/// Lists the tools that a session's agent may call now.
async fn list_task_tools(State(ors): State<Ors>, headers: HeaderMap) -> Answer {
    Ok(reply::json(&listed(&ors.gym.tools(&ors.episode(&headers)?).await?)))
}

/// Returns the prompt as blocks: the system message, and the user's first message.
async fn show_prompt(State(ors): State<Ors>, headers: HeaderMap) -> Answer {
    let prompt = ors.gym.episodes.prompt(&ors.episode(&headers)?).await?;
    Ok(reply::json(&[text_block(prompt.system), text_block(prompt.user)]))
}

/// Returns the prompt as messages.
async fn show_messages(State(ors): State<Ors>, headers: HeaderMap) -> Answer {
    let message =
        |role: &str, text: String| json!({"role": role, "blocks": [text_block(text)], "detail": null});
    let prompt = ors.gym.episodes.prompt(&ors.episode(&headers)?).await?;
    Ok(reply::json(&[message("system", prompt.system), message("user", prompt.user)]))
}

/// Calls a tool. The reply is stored for a while, so that a client with a broken connection can ask for it by
/// `task_id` instead of repeating the call.
async fn call(State(ors): State<Ors>, headers: HeaderMap, JsonBody(call): JsonBody<ToolCall>) -> Answer {
    if let Some(task_id) = call.task_id {
        return Ok(match ors.replies.get(&task_id) {
            Some(result) => result_events(&task_id, &result),
            None => events(&[("error", "unknown task_id")]),
        });
    }
    let id = ors.episode(&headers)?;
    let result = run_tool(&ors.gym, &id, call).await?.to_string();
    let task_id = unguessable().map_err(Problem::no_random)?;
    let response = result_events(&task_id, &result);
    ors.replies.put(task_id, result);
    Ok(response)
}

async fn run_tool(gym: &Gym, id: &str, call: ToolCall) -> Result<Json, Problem> {
    let ToolCall { name, input, .. } = call;
    if gym.episodes.is_over(id).await? {
        let detail = format!("`{name}` was not run: the episode has finished");
        return Ok(error_output("episode_finished", detail));
    }
    if !gym.has_tool(id, &name)? {
        let detail = format!("`{name}` is not a valid tool; /task_tools lists them");
        return Ok(error_output("not_found", detail));
    }
    let is_changed = input.iter().any(|(name, value)| value.is_null() || may_be_renamed(name));
    let tool =
        if is_changed { gym.tools(id).await?.into_iter().find(|tool| tool.name == name) } else { None };
    let input = match tool {
        Some(tool) => tools::without_nulls(&tool.parameters, from_python(&tool.parameters, input)),
        None => input,
    };
    match gym.call(id, &name, input).await {
        Ok(called) => make_output(gym, id, called).await,
        Err(problem) if matches!(problem.status(), 409 | 422 | 429 | 504) => {
            let called =
                CallReply { status: problem.status(), body: problem.body().to_string(), over: false };
            make_output(gym, id, called).await
        }
        Err(problem) => Err(problem),
    }
}

/// Returns the output of an executed tool call. The call that ends the episode has the reward, unless the
/// episode is excluded.
async fn make_output(gym: &Gym, id: &str, called: CallReply) -> Result<Json, Problem> {
    let grade = gym.grade_if_over(id, &called).await?;
    let mut metadata = json!({"status": called.status});
    if let Some(grade) = &grade {
        metadata["excluded"] = json!(grade.excluded);
        metadata["success"] = json!(grade.success);
        metadata["components"] = json!(grade.components);
        metadata["goal_rewards"] = json!(grade.goal_rewards);
        metadata["grader"] = json!(grade.version);
    }
    let output = json!({
        "blocks": [text_block(called.body)],
        "metadata": metadata,
        "reward": grade.as_ref().and_then(reward),
        "finished": grade.is_some(),
    });
    Ok(json!({"ok": true, "output": output}))
}
