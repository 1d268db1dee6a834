//! One query: its gold path, step by step.

use std::collections::VecDeque;

use serde_json::{Map, Value as Json};

use super::choose::{asked_for, listed, number};
use super::insert::{Known, looked_up, plans};
use super::named::{Named, named};
use super::query::{Called, Outcome, Paths, Query};
use super::service::{Service, ServiceError};
use super::sightings::{Sighting, name_of, sightings};
use super::template::{Takes, Template, Templates};

/// What one reply showed.
struct Seen {
    /// The name that was searched for.
    searched: Option<String>,
    records: Vec<Sighting>,
}

pub(super) struct Walk<'a, S> {
    templates: &'a Templates,
    service: &'a mut S,
    query: &'a Query,
    paths: Paths,
    kinds: Vec<String>,
    named: VecDeque<Named>,
    seen: Vec<Seen>,
    /// Records whose id has been looked up: it need not be done twice.
    known: Vec<(String, Json, String)>,
    outcome: Outcome,
}

impl<'a, S: Service> Walk<'a, S> {
    pub(super) fn new(templates: &'a Templates, service: &'a mut S, query: &'a Query, paths: Paths) -> Self {
        let outcome = Outcome {
            index: 0,
            query: query.query.clone(),
            calls: Vec::new(),
            inserted: Vec::new(),
            agreeing: 0,
            disagreeing: 0,
            faults: Vec::new(),
        };
        Self {
            templates,
            service,
            query,
            paths,
            kinds: templates.kinds(),
            named: named(query, templates).into(),
            seen: Vec::new(),
            known: Vec::new(),
            outcome,
        }
    }

    pub(super) fn run(mut self, index: usize) -> Result<Outcome, ServiceError> {
        self.outcome.index = index;
        for step in &self.query.solution {
            let Some(template) = self.templates.find(step) else {
                self.fault(format!("unknown: the document has no operation `{step}`"));
                break;
            };
            if !self.step(template)? {
                break;
            }
        }
        Ok(self.outcome)
    }

    fn fault(&mut self, text: String) {
        self.outcome.faults.push(text);
    }

    /// Makes one call of the path; whether the path can go on.
    fn step(&mut self, template: &Template) -> Result<bool, ServiceError> {
        let mut arguments = Map::new();
        for (name, noun) in template.holes() {
            let mut value = self.value(template, &name, &noun);
            if value.is_none() && self.paths == Paths::Completed {
                if !self.look_for(&noun)? {
                    return Ok(false);
                }
                value = self.value(template, &name, &noun);
            }
            let Some(value) = value else {
                self.fault(format!("no id: no earlier reply shows a {noun} for {}", template.path));
                return Ok(false);
            };
            arguments.insert(name, value);
        }
        let searched = self.search_words(template, &mut arguments);
        if !self.call(template, &arguments, searched.clone())? {
            return Ok(false);
        }
        let records = self.seen.last().map_or(&[][..], |seen| &seen.records);
        if let Some(name) = searched.filter(|name| !records.iter().any(|record| same(&record.name, name))) {
            self.fault(format!("search: {} does not find `{name}`", written(template, &arguments)));
        }
        Ok(true)
    }

    /// Inserts calls until one shows a record of a kind that can be followed; whether all of them succeeded.
    fn look_for(&mut self, kind: &str) -> Result<bool, ServiceError> {
        let templates = self.templates;
        let seen = self.kinds.iter().filter(|kind| self.followed(kind).is_some()).cloned().collect();
        let known = Known { seen, named: self.named.iter().collect() };
        for plan in plans(templates, kind, &known) {
            for template in plan {
                if !self.inserted(template)? {
                    return Ok(false);
                }
            }
            if self.followed(kind).is_some() {
                break;
            }
        }
        Ok(true)
    }

    /// Makes one call that the path leaves out, unless an earlier inserted one did not show what it needs.
    fn inserted(&mut self, template: &Template) -> Result<bool, ServiceError> {
        let mut arguments = Map::new();
        for (name, noun) in template.holes() {
            let Some(value) = self.value(template, &name, &noun) else { return Ok(true) };
            arguments.insert(name, value);
        }
        let named: Vec<&Named> = self.named.iter().collect();
        let name = looked_up(self.templates, template, &named).map(|named| named.name.clone());
        if let (Some(text), Some(name)) = (template.text_parameter(), &name) {
            arguments.insert(text.to_owned(), Json::from(name.as_str()));
        }
        for (parameter, takes) in &template.required {
            let value = match takes {
                Takes::Key(resource) => self.kinds.iter().find_map(|kind| {
                    let same = self.templates.resource(kind) == Some(resource);
                    same.then(|| self.followed(kind).map(|record| record.id.clone()))?
                }),
                Takes::Listed => listed(&self.query.query, template.allowed(parameter)),
                Takes::Other => None,
            };
            match value {
                Some(value) if !arguments.contains_key(parameter) => {
                    arguments.insert(parameter.clone(), value);
                }
                None if !arguments.contains_key(parameter) => return Ok(true),
                _ => {}
            }
        }
        self.outcome.inserted.push(written(template, &arguments));
        self.call(template, &arguments, name)
    }

