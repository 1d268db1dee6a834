//! A conversation over HTTP, with a server of sessions.
//!
//! The same contract as in process ([`super::judge`]): what the server refuses is an [`EnvironmentError`], and nothing of
//! the task but what the agent's surface serves is ever here.

use std::time::{Duration, Instant};

use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_tested::trace::Note;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::environment::{Answer, Budget, Environment, EnvironmentError, Finish, Reply, Said, Soon, View};

/// A conversation with a server.
pub struct RemoteEnvironment {
    http: reqwest::Client,
    /// `{server}/v1/sessions/{id}`.
    session: String,
    view: View,
    budget: Budget,
    started: Instant,
}

/// How long a reply may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Task {
    system: String,
    user: String,
    tools: Vec<Json>,
}

#[derive(Deserialize)]
struct Heard {
    content: Option<String>,
    done: bool,
    finish: Option<Json>,
}

#[derive(Deserialize)]
struct Called {
    status: u16,
    body: Json,
}

impl RemoteEnvironment {
    /// Joins a session that was made for a task, by the server's URL and the session's id.
    ///
    /// # Errors
    /// When the server cannot be reached, or the session has no task.
    pub async fn join(server: &str, id: &str, budget: Budget) -> Result<Self, EnvironmentError> {
        let http = reqwest::Client::builder().timeout(PATIENCE).build().map_err(transport)?;
        let session = format!("{}/v1/sessions/{id}", server.trim_end_matches('/'));
        let task: Task = answer(http.get(format!("{session}/task")).send().await).await?;
        let view = View {
            system: task.system,
            conversation: vec![Said::User(task.user)],
            tools: task.tools,
            over: false,
        };
        Ok(Self { http, session, view, budget, started: Instant::now() })
    }

    fn take(&mut self, is_call: bool) -> Result<(), EnvironmentError> {
        if self.view.over {
            return Err(EnvironmentError::Over);
        }
        let used_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.budget.take(is_call, used_ms)
    }

    async fn make(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.take(true)?;
        let body = json!({"api": call.api, "arguments": call.arguments});
        let called: Called = self.post("call", &body).await?;
        let reply = Reply { status: called.status, body: called.body };
        if call.api == TOOL_SEARCHER {
            self.view.found(&reply.body);
        }
        self.view.conversation.push(Said::Call(call.clone(), reply.clone()));
        Ok(reply)
    }

    async fn hear(&mut self, words: &str, path: &str, body: &Json) -> Result<Answer, EnvironmentError> {
        self.take(false)?;
        let heard: Heard = self.post(path, body).await?;
        self.view.conversation.push(Said::Agent(words.to_owned()));
        self.view.conversation.extend(heard.content.clone().map(Said::User));
        self.view.over = heard.done;
        // Another stage asks for other facts; an answer within a stage leaves its ending as it is.
        if heard.done || heard.finish.is_some() {
            self.view.ends_with(heard.finish);
        }
        Ok(Answer { words: heard.content, over: heard.done })
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &Json) -> Result<T, EnvironmentError> {
        answer(self.http.post(format!("{}/{path}", self.session)).json(body).send().await).await
    }
}

impl Environment for RemoteEnvironment {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.budget
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> Soon<'a, Reply> {
        Box::pin(self.make(call))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> Soon<'a, Answer> {
        Box::pin(async move { self.hear(words, "messages", &json!({"content": words})).await })
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> Soon<'a, Answer> {
        Box::pin(async move {
            let body = serde_json::to_value(end).unwrap_or_default();
            self.hear(&end.message, "finish", &body).await
        })
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        let used_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.budget.note(&note, used_ms)
    }
}

/// A reply of the server as a type, or what it refuses.
async fn answer<T: DeserializeOwned>(
    reply: Result<reqwest::Response, reqwest::Error>,
) -> Result<T, EnvironmentError> {
    let reply = reply.map_err(transport)?;
    let status = reply.status();
    let text = reply.text().await.map_err(transport)?;
    if !status.is_success() {
        let problem: Option<Json> = serde_json::from_str(&text).ok();
        let detail = problem.as_ref().and_then(|problem| problem.get("detail")?.as_str());
        let detail = detail.map_or_else(|| text.chars().take(200).collect(), str::to_owned);
        return Err(EnvironmentError::Refused { status: status.as_u16(), detail });
    }
    serde_json::from_str(&text).map_err(|error| EnvironmentError::Transport {
        what: format!("the server answered something unexpected: {error}"),
    })
}

fn transport(error: reqwest::Error) -> EnvironmentError {
    EnvironmentError::Transport { what: error.to_string() }
}
