//! Reverse Chain (Zhang et al., 2023): from the last call backwards.
//!
//! A rule, not a model, says what is done next: the API that fulfils the request is selected; its arguments are completed all at
//! once, each from the request, by another API, or by asking the user; an API that was chosen for an argument is completed in
//! the same way, until every argument has a value. Then the calls are made forwards. Candidates for an argument are those whose
//! replies hold a value of its type.

pub mod complete;
pub mod select;

use std::pin::Pin;

use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use self::complete::Filling;
use crate::Agent;
use crate::ending::{self, finding};
use crate::environment::{Environment, Reply, Soon};
use crate::mind::{Mind, Stop, rest};
use crate::toolbox::{Document, documents, retrieve, shortened, transcript};
use crate::trace::Note;
use crate::types::gives;

/// Calls inside calls: the deepest of the paper's are four.
const DEPTH: u32 = 5;
/// Calls of one chain.
const CALLS: usize = 12;
/// Characters of a reply that is shown.
const SHOWN: usize = 6_000;

/// How the arguments of a call are completed (section 4.2.2 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All at once: the system of the paper.
    AllAtOnce,
    /// One after the other, each without sight of the others.
    OneByOne,
    /// In three steps: values from the request alone, without sight of the APIs; an API for what is missing; the user.
    ThreeStep,
}

/// The agent.
pub struct ReverseChain {
    mind: Mind,
    completion: Completion,
}

/// One chain: what is known and was found out on the way.
struct Chain<'a> {
    mind: &'a Mind,
    completion: Completion,
    known: Vec<String>,
    findings: Vec<String>,
    calls: usize,
}

type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, Stop>> + Send + 'a>>;

impl ReverseChain {
    /// The agent with a model.
    #[must_use]
    pub const fn new(mind: Mind, completion: Completion) -> Self {
        Self { mind, completion }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        let mut known = Vec::new();
        while !environment.view().over {
            let request = transcript(environment.view());
            let wanted = environment.view().user_turns().last().unwrap_or_default().to_owned();
            retrieve(environment, &wanted).await?;
            let all = documents(environment.view());
            let (mind, completion) = (&self.mind, self.completion);
            let mut chain = Chain { mind, completion, known, findings: Vec::new(), calls: 0 };
            let answer = match chain.select(environment, &all, &request, true).await? {
                Some(document) => {
                    let reply = chain.fulfil(environment, &document, None, 0).await?;
                    let shown = shortened(&reply.body, SHOWN);
                    format!("{} answered {}: {shown}", document.name, reply.status)
                }
                None => "There is no function that does this.".to_owned(),
            };
            let findings = chain.findings.join("\n");
            ending::end(&self.mind, environment, &answer, &findings).await?;
            known = chain.known;
        }
        Ok(())
    }
}

