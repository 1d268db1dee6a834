//! Agents on RestBench's queries, with the measures of RestGPT's paper (section 4.2).
//!
//! The correct path is the gold path as a subsequence of an agent's calls. Whether a query is answered can only be told where its
//! file has an answer; without one, success and Δ solution length are not evaluated.

use std::sync::Arc;

use diorama_baselines::Agent;
use diorama_baselines::environment::{Answer, Budget, ConversationEntry, EnvironmentError, Reply, View};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Call;
use diorama_simulator::engine::Base;
use diorama_simulator::http::openapi::reply_schema;
use diorama_simulator::session::{Session, SessionOptions};
use serde::Serialize;
use serde_json::Value as Json;

use super::service::{InSession, ServiceError};
use super::walk::Walk;
use super::{Paths, Query, Templates};
use crate::benchmarks::environment::{BenchmarkEnvironment, Counterpart};
use crate::benchmarks::{told_all, who, without_end};
use crate::evaluation::shares::{Rate, Share};

/// A document's world with the queries' names in it, and another document's APIs as noise.
#[derive(Clone)]
pub struct Field {
    /// The document's world.
    pub doc: Arc<WorldDoc>,
    /// It, ready to run.
    pub base: Arc<Base>,
    /// Its operations.
    pub templates: Arc<Templates>,
    /// The world whose APIs stand beside its own.
    pub noise: Option<Arc<Base>>,
    /// The seed of sessions, and of which APIs are in a pool.
    pub seed: u64,
}

/// How an agent did on one query.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// The query's position.
    pub index: usize,
    /// The user's request.
    pub query: String,
    /// APIs that the agent could choose from.
    pub pool: usize,
    /// Its calls, filled, with their status.
    pub calls: Vec<(String, u16)>,
    /// Its answer.
    pub answer: String,
    /// True where the gold path is a subsequence of its calls.
    pub correct_path: bool,
    /// The same with the ids of paths as the gold path has them; none where the gold path itself does not run through.
    pub correct_path_with_ids: Option<bool>,
    /// True where the answer holds what the file says it must; none where the file says nothing.
    pub success: Option<bool>,
    /// Calls made beyond those of the gold path.
    pub extra_calls: i64,
    /// Why there is nothing to measure: the model or its server failed.
    pub unfinished: Option<String>,
    /// Why the agent gave up, where it did.
    pub gave_up: Option<String>,
    /// Tokens of the model.
    pub tokens: u64,
}

/// How an agent did with one size of the pool.
#[derive(Clone, Debug, Serialize)]
pub struct Attempts {
    /// The agent.
    pub agent: String,
    /// The model, where it asks one.
    pub model: Option<String>,
    /// The size of the pool that was asked for; all of the document's APIs where none was.
    pub pool_asked: Option<usize>,
    /// APIs that could be chosen from, on average.
    pub pool: f64,
    /// Queries.
    pub queries: usize,
    /// Correct path rate.
    pub correct_path: Rate,
    /// The same with ids checked.
    pub correct_path_with_ids: Rate,
    /// Success rate; none where no query has an answer.
    pub success: Option<Rate>,
    /// Δ solution length: the mean of calls beyond the gold path's over successes; none where success is not evaluated.
    pub delta_len: Option<f64>,
    /// The same over correct paths, which need no answer.
    pub delta_len_of_correct_paths: Option<f64>,
    /// Calls that succeeded, of all calls.
    pub calls_succeeded: Rate,
    /// Queries that came to no end for want of a model.
    pub unfinished: usize,
    /// Tokens of the model.
    pub tokens: u64,
    /// Query by query.
    pub attempts: Vec<Attempt>,
}

impl Field {
    fn session(&self, base: &Arc<Base>) -> Session {
        Session::new(Arc::clone(base), SessionOptions { seed: self.seed, ..SessionOptions::default() })
    }

    /// The names of the APIs that a query's gold path calls, in order; those that the document does not have are left out.
    #[must_use]
    pub fn gold(&self, query: &Query) -> Vec<String> {
        let api = |step: &String| {
            let template = self.templates.find(step)?;
            let api = self
                .doc
                .apis
                .iter()
                .find(|api| api.method.as_str() == template.method && api.path == template.path)?;
            Some(api.name.clone())
        };
        query.solution.iter().filter_map(api).collect()
    }

