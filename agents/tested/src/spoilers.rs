//! Embedded agents that must not succeed, and are not told the task: `random`, `enumerate-ids`, `spray-undo`.

use diorama_seeds::task::{Call, Outcome};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json};

use crate::Agent;
use crate::environment::{Environment, EnvironmentError, Finish, Said, Soon, View};
use crate::toolbox::{Document, documents, finish_schema, retrieve};
use crate::types::{Kind, kind};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoiler {
    /// Makes random calls with random arguments, and ends with random facts.
    Random,
    /// Calls whatever takes an id with the ids from 1 on, and those seen.
    EnumerateIds,
    /// Calls every API with what it has seen, and then those that take things back.
    SprayUndo,
}

/// Calls of one stage.
const CALLS: usize = 12;
/// Stages that are ended, at most.
const STAGES: usize = 32;
/// Words of names of APIs that take something back.
const UNDO: [&str; 6] = ["Cancel", "Delete", "Remove", "Restore", "Reopen", "Undo"];

impl Agent for Spoiler {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            // What is random follows from the request, so that the same episode is the same again.
            let request: String = environment.view().user_turns().collect();
            let seed = blake3::hash(request.as_bytes());
            let mut rng = ChaCha8Rng::from_seed(*seed.as_bytes());
            for _ in 0..STAGES {
                let words = environment.view().user_turns().last().unwrap_or_default().to_owned();
                retrieve(environment, &words).await?;
                let all = documents(environment.view());
                for (document, arguments) in self.calls(&all, environment.view(), &mut rng) {
                    environment.call(&Call { api: document.name.clone(), arguments }).await?;
                }
                let end = end(environment.view(), &mut rng);
                let answer = match finish_schema(environment.view()) {
                    Some(_) => environment.finish(&end).await,
                    None => environment.say(&end.message).await,
                };
                match answer {
                    Ok(answer) if !answer.over => {}
                    Ok(_) | Err(EnvironmentError::Refused { .. }) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }
}

impl Spoiler {
    fn calls<'a>(
        self,
        all: &'a [Document],
        view: &View,
        rng: &mut ChaCha8Rng,
    ) -> Vec<(&'a Document, Map<String, Json>)> {
        let seen = seen(view);
        match self {
            Self::Random => {
                let chosen: Vec<&Document> = (0..CALLS / 2).filter_map(|_| all.choose(rng)).collect();
                chosen.into_iter().map(|document| (document, arguments(document, &seen, rng, None))).collect()
            }
            Self::EnumerateIds => {
                let takes =
                    |document: &&Document| document.parameters().any(|(name, ..)| name.ends_with("_id"));
                let ids = (1..).map(Json::from);
                all.iter()
                    .filter(takes)
                    .cycle()
                    .zip(ids)
                    .take(if all.iter().any(|d| takes(&d)) { CALLS } else { 0 })
                    .map(|(document, id)| (document, arguments(document, &seen, rng, Some(&id))))
                    .collect()
            }
            Self::SprayUndo => {
                let undoes = |document: &&Document| UNDO.iter().any(|word| document.name.contains(word));
                let first = all.iter().filter(|document| !undoes(document));
                first
                    .chain(all.iter().filter(undoes))
                    .take(CALLS)
                    .map(|document| (document, arguments(document, &seen, rng, None)))
                    .collect()
            }
        }
    }
}

/// Leaves of the replies so far, and words of the request.
fn seen(view: &View) -> Vec<Json> {
    fn leaves(value: &Json, found: &mut Vec<Json>) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| leaves(item, found)),
            Json::Object(members) => members.values().for_each(|member| leaves(member, found)),
            leaf => found.push(leaf.clone()),
        }
    }
    let mut found = Vec::new();
    for said in &view.conversation {
        match said {
            Said::Call(_, reply) => leaves(&reply.body, &mut found),
            Said::User(words) => found.extend(words.split_whitespace().map(Json::from)),
            Said::Agent(_) => {}
        }
    }
    found
}

/// Required arguments of their kinds, from what was seen.
fn arguments(
    document: &Document,
    seen: &[Json],
    rng: &mut ChaCha8Rng,
    id: Option<&Json>,
) -> Map<String, Json> {
    let mut made = Map::new();
    for (name, schema, must) in document.parameters() {
        if must {
            let id = id.filter(|_| name.ends_with("_id")).cloned();
            made.insert(name.to_owned(), id.unwrap_or_else(|| value(schema, seen, rng)));
        }
    }
    made
}

/// A value of a schema's kind.
fn value(schema: &Json, seen: &[Json], rng: &mut ChaCha8Rng) -> Json {
    let of = |test: fn(&Json) -> bool| seen.iter().filter(|value| test(value)).collect::<Vec<_>>();
    let choice = |values: Vec<&Json>, rng: &mut ChaCha8Rng| values.choose(rng).map(|value| (*value).clone());
    match kind(schema) {
        Kind::Choice => {
            let values = schema.get("enum").and_then(Json::as_array);
            values.and_then(|values| values.choose(rng)).cloned().unwrap_or_default()
        }
        Kind::Whole => choice(of(Json::is_i64), rng).unwrap_or_else(|| Json::from(rng.random_range(1..100))),
        Kind::Number => {
            choice(of(Json::is_number), rng).unwrap_or_else(|| Json::from(rng.random_range(1..100)))
        }
        Kind::Boolean => Json::Bool(rng.random_bool(0.5)),
        Kind::Date => Json::from("2026-06-01"),
        Kind::Time => Json::from("10:00"),
        Kind::Moment => Json::from("2026-06-01T10:00"),
        Kind::List => Json::Array(Vec::new()),
        Kind::Text | Kind::Other => choice(of(Json::is_string), rng).unwrap_or_else(|| Json::from("x")),
    }
}

fn end(view: &View, rng: &mut ChaCha8Rng) -> Finish {
    let seen = seen(view);
    let asked =
        finish_schema(view).and_then(|schema| schema.pointer("/properties/facts/properties")?.as_object());
    let facts = asked.into_iter().flatten().map(|(name, schema)| (name.clone(), value(schema, &seen, rng)));
    let facts: Map<String, Json> = facts.collect();
    let words: Vec<String> = seen.iter().take(20).map(Json::to_string).collect();
    Finish { outcome: Outcome::Done, reason: None, about: None, facts, message: words.join(" ") }
}