impl Chain<'_> {
    /// Chooses an API for a task.
    async fn select(
        &self,
        environment: &mut dyn Environment,
        candidates: &[Document],
        task: &str,
        is_final: bool,
    ) -> Result<Option<Document>, Stop> {
        let system = environment.view().system.clone();
        let input = select::Input { system: &system, candidates, task, is_final };
        let messages = select::prompt(&input)?;
        let read = |reply: &str| select::parse(reply, candidates);
        let name = self.mind.ask_and_parse(environment, select::ROLE, messages, read).await?;
        Ok(name.and_then(|name| candidates.iter().find(|document| document.name == name).cloned()))
    }

    /// Completes the arguments of an API and calls it.
    fn fulfil<'a>(
        &'a mut self,
        environment: &'a mut dyn Environment,
        document: &'a Document,
        purpose: Option<&'a str>,
        depth: u32,
    ) -> Step<'a, Reply> {
        Box::pin(async move {
            self.calls += 1;
            if depth >= DEPTH || self.calls > CALLS {
                return Err(Stop::Ended("the chain of calls does not end".to_owned()));
            }
            let mut wanted = self.complete(environment, document, purpose).await?;
            let mut arguments = Map::new();
            for (name, schema, must) in document.parameters() {
                let value = match wanted.remove(name) {
                    Some(Filling::Value(value)) => Some(value),
                    Some(Filling::Api(api)) => {
                        self.found_out(environment, &api, (document, name, schema), depth).await?
                    }
                    Some(Filling::Ask(question)) => self.ask(environment, document, name, &question).await?,
                    None if must => {
                        let question = format!("Could you tell me the {}?", name.replace('_', " "));
                        self.ask(environment, document, name, &question).await?
                    }
                    None => None,
                };
                arguments.extend(value.map(|value| (name.to_owned(), value)));
            }
            let call = Call { api: document.name.clone(), arguments };
            let reply = environment.call(&call).await?;
            let found = finding(&call, reply.status, &reply.body);
            self.known.push(found.clone());
            self.findings.push(found);
            Ok(reply)
        })
    }

    /// Completes the arguments.
    async fn complete(
        &self,
        environment: &mut dyn Environment,
        document: &Document,
        purpose: Option<&str>,
    ) -> Result<complete::Wanted, Stop> {
        match self.completion {
            Completion::AllAtOnce => self.complete_all(environment, document, purpose).await,
            Completion::OneByOne => {
                let mut wanted = complete::Wanted::new();
                for (name, schema, must) in document.parameters() {
                    let one = document.with_only(name, schema, must);
                    wanted.extend(self.complete_all(environment, &one, purpose).await?);
                }
                Ok(wanted)
            }
            Completion::ThreeStep => self.complete_in_steps(environment, document, purpose).await,
        }
    }

    /// Completes all arguments of a document at once.
    async fn complete_all(
        &self,
        environment: &mut dyn Environment,
        document: &Document,
        purpose: Option<&str>,
    ) -> Result<complete::Wanted, Stop> {
        let others = others(environment, document);
        let candidates: Vec<complete::Candidates> = document
            .parameters()
            .map(|(name, schema, _)| {
                let apis = candidates(&others, schema).map(complete::Known::of).collect();
                complete::Candidates { name: name.to_owned(), apis }
            })
            .collect();
        let (system, request) = (environment.view().system.clone(), transcript(environment.view()));
        let known = self.known.join("\n");
        let input = complete::Input {
            system: &system,
            document,
            candidates: &candidates,
            request: &request,
            purpose,
            known: &known,
        };
        let messages = complete::prompt(&input)?;
        let read = |reply: &str| complete::parse(reply, document, &candidates);
        self.mind.ask_and_parse(environment, complete::ROLE, messages, read).await
    }

    /// Reads values from the request alone, and then selects an API for each argument that must be given and is missing.
    async fn complete_in_steps(
        &self,
        environment: &mut dyn Environment,
        document: &Document,
        purpose: Option<&str>,
    ) -> Result<complete::Wanted, Stop> {
        let (system, request) = (environment.view().system.clone(), transcript(environment.view()));
        let known = self.known.join("\n");
        let input = complete::Input {
            system: &system,
            document,
            candidates: &[],
            request: &request,
            purpose,
            known: &known,
        };
        let messages = complete::extract_prompt(&input)?;
        let read = |reply: &str| complete::parse_extracted(reply, document);
        let mut wanted = self.mind.ask_and_parse(environment, complete::EXTRACT, messages, read).await?;
        let others = others(environment, document);
        for (name, schema, must) in document.parameters() {
            if !must || wanted.contains_key(name) {
                continue;
            }
            let candidates: Vec<Document> = candidates(&others, schema).cloned().collect();
            let about = schema.get("description").and_then(Json::as_str).unwrap_or_default();
            let task = format!("the argument {name} of {} ({about})", document.name);
            // Without candidates, the user is asked: an argument that is missing is asked for.
            if !candidates.is_empty()
                && let Some(api) = self.select(environment, &candidates, &task, false).await?
            {
                wanted.insert(name.to_owned(), Filling::Api(api.name));
            }
        }
        Ok(wanted)
    }

    /// The value of an argument, from another API's reply.
    async fn found_out(
        &mut self,
        environment: &mut dyn Environment,
        api: &str,
        (document, name, schema): (&Document, &str, &Json),
        depth: u32,
    ) -> Result<Option<Json>, Stop> {
        let all = documents(environment.view());
        let Some(inner) = all.into_iter().find(|document| document.name == api) else { return Ok(None) };
        let described = schema.get("description").and_then(Json::as_str).unwrap_or_default();
        let wanted = format!("the argument {name} of {} ({described})", document.name);
        let reply = self.fulfil(environment, &inner, Some(&wanted), depth + 1).await?;
        if let Some(value) = complete::only_value(&reply.body, name) {
            return Ok(Some(value));
        }
        let (request, shown) = (transcript(environment.view()), shortened(&reply.body, SHOWN));
        let input = complete::PickInput { request: &request, wanted: &wanted, api, reply: &shown };
        let messages = complete::pick_prompt(&input)?;
        self.mind.ask_and_parse(environment, complete::PICK, messages, complete::parse_value).await
    }

    /// The value of an argument, from the user's answer.
    async fn ask(
        &mut self,
        environment: &mut dyn Environment,
        document: &Document,
        name: &str,
        question: &str,
    ) -> Result<Option<Json>, Stop> {
        let answer = environment.say(question).await?;
        let Some(words) = answer.words.filter(|_| !answer.over) else {
            environment.note(Note::FellBack {
                role: complete::ROLE.to_owned(),
                to: "leaving the argument out".to_owned(),
                because: "the user has nothing to say".to_owned(),
            })?;
            return Ok(None);
        };
        // The answer is in the conversation now: the same rule completes the argument from it, by that or by another API.
        let purpose = format!("(the user was asked for {name} and said: {words})");
        let mut wanted = self.complete(environment, document, Some(&purpose)).await?;
        match wanted.remove(name) {
            Some(Filling::Value(value)) => Ok(Some(value)),
            Some(Filling::Api(api)) => {
                let schema =
                    document.parameters().find(|(own, ..)| *own == name).map(|(_, schema, _)| schema);
                let schema = schema.cloned().unwrap_or_default();
                // A chain that starts from an answer starts anew; the bound on its calls still holds.
                Box::pin(self.found_out(environment, &api, (document, name, &schema), 1)).await
            }
            _ => Ok(None),
        }
    }
}

/// The other APIs, with what is known of their replies.
fn others(environment: &dyn Environment, document: &Document) -> Vec<(Document, Option<Json>)> {
    let others = documents(environment.view()).into_iter().filter(|api| api.name != document.name);
    let with_reply = |api: Document| {
        let reply = environment.reply_schema(&api.name);
        (api, reply)
    };
    others.map(with_reply).collect()
}

/// The APIs whose replies may hold a value of an argument's type.
fn candidates<'a>(
    others: &'a [(Document, Option<Json>)],
    schema: &'a Json,
) -> impl Iterator<Item = &'a Document> {
    let fits = move |reply: &Option<Json>| reply.as_ref().is_none_or(|reply| gives(reply, schema));
    others.iter().filter(move |(_, reply)| fits(reply)).map(|(api, _)| api)
}

impl Agent for ReverseChain {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}