    /// The tools of a pool: all of the document's, or so many: the gold path's, then others of the document, then noise, chosen and
    /// ordered by the seed and their names alone.
    #[must_use]
    pub fn tools(&self, query: &Query, size: Option<usize>) -> Vec<Json> {
        let gold = self.gold(query);
        let place = |name: &str| {
            let mut hasher = blake3::Hasher::new();
            *hasher.update(&self.seed.to_le_bytes()).update(name.as_bytes()).finalize().as_bytes()
        };
        let named = |base: &Arc<Base>| -> Vec<(String, Json)> {
            let world = base.world();
            let tool = |name: &str| {
                base.tool_schema(world.api_named(name)?).map(|tool| (name.to_owned(), (**tool).clone()))
            };
            world.apis.iter().filter_map(|api| tool(&api.name)).collect()
        };
        let own = named(&self.base);
        let Some(size) = size else { return own.into_iter().map(|(_, tool)| tool).collect() };
        let noise: Vec<(String, Json)> = self.noise.iter().flat_map(named).collect();
        let is_own = |name: &str| own.iter().any(|(known, _)| known == name);
        let mut ranked: Vec<(u8, [u8; 32], Json)> = own
            .iter()
            .map(|(name, tool)| (u8::from(!gold.contains(name)), place(name), tool.clone()))
            .chain(
                noise
                    .iter()
                    .filter(|(name, _)| !is_own(name))
                    .map(|(name, tool)| (2, place(name), tool.clone())),
            )
            .collect();
        ranked.sort_by_key(|(rank, place, _)| (*rank, *place));
        let needed = ranked.iter().filter(|(rank, ..)| *rank == 0).count();
        ranked.truncate(size.max(needed));
        ranked.sort_by_key(|(_, place, _)| *place);
        ranked.into_iter().map(|(.., tool)| tool).collect()
    }

    /// A call with its path filled: `GET /movie/5/credits`.
    fn filled(&self, call: &Call) -> String {
        let Some(api) = self.doc.apis.iter().find(|api| api.name == call.api) else {
            return call.api.clone();
        };
        let mut path = api.path.clone();
        for (name, value) in &call.arguments {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            path = path.replace(&format!("{{{name}}}"), &text);
        }
        format!("{} {path}", api.method)
    }

    /// The gold path's calls, filled; none where it does not run through.
    ///
    /// # Errors
    /// When a call is not the world's.
    pub fn walked(&self, query: &Query) -> Result<Option<Vec<String>>, ServiceError> {
        let mut service = InSession::new(&self.doc, self.session(&self.base));
        let outcome = Walk::new(&self.templates, &mut service, query, Paths::Completed).run(0)?;
        if !outcome.faults.is_empty() || !outcome.every_call_succeeded(query.solution.len()) {
            return Ok(None);
        }
        let mut inserted = outcome.inserted.iter().peekable();
        let own = outcome.calls.into_iter().filter(|called| {
            let is_inserted = inserted.peek() == Some(&&called.call);
            if is_inserted {
                inserted.next();
            }
            !is_inserted
        });
        Ok(Some(own.map(|called| called.call.split('?').next().unwrap_or_default().to_owned()).collect()))
    }

    /// Has an agent work on a query.
    pub async fn attempt(
        &self,
        agent: &dyn Agent,
        (index, query): (usize, &Query),
        size: Option<usize>,
        walked: Option<&[String]>,
        budget: Budget,
    ) -> Attempt {
        let tools = self.tools(query, size);
        let pool = tools.len();
        let today = self.doc.clock.split('T').next().unwrap_or_default();
        let view = View {
            system: format!("You answer a user's question by calling a web service's APIs. It is {today}."),
            conversation: vec![ConversationEntry::User(query.query.trim().to_owned())],
            tools,
            over: false,
        };
        let live = Live {
            session: self.session(&self.base),
            noise: self.noise.as_ref().map(|base| self.session(base)),
            made: Vec::new(),
            answer: String::new(),
        };
        let mut environment = BenchmarkEnvironment::new(view, live, budget);
        let stopped = agent.act(&mut environment).await.err();
        let unfinished = stopped.filter(EnvironmentError::is_outage);
        let done = &environment.counterpart;
        let calls: Vec<(String, u16)> =
            done.made.iter().map(|(call, status)| (self.filled(call), *status)).collect();
        let answer = done.answer.clone();
        let gold = self.gold(query);
        let names: Vec<&str> = done.made.iter().map(|(call, _)| &*call.api).collect();
        let wanted: Vec<&str> = gold.iter().map(String::as_str).collect();
        // A step that the document does not have can be on no path.
        let correct_path = gold.len() == query.solution.len() && is_subsequence(&wanted, &names);
        let with_ids = walked.map(|walked| {
            let own: Vec<&str> = calls.iter().map(|(call, _)| &**call).collect();
            is_subsequence(&walked.iter().map(String::as_str).collect::<Vec<_>>(), &own)
        });
        let success = query.answer.as_ref().map(|wanted| {
            let told = answer.to_lowercase();
            unfinished.is_none() && wanted.iter().all(|part| told.contains(&part.to_lowercase()))
        });
        Attempt {
            index,
            query: query.query.clone(),
            pool,
            extra_calls: calls.len() as i64 - query.solution.len() as i64,
            calls,
            answer,
            correct_path,
            correct_path_with_ids: with_ids,
            success,
            unfinished: unfinished.map(|error| error.to_string()),
            gave_up: environment.gave_up.clone(),
            tokens: environment.tokens,
        }
    }
}

