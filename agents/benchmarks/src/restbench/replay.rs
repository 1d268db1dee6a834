//! Gold paths, executed in order: arguments come from the query's names, from earlier replies, and from the query's words.

use std::collections::VecDeque;

use diorama_baselines::jq::JqRunner;
use diorama_seeds::english::{stem, words};
use serde_json::{Map, Value as Json};

use super::answer::TypedFact;
use super::lookup::{Known, looked_up, rows};
use super::names::{Named, listed, named, number};
use super::operation::{Operation, Operations, Takes, fill};
use super::query::{Paths, Query};
use super::service::{Service, ServiceError};
use super::shown::{Sighting, sightings};
use crate::summary::{Measure, Outcome, Summary};

const MEASURES: &[Measure] = &[
    ("passed", "queries: every call 2xx, every key under its name"),
    ("passed_as_written", "of them: without an inserted call"),
    ("every_call_succeeded", "queries: every call 2xx"),
    ("calls_succeeded", "calls 2xx"),
    ("inserted_calls", "calls that were inserted"),
    ("keys_agree", "keys that lead to a record of the same name"),
];

/// A gold path that was executed.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Calls in the order in which they were made.
    pub(super) calls: Vec<Made>,
    /// Keys that led to a record of the same name, and those that did not.
    pub(super) agreeing: u64,
    pub(super) disagreeing: u64,
    /// Faults; none when every call succeeded and every key and name agrees.
    pub(super) faults: Vec<String>,
}

/// A call that was made.
#[derive(Debug)]
pub(super) struct Made {
    /// Method and path, filled.
    pub(super) call: String,
    pub(super) status: u16,
    pub(super) reply: Json,
    /// True where the path leaves it out.
    pub(super) is_inserted: bool,
    /// True where an id of it is that of one of several records, which nothing in the query tells apart.
    pub(super) is_chosen: bool,
}

impl Replayed {
    /// Returns true where every call of the path was made, and all succeeded.
    pub(super) fn every_call_succeeded(&self, query: &Query) -> bool {
        let own = self.calls.iter().filter(|made| !made.is_inserted).count();
        own == query.solution.len() && self.calls.iter().all(Made::succeeded)
    }

    /// Returns the gold path's own calls; none where it does not run through.
    fn own(&self, query: &Query) -> Option<impl Iterator<Item = &Made>> {
        let runs_through = self.faults.is_empty() && self.every_call_succeeded(query);
        runs_through.then(|| self.calls.iter().filter(|made| !made.is_inserted))
    }

    /// Returns true where an id is that of the first of several records: whether an agent takes the right one cannot be told from it.
    pub(super) fn has_chosen_ids(&self) -> bool {
        self.calls.iter().any(|made| made.is_chosen)
    }

    /// Returns the filled paths of the gold path's own calls; none where it does not run through.
    pub(super) fn filled(&self, query: &Query) -> Option<Vec<String>> {
        let path = |made: &Made| made.call.split('?').next().unwrap_or_default().to_owned();
        Some(self.own(query)?.map(path).collect())
    }

    /// Returns the facts that an answer must state; none where the path does not run through, or its replies do not have them.
    pub(super) fn facts(&self, query: &Query, jq: &dyn JqRunner) -> Option<Vec<TypedFact>> {
        let _runs_through = self.own(query)?;
        // What follows an id that is one of several may be of another record than the query means.
        let told = self.calls.iter().take_while(|made| !made.is_chosen);
        let replies: Vec<&Json> = told.filter(|made| !made.is_inserted).map(|made| &made.reply).collect();
        let facts: Option<Vec<Vec<TypedFact>>> =
            query.answer.iter().map(|fact| fact.read(&replies, jq)).collect();
        facts.map(|facts| facts.concat()).filter(|facts| !facts.is_empty())
    }

    fn outcome(self, index: usize, query: &Query) -> Outcome {
        let mut outcome = Outcome::new(index.to_string());
        outcome.groups.push(("path", query.solution.len().to_string()));
        let every = self.every_call_succeeded(query);
        let passed = every && self.faults.is_empty();
        let inserted: Vec<&str> =
            self.calls.iter().filter(|made| made.is_inserted).map(|made| &*made.call).collect();
        let calls = self.calls.len() as u64;
        outcome.share("passed", passed);
        outcome.share("passed_as_written", passed && inserted.is_empty());
        outcome.share("every_call_succeeded", every);
        outcome.part(
            "calls_succeeded",
            self.calls.iter().filter(|made| made.succeeded()).count() as u64,
            calls,
        );
        outcome.part("inserted_calls", inserted.len() as u64, calls);
        outcome.part("keys_agree", self.agreeing, self.agreeing + self.disagreeing);
        if let Some(fault) = self.faults.first() {
            outcome.errors.insert("fault", fault.split(':').next().unwrap_or_default().to_owned());
        }
        outcome.notes.extend(inserted.iter().map(|call| format!("inserted {call}")));
        outcome.notes.extend(self.faults.iter().cloned());
        outcome.detail("query", query.query.trim());
        outcome.detail("calls", self.calls.iter().map(|made| &*made.call).collect::<Vec<_>>());
        outcome.detail("inserted", inserted);
        outcome.detail("faults", self.faults);
        outcome
    }
}

