//! `heuristic`: an embedded agent that asks no model.
//!
//! It searches with the user's words, takes the API whose name and description share most with them, and completes its required
//! arguments by Reverse Chain's rule: a value that the words give, by type; else one of that name from the replies so far, or from
//! another API; else a question to the user. What a name does not find is looked up by the next; what fails for a while is tried
//! again. It answers with the members of the replies that the asked facts are named after. The same words
//! and replies always lead to the same calls. Its figures say what the tasks ask of an agent, and nothing of any model.

mod answer;
pub mod backwards;
mod rank;
mod slots;
mod spans;

use std::pin::Pin;

use diorama_seeds::task::{Call, Outcome, RefusalClass};
use serde_json::{Map, Value as Json};

use self::rank::{is_reading, ranked};
use self::slots::Words;
use crate::Agent;
use crate::environment::{Environment, EnvironmentError, Finish, Reply, Soon, View};
use crate::toolbox::{Document, documents, finish_schema, retrieve, searches};
use crate::trace::Note;
use crate::types::members;

/// Stages that it ends, at most: no conversation has more.
const STAGES: usize = 32;
/// Calls inside calls.
const DEPTH: u32 = 2;
/// APIs whose replies are looked at.
const CONSIDERED: usize = 5;
/// Of those, APIs that are tried.
const TRIED: usize = 3;
/// Names that are tried beside the first.
const NAMES: usize = 2;
/// How often a call is made again that failed for a while.
const AGAIN: usize = 3;
/// Words of a sentence that is too short to ask for a change.
const SHORT: usize = 4;
/// Questions in one stage.
const QUESTIONS: usize = 3;

/// The agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heuristic;

/// What came of one stage.
#[derive(Default)]
struct Stage {
    last: Option<(Call, Reply)>,
    questions: usize,
    /// Words to search with that were searched with.
    searched: Vec<String>,
    /// The user only closes the conversation.
    closing: bool,
}

type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, EnvironmentError>> + Send + 'a>>;

impl Agent for Heuristic {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            for _ in 0..STAGES {
                if environment.view().over {
                    return Ok(());
                }
                let mut stage = Stage::default();
                let first = environment.view().user_turns().count().saturating_sub(1);
                stage.work(environment, first).await?;
                let end = stage.end(environment.view(), first);
                let answer = match finish_schema(environment.view()) {
                    Some(_) => environment.finish(&end).await,
                    None => environment.say(&end.message).await,
                };
                match answer {
                    Ok(answer) if answer.over => return Ok(()),
                    Ok(_) => {}
                    Err(EnvironmentError::Refused { detail, .. }) => {
                        return environment.note(Note::GaveUp { because: detail });
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }
}

impl Stage {
    /// Makes the calls of a stage that opened with the user's turn of a number.
    async fn work(
        &mut self,
        environment: &mut dyn Environment,
        first: usize,
    ) -> Result<(), EnvironmentError> {
        // What the ending asks for says what the request is about.
        let asked = asked(environment.view());
        self.closing = first > 0 && asked.is_empty() && closes(&turns(environment.view(), first));
        if self.closing {
            return Ok(());
        }
        let request = format!("{} {}", turns(environment.view(), first), asked.join(" "));
        self.search(environment, &request).await?;
        for document in chosen(environment, &request, &asked) {
            let reply = self.fulfil(environment, &document, first, 0).await?;
            // What is not found by one look-up may be found by another; what was done is done.
            if !is_reading(&document) || reply.is_some_and(|reply| reply.status != 404) {
                break;
            }
        }
        Ok(())
    }

    async fn search(
        &mut self,
        environment: &mut dyn Environment,
        words: &str,
    ) -> Result<(), EnvironmentError> {
        if searches(environment.view()) && !self.searched.iter().any(|known| known == words) {
            self.searched.push(words.to_owned());
            retrieve(environment, words).await?;
        }
        Ok(())
    }

    /// Completes the required arguments of an API and calls it; none where one is missing.
    fn fulfil<'a>(
        &'a mut self,
        environment: &'a mut dyn Environment,
        document: &'a Document,
        first: usize,
        depth: u32,
    ) -> Step<'a, Option<Reply>> {
        Box::pin(async move {
            let mut arguments = Map::new();
            let mut words = Words::read(environment.view(), first);
            for (name, schema, must) in document.parameters() {
                let mut value = words.value(name, schema, must);
                if value.is_none() && must {
                    value = words.remembered(environment.view(), name);
                }
                if value.is_none() && must && depth < DEPTH {
                    value = self.given_by_another(environment, document, name, first, depth).await?;
                }
                if value.is_none() && must {
                    value = words.whole().value(name, schema, must);
                }
                if value.is_none() && must && self.questions < QUESTIONS {
                    self.questions += 1;
                    let question = format!("Could you tell me the {}?", name.replace('_', " "));
                    environment.say(&question).await?;
                    words = Words::read(environment.view(), first);
                    value = words.value(name, schema, must);
                    if value.is_none() && depth < DEPTH {
                        value = self.given_by_another(environment, document, name, first, depth).await?;
                    }
                }
                match value {
                    Some(value) => {
                        arguments.insert(name.to_owned(), value);
                    }
                    None if must => return Ok(None),
                    None => {}
                }
            }
            let mut call = Call { api: document.name.clone(), arguments };
            let mut reply = persistently(environment, &call).await?;
            let required: Vec<_> = document.parameters().filter(|(_, _, must)| *must).collect();
            // One name that is not there: perhaps another of those that were said is meant.
            if let [(name, schema, must)] = required.as_slice()
                && is_reading(document)
            {
                for _ in 0..NAMES {
                    let Some(other) =
                        (reply.status == 404).then(|| words.value(name, schema, *must)).flatten()
                    else {
                        break;
                    };
                    call.arguments.insert((*name).to_owned(), other);
                    reply = persistently(environment, &call).await?;
                }
            }
            self.last = Some((call, reply.clone()));
            Ok(Some(reply))
        })
    }

