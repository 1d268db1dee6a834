//! Reverse Chain (Zhang et al., 2023): plans backwards from the last call.
//!
//! A rule, not a model, decides about the next step. The model selects the API that fulfils the request. Its
//! required arguments are completed all at once, each from the request, by another API, or by a question to
//! the user (section 3.1). An API chosen for an argument is completed in the same way. When no required
//! argument is open, the plan is complete and may be executed. Candidates for an argument are the APIs whose
//! replies have a value of its type.

mod replies;

use std::pin::Pin;

use minijinja::context;
use serde_json::Value as Json;

use self::replies::{Candidates, Choice, Source, Sources, parse_choice, parse_completion, parse_extracted};
use crate::episode::{Episode, Role};
use crate::form::{ShownApi, show_apis};
use crate::plan::{Execution, Plan, PlanArgument, conclude};
use crate::role_model::Stop;
use crate::toolbox::Document;
use crate::types::can_supply;

const SELECT: Role = Role { name: "select", prompt: "reverse-chain/select" };
const COMPLETE: Role = Role { name: "complete", prompt: "reverse-chain/complete" };
/// Reads values from the request alone.
const EXTRACT: Role = Role { name: "extract", prompt: "reverse-chain/extract" };

/// Maximum depth of nested calls. The paper's deepest plans have four.
const MAX_DEPTH: u32 = 5;
const MAX_CALLS: usize = 12;

/// The mode in which the arguments of a call are completed (section 4.2.2 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All at once: the system of the paper.
    AllAtOnce,
    /// One after the other, each without the others in view.
    OneByOne,
    /// In three steps: values from the request alone, without the APIs in view; an API for each missing
    /// argument; the user.
    ThreeStep,
}

/// One chain of calls.
struct Chain<'e, 'a> {
    episode: &'e mut Episode<'a>,
    completion: Completion,
    calls: usize,
}

type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stop>> + Send + 'a>>;

/// Works on the open goal, and returns the answer in words.
pub(crate) async fn answer(
    episode: &mut Episode<'_>,
    completion: Completion,
    execution: Execution,
) -> Result<String, Stop> {
    let (candidates, request) = (episode.documents(), episode.transcript());
    let mut chain = Chain { episode, completion, calls: 0 };
    let api = match chain.select(&candidates, &request, true).await? {
        Choice::Api(api) => api,
        Choice::Answer(words) => return Ok(words),
        Choice::None => return Ok("There is no function that does this.".to_owned()),
    };
    let plan = chain.fulfil(&api, None, 0).await?;
    conclude(episode, &plan, execution).await
}

impl Chain<'_, '_> {
    /// Selects an API for a task: the request, or a missing argument.
    async fn select(
        &mut self,
        candidates: &[Document],
        task: &str,
        is_request: bool,
    ) -> Result<Choice, Stop> {
        let shown: Vec<ShownApi> = show_apis(self.episode, candidates).collect();
        let known = self.episode.findings();
        let input = context! { candidates => shown, task, is_request, known };
        self.episode.ask(SELECT, input, |reply| parse_choice(reply, candidates, is_request)).await
    }

