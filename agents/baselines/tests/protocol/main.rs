//! Each agent's protocol, turn by turn: its requests, its reaction to replies, and its reaction to malformed
//! ones. Model and world are scripted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may end this way"
)]

mod function_calling;
mod planned;
mod react;
mod restgpt;
mod reverse_chain;

use std::collections::VecDeque;
use std::sync::Arc;

use diorama_baselines::environment::{
    Answer, Budget, ConversationEntry, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};
use diorama_baselines::jq::{JqError, JqRunner, Program, evaluate};
use diorama_baselines::operation::Operation;
use diorama_baselines::role_model::RoleModel;
use diorama_baselines::trace::{Note, Recording, Step, act_again};
use diorama_baselines::{Agent, Baseline, CallerForm, Completion, Execution, Method, Parsing, Planning};
use diorama_llm::{
    ChatReply, ChatRequest, FinishReason, Message, RequestOrigin, Sampling, ScriptedModel, ToolCall,
};
use diorama_seeds::task::{Call, Outcome};
use serde_json::{Value as Json, json};

/// A scripted world with two APIs: a patient by name, and the patient's balance.
struct Clinic {
    view: View,
    budget: Budget,
    answers: VecDeque<Answer>,
    /// The OpenAPI document, if it is a REST service.
    openapi: Option<Json>,
}

fn function(name: &str, description: &str, argument: (&str, &str)) -> Json {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": {
        "type": "object", "properties": {argument.0: {"type": argument.1}}, "required": [argument.0]}}})
}

fn finish_tool() -> Json {
    json!({"type": "function", "function": {"name": "finish", "description": "Ends the request.", "parameters": {
        "type": "object", "properties": {"outcome": {"type": "string"}, "facts": {"type": "object", "properties": {
            "balance": {"type": "number", "description": "balance of the patient"}}}}}}})
}

impl Clinic {
    fn new() -> Self {
        let tools = vec![
            function("FindPatient", "Finds a patient by name.", ("name", "string")),
            function("GetBalance", "Gets what a patient owes.", ("patient_id", "integer")),
            finish_tool(),
        ];
        let view = View {
            system: "You work at a clinic. It is 2026-03-02.".to_owned(),
            conversation: vec![ConversationEntry::User("What does Ana Reis owe as balance?".to_owned())],
            tools,
            over: false,
        };
        Self { view, budget: Budget::USUAL, answers: VecDeque::new(), openapi: None }
    }

    /// Makes the clinic with a tool search.
    fn searched() -> Self {
        let mut clinic = Self::new();
        clinic.view.tools =
            vec![function("ToolSearcher", "Finds tools.", ("keywords", "string")), finish_tool()];
        clinic
    }

    /// Makes the clinic as a REST service.
    fn rest() -> Self {
        let parameter = |name: &str, place: &str, kind: &str| json!({"name": name, "in": place, "required": true, "schema": {"type": kind}});
        let openapi = json!({"openapi": "3.1.0", "servers": [{"url": "https://clinic.example"}], "paths": {
            "/patients": {"get": {"operationId": "FindPatient", "description": "Finds a patient by name.",
                "parameters": [parameter("name", "query", "string")], "responses": {}}},
            "/patients/{patient_id}/balance": {"get": {"operationId": "GetBalance", "description": "Gets what a patient owes.",
                "parameters": [parameter("patient_id", "path", "integer")], "responses": {}}}}});
        Self { openapi: Some(openapi), ..Self::new() }
    }

    /// Makes the clinic without `finish`.
    fn in_words() -> Self {
        let mut clinic = Self::new();
        clinic.view.tools.pop();
        clinic
    }

    fn calls(&self) -> Vec<String> {
        let call = |said: &ConversationEntry| match said {
            ConversationEntry::Call(call, reply) => {
                Some(format!("{}({}) {}", call.api, Json::Object(call.arguments.clone()), reply.status))
            }
            _ => None,
        };
        self.view.conversation.iter().filter_map(call).collect()
    }
}