fn rate(verdicts: impl Iterator<Item = bool>) -> Rate {
    let mut share = Share::default();
    verdicts.for_each(|good| share.add(good));
    share.into()
}

/// Returns true where all of one stand in the other, in order.
fn is_subsequence(wanted: &[&str], made: &[&str]) -> bool {
    let mut rest = made.iter();
    wanted.iter().all(|wanted| rest.any(|made| made == wanted))
}

/// The other side of an agent: the document's world, and the noise's.
struct Live {
    session: Session,
    noise: Option<Session>,
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
}

impl Attempts {
    /// Adds attempts up.
    #[must_use]
    pub fn of(
        agent: String,
        model: Option<String>,
        pool_asked: Option<usize>,
        attempts: Vec<Attempt>,
    ) -> Self {
        let ended: Vec<&Attempt> = attempts.iter().filter(|attempt| attempt.unfinished.is_none()).collect();
        let mean = |extra: Vec<i64>| {
            (!extra.is_empty()).then(|| extra.iter().sum::<i64>() as f64 / extra.len() as f64)
        };
        let extra = |test: &dyn Fn(&Attempt) -> bool| {
            mean(ended.iter().filter(|attempt| test(attempt)).map(|attempt| attempt.extra_calls).collect())
        };
        let calls = ended.iter().flat_map(|attempt| &attempt.calls);
        let has_answers = ended.iter().any(|attempt| attempt.success.is_some());
        let pool = ended.iter().map(|attempt| attempt.pool).sum::<usize>() as f64 / ended.len().max(1) as f64;
        Self {
            agent,
            model,
            pool_asked,
            pool,
            queries: attempts.len(),
            correct_path: rate(ended.iter().map(|attempt| attempt.correct_path)),
            correct_path_with_ids: rate(ended.iter().filter_map(|attempt| attempt.correct_path_with_ids)),
            success: has_answers.then(|| rate(ended.iter().filter_map(|attempt| attempt.success))),
            delta_len: extra(&|attempt| attempt.success == Some(true)),
            delta_len_of_correct_paths: extra(&|attempt| attempt.correct_path),
            calls_succeeded: rate(calls.map(|(_, status)| (200..300).contains(status))),
            unfinished: attempts.len() - ended.len(),
            tokens: attempts.iter().map(|attempt| attempt.tokens).sum(),
            attempts,
        }
    }

    /// A table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let who = who(&self.agent, self.model.as_deref());
        let mut text = format!("{who}, {} queries, {:.0} APIs\n", self.queries, self.pool);
        let number = |value: Option<f64>| {
            value.map_or_else(|| "not evaluated".to_owned(), |value| format!("{value:+.2}"))
        };
        let success = self
            .success
            .as_ref()
            .map_or_else(|| "not evaluated: the queries have no answers".to_owned(), Rate::to_string);
        text.push_str(&format!("  correct path              {}\n", self.correct_path));
        text.push_str(&format!("  correct path, ids checked {}\n", self.correct_path_with_ids));
        text.push_str(&format!("  success                   {success}\n"));
        text.push_str(&format!("  Δ solution length         {}\n", number(self.delta_len)));
        text.push_str(&format!("  the same of correct paths {}\n", number(self.delta_len_of_correct_paths)));
        text.push_str(&format!("  calls that succeeded      {}\n", self.calls_succeeded));
        text + &without_end(self.unfinished)
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
