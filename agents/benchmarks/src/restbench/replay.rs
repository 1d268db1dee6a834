//! Executes gold paths exactly as written. Arguments come from the query's names, from earlier replies, and
//! from the query's words.

use std::collections::VecDeque;

use diorama_baselines::jq::JqRunner;
use diorama_seeds::english::{singular, stem, words};
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use super::answer::TypedFact;
use super::field::Field;
use super::names::{NamedRecord, listed, named, number};
use super::operation::{Operation, Operations, Takes, fill};
use super::query::Query;
use super::shown::{Sighting, sightings};
use crate::summary::{Measure, Outcome, Summary};

const MEASURES: &[Measure] = &[
    ("passed", "queries: every call 2xx, every key under its name"),
    ("every_call_succeeded", "queries: every call 2xx"),
    ("calls_succeeded", "calls 2xx"),
    ("keys_agree", "keys that lead to a record of the same name"),
];

/// The member of a body with the key of the record that its path is below.
const ID: &str = "id";

/// An executed gold path.
#[derive(Debug, Default)]
pub(super) struct GoldReplay {
    /// Calls in the order of execution.
    pub(super) calls: Vec<GoldCall>,
    /// Number of keys that led to a record of the same name. `disagreeing` counts the others.
    pub(super) agreeing: u64,
    pub(super) disagreeing: u64,
    /// Faults. Empty if every call succeeded and every key and name agrees.
    pub(super) faults: Vec<String>,
}

/// An executed call.
#[derive(Debug)]
pub(super) struct GoldCall {
    /// Method and path, with arguments.
    pub(super) call: String,
    pub(super) status: u16,
    pub(super) reply: Json,
    /// True if one of its ids belongs to one of several records that the query does not distinguish.
    pub(super) is_chosen: bool,
}

impl GoldReplay {
    /// Returns true if every call of the path was made and succeeded.
    pub(super) fn every_call_succeeded(&self, query: &Query) -> bool {
        self.calls.len() == query.solution.len() && self.calls.iter().all(GoldCall::succeeded)
    }

    /// Returns true if the path ran without a fault.
    fn passes(&self, query: &Query) -> bool {
        self.faults.is_empty() && self.every_call_succeeded(query)
    }

    /// Returns true if an id belongs to the first of several possible records. It then cannot decide if an
    /// agent takes the right one.
    pub(super) fn has_chosen_ids(&self) -> bool {
        self.calls.iter().any(|made| made.is_chosen)
    }

    /// Returns the filled paths of the calls, or none if the path failed.
    pub(super) fn filled(&self, query: &Query) -> Option<Vec<String>> {
        let path = |made: &GoldCall| made.call.split('?').next().unwrap_or_default().to_owned();
        self.passes(query).then(|| self.calls.iter().map(path).collect())
    }

    /// Returns the facts that an answer must state, or none if the path failed or its replies lack them.
    pub(super) fn facts(&self, query: &Query, jq: &dyn JqRunner) -> Option<Vec<TypedFact>> {
        if !self.passes(query) {
            return None;
        }
        // Calls after an ambiguous id may concern another record than the query's.
        let told = self.calls.iter().take_while(|made| !made.is_chosen);
        let replies: Vec<&Json> = told.map(|made| &made.reply).collect();
        let facts: Option<Vec<Vec<TypedFact>>> =
            query.answer.iter().map(|fact| fact.read(&replies, jq)).collect();
        facts.map(|facts| facts.concat()).filter(|facts| !facts.is_empty())
    }

    fn outcome(self, index: usize, query: &Query) -> Outcome {
        let mut outcome = Outcome::new(index.to_string());
        outcome.groups.push(("path", query.solution.len().to_string()));
        outcome.share("passed", self.passes(query));
        outcome.share("every_call_succeeded", self.every_call_succeeded(query));
        let succeeded = self.calls.iter().filter(|made| made.succeeded()).count();
        outcome.part("calls_succeeded", succeeded as u64, self.calls.len() as u64);
        outcome.part("keys_agree", self.agreeing, self.agreeing + self.disagreeing);
        if let Some(fault) = self.faults.first() {
            outcome.errors.insert("fault", fault.split(':').next().unwrap_or_default().to_owned());
        }
        outcome.notes.extend(self.faults.iter().cloned());
        outcome.detail("query", query.query.trim());
        outcome.detail("calls", self.calls.iter().map(|made| &*made.call).collect::<Vec<_>>());
        outcome.detail("faults", self.faults);
        outcome
    }
}