impl Made {
    fn succeeded(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Executes the gold paths of all queries. `fresh` prepares the service for a query: a benchmark's queries do not see each
/// other's writes.
///
/// # Errors
/// When the service gives no reply at all.
pub fn replay<S: Service>(
    queries: &[Query],
    operations: &Operations,
    paths: Paths,
    mut fresh: impl FnMut() -> S,
) -> Result<Summary, ServiceError> {
    let outcomes = queries.iter().enumerate().map(|(index, query)| {
        let replayed = Replayer::new(operations, fresh(), query, paths).run()?;
        Ok(replayed.outcome(index, query))
    });
    Ok(Summary::of("gold paths", None, MEASURES, outcomes.collect::<Result<_, ServiceError>>()?))
}

/// A reply that was seen.
struct Seen {
    /// Name that was searched for.
    searched: Option<String>,
    records: Vec<Sighting>,
}

/// Arguments of a call, or what is missing for it.
enum Filled {
    Arguments { arguments: Map<String, Json>, searched: Option<String>, is_chosen: bool },
    Missing { resource: String },
}

/// Executes one gold path.
pub(super) struct Replayer<'a, S> {
    operations: &'a Operations,
    service: S,
    query: &'a Query,
    paths: Paths,
    /// Stems of the query's words.
    words: Vec<String>,
    /// Records that the query names and that no call of the path has searched for.
    named: VecDeque<Named>,
    seen: Vec<Seen>,
    /// Records that were looked up by their keys.
    known: Vec<(String, Json, String)>,
    replayed: Replayed,
}

impl<'a, S: Service> Replayer<'a, S> {
    pub(super) fn new(operations: &'a Operations, service: S, query: &'a Query, paths: Paths) -> Self {
        let words = words(&query.query).map(|word| stem(&word)).collect();
        let named = named(query, operations).into();
        let (seen, known, replayed) = (Vec::new(), Vec::new(), Replayed::default());
        Self { operations, service, query, paths, words, named, seen, known, replayed }
    }

    pub(super) fn run(mut self) -> Result<Replayed, ServiceError> {
        for step in &self.query.solution {
            let Some(operation) = self.operations.find(step) else {
                self.fault(format!("unknown: the document has no operation `{step}`"));
                break;
            };
            if !self.step(operation)? {
                break;
            }
        }
        Ok(self.replayed)
    }

    fn fault(&mut self, text: String) {
        self.replayed.faults.push(text);
    }

    /// Makes one call of the path; returns whether the path can go on.
    fn step(&mut self, operation: &Operation) -> Result<bool, ServiceError> {
        let mut filled = self.fill_arguments(operation);
        while let (Filled::Missing { resource }, Paths::Completed) = (&filled, self.paths) {
            let resource = resource.clone();
            if !self.look_for(&resource)? {
                return Ok(false);
            }
            if self.find_followed(&resource).is_none() {
                break;
            }
            filled = self.fill_arguments(operation);
        }
        let (arguments, searched, is_chosen) = match filled {
            Filled::Arguments { arguments, searched, is_chosen } => (arguments, searched, is_chosen),
            Filled::Missing { resource } => {
                self.fault(format!("no key: no earlier reply shows a {resource} for {}", operation.path));
                return Ok(false);
            }
        };
        // A name is searched for once.
        self.named.retain(|named| {
            Some(&*named.resource) != operation.searched() || Some(&named.name) != searched.as_ref()
        });
        if !self.call(operation, &arguments, searched.clone(), false)? {
            return Ok(false);
        }
        self.mark_chosen(is_chosen);
        let records = self.seen.last().map_or(&[][..], |seen| &seen.records);
        if let Some(name) = searched.filter(|name| !records.iter().any(|record| record.is_called(name))) {
            self.fault(format!("search: {} does not find `{name}`", written(operation, &arguments)));
        }
        Ok(true)
    }

    /// Inserts calls until one shows a record of a resource that can be followed; returns whether all of them succeeded.
    fn look_for(&mut self, resource: &str) -> Result<bool, ServiceError> {
        let operations = self.operations;
        let shown = self.seen.iter().flat_map(|seen| &seen.records).map(|record| &*record.resource);
        let mut seen: Vec<&str> = shown.filter(|resource| self.find_followed(resource).is_some()).collect();
        seen.dedup();
        let rows = rows(operations, resource, &Known { seen, named: self.named.iter().collect() });
        for row in rows {
            for operation in row {
                // A call is left out where an inserted one before it did not show what it needs.
                let Filled::Arguments { arguments, searched, is_chosen } = self.fill_arguments(operation)
                else {
                    break;
                };
                let named: Vec<&Named> = self.named.iter().collect();
                let searched =
                    searched.or_else(|| looked_up(operation, &named).map(|named| named.name.clone()));
                if !self.call(operation, &arguments, searched, true)? {
                    return Ok(false);
                }
                self.mark_chosen(is_chosen);
            }
            if self.find_followed(resource).is_some() {
                break;
            }
        }
        Ok(true)
    }