    /// A value of an argument's name from the reply of an API that only reads.
    async fn given_by_another(
        &mut self,
        environment: &mut dyn Environment,
        document: &Document,
        name: &str,
        first: usize,
        depth: u32,
    ) -> Result<Option<Json>, EnvironmentError> {
        let about = name.trim_end_matches("_id").replace('_', " ");
        let keywords = if about.contains("token") { "sign in".to_owned() } else { format!("find {about}") };
        self.search(environment, &keywords).await?;
        let all = documents(environment.view());
        let mut words = Words::read(environment.view(), first);
        for candidate in ranked(&all, &keywords.replace("find ", "")) {
            let signs_in = name.contains("token") && candidate.name.to_lowercase().contains("sign");
            if candidate.name == document.name || !(signs_in || is_reading(candidate)) {
                continue;
            }
            let Some(schema) = environment.reply_schema(&candidate.name) else { continue };
            if !members(&schema).iter().any(|(member, _)| *member == name) {
                continue;
            }
            // One whose own arguments the words give.
            let given = candidate.parameters().filter(|(_, _, must)| *must);
            let mut trial = words.clone();
            if !given.into_iter().all(|(name, schema, _)| trial.value(name, schema, true).is_some()) {
                continue;
            }
            let Some(reply) = self.fulfil(environment, candidate, first, depth + 1).await? else { continue };
            words = Words::read(environment.view(), first);
            if reply.status >= 400 {
                continue;
            }
            if let Some(value) = words.named_in([&reply.body], name) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// How the stage ends.
    fn end(&self, view: &View, first: usize) -> Finish {
        let refused = |reason, about: Option<String>| Finish {
            outcome: Outcome::Refused,
            reason: Some(reason),
            about,
            facts: Map::new(),
            message: "I'm sorry, this cannot be done.".to_owned(),
        };
        let words = Words::read(view, first);
        let facts = finish_schema(view).map(|schema| answer::facts(schema, view, &words)).unwrap_or_default();
        let asked = asked(view).len();
        let known = asked > 0 && facts.len() == asked;
        let Some((call, reply)) = &self.last else {
            return if known || self.closing { done(facts) } else { refused(RefusalClass::NoTool, None) };
        };
        let about = call.arguments.values().next().map(|value| match value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        });
        match reply.status {
            404 => return refused(RefusalClass::NotFound, about),
            409 => return refused(RefusalClass::Conflict, about),
            401 | 403 => return refused(RefusalClass::Forbidden, about),
            400..500 => return refused(RefusalClass::Invalid, about),
            _ => {}
        }
        done(facts)
    }
}

fn done(facts: Map<String, Json>) -> Finish {
    let told: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let message = format!("Done. {}", told.join(", "));
    Finish { outcome: Outcome::Done, reason: None, about: None, facts, message }
}

/// Makes a call, again where its status says that it failed for a while.
async fn persistently(environment: &mut dyn Environment, call: &Call) -> Result<Reply, EnvironmentError> {
    let mut reply = environment.call(call).await?;
    for _ in 0..AGAIN {
        if !matches!(reply.status, 429 | 500..) {
            break;
        }
        reply = environment.call(call).await?;
    }
    Ok(reply)
}

/// The APIs of those that share most with a request, those first whose replies give most of what is asked for.
fn chosen(environment: &dyn Environment, request: &str, asked: &[String]) -> Vec<Document> {
    let all = documents(environment.view());
    let mut best: Vec<&Document> = ranked(&all, request).into_iter().take(CONSIDERED).collect();
    let gives = |document: &Document| {
        let schema = environment.reply_schema(&document.name);
        schema.map_or(0, |schema| answer::given(&schema, asked))
    };
    // Where no fact is asked for, something is to be done.
    let deed = |document: &Document| asked.is_empty() && !is_reading(document);
    best.sort_by_cached_key(|document| std::cmp::Reverse((gives(document), deed(document))));
    best.into_iter().take(TRIED).cloned().collect()
}

/// What the ending of the open stage asks for, in words.
fn asked(view: &View) -> Vec<String> {
    let facts =
        finish_schema(view).and_then(|schema| schema.pointer("/properties/facts/properties")?.as_object());
    facts.into_iter().flatten().map(|(name, _)| name.replace('_', " ")).collect()
}

/// Whether words ask for nothing: no sentence of them is a question, and each thanks, judges what came before in few words,
/// or tells what the user does next.
fn closes(words: &str) -> bool {
    let rests = |sentence: &str| {
        let words: Vec<String> = sentence
            .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
            .filter(|word| !word.is_empty())
            .map(|word| word.to_lowercase().replace('’', "'"))
            .collect();
        let has = |some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
        has(&["thanks", "thank", "thx", "cheers", "bye"])
            || words.first().is_some_and(|word| ["i'll", "we'll", "i'd", "that"].contains(&word.as_str()))
            || words.len() <= SHORT && !has(&["please", "pls", "then", "it", "them"])
    };
    !words.contains('?') && words.split_inclusive(['.', '!', ';']).all(rests)
}

/// What the user said from a turn on.
fn turns(view: &View, first: usize) -> String {
    view.user_turns().skip(first).collect::<Vec<_>>().join(" ")
}
