//! The scaffold: scenarios written by rule, for APIs that nobody has written any for.
//!
//! From an API's parameters and phrases follow the records and values that a request names, the calls that find their keys, and
//! words for all of it. Each scenario is tried in a world before it is kept; the gates decide about it as about any other.

mod changes;
mod lists;
mod questions;
mod shapes;
mod sketch;
mod values;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_seeds::doc::ScenarioDoc;
use diorama_seeds::model::{Api, ApiId, DomainId, FieldId, ParameterId, ResourceId, World};
use diorama_seeds::scenario::{Scenario, compile};
use diorama_seeds::task::Ability;
use diorama_seeds::world::{Finding, Report};
use rayon::prelude::*;

use super::domain::{ApiAgent, ScenarioApis};
use super::error::PipelineError;
use super::scenario::{Shares, rehearse};
use super::world::{BatchWorld, Guide, WorldTemplate};
use diorama_proof::Survey;

use self::shapes::Shape;

/// Plays of a scenario before it is given up, while it is written.
const MOST_TRIALS: u64 = 12;
/// Rehearsals, of which one must pass the gates for a scenario to be kept.
const MOST_REHEARSALS: u64 = 4;

/// A scenario that was written by rule.
#[derive(Clone, Debug)]
pub struct Written {
    /// The scenario.
    pub doc: ScenarioDoc,
    /// Its domain.
    pub domain: DomainId,
    /// How often it is played beside the others.
    pub weight: f64,
    shape: Shape,
    api: ApiId,
}

/// What scenarios are written and tried in.
pub(super) struct Writer<'a> {
    trial: &'a BatchWorld,
}

