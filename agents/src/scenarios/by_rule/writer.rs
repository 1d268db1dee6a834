//! The world that scenarios are written for and tried in, and the scenarios that come of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_proof::Survey;
use diorama_seeds::doc::ScenarioDoc;
use diorama_seeds::model::{Api, ApiId, DomainId, FieldId, ParameterId, ResourceId, World};
use diorama_seeds::scenario::{Scenario, compile};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Value;

use super::shape::Shape;
use crate::scenarios::rehearse;
use crate::worlds::guide::Guide;
use crate::worlds::world::BatchWorld;

/// Plays of a scenario before it is given up, while it is written.
const MOST_TRIALS: u64 = 12;
/// Keys of a resource that are looked at.
const MOST_KEYS: usize = 8;
/// Characters of a key that people say, at most, and those of a part with digits.
const MOST_LETTERS: usize = 24;
const MOST_DIGITS: usize = 12;
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
    /// Its shape.
    pub(crate) shape: Shape,
    /// The API that it is about.
    pub api: ApiId,
}

/// The world that scenarios are written for and tried in.
pub(crate) struct Writer<'a> {
    pub(crate) trial: &'a BatchWorld,
}

impl<'a> Writer<'a> {
    pub(crate) fn world(&self) -> &'a World {
        self.trial.base.world()
    }

    pub(crate) fn alternates(&self) -> &'a World {
        &self.trial.alternates
    }

    pub(crate) fn survey(&self) -> &'a Survey {
        &self.trial.world_template.survey
    }

    pub(crate) fn guide(&self) -> &'a Guide {
        &self.trial.world_template.guide
    }

    /// Returns true if people can say the keys of a resource: short numbers, and codes as they stand on paper.
    pub(crate) fn has_sayable_keys(&self, resource: ResourceId) -> bool {
        let described = self.alternates().resource(resource);
        let keys = described.records.iter().take(MOST_KEYS);
        keys.filter_map(|record| record.get(described.key.index())).all(is_sayable)
    }

    /// Returns true if the user says a key that nobody has in mind.
    pub(crate) fn copies_key(&self, doc: &ScenarioDoc) -> bool {
        let world = self.world();
        doc.bind.iter().any(|(place, bound)| {
            let of = |name: &str| world.resources.iter().position(|resource| *resource.name == *name);
            let Some(index) = bound.a.as_deref().and_then(of) else { return false };
            let id = ResourceId(index as u16);
            let described = world.resource(id);
            let is_keyed = described.display.is_none_or(|display| display == described.key);
            let key = format!("{{{place}.{}", described.field(described.key).name);
            let says = |words: &String| {
                let bare = [format!("{{{place}}}"), format!("{{{place}|")];
                words.contains(&key) || is_keyed && bare.iter().any(|bare| words.contains(bare))
            };
            doc.said_by_user().any(|words| words.iter().any(says)) && !self.has_sayable_keys(id)
        })
    }

    /// Returns true if a field holds names of people.
    pub(crate) fn is_person(&self, resource: ResourceId, field: FieldId) -> bool {
        self.trial.world_template.people.contains(&(resource, field))
    }

    fn compile(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Scenario, String> {
        let (mut compiled, findings) = compile(std::slice::from_ref(doc), domain, self.world());
        let wrong = || findings.first().map(|finding| format!("{}: {}", finding.path, finding.message));
        compiled.pop().ok_or_else(|| wrong().unwrap_or_default())
    }

    /// The calls of the first play that works, with their replies.
    ///
    /// # Errors
    /// Why the last one does not.
    pub(crate) fn calls(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Vec<Arc<LogEntry>>, String> {
        let scenario = self.compile(doc, domain)?;
        let play = |seed| rehearse::calls(self.trial, &scenario, seed).map_err(|error| error.to_string());
        first_of(MOST_TRIALS, play)
    }

    /// Succeeds if a scenario becomes a row now and then.
    ///
    /// # Errors
    /// Why the last try does not.
    pub(crate) fn rehearse(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<(), String> {
        let scenario = self.compile(doc, domain)?;
        let play = |seed| match rehearse::rehearse(self.trial, (&scenario, &[]), Ability::Call, seed) {
            Ok(_) => Ok(()),
            Err(lost) => Err(lost.to_string()),
        };
        first_of(MOST_REHEARSALS, play)
    }
}

/// Returns true if people can say a key.
fn is_sayable(key: &Value) -> bool {
    let text = match key {
        Value::Integer(number) => return number.abs() < 100_000_000,
        other => match other.as_str() {
            Some(text) => text,
            None => return false,
        },
    };
    let is_part = |part: &str| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        part.len() <= if digits == 0 { MOST_LETTERS } else { MOST_DIGITS }
    };
    text.len() <= MOST_LETTERS
        && text.chars().all(|letter| letter.is_alphanumeric() || " -_.@/".contains(letter))
        && text.split(|letter: char| !letter.is_alphanumeric()).all(is_part)
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

/// The sets of optional parameters that a request gives together: those that a phrase can tell.
pub(crate) fn choices(api: &Api, guide: &Guide, id: ApiId) -> Vec<BTreeSet<ParameterId>> {
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