    /// Makes a call and reads its reply; whether it succeeded. `searched` is the name that it looks for.
    fn call(
        &mut self,
        template: &Template,
        arguments: &Map<String, Json>,
        searched: Option<String>,
    ) -> Result<bool, ServiceError> {
        let (status, reply) = self.service.call(&template.method, &template.path, arguments)?;
        let call = written(template, arguments);
        self.outcome.calls.push(Called { call: call.clone(), status });
        if !(200..300).contains(&status) {
            let shown: String = reply.to_string().chars().take(160).collect();
            self.fault(format!("status: {call} answered {status} {shown}"));
            return Ok(false);
        }
        let records = sightings(template, arguments, &self.kinds, &reply);
        self.check_own_id(template, arguments, &reply);
        for record in &records {
            self.check_record(record, &call)?;
        }
        self.seen.push(Seen { searched, records });
        Ok(true)
    }

    fn value(&self, template: &Template, name: &str, noun: &str) -> Option<Json> {
        let allowed = template.allowed(name);
        if !allowed.is_empty() {
            return listed(&self.query.query, allowed);
        }
        if name.ends_with("number") {
            return Some(Json::from(number(&self.query.query, noun)));
        }
        self.followed(noun).map(|sighting| sighting.id.clone())
    }

    /// The record to follow: of the last reply that shows its kind, what was searched for or asked about.
    fn followed(&self, kind: &str) -> Option<&Sighting> {
        self.seen.iter().rev().find_map(|seen| {
            let of_kind: Vec<&Sighting> = seen.records.iter().filter(|record| record.kind == kind).collect();
            match &seen.searched {
                Some(name) => of_kind.into_iter().find(|record| same(&record.name, name)),
                None => asked_for(&self.query.query, &of_kind),
            }
        })
    }

    /// The words of a search: the next thing that the query names.
    fn search_words(&mut self, template: &Template, arguments: &mut Map<String, Json>) -> Option<String> {
        let kind = template.searched()?;
        let at = self.named.iter().position(|named| named.kind == kind)?;
        let name = self.named.remove(at)?.name;
        arguments.insert(template.text_parameter()?.to_owned(), Json::from(name.as_str()));
        Some(name)
    }

    /// The reply of `/movie/{movie_id}/credits` that has an id has the film's.
    fn check_own_id(&mut self, template: &Template, arguments: &Map<String, Json>, reply: &Json) {
        let holes = template.holes();
        let [(name, noun)] = holes.as_slice() else { return };
        let (Some(given), Some(own)) = (arguments.get(name), reply.get("id")) else { return };
        if self.kinds.contains(noun) && given != own {
            self.fault(format!("id: {} was asked for {given} and shows the id {own}", template.path));
        }
    }

    /// Looks a record up by its id: it must have the name under which the reply showed it.
    fn check_record(&mut self, record: &Sighting, call: &str) -> Result<(), ServiceError> {
        let key = (record.kind.clone(), record.id.clone(), record.name.clone());
        let Some(details) = self.templates.details(&record.kind).filter(|_| !self.known.contains(&key))
        else {
            return Ok(());
        };
        let Some((parameter, _)) = details.holes().pop() else { return Ok(()) };
        let arguments = Map::from_iter([(parameter, record.id.clone())]);
        let (status, reply) = self.service.call("GET", &details.path, &arguments)?;
        self.known.push(key);
        let before = self.outcome.faults.len();
        let Sighting { kind, id, name, .. } = record;
        match name_of(&reply) {
            _ if !(200..300).contains(&status) => {
                self.fault(format!("name: {call} shows the {kind} {id} `{name}`, which answers {status}"));
            }
            Some(own) if own == name && reply.get("id") == Some(id) => self.outcome.agreeing += 1,
            own => {
                let own = own.unwrap_or("nothing");
                self.fault(format!(
                    "name: {call} shows the {kind} {id} as `{name}`, and by its id it is `{own}`"
                ));
            }
        }
        self.outcome.disagreeing += self.outcome.faults.len() - before;
        Ok(())
    }
}

/// Names are the same in any case.
fn same(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

fn written(template: &Template, arguments: &Map<String, Json>) -> String {
    let mut path = template.path.clone();
    let mut rest = Vec::new();
    for (name, value) in arguments {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let hole = format!("{{{name}}}");
        if path.contains(&hole) {
            path = path.replace(&hole, &text);
        } else {
            rest.push(format!("{name}={text}"));
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("{} {path}{query}", template.method)
}
