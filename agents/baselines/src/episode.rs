//! Owns the engine that all methods share: a model that is asked in roles, and acts in one environment.
//!
//! A role has a prompt and a form of reply. The engine fills the prompt in, asks, parses the reply, has a malformed one repaired
//! once, records both and charges the budget. A method decides which role is asked next.

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

/// The role that reads an answer in words into `finish`.
const REPORT: Role = Role { name: "ending", prompt: "ending/report" };
/// Follows the system message where no role can search.
const SEARCHED: &str = " Searches with ToolSearcher are made without you.";
/// Characters of the findings that this role is shown.
const MAX_FINDINGS_CHARS: usize = 12_000;
/// Characters of the reply in one finding.
const MAX_FINDING_CHARS: usize = 3_000;

/// One episode of an agent that asks a model.
pub(crate) struct Episode<'a> {
    model: &'a RoleModel,
    environment: &'a mut dyn Environment,
    /// Runs the jq programs of the parser.
    pub jq: Option<&'a dyn JqRunner>,
    /// Entries of the conversation before the agent came.
    before: usize,
    /// The calls with their replies, oldest first.
    findings: Vec<String>,
    /// Index of the open goal's first finding.
    goal_start: usize,
    /// Results of the open goal's steps, a line each.
    pub results: String,
    /// Results of the goals before, a line each.
    pub background: String,
    /// The reflection on a trial of the open goal that failed; empty in a first trial.
    pub reflection: String,
    /// True where the method searches for tools, and no role can.
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

    /// The visible APIs.
    pub(crate) fn documents(&self) -> Vec<Document> {
        documents(self.view())
    }

    /// The search for tools, where they have to be searched for.
    pub(crate) fn tool_searcher(&self) -> Option<Document> {
        tool_searcher(self.view())
    }

    /// The conversation in words, a line each.
    pub(crate) fn transcript(&self) -> String {
        transcript(self.view(), self.before)
    }

    /// The user's last turn.
    pub(crate) fn last_request(&self) -> String {
        self.view().user_turns().last().unwrap_or_default().to_owned()
    }

    /// What the user wants: the words of a conversation that has only begun, otherwise all of it.
    pub(crate) fn query(&self) -> String {
        if self.view().conversation.len() == 1 { self.last_request() } else { self.transcript() }
    }

    /// All findings of the episode, a line each.
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

    /// Notes that one way failed and the next is taken.
    pub(crate) fn fall_back(
        &mut self,
        role: &str,
        to: &str,
        because: String,
    ) -> Result<(), EnvironmentError> {
        self.note(Note::FellBack { role: role.to_owned(), to: to.to_owned(), because })
    }

    /// Searches for tools, where they have to be searched for.
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

    /// Ends the open goal with `finish`. The inner error is the reason for which the environment refuses it.
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

    /// Fills in the prompt of a role. Beside its `input`, every prompt may show the system message, the conversation (`request`)
    /// and the reflection on the trial before.
    pub(crate) fn prompt(&self, role: Role, input: Value) -> Result<Vec<Message>, PromptError> {
        let (mut system, request) = (self.view().system.clone(), self.transcript());
        // The message may ask for a search, which these roles have no action for.
        if self.searches_by_itself && self.tool_searcher().is_some() {
            system.push_str(SEARCHED);
        }
        let (query, reflection) = (self.query(), &*self.reflection);
        render(role.prompt, &context! { ..input, ..context! { system, request, query, reflection } })
    }

    /// Asks in a role, and parses the reply. A malformed reply is sent back once with the error.
    pub(crate) async fn ask<T>(
        &mut self,
        role: Role,
        input: Value,
        parse: impl Fn(&str) -> Result<T, ParseError> + Send,
    ) -> Result<T, Stop> {
        let messages = self.prompt(role, input)?;
        self.ask_with(role, messages, parse).await
    }

    /// Asks with messages of the role's own: those of a prompt and the turns since.
    pub(crate) async fn ask_with<T>(
        &mut self,
        role: Role,
        messages: Vec<Message>,
        parse: impl Fn(&str) -> Result<T, ParseError> + Send,
    ) -> Result<T, Stop> {
        self.model.ask_and_parse(self.environment, role.name, messages, parse).await
    }

    /// Asks with tools; the caller reads the reply.
    pub(crate) async fn ask_with_tools(
        &mut self,
        role: &str,
        messages: &[Message],
        tools: &[Tool],
    ) -> Result<ChatReply, EnvironmentError> {
        self.model.ask(self.environment, role, messages, tools).await
    }

    /// Ends the open goal with an answer in words, which a role reads into `finish` where answers are structured.
    pub(crate) async fn end_goal(&mut self, answer: &str) -> Result<(), Stop> {
        match finish_schema(self.view()).cloned() {
            Some(schema) => self.report(answer, &schema).await?,
            None => self.say(answer).await.map(|_| ())?,
        }
        self.background.push_str(&std::mem::take(&mut self.results));
        self.reflection.clear();
        self.goal_start = self.findings.len();
        Ok(())
    }

    async fn report(&mut self, answer: &str, schema: &Json) -> Result<(), Stop> {
        let findings = self.findings.get(self.goal_start..).unwrap_or_default().join("\n");
        let findings = tail(&findings, MAX_FINDINGS_CHARS);
        let mut messages = self.prompt(REPORT, context! { findings, answer, schema })?;
        let mut was_refused = false;
        loop {
            let mut finish = self.ask_with(REPORT, messages.clone(), parse_finish).await?;
            if finish.message.is_empty() {
                answer.clone_into(&mut finish.message);
            }
            let Err(detail) = self.finish(&finish).await? else { return Ok(()) };
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

/// Returns the words of a reply; `expected` describes them where there are none.
pub(crate) fn parse_words(reply: &str, expected: &str) -> Result<String, ParseError> {
    match reply.trim() {
        "" => Err(ParseError::expected(expected, reply)),
        words => Ok(words.to_owned()),
    }
}

/// The end of a text of at most `most` characters, from the start of a line.
fn tail(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().skip(length - most).collect();
    cut.split_once('\n').map(|(_, after)| after.to_owned()).unwrap_or(cut)
}
