//! Policies that make the right calls and then guess, and one that guesses alone. They test the reading of endings: what
//! they solve beyond chance, a grader passes that it should not.

use diorama_seeds::ending::FINISH;
use diorama_seeds::task::{Outcome, RefusalClass};
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde_json::{Map, Value as Json};

use super::environment::{Environment, Finish, Said, Soon, View};
use super::judge::Insider;
use super::{Agent, Insiders, oracle};
use crate::episode::GoldStage;

/// What is said at the end of each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The first six values of the replies.
    Values,
    /// Three values of the replies, joined by "or".
    Alternatives,
    /// The last reply as it is.
    Json,
    /// That there is one.
    One,
    /// `One, both`.
    Both,
    /// A refusal that fits anything.
    Refusal,
    /// That it is done.
    Done,
    /// That it is done and cannot be, without the right calls: a search, and nothing else.
    Blind,
}

/// Values that are told, of one reply.
const VALUES: usize = 6;
/// Alternatives that are told.
const ALTERNATIVES: usize = 3;

impl Insiders for Guess {
    fn name(&self) -> &'static str {
        match self {
            Self::Values => "guess-values",
            Self::Alternatives => "guess-alternatives",
            Self::Json => "guess-json",
            Self::One => "guess-one",
            Self::Both => "guess-both",
            Self::Refusal => "guess-refusal",
            Self::Done => "guess-done",
            Self::Blind => "guess-blind",
        }
    }

    fn agent<'a>(&'a self, insider: Insider<'a>) -> Box<dyn Agent + 'a> {
        Box::new(Guesser { guess: *self, insider })
    }
}

struct Guesser<'a> {
    guess: Guess,
    insider: Insider<'a>,
}

impl Agent for Guesser<'_> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let guess = self.guess;
            if guess != Guess::Blind {
                let end = |view: &View, stage: &GoldStage| guess.end(view, stage.calls.len());
                return oracle::solve(self.insider, environment, Some(&end)).await;
            }
            let keywords = environment.view().user_turns().next().unwrap_or_default().to_owned();
            let arguments = Map::from_iter([("keywords".to_owned(), Json::String(keywords))]);
            let call = diorama_seeds::task::Call { api: TOOL_SEARCHER.to_owned(), arguments };
            environment.call(&call).await?;
            loop {
                let end = guess.end(environment.view(), 0);
                if environment.finish(&end).await?.over {
                    return Ok(());
                }
            }
        })
    }
}

impl Guess {
    /// The end of a stage of so many calls.
    fn end(self, view: &View, calls: usize) -> Finish {
        let replies: Vec<&Json> = view
            .conversation
            .iter()
            .filter_map(|said| match said {
                Said::Call(call, reply) if call.api != TOOL_SEARCHER => Some(&reply.body),
                _ => None,
            })
            .collect();
        let own = replies.get(replies.len().saturating_sub(calls)..).unwrap_or_default();
        let mut values = Vec::new();
        own.iter().rev().for_each(|body| leaves(body, &mut values));
        let told = |count: usize, joint: &str| {
            values.iter().take(count).map(|value| text(value)).collect::<Vec<_>>().join(joint)
        };
        let message = match self {
            Self::Values => told(VALUES, ", "),
            Self::Alternatives => format!("It is {}.", told(ALTERNATIVES, " or ")),
            Self::Json => own.last().map(ToString::to_string).unwrap_or_default(),
            Self::One => "There is 1 in total.".to_owned(),
            Self::Both => "One, both.".to_owned(),
            Self::Refusal => {
                "I'm sorry, but I can't do that: it was not found, is not allowed, is no longer possible, \
                              or the value is out of range."
                    .to_owned()
            }
            Self::Done => "Done.".to_owned(),
            Self::Blind => "Done. There is 1, yes; otherwise it could not be found, sorry.".to_owned(),
        };
        let refuses = self == Self::Refusal;
        Finish {
            outcome: if refuses { Outcome::Refused } else { Outcome::Done },
            reason: refuses.then_some(RefusalClass::NotFound),
            about: refuses.then(|| view.user_turns().last().unwrap_or_default().to_owned()),
            facts: self.facts(view, &values),
            message,
        }
    }

    /// A value of its kind for each fact that is asked for.
    fn facts(self, view: &View, values: &[&Json]) -> Map<String, Json> {
        let finish = view.tools.iter().find(|tool| tool["function"]["name"] == FINISH);
        let asked = finish
            .and_then(|tool| tool["function"]["parameters"]["properties"]["facts"]["properties"].as_object());
        let mut facts = Map::new();
        for (name, form) in asked.into_iter().flatten() {
            // Of a list or a map, a value of its items.
            let schema = form.get("items").or_else(|| form.get("additionalProperties")).unwrap_or(form);
            let numeric = schema["type"] == "number" || schema["type"] == "integer";
            let fitting = |value: &&&Json| match schema["type"].as_str() {
                Some("number") => value.is_number(),
                Some("integer") => value.is_u64(),
                Some("boolean") => value.is_boolean(),
                _ => value.is_string(),
            };
            let mut fitting = values.iter().filter(fitting);
            let guess = match self {
                Self::Refusal | Self::Done => None,
                Self::One | Self::Both | Self::Blind if numeric => Some(Json::from(1)),
                Self::One | Self::Both | Self::Blind => None,
                Self::Alternatives => fitting.nth(1).map(|value| (**value).clone()),
                Self::Values | Self::Json => fitting.next().map(|value| (**value).clone()),
            };
            let item = || values.iter().find_map(|value| value.as_str()).unwrap_or_default();
            let guess = guess.map(|value| match form["type"].as_str() {
                Some("array") => Json::Array(vec![value]),
                Some("object") => Json::Object(Map::from_iter([(item().to_owned(), value)])),
                _ => value,
            });
            facts.extend(guess.map(|guess| (name.clone(), guess)));
        }
        facts
    }
}

fn leaves<'a>(body: &'a Json, out: &mut Vec<&'a Json>) {
    match body {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Json::Object(members) => members.values().for_each(|member| leaves(member, out)),
        leaf => out.push(leaf),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
