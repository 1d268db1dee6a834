//! Agents on RestBench's queries, with the measures of RestGPT's paper (section 4.3).
//!
//! The correct path is the gold path as a subsequence of an agent's calls. Success can be evaluated only if
//! the gold path supplies the facts that an answer must state. Otherwise success and Δ solution length are
//! not evaluated.

use std::sync::Arc;

use diorama_baselines::environment::{Answer, ConversationEntry, EnvironmentError, Reply, View};
use diorama_baselines::jq::JqRunner;
use diorama_baselines::operation::Operation;
use diorama_engine::session::Session;
use diorama_seeds::task::Call;
use diorama_simulator::http::openapi::reply_schema;
use serde_json::Value as Json;

use super::answer::{TypedFact, states};
use super::field::Field;
use super::query::Query;
use super::replay::Replayer;
use crate::environment::{BenchmarkEnvironment, Counterpart, told_all};
use crate::summary::{Measure, Outcome};
use crate::task::Benchmark;

/// A query for agents.
#[derive(Clone, Debug)]
pub struct QueryCase {
    index: usize,
    query: Query,
    /// Calls of the gold path, with arguments. None if the path fails, or uses one of several possible ids.
    walked: Option<Vec<String>>,
    /// True if the gold path uses one of several possible ids.
    has_chosen_ids: bool,
    /// Facts that an answer must state. None if the gold path does not supply them.
    facts: Option<Vec<TypedFact>>,
}

/// Agents on queries, with a number of APIs to choose from.
pub struct Pool {
    /// The worlds.
    pub field: Field,
    /// Number of APIs to choose from. None means all of the document's.
    pub size: Option<usize>,
}

impl Benchmark for Pool {
    type Case = QueryCase;
    type Counterpart = Live;

    const MEASURES: &'static [Measure] = &[
        ("correct_path", "correct path"),
        ("correct_path_with_ids", "correct path, ids checked"),
        ("several_ids", "left out: one of several ids"),
        ("success", "success"),
        ("delta_length", "Δ solution length"),
        ("delta_length_of_correct_paths", "Δ solution length of correct paths"),
        ("calls_succeeded", "calls that succeeded"),
        ("pool", "APIs to choose from"),
    ];

    fn open(&self, QueryCase { query, .. }: &QueryCase) -> (View, Live) {
        let field = &self.field;
        let today = field.doc.clock.split('T').next().unwrap_or_default();
        let view = View {
            system: format!("You answer a user's question by calling a web service's APIs. It is {today}."),
            conversation: vec![ConversationEntry::User(query.query.trim().to_owned())],
            tools: field.tools(query, self.size),
            over: false,
        };
        let live = Live {
            session: field.session(&field.base),
            noise: field.noise.as_ref().map(|base| field.session(base)),
            openapi: Arc::clone(&field.openapi),
            made: Vec::new(),
            answer: String::new(),
        };
        (view, live)
    }

    fn measure(&self, asked: &QueryCase, done: &BenchmarkEnvironment<Live>) -> Outcome {
        let QueryCase { index, query, walked, has_chosen_ids, facts } = asked;
        let Live { made, answer, .. } = &done.counterpart;
        let mut outcome = Outcome::new(index.to_string());
        outcome.groups.push(("path", query.solution.len().to_string()));
        outcome.numbers.insert("pool", done.view.tools.len() as f64);
        let calls: Vec<String> = made.iter().map(|(call, _)| self.field.filled(call)).collect();
        let gold = self.field.gold(query);
        let names: Vec<&str> = made.iter().map(|(call, _)| &*call.api).collect();
        let wanted: Vec<&str> = gold.iter().map(String::as_str).collect();
        // A step that the document lacks cannot be on any path.
        let correct = gold.len() == query.solution.len() && is_subsequence(&wanted, &names);
        outcome.share("correct_path", correct);
        outcome.share("several_ids", *has_chosen_ids);
        if let Some(walked) = walked {
            let walked: Vec<&str> = walked.iter().map(String::as_str).collect();
            let own: Vec<&str> = calls.iter().map(String::as_str).collect();
            outcome.share("correct_path_with_ids", is_subsequence(&walked, &own));
        }
        let extra = made.len() as f64 - query.solution.len() as f64;
        if correct {
            outcome.numbers.insert("delta_length_of_correct_paths", extra);
        }
        if let Some(facts) = facts {
            let success = states(answer, facts, &self.field.clock());
            outcome.share("success", success);
            if success {
                outcome.numbers.insert("delta_length", extra);
            }
        }
        let succeeded = made.iter().filter(|(_, status)| (200..300).contains(status)).count();
        outcome.part("calls_succeeded", succeeded as u64, made.len() as u64);
        outcome.detail("query", query.query.as_str());
        let with_status = calls.iter().zip(made).map(|(call, (_, status))| format!("{call} {status}"));
        outcome.detail("calls", with_status.collect::<Vec<_>>());
        outcome.detail("answer", answer.as_str());
        outcome
    }
}

impl QueryCase {
    /// Makes a query for agents and executes its gold path. `jq` extracts the facts of its answer.
    pub fn new(field: &Field, index: usize, query: Query, jq: &dyn JqRunner) -> Self {
        let replayed = Replayer::new(&field.operations, field.answers(), &query).run();
        let has_chosen_ids = replayed.has_chosen_ids();
        let walked = replayed.filled(&query).filter(|_| !has_chosen_ids);
        let facts = replayed.facts(&query, jq);
        Self { index, query, walked, has_chosen_ids, facts }
    }
}

/// Returns true if all items of `wanted` occur in `made`, in order.
fn is_subsequence(wanted: &[&str], made: &[&str]) -> bool {
    let mut rest = made.iter();
    wanted.iter().all(|wanted| rest.any(|made| made == wanted))
}

/// Answers an agent with the document's world and the noise world.
pub struct Live {
    session: Session,
    noise: Option<Session>,
    openapi: Arc<Vec<Json>>,
    made: Vec<(Call, u16)>,
    answer: String,
}

impl Counterpart for Live {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        let is_noise = self.session.base().world().api_named(&call.api).is_none();
        let session = match &mut self.noise {
            Some(noise) if is_noise && noise.base().world().api_named(&call.api).is_some() => noise,
            _ => &mut self.session,
        };
        let entry = session.call(call);
        let status = entry.reply.status;
        self.made.push((call.clone(), status));
        Ok(Reply { status, body: entry.reply.json_tree(&session.base().world().zone) })
    }

    fn say(&mut self, words: &str) -> Answer {
        let answer = told_all(words);
        if answer.over {
            words.clone_into(&mut self.answer);
        }
        answer
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let known = std::iter::once(&self.session).chain(&self.noise).map(|session| session.base().world());
        known.into_iter().find_map(|world| Some(reply_schema(world, world.api(world.api_named(api)?))))
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        self.openapi.iter().find_map(|openapi| Operation::find(openapi, api))
    }
}

#[cfg(test)]
mod tests {
    use super::is_subsequence;

    #[test]
    fn a_gold_path_may_have_other_calls_between_its_own() {
        assert!(is_subsequence(&["a", "b"], &["a", "x", "b"]));
        assert!(!is_subsequence(&["a", "b"], &["b", "a"]));
        assert!(!is_subsequence(&["a", "a"], &["a"]));
    }
}