    /// Plans the call of an API with its required arguments. `purpose` names the argument that its reply
    /// supplies.
    fn fulfil<'a>(&'a mut self, api: &'a str, purpose: Option<&'a str>, depth: u32) -> Step<'a, Plan> {
        Box::pin(async move {
            self.calls += 1;
            if depth >= MAX_DEPTH || self.calls > MAX_CALLS {
                return Err(Stop::Ended("the chain of calls does not end".to_owned()));
            }
            let all = self.episode.documents();
            let document = all
                .iter()
                .find(|document| document.name == api)
                .map(|document| document.keep_parameters(|_, is_required| is_required));
            let mut plan = Plan { api: api.to_owned(), arguments: Vec::new() };
            let Some(document) = document.filter(|document| document.parameters().next().is_some()) else {
                return Ok(plan);
            };
            let mut sources = self.complete(&document, purpose).await?;
            for (name, schema, _) in document.parameters() {
                let question = match sources.get(name) {
                    Some(Source::Value(_) | Source::Api(_)) => None,
                    Some(Source::Ask(question)) => Some(question.clone()),
                    None => Some(format!("Could you tell me the {}?", name.replace('_', " "))),
                };
                // The answer is in the conversation now, so open arguments are completed again from it or
                // from other APIs.
                if let Some(question) = question
                    && self.ask(&question).await?
                {
                    let is_filled =
                        |other: &str| plan.arguments.iter().any(|(own, _)| own.as_deref() == Some(other));
                    let open = document.keep_parameters(|other, _| !is_filled(other));
                    sources = self.complete(&open, purpose).await?;
                }
                let filled = match sources.remove(name) {
                    Some(Source::Value(value)) => PlanArgument::Value(value),
                    Some(Source::Api(api)) => self.look_up(&api, (&document, name, schema), depth).await?,
                    Some(Source::Ask(_)) | None => continue,
                };
                plan.arguments.push((Some(name.to_owned()), filled));
            }
            Ok(plan)
        })
    }

    /// Finds the sources of the arguments.
    async fn complete(&mut self, document: &Document, purpose: Option<&str>) -> Result<Sources, Stop> {
        match self.completion {
            Completion::AllAtOnce => self.complete_all(document, purpose).await,
            Completion::OneByOne => {
                let mut sources = Sources::new();
                for (name, ..) in document.parameters() {
                    let one = document.keep_parameters(|own, _| own == name);
                    sources.extend(self.complete_all(&one, purpose).await?);
                }
                Ok(sources)
            }
            Completion::ThreeStep => self.complete_in_steps(document, purpose).await,
        }
    }

    async fn complete_all(&mut self, document: &Document, purpose: Option<&str>) -> Result<Sources, Stop> {
        let others = self.others(document);
        let candidates_of = |(name, schema, _): (&str, &Json, bool)| Candidates {
            name: name.to_owned(),
            apis: candidates(&others, (name, schema)).map(|api| api.name.clone()).collect(),
        };
        let candidates: Vec<Candidates> = document.parameters().map(candidates_of).collect();
        let is_candidate =
            |api: &Document| candidates.iter().any(|argument| argument.apis.contains(&api.name));
        let apis = others.iter().map(|(api, _)| api).filter(|api| is_candidate(api));
        let apis: Vec<ShownApi> = show_apis(self.episode, apis).collect();
        let known = self.episode.findings();
        let input = context! { document, apis, candidates, purpose, known };
        let parse = |reply: &str| parse_completion(reply, document, &candidates);
        self.episode.ask(COMPLETE, input, parse).await
    }

    /// Reads values from the request alone, then selects an API for each missing argument.
    async fn complete_in_steps(
        &mut self,
        document: &Document,
        purpose: Option<&str>,
    ) -> Result<Sources, Stop> {
        let known = self.episode.findings();
        let input = context! { document, purpose, known };
        let mut sources = self.episode.ask(EXTRACT, input, |reply| parse_extracted(reply, document)).await?;
        let others = self.others(document);
        for (name, schema, _) in document.parameters() {
            if sources.contains_key(name) {
                continue;
            }
            let candidates: Vec<Document> = candidates(&others, (name, schema)).cloned().collect();
            let task = describe_argument(document, name, schema);
            // Without candidates, the argument stays open and the user is asked for it.
            if !candidates.is_empty()
                && let Choice::Api(api) = self.select(&candidates, &task, false).await?
            {
                sources.insert(name.to_owned(), Source::Api(api));
            }
        }
        Ok(sources)
    }

    /// Plans the call that supplies an argument.
    async fn look_up(
        &mut self,
        api: &str,
        (document, name, schema): (&Document, &str, &Json),
        depth: u32,
    ) -> Result<PlanArgument, Stop> {
        let wanted = describe_argument(document, name, schema);
        self.fulfil(api, Some(&wanted), depth + 1).await.map(PlanArgument::Call)
    }

    /// Asks the user a question, and returns true if they answered.
    async fn ask(&mut self, question: &str) -> Result<bool, Stop> {
        let answer = self.episode.say(question).await?;
        let has_answered = answer.words.is_some() && !answer.over;
        if !has_answered {
            let because = "the user has nothing to say".to_owned();
            self.episode.fall_back(COMPLETE.name, "leaving the argument out", because)?;
        }
        Ok(has_answered)
    }

    /// Returns the other APIs with their reply schemas.
    fn others(&self, document: &Document) -> Vec<(Document, Option<Json>)> {
        let all = self.episode.documents().into_iter().filter(|api| api.name != document.name);
        let with_reply = |api: Document| {
            let reply = self.episode.reply_schema(&api.name);
            (api, reply)
        };
        all.map(with_reply).collect()
    }
}

/// Returns the APIs whose replies may have a value for an argument, given as name and schema.
fn candidates<'a>(
    others: &'a [(Document, Option<Json>)],
    argument: (&'a str, &'a Json),
) -> impl Iterator<Item = &'a Document> {
    let fits = move |reply: &Option<Json>| reply.as_ref().is_none_or(|reply| can_supply(reply, argument));
    others.iter().filter(move |(_, reply)| fits(reply)).map(|(api, _)| api)
}

fn describe_argument(document: &Document, name: &str, schema: &Json) -> String {
    let description = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    format!("the argument {name} of {} ({description})", document.name)
}
