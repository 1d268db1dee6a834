//! Owns a conversation over HTTP with a session server.
//!
//! The contract is that of the environment in process ([`super::judge`]): a refusal of the server is an
//! [`EnvironmentError`]. This side has only the parts of the task that the agent API serves.

use std::time::Duration;

use diorama_baselines::operation::{Operation, find_reply_schema, has_operation};
use diorama_baselines::trace::Note;
use diorama_engine::fault::Faults;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_grade::Grade;
use diorama_seeds::agent_tools::CONFIRM;
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::meter::Meter;
use diorama_baselines::environment::{
    Answer, Budget, ConversationEntry, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};

/// Session server, with the access of an admin.
pub struct SessionServer {
    http: reqwest::Client,
    url: String,
    /// Value of `Diorama-Token`, if the server requires it.
    token: Option<String>,
}

/// Conversation with a server.
pub struct RemoteEnvironment {
    http: reqwest::Client,
    /// URL of the session: `{server}/v1/sessions/{id}`.
    session: String,
    /// URL of the document with the visible APIs: `{server}/s/{id}/openapi.json`.
    document: String,
    view: View,
    meter: Meter,
    /// Document of the last fetch.
    openapi: Json,
}

/// Header of the admin's token.
const TOKEN: &str = "diorama-token";
/// Maximum time for a reply.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Task {
    system: String,
    user: String,
    tools: Vec<Json>,
}

#[derive(Deserialize)]
struct MessageReply {
    content: Option<String>,
    done: bool,
    ended: Option<bool>,
    finish: Option<Json>,
}

#[derive(Deserialize)]
struct CallReply {
    status: u16,
    body: Json,
}

#[derive(Deserialize)]
struct NewSession {
    id: String,
}

impl SessionServer {
    /// Makes the client of a server at a URL.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be set up.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, EnvironmentError> {
        let http = reqwest::Client::builder().timeout(PATIENCE).build().map_err(transport)?;
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { http, url, token })
    }

    /// Returns the number of tasks that the server serves. Success shows that it is reachable and accepts
    /// the admin.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable, or refuses.
    pub async fn tasks(&self) -> Result<u64, EnvironmentError> {
        #[derive(Deserialize)]
        struct TaskTotal {
            total: u64,
        }
        let request = self.authorise(self.http.get(format!("{}/v1/tasks?limit=1", self.url)));
        answer::<TaskTotal>(request.send().await).await.map(|listed| listed.total)
    }

    /// Makes a session for a task, and joins it as its agent. The agent's requests carry no token.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable, or lacks the task.
    pub async fn open(
        &self,
        task: &str,
        seed: u64,
        faults: &Faults,
        budget: Budget,
    ) -> Result<RemoteEnvironment, EnvironmentError> {
        let wanted = json!({"task": task, "seed": seed, "faults": faults.rules()});
        let request = self.authorise(self.http.post(format!("{}/v1/sessions", self.url)));
        let made: NewSession = answer(request.json(&wanted).send().await).await?;
        RemoteEnvironment::enter(self.http.clone(), &self.url, &made.id, budget).await
    }

    /// Ends the episode of a session, deletes the session, and returns the verdict of the server.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable, or does not grade the session.
    pub async fn grade(&self, environment: RemoteEnvironment) -> Result<Grade, EnvironmentError> {
        let session = environment.session;
        let request = self.authorise(self.http.post(format!("{session}/grade")));
        let grade = answer(request.json(&json!({})).send().await).await?;
        // The deletion frees memory. If it fails, the lease of the session expires.
        let _ = self.authorise(self.http.delete(session)).send().await;
        Ok(grade)
    }

    fn authorise(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.header(TOKEN, token),
            None => request,
        }
    }
}

/// Returns true if a document describes each visible API.
fn describes(openapi: &Json, view: &View) -> bool {
    let mut names = view.tools.iter().filter_map(|tool| tool["function"]["name"].as_str());
    let is_own = |name: &str| [TOOL_SEARCHER, FINISH, CONFIRM].contains(&name);
    names.all(|name| is_own(name) || has_operation(openapi, name))
}

impl RemoteEnvironment {
    /// Joins a session that was made for a task, by the server's URL and the session's id.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable, or if the session has no task.
    pub async fn join(server: &str, id: &str, budget: Budget) -> Result<Self, EnvironmentError> {
        let http = reqwest::Client::builder().timeout(PATIENCE).build().map_err(transport)?;
        let server = server.trim_end_matches('/');
        Self::enter(http, server, id, budget).await
    }

    async fn enter(
        http: reqwest::Client,
        server: &str,
        id: &str,
        budget: Budget,
    ) -> Result<Self, EnvironmentError> {
        let session = format!("{server}/v1/sessions/{id}");
        let task: Task = answer(http.get(format!("{session}/task")).send().await).await?;
        let view = View {
            system: task.system,
            conversation: vec![ConversationEntry::User(task.user)],
            tools: task.tools,
            over: false,
        };
        let document = format!("{server}/s/{id}/openapi.json");
        let openapi = answer(http.get(&document).send().await).await?;
        Ok(Self { http, session, document, view, meter: Meter::new(budget), openapi })
    }

    async fn make(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.meter.take(&self.view, true)?;
        let body = json!({"api": call.api, "arguments": call.arguments});
        let called: CallReply = self.post("call", &body).await?;
        let reply = Reply { status: called.status, body: called.body };
        self.view.add_call(call, &reply);
        // The document has the visible APIs. It changes only after a search that shows new ones.
        if call.api == TOOL_SEARCHER && !describes(&self.openapi, &self.view) {
            self.openapi = answer(self.http.get(&self.document).send().await).await?;
        }
        Ok(reply)
    }

    async fn hear(&mut self, words: &str, path: &str, body: &Json) -> Result<Answer, EnvironmentError> {
        self.meter.take(&self.view, false)?;
        let reply: MessageReply = self.post(path, body).await?;
        let keeps_open = reply.ended == Some(false);
        let answer = Answer { words: reply.content, over: reply.done, keeps_open };
        self.view.add_message(words, &answer);
        // A new goal asks for other facts. An answer within a goal does not change `finish`.
        if reply.done || reply.finish.is_some() {
            self.view.replace_finish(reply.finish);
        }
        Ok(answer)
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
        self.meter.left()
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        Box::pin(self.make(call))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        Box::pin(async move { self.hear(words, "messages", &json!({"content": words})).await })
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        Box::pin(async move {
            let body = serde_json::to_value(end).unwrap_or_default();
            self.hear(&end.message, "finish", &body).await
        })
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        self.view.has_tool(api).then(|| find_reply_schema(&self.openapi, api))?
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        self.view.has_tool(api).then(|| Operation::find(&self.openapi, api))?
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.meter.note(&note)
    }
}

/// Parses a reply of the server, or returns its refusal.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_fetched_again_only_for_an_api_that_it_lacks() {
        let document = json!({"paths": {"/rooms": {
            "get": {"operationId": "ListRooms"}, "parameters": [], "post": {"operationId": "AddRoom"}}}});
        let check = |tools: &[&str], expect: bool| {
            let tools = tools.iter().map(|name| json!({"type": "function", "function": {"name": name}}));
            let view = View { tools: tools.collect(), ..View::default() };
            assert_eq!(describes(&document, &view), expect);
        };
        check(&[TOOL_SEARCHER, FINISH], true);
        check(&[TOOL_SEARCHER, "ListRooms", "AddRoom", FINISH], true);
        check(&[TOOL_SEARCHER, "ListRooms", "DeleteRoom"], false);
    }
}