    /// Returns the arguments of a call, with the name that it searches for.
    fn fill_arguments(&self, operation: &Operation) -> Filled {
        let (mut arguments, mut searched, mut is_chosen) = (Map::new(), None, false);
        for parameter in &operation.parameters {
            let value = match &parameter.takes {
                Takes::Key(resource) => match self.find_followed(resource) {
                    Some((record, is_one_of_several)) => {
                        is_chosen |= is_one_of_several;
                        Some(record.key.clone())
                    }
                    None => return Filled::Missing { resource: resource.clone() },
                },
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
        Filled::Arguments { arguments, searched: searched.map(|named| named.name.clone()), is_chosen }
    }

    /// Makes a call and reads its reply; returns whether it succeeded. `searched` is the name that it looks for.
    fn call(
        &mut self,
        operation: &Operation,
        arguments: &Map<String, Json>,
        searched: Option<String>,
        is_inserted: bool,
    ) -> Result<bool, ServiceError> {
        let (status, reply) = self.service.call(&operation.method, &operation.path, arguments)?;
        let call = written(operation, arguments);
        let made = Made { call, status, reply: reply.clone(), is_inserted, is_chosen: false };
        let (call, succeeded) = (made.call.clone(), made.succeeded());
        self.replayed.calls.push(made);
        if !succeeded {
            let shown: String = reply.to_string().chars().take(160).collect();
            self.fault(format!("status: {call} answered {status} {shown}"));
            return Ok(false);
        }
        let records = sightings(&operation.shown, arguments, &reply);
        self.check_own_key(operation, arguments, &records);
        for record in &records {
            self.check_name(record, &call)?;
        }
        self.seen.push(Seen { searched, records });
        Ok(true)
    }

    /// Marks the last call as one whose id is that of one of several records.
    fn mark_chosen(&mut self, is_chosen: bool) {
        if let Some(made) = self.replayed.calls.last_mut() {
            made.is_chosen = is_chosen;
        }
    }

    /// Returns the record to follow, and true where others would do as well: of the last reply that shows its resource, what was
    /// searched for, or else what the query says most of.
    fn find_followed(&self, resource: &str) -> Option<(&Sighting, bool)> {
        self.seen.iter().rev().find_map(|seen| {
            let records = seen.records.iter().filter(|record| record.resource == resource);
            let best: Vec<&Sighting> = match &seen.searched {
                Some(name) => records.filter(|record| record.is_called(name)).collect(),
                None => {
                    let said = |record: &Sighting| {
                        let is_said =
                            |role: &&Vec<String>| role.iter().all(|word| self.words.contains(&stem(word)));
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

    /// Checks a body that shows the key of its own record: it is the one that was asked for.
    fn check_own_key(&mut self, operation: &Operation, arguments: &Map<String, Json>, records: &[Sighting]) {
        for parameter in &operation.parameters {
            let Takes::Key(resource) = &parameter.takes else { continue };
            let is_own = operation.gets.as_ref() == Some(resource);
            let own = records.iter().find(|record| is_own && record.is_body && record.resource == *resource);
            if let (Some(given), Some(own)) = (arguments.get(&parameter.name), own)
                && *given != own.key
            {
                let path = &operation.path;
                self.fault(format!("key: {path} was asked for {given} and shows the key {}", own.key));
            }
        }
    }

    /// Looks a record up by its key: it must have the name under which the reply showed it.
    fn check_name(&mut self, record: &Sighting, call: &str) -> Result<(), ServiceError> {
        let Sighting { resource, key, name: Some(name), .. } = record else { return Ok(()) };
        let known = (resource.clone(), key.clone(), name.clone());
        let Some((details, parameter)) =
            self.operations.details(resource).filter(|_| !self.known.contains(&known))
        else {
            return Ok(());
        };
        let arguments = Map::from_iter([(parameter.to_owned(), key.clone())]);
        let (status, reply) = self.service.call("GET", &details.path, &arguments)?;
        self.known.push(known);
        let found = sightings(&details.shown, &arguments, &reply);
        let own = found.iter().find(|own| own.is_body && own.resource == *resource && own.key == *key);
        let fault = match own.and_then(|own| own.name.as_ref()) {
            _ if !(200..300).contains(&status) => format!("which answers {status}"),
            Some(own) if own == name => {
                self.replayed.agreeing += 1;
                return Ok(());
            }
            Some(own) => format!("and by its key it is `{own}`"),
            None => "and by its key it is nothing".to_owned(),
        };
        self.replayed.disagreeing += 1;
        self.fault(format!("name: {call} shows the {resource} {key} as `{name}`, {fault}"));
        Ok(())
    }
}

impl Sighting {
    /// Returns true where the record has a name, in any case.
    fn is_called(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|own| own.to_lowercase() == name.to_lowercase())
    }
}

fn written(operation: &Operation, arguments: &Map<String, Json>) -> String {
    let (path, rest) = fill(&operation.path, arguments, str::to_owned);
    let rest: Vec<String> = rest.iter().map(|(name, text)| format!("{name}={text}")).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("{} {path}{query}", operation.method)
}