impl GoldCall {
    fn succeeded(&self) -> bool {
        is_success(self.status)
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Executes the gold paths of all queries, each in its own session, so that they do not affect each other.
pub fn replay(field: &Field, queries: &[Query]) -> Summary {
    let outcomes = queries.iter().enumerate().map(|(index, query)| {
        Replayer::new(&field.operations, field.answers(), query).run().outcome(index, query)
    });
    Summary::of("gold paths", None, MEASURES, outcomes.collect())
}

/// A reply with its records.
struct ReplySightings {
    /// The name that was searched for.
    searched: Option<String>,
    records: Vec<Sighting>,
}

/// The arguments of a call.
struct FilledArguments {
    arguments: Map<String, Json>,
    /// The name that it searches for.
    searched: Option<String>,
    /// True if one of the ids belongs to one of several possible records.
    is_chosen: bool,
}

/// Executes one gold path. `answer` returns the status and the body of a call's reply.
pub(super) struct Replayer<'a, F> {
    operations: &'a Operations,
    answer: F,
    query: &'a Query,
    /// Stems of the query's words.
    words: Vec<String>,
    /// The query's words in the singular.
    singulars: Vec<String>,
    /// NamedRecord records of the query for which no call of the path has searched.
    named: VecDeque<NamedRecord>,
    seen: Vec<ReplySightings>,
    /// Records that were looked up by key.
    known: Vec<(String, Json, String)>,
    replayed: GoldReplay,
}

impl<'a, F: FnMut(&Call) -> (u16, Json)> Replayer<'a, F> {
    pub(super) fn new(operations: &'a Operations, answer: F, query: &'a Query) -> Self {
        let said: Vec<String> = words(&query.query).collect();
        let words = said.iter().map(|word| stem(word)).collect();
        let singulars = said.iter().map(|word| singular(word)).collect();
        let named = named(query, operations).into();
        let (seen, known, replayed) = (Vec::new(), Vec::new(), GoldReplay::default());
        Self { operations, answer, query, words, singulars, named, seen, known, replayed }
    }

    pub(super) fn run(mut self) -> GoldReplay {
        for step in &self.query.solution {
            let Some(operation) = self.operations.find(step) else {
                self.fault(format!("unknown: the document has no operation `{step}`"));
                break;
            };
            if !self.step(operation) {
                break;
            }
        }
        self.replayed
    }

    fn fault(&mut self, text: String) {
        self.replayed.faults.push(text);
    }

    /// Makes one call of the path. Returns true if the path can continue.
    fn step(&mut self, operation: &Operation) -> bool {
        let FilledArguments { arguments, searched, is_chosen } = match self.fill_arguments(operation) {
            Ok(filled) => filled,
            Err(resource) => {
                self.fault(format!("no key: no earlier reply shows a {resource} for {}", operation.path));
                return false;
            }
        };
        // Each name is searched for once.
        self.named.retain(|named| {
            Some(&*named.resource) != operation.searched() || Some(&named.name) != searched.as_ref()
        });
        let (status, reply) = self.call(operation, &arguments);
        let call = written(operation, &arguments);
        if !is_success(status) {
            let shown: String = reply.to_string().chars().take(160).collect();
            self.fault(format!("status: {call} answered {status} {shown}"));
            self.replayed.calls.push(GoldCall { call, status, reply, is_chosen });
            return false;
        }
        let records = sightings(&operation.shown, &arguments, &reply);
        self.check_own_key(operation, &arguments, &records, &reply);
        for record in &records {
            self.check_name(record, &call);
        }
        if let Some(name) = &searched
            && !records.iter().any(|record| record.is_called(name))
        {
            self.fault(format!("search: {call} does not find `{name}`"));
        }
        self.replayed.calls.push(GoldCall { call, status, reply, is_chosen });
        self.seen.push(ReplySightings { searched, records });
        true
    }

    fn call(&mut self, operation: &Operation, arguments: &Map<String, Json>) -> (u16, Json) {
        (self.answer)(&Call { api: operation.api.clone(), arguments: arguments.clone() })
    }

