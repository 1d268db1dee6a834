//! Owns the engine of all methods: it asks a model in roles and acts in one environment.
//!
//! A role has a prompt and a reply format. The engine fills in the prompt, asks, parses the reply, and has a
//! malformed one repaired once. It records both and charges the budget. A method decides about the next role.

use diorama_llm::{ChatReply, Message, Tool, json_in};
use diorama_seeds::task::Call;
use minijinja::{Value, context};
use serde_json::Value as Json;

use crate::environment::{Answer, Environment, EnvironmentError, Finish, Reply, View};
use crate::jq::JqRunner;
use crate::note::Note;
use crate::operation::Operation;
use crate::prompts::{PromptError, render};
use crate::role_model::{ParseError, RoleModel, Stop};
use crate::toolbox::{Document, documents, finish_schema, retrieve, shorten, tool_searcher, transcript};

/// A role that the model plays.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    /// Name in traces and recordings.
    pub name: &'static str,
    /// File below `agents/prompts`.
    pub prompt: &'static str,
}

/// The role that converts an answer in words to `finish`.
const REPORT: Role = Role { name: "ending", prompt: "ending/report" };
/// Added to the system message if no role can search.
const SEARCHED: &str = " Searches with ToolSearcher are made without you.";
/// Maximum number of characters of the findings in this role's prompt.
const MAX_FINDINGS_CHARS: usize = 12_000;
/// Maximum number of characters of a reply in one finding.
const MAX_FINDING_CHARS: usize = 3_000;

/// One episode of an agent that asks a model.
pub(crate) struct Episode<'a> {
    model: &'a RoleModel,
    environment: &'a mut dyn Environment,
    /// Runs the jq programs of the parser.
    pub jq: Option<&'a dyn JqRunner>,
    /// Number of conversation entries before the agent started.
    before: usize,
    /// The calls with their replies, oldest first.
    findings: Vec<String>,
    /// Index of the open goal's first finding.
    goal_start: usize,
    /// Results of the open goal's steps, one line each.
    pub results: String,
    /// Results of earlier goals, one line each.
    pub background: String,
    /// The reflection on a failed trial of the open goal. Empty in a first trial.
    pub reflection: String,
    /// True if the method searches for tools itself, because no role can.
    pub searches_by_itself: bool,
}

impl<'a> Episode<'a> {
    pub(crate) fn new(
        model: &'a RoleModel,
        environment: &'a mut dyn Environment,
        jq: Option<&'a dyn JqRunner>,
    ) -> Self {
        let (results, background, reflection) = (String::new(), String::new(), String::new());
        let before = environment.view().conversation.len();
        Self {
            model,
            environment,
            jq,
            before,
            findings: Vec::new(),
            goal_start: 0,
            results,
            background,
            reflection,
            searches_by_itself: false,
        }
    }

    pub(crate) fn view(&self) -> &View {
        self.environment.view()
    }

    /// Returns the visible APIs.
    pub(crate) fn documents(&self) -> Vec<Document> {
        documents(self.view())
    }

    /// Returns the tool search, if the episode has it.
    pub(crate) fn tool_searcher(&self) -> Option<Document> {
        tool_searcher(self.view())
    }

    /// Returns the conversation as text, one line per entry.
    pub(crate) fn transcript(&self) -> String {
        transcript(self.view(), self.before)
    }

    /// Returns the user's last turn.
    pub(crate) fn last_request(&self) -> String {
        self.view().user_turns().last().unwrap_or_default().to_owned()
    }

    /// Returns the user's request: the only message of a new conversation, else the whole transcript.
    pub(crate) fn query(&self) -> String {
        if self.view().conversation.len() == 1 { self.last_request() } else { self.transcript() }
    }

    /// Returns all findings of the episode, one line each.
    pub(crate) fn findings(&self) -> String {
        self.findings.join("\n")
    }

    pub(crate) fn reply_schema(&self, api: &str) -> Option<Json> {
        self.environment.reply_schema(api)
    }

    pub(crate) fn operation(&self, api: &str) -> Option<Operation> {
        self.environment.operation(api)
    }