impl<'a> Writer<'a> {
    fn world(&self) -> &'a World {
        self.trial.base.world()
    }

    fn alternates(&self) -> &'a World {
        &self.trial.alternates
    }

    fn survey(&self) -> &'a Survey {
        &self.trial.world_template.survey
    }

    fn guide(&self) -> &'a Guide {
        &self.trial.world_template.guide
    }

    /// Returns true if a field holds names of people.
    fn is_person(&self, resource: ResourceId, field: FieldId) -> bool {
        self.trial.world_template.people.contains(&(resource, field))
    }

    fn compiled(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Scenario, String> {
        let (mut compiled, findings) = compile(std::slice::from_ref(doc), domain, self.world());
        let wrong = || findings.first().map(|finding| format!("{}: {}", finding.path, finding.message));
        compiled.pop().ok_or_else(|| wrong().unwrap_or_default())
    }

    /// The calls of the first play that works, with their replies.
    ///
    /// # Errors
    /// Why the last one does not.
    fn calls(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Vec<Arc<LogEntry>>, String> {
        let scenario = self.compiled(doc, domain)?;
        let play = |seed| rehearse::calls(self.trial, &scenario, seed).map_err(|error| error.to_string());
        first_of(MOST_TRIALS, play)
    }

    /// Succeeds if a scenario becomes a row now and then.
    ///
    /// # Errors
    /// Why the last try does not.
    fn rehearsed(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<(), String> {
        let scenario = self.compiled(doc, domain)?;
        let play = |seed| match rehearse::rehearse(self.trial, (&scenario, &[]), Ability::Call, seed) {
            Ok(_) => Ok(()),
            Err(lost) => Err(lost.to_string()),
        };
        first_of(MOST_REHEARSALS, play)
    }
}

/// The template with scenarios for the abilities that its own ones do not exercise.
///
/// # Errors
/// When the world in which scenarios are tried cannot be made.
pub fn complete(
    mut template: Arc<WorldTemplate>,
    shares: &Shares,
    abilities: &[Ability],
) -> Result<Arc<WorldTemplate>, Report> {
    if abilities.iter().all(|ability| template.scenario_set.has_any(*ability)) {
        return Ok(template);
    }
    let (written, unwritten) = scenarios(&template)?;
    if let Some(template) = Arc::get_mut(&mut template) {
        template.scenario_set.add_written(written, unwritten, template.source.world());
        template.scenario_set.weigh(shares, abilities);
    }
    Ok(template)
}

/// Scenarios for the APIs of a world, and for those that have none the reason.
///
/// # Errors
/// When the world in which they are tried cannot be made.
pub fn scenarios(template: &Arc<WorldTemplate>) -> Result<(Vec<Written>, BTreeMap<ApiId, String>), Report> {
    let trial = ScenarioApis.build(template, 0).map_err(|error| match error {
        PipelineError::World(report) => report,
        other => Report::one(&template.name, Finding::error("", other.to_string(), "mend the world")),
    })?;
    let writer = Writer { trial: &trial };
    let apis: Vec<ApiId> = writer.world().api_ids().collect();
    let of_apis: Vec<Result<Vec<Written>, String>> =
        apis.par_iter().map(|api| shapes::write(&writer, *api)).collect();
    let (mut written, mut unwritten) = (Vec::new(), BTreeMap::new());
    for (api, of_api) in apis.into_iter().zip(of_apis) {
        match of_api {
            Ok(of_api) => written.extend(of_api),
            Err(reason) => _ = unwritten.insert(api, reason),
        }
    }
    weigh(&mut written);
    Ok((written, unwritten))
}

/// The first success of several tries.
fn first_of<T>(tries: u64, make: impl Fn(u64) -> Result<T, String>) -> Result<T, String> {
    let mut last = Err(String::new());
    for number in 0..tries {
        last = make(number);
        if last.is_ok() {
            break;
        }
    }
    last
}

/// Gives each shape its share, in it each API the same, and of an API each scenario the same.
fn weigh(written: &mut [Written]) {
    let mut counts: BTreeMap<(Shape, ApiId), f64> = BTreeMap::new();
    for one in written.iter() {
        *counts.entry((one.shape, one.api)).or_default() += 1.0;
    }
    let apis_of = |shape: Shape| counts.keys().filter(|(of, _)| *of == shape).count() as f64;
    let apis: BTreeMap<Shape, f64> = Shape::ALL.iter().map(|shape| (*shape, apis_of(*shape))).collect();
    for one in written {
        one.weight = one.shape.share() / apis[&one.shape] / counts[&(one.shape, one.api)];
    }
}

/// Which optional parameters are given together: those that a phrase can tell.
fn choices(api: &Api, guide: &Guide, id: ApiId) -> Vec<BTreeSet<ParameterId>> {
    const MOST: usize = 3;
    let words = guide.api(id);
    let templates = words.imperative.iter().chain(&words.request).chain(&words.noun);
    let mut all: Vec<BTreeSet<ParameterId>> = Vec::new();
    let named =
        |names: &[&str]| names.iter().filter_map(|name| api.parameter_named(name)).collect::<BTreeSet<_>>();
    for template in templates {
        let least = named(&template.required().collect::<Vec<_>>());
        let parts: Vec<BTreeSet<ParameterId>> = template.optional().map(|names| named(&names)).collect();
        let with = |chosen: &[BTreeSet<ParameterId>]| {
            chosen.iter().fold(least.clone(), |all, part| all.union(part).copied().collect())
        };
        all.push(least.clone());
        all.extend(parts.first().map(|first| with(std::slice::from_ref(first))));
        all.extend(parts.last().filter(|_| parts.len() > 1).map(|last| with(std::slice::from_ref(last))));
        all.extend((parts.len() > 2).then(|| with(&parts[..2])));
    }
    for chosen in &mut all {
        chosen.retain(|id| !api.parameters[id.index()].required);
    }
    let mut seen = BTreeSet::new();
    all.retain(|chosen| seen.insert(chosen.clone()));
    all.truncate(MOST);
    if all.is_empty() {
        all.push(BTreeSet::new());
    }
    all
}

#[cfg(test)]
mod tests;