    /// Returns the arguments of a call.
    ///
    /// # Errors
    /// Returns the resource of which no earlier reply has a record.
    fn fill_arguments(&self, operation: &Operation) -> Result<FilledArguments, String> {
        let (mut arguments, mut searched, mut is_chosen) = (Map::new(), None, false);
        for parameter in &operation.parameters {
            let value = match &parameter.takes {
                Takes::Key(resource) => {
                    let (record, is_one_of_several) =
                        self.find_followed(resource).ok_or_else(|| resource.clone())?;
                    is_chosen |= is_one_of_several;
                    Some(record.key.clone())
                }
                Takes::Name(resource) => {
                    searched = self.named.iter().find(|named| named.resource == *resource);
                    searched.map(|named| Json::from(named.name.as_str()))
                }
                Takes::Listed(values) => listed(&self.words, values).map(|value| Json::from(value.as_str())),
                Takes::Number => Some(Json::from(number(&self.query.query, &parameter.noun))),
                Takes::Other => None,
            };
            arguments.extend(value.map(|value| (parameter.name.clone(), value)));
        }
        Ok(FilledArguments { arguments, searched: searched.map(|named| named.name.clone()), is_chosen })
    }

    /// Returns the record to follow, with true if others would do as well. It comes from the last reply with
    /// its resource. It is the searched one, or else the one that shares most words with the query.
    fn find_followed(&self, resource: &str) -> Option<(&Sighting, bool)> {
        self.seen.iter().rev().find_map(|seen| {
            let records = seen.records.iter().filter(|record| record.resource == resource);
            let best: Vec<&Sighting> = match &seen.searched {
                Some(name) => records.filter(|record| record.is_called(name)).collect(),
                None => {
                    let said = |record: &Sighting| {
                        // Compares words, not stems: `director` must not match `directs`.
                        let is_said = |role: &&Vec<String>| {
                            role.iter().all(|word| self.singulars.contains(&singular(word)))
                        };
                        record.roles.iter().filter(is_said).count()
                    };
                    let most = records.clone().map(said).max()?;
                    records.filter(|record| said(record) == most).collect()
                }
            };
            let first = best.first()?;
            Some((*first, best.iter().any(|other| other.key != first.key)))
        })
    }

    /// Checks the key in a body against the record that its path is below. A body that is a record with its
    /// own path has its own key.
    fn check_own_key(
        &mut self,
        operation: &Operation,
        arguments: &Map<String, Json>,
        records: &[Sighting],
        body: &Json,
    ) {
        let Some((parameter, resource)) = operation.below() else { return };
        let shown = match records.iter().find(|record| record.is_body) {
            Some(own) if own.resource == resource => {
                Some(&own.key).filter(|_| operation.gets.as_deref() == Some(resource))
            }
            Some(own) if self.operations.details(&own.resource).is_some() => None,
            _ => body.get(ID).filter(|id| id.is_string() || id.is_number()),
        };
        if let (Some(given), Some(shown)) = (arguments.get(parameter), shown)
            && given != shown
        {
            let path = &operation.path;
            self.fault(format!("key: {path} was asked for {given} and shows the key {shown}"));
        }
    }

    /// Looks up a record by key. It must have the name that the reply showed.
    fn check_name(&mut self, record: &Sighting, call: &str) {
        let Sighting { resource, key, name: Some(name), .. } = record else { return };
        let known = (resource.clone(), key.clone(), name.clone());
        let details = self.operations.details(resource).filter(|_| !self.known.contains(&known));
        let Some((details, parameter)) = details else { return };
        let arguments = Map::from_iter([(parameter.to_owned(), key.clone())]);
        let (status, reply) = self.call(details, &arguments);
        self.known.push(known);
        let found = sightings(&details.shown, &arguments, &reply);
        let own = found.iter().find(|own| own.is_body && own.resource == *resource && own.key == *key);
        let fault = match own.and_then(|own| own.name.as_ref()) {
            _ if !is_success(status) => format!("which answers {status}"),
            Some(own) if own == name => {
                self.replayed.agreeing += 1;
                return;
            }
            Some(own) => format!("and by its key it is `{own}`"),
            None => "and by its key it is nothing".to_owned(),
        };
        self.replayed.disagreeing += 1;
        self.fault(format!("name: {call} shows the {resource} {key} as `{name}`, {fault}"));
    }
}

impl Sighting {
    /// Returns true if the record has a name, without regard to case.
    fn is_called(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|own| own.to_lowercase() == name.to_lowercase())
    }
}

fn written(operation: &Operation, arguments: &Map<String, Json>) -> String {
    let (path, rest) = fill(&operation.path, arguments);
    let rest: Vec<String> = rest.iter().map(|(name, text)| format!("{name}={text}")).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("{} {path}{query}", operation.method)
}