    pub(crate) fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.environment.note(note)
    }

    /// Records that one approach failed and the next is tried.
    pub(crate) fn fall_back(
        &mut self,
        role: &str,
        to: &str,
        because: String,
    ) -> Result<(), EnvironmentError> {
        self.note(Note::FellBack { role: role.to_owned(), to: to.to_owned(), because })
    }

    /// Searches for tools, if the episode has the tool search.
    pub(crate) async fn search(&mut self, keywords: &str) -> Result<(), EnvironmentError> {
        retrieve(self.environment, keywords).await
    }

    pub(crate) async fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        let reply = self.environment.call(call).await?;
        let arguments = Json::Object(call.arguments.clone());
        let body = shorten(&reply.body, MAX_FINDING_CHARS);
        self.findings.push(format!("{}({arguments}) answered {}: {body}", call.api, reply.status));
        Ok(reply)
    }

    pub(crate) async fn say(&mut self, words: &str) -> Result<Answer, EnvironmentError> {
        self.environment.say(words).await
    }

    /// Ends the open goal with `finish`. The inner error is the environment's reason for a refusal.
    pub(crate) async fn finish(
        &mut self,
        finish: &Finish,
    ) -> Result<Result<Answer, String>, EnvironmentError> {
        match self.environment.finish(finish).await {
            Ok(answer) => Ok(Ok(answer)),
            Err(EnvironmentError::Refused { detail, .. }) => Ok(Err(detail)),
            Err(error) => Err(error),
        }
    }

    /// Fills in the prompt of a role. Besides its `input`, a prompt may use the system message, the
    /// conversation (`request`) and the reflection on the previous trial.
    pub(crate) fn prompt(&self, role: Role, input: Value) -> Result<Vec<Message>, PromptError> {
        let (mut system, request) = (self.view().system.clone(), self.transcript());
        // The system message may ask for a search, but these roles cannot search.
        if self.searches_by_itself && self.tool_searcher().is_some() {
            system.push_str(SEARCHED);
        }
        let (query, reflection) = (self.query(), &*self.reflection);
        render(role.prompt, &context! { ..input, ..context! { system, request, query, reflection } })
    }

    /// Asks in a role and parses the reply. A malformed reply is sent back once, with the error.
    pub(crate) async fn ask<T>(
        &mut self,
        role: Role,
        input: Value,
        parse: impl Fn(&str) -> Result<T, ParseError> + Send,
    ) -> Result<T, Stop> {
        let messages = self.prompt(role, input)?;
        self.ask_with(role, messages, parse).await
    }

    /// Asks in a role with the given messages: those of a prompt and the later turns.
    pub(crate) async fn ask_with<T>(
        &mut self,
        role: Role,
        messages: Vec<Message>,
        parse: impl Fn(&str) -> Result<T, ParseError> + Send,
    ) -> Result<T, Stop> {
        self.model.ask_and_parse(self.environment, role.name, messages, parse).await
    }

    /// Asks with tools. The caller parses the reply.
    pub(crate) async fn ask_with_tools(
        &mut self,
        role: &str,
        messages: &[Message],
        tools: &[Tool],
    ) -> Result<ChatReply, EnvironmentError> {
        self.model.ask(self.environment, role, messages, tools).await
    }

    /// Ends the open goal with an answer in words. If answers are structured, a role converts it to `finish`.
    pub(crate) async fn end_goal(&mut self, answer: &str) -> Result<(), Stop> {
        match finish_schema(self.view()).cloned() {
            // The findings stay while the user keeps asking.
            Some(schema) if self.report(answer, &schema).await?.keeps_open => return Ok(()),
            Some(_) => {}
            None => self.say(answer).await.map(|_| ())?,
        }
        self.background.push_str(&std::mem::take(&mut self.results));
        self.reflection.clear();
        self.goal_start = self.findings.len();
        Ok(())
    }

    async fn report(&mut self, answer: &str, schema: &Json) -> Result<Answer, Stop> {
        let findings = self.findings.get(self.goal_start..).unwrap_or_default().join("\n");
        let findings = tail(&findings, MAX_FINDINGS_CHARS);
        let mut messages = self.prompt(REPORT, context! { findings, answer, schema })?;
        let mut was_refused = false;
        loop {
            let mut finish = self.ask_with(REPORT, messages.clone(), parse_finish).await?;
            if finish.message.is_empty() {
                answer.clone_into(&mut finish.message);
            }
            let detail = match self.finish(&finish).await? {
                Ok(heard) => return Ok(heard),
                Err(detail) => detail,
            };
            let (role, what) = (REPORT.name.to_owned(), detail.clone());
            self.note(Note::Malformed { role: role.clone(), what: detail.clone() })?;
            if was_refused {
                return Err(Stop::Malformed { role, what });
            }
            was_refused = true;
            messages.push(Message::assistant(serde_json::to_string(&finish).unwrap_or_default()));
            messages.push(Message::user(format!("That ending was refused: {detail}. Give it again.")));
        }
    }
}

fn parse_finish(reply: &str) -> Result<Finish, ParseError> {
    let json = parse_json(reply)?;
    serde_json::from_value(json).map_err(|error| ParseError(format!("the ending: {error}")))
}

/// Parses the JSON value in a reply.
pub(crate) fn parse_json(reply: &str) -> Result<Json, ParseError> {
    json_in(reply).map_err(|error| ParseError(error.to_string()))
}

/// Returns the text of a reply. `expected` describes it in the error for an empty reply.
pub(crate) fn parse_words(reply: &str, expected: &str) -> Result<String, ParseError> {
    match reply.trim() {
        "" => Err(ParseError::expected(expected, reply)),
        words => Ok(words.to_owned()),
    }
}

/// Returns the end of a text with at most `most` characters, starting at a line.
fn tail(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().skip(length - most).collect();
    cut.split_once('\n').map(|(_, after)| after.to_owned()).unwrap_or(cut)
}