impl Environment for Clinic {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.budget
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        let taken = self.budget.take(true, 0);
        let found = Self::new().view.tools;
        let known = self.view.tools.iter().any(|tool| tool["function"]["name"] == *call.api);
        let (status, body) = match (&*call.api, known) {
            ("FindPatient", true) if call.arguments.get("name") == Some(&json!("Ana Reis")) => {
                (200, json!({"patients": [{"patient_id": 7, "name": "Ana Reis"}]}))
            }
            ("GetBalance", true) if call.arguments.get("patient_id") == Some(&json!(7)) => {
                (200, json!({"patient_id": 7, "balance": 12.5}))
            }
            ("ToolSearcher", _) => (200, json!({"tools": [found[0]["function"], found[1]["function"]]})),
            _ => (404, json!({"status": 404, "detail": "there is none"})),
        };
        let reply = Reply { status, body };
        self.view.conversation.push(ConversationEntry::Call(call.clone(), reply.clone()));
        if call.api == "ToolSearcher" {
            self.view.add_tools(&reply.body);
        }
        Box::pin(std::future::ready(taken.map(|()| reply)))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        let taken = self.budget.take(false, 0);
        let answer = self.answers.pop_front().unwrap_or(Answer {
            words: Some("Please go ahead.".into()),
            over: false,
            ..Answer::default()
        });
        self.view.conversation.push(ConversationEntry::Agent(words.to_owned()));
        self.view.conversation.extend(answer.words.clone().map(ConversationEntry::User));
        self.view.over = answer.over;
        Box::pin(std::future::ready(taken.map(|()| answer)))
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        if let Some(name) = end.facts.keys().find(|name| *name != "balance") {
            let detail = format!("facts: found `{name}`, expected one of `balance`");
            return Box::pin(std::future::ready(Err(EnvironmentError::Refused { status: 422, detail })));
        }
        self.view.over = true;
        Box::pin(std::future::ready(Ok(Answer { words: None, over: true, ..Answer::default() })))
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let members = match api {
            "FindPatient" => json!({"patient_id": {"type": "integer"}, "name": {"type": "string"}}),
            _ => json!({"balance": {"type": "number"}}),
        };
        Some(json!({"type": "object", "properties": members}))
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        Operation::find(self.openapi.as_ref()?, api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.budget.note(&note, 0)
    }
}

/// The result of an episode.
struct Ran {
    clinic: Clinic,
    steps: Vec<Step>,
    sent: Vec<ChatRequest>,
    acted: Result<(), EnvironmentError>,
}

impl Ran {
    /// Formats the notes.
    fn notes(&self) -> Vec<String> {
        let note = |step: &Step| match step {
            Step::Noted(Note::Malformed { role, what }) => Some(format!("malformed {role}: {what}")),
            Step::Noted(Note::FellBack { role, to, because }) => Some(format!("{role} to {to}: {because}")),
            Step::Noted(Note::GaveUp { because }) => Some(format!("gave up: {because}")),
            _ => None,
        };
        self.steps.iter().filter_map(note).collect()
    }

    fn ending(&self) -> Option<&Finish> {
        self.steps.iter().find_map(|step| match step {
            Step::Finished { end, .. } => Some(end),
            _ => None,
        })
    }

    fn roles(&self) -> Vec<&str> {
        self.sent.iter().map(|request| &*request.origin.step).collect()
    }

    /// Returns all text of a request.
    fn text(&self, at: usize) -> String {
        serde_json::to_string(&self.sent[at].messages).unwrap()
    }
}

/// Runs jq in the test itself.
struct InProcessJq;

impl JqRunner for InProcessJq {
    fn run(&self, program: &Program, input: &Json) -> Result<Vec<Json>, JqError> {
        evaluate(program, input)
    }
}

async fn run(clinic: Clinic, replies: Vec<ChatReply>, method: Method) -> Ran {
    let model = Arc::new(ScriptedModel::replies(replies));
    let origin = RequestOrigin { step: String::new(), row: 3, attempt: 1 };
    let sampling = Sampling { temperature: Some(0.0), ..Sampling::up_to(256) };
    let agent =
        Baseline::new(RoleModel::new(model.clone(), sampling, origin), method).with_jq(Arc::new(InProcessJq));
    let mut clinic = clinic;
    let mut recording = Recording::new(&mut clinic);
    let acted = agent.act(&mut recording).await;
    let steps = recording.into_steps();
    Ran { clinic, steps, sent: model.sent(), acted }
}

fn texts(replies: &[&str]) -> Vec<ChatReply> {
    replies.iter().map(|text| ChatReply::text(*text)).collect()
}

fn tool(name: &str, arguments: &str) -> ChatReply {
    let call = ToolCall { id: format!("id-{name}"), name: name.to_owned(), arguments: arguments.to_owned() };
    ChatReply { tool_calls: vec![call], finish_reason: FinishReason::ToolCalls, ..ChatReply::text("") }
}

const DONE: &str = r#"{"outcome": "done", "facts": {"balance": 12.5}, "message": "12.50."}"#;
