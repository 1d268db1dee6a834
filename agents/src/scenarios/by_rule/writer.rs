//! Holds the world in which scenarios are written and tried, and the written scenarios.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_proof::Survey;
use diorama_seeds::doc::{PlaceDoc, ScenarioDoc};
use diorama_seeds::model::{Api, ApiId, DomainId, FieldId, ParameterId, ResourceId, World};
use diorama_seeds::scenario::{Scenario, compile};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Value;

use super::echoes::echoes_other_value;
use super::shape::Shape;
use super::spoken::SPOKEN;
use crate::scenarios::rehearse;
use crate::worlds::guide::Guide;
use crate::worlds::world::BatchWorld;

/// The greatest number of plays before a scenario is given up while it is written.
const MAX_TRIALS: u64 = 12;
/// The greatest number of keys of a resource that are examined.
const MAX_KEYS: usize = 8;
/// The greatest number of characters of a key that is a name; `MAX_CODE_CHARS` is for codes.
const MAX_NAME_CHARS: usize = 28;
const MAX_CODE_CHARS: usize = 10;
/// Users say no numbers from here on.
const MAX_NUMBER: i64 = 10_000_000;
/// Rehearsals, one of which must pass the gates. APIs with rules get the second number.
const MAX_REHEARSALS: u64 = 4;
const MAX_RULED_REHEARSALS: u64 = 16;

/// A scenario that was written by rule.
#[derive(Clone, Debug)]
pub struct RuleScenario {
    /// The scenario itself.
    pub doc: ScenarioDoc,
    /// The domain of its API.
    pub domain: DomainId,
    /// Its weight beside the other scenarios.
    pub weight: f64,
    pub(crate) shape: Shape,
    /// The API that it is about.
    pub api: ApiId,
}

/// The world in which scenarios are written and tried.
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

    /// Returns the form of a resource's keys: that of the least sayable one.
    pub(crate) fn key_form(&self, resource: ResourceId) -> KeyForm {
        self.keys(resource).map(form_of).max().unwrap_or(KeyForm::Name)
    }

    /// Returns true if the keys of a resource are words with hyphens between them.
    pub(crate) fn has_slugs(&self, resource: ResourceId) -> bool {
        let is_slug =
            |key: &Value| key.as_str().is_some_and(|text| text.contains('-') && !text.contains('@'));
        self.key_form(resource) == KeyForm::Name && self.keys(resource).any(is_slug)
    }

    /// Returns some keys of a resource.
    fn keys(&self, resource: ResourceId) -> impl Iterator<Item = &'a Value> {
        let described = self.alternates().resource(resource);
        let records = described.records.iter().take(MAX_KEYS);
        records.filter_map(move |record| record.get(described.key.index()))
    }

    /// Returns the field by which users name the records of a resource: the display name, or a key that is
    /// one.
    pub(crate) fn name_field(&self, resource: ResourceId) -> Option<FieldId> {
        let described = self.world().resource(resource);
        let is_name = || self.key_form(resource) == KeyForm::Name && !described.singleton;
        described.display.or_else(|| is_name().then_some(described.key))
    }

    /// Returns true if people refer to such records by a number: an order, an invoice.
    pub(crate) fn goes_by_number(&self, resource: ResourceId) -> bool {
        let label = &self.world().resource(resource).label;
        self.key_form(resource) == KeyForm::Code && SPOKEN.is_numbered(label)
    }

    /// Counts the codes that the user says for records that people do not number.
    pub(crate) fn count_codes(&self, doc: &ScenarioDoc) -> usize {
        let world = self.world();
        let says_code = |(place, bound): &(&String, &PlaceDoc)| {
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
            let is_odd = self.key_form(id) == KeyForm::Code && !self.goes_by_number(id);
            is_odd && doc.said_by_user().any(|words| words.iter().any(says))
        };
        doc.bind.iter().filter(says_code).count()
    }

    /// Returns true if a field holds names of people.
    pub(crate) fn is_person(&self, resource: ResourceId, field: FieldId) -> bool {
        self.trial.world_template.people.contains(&(resource, field))
    }

    /// Returns true if a reply shows the values that its call sent, where the names are equal.
    fn agrees(&self, entry: &LogEntry) -> bool {
        let reply = entry.reply.json_tree(&self.world().zone);
        !echoes_other_value(&entry.call.arguments, &reply, self.world(), entry.api)
    }

    fn compile(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Scenario, String> {
        let (mut compiled, findings) = compile(std::slice::from_ref(doc), domain, self.world());
        let wrong = || findings.first().map(|finding| format!("{}: {}", finding.path, finding.message));
        compiled.pop().ok_or_else(|| wrong().unwrap_or_default())
    }

    /// Returns the calls of the first successful play, with their replies.
    ///
    /// # Errors
    /// Returns the reason of the last failure.
    pub(crate) fn calls(&self, doc: &ScenarioDoc, domain: DomainId) -> Result<Vec<Arc<LogEntry>>, String> {
        let scenario = self.compile(doc, domain)?;
        let play = |seed| rehearse::calls(self.trial, &scenario, seed).map_err(|error| error.to_string());
        first_of(MAX_TRIALS, play)
    }

    /// Succeeds if a scenario becomes a row in one of several tries.
    ///
    /// # Errors
    /// Returns the reason of the last failure.
    pub(crate) fn rehearse(&self, doc: &ScenarioDoc, api: &Api) -> Result<(), String> {
        let scenario = self.compile(doc, api.domain)?;
        let has_rule = api.behaviour.require.iter().any(|check| check.status != 404);
        let tries = if has_rule { MAX_RULED_REHEARSALS } else { MAX_REHEARSALS };
        let play = |seed| match rehearse::rehearse(self.trial, (&scenario, &[]), Ability::Call, seed) {
            Ok((_, grounded)) if grounded.entries.iter().all(|entry| self.agrees(entry)) => Ok(()),
            Ok(_) => Err("a reply shows another value than its call was sent".to_owned()),
            Err(lost) => Err(lost.to_string()),
        };
        first_of(tries, play)
    }
}

/// The form of a key, from easily remembered ones to those that users can only copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyForm {
    /// A name in words: `billing-api`, `ada@example.com`.
    Name,
    /// A short number or code, as paper shows it: `4117`, `INV-2041`.
    Code,
    /// A key that can only be copied: `7724fdaa-c549-30ec`.
    Unsayable,
}

/// Returns the form of a key.
fn form_of(key: &Value) -> KeyForm {
    let text = match key {
        Value::Integer(number) if number.abs() < MAX_NUMBER => return KeyForm::Code,
        other => other.as_str().unwrap_or_default(),
    };
    let parts = || text.split(|letter: char| " -_.@".contains(letter));
    let is_word = |part: &str| part.len() > 1 && part.chars().all(char::is_alphabetic);
    // A code has letters, and then digits; people do not remember others.
    let is_code = |part: &str| {
        let digits = part.trim_start_matches(char::is_alphabetic);
        digits.chars().all(|digit| digit.is_ascii_digit())
    };
    let length = text.chars().count();
    if length <= MAX_NAME_CHARS && parts().all(is_word) {
        KeyForm::Name
    } else if length <= MAX_CODE_CHARS && !text.is_empty() && parts().all(is_code) {
        KeyForm::Code
    } else {
        KeyForm::Unsayable
    }
}

/// Returns the first success of several tries.
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

/// Returns the sets of optional parameters that a phrase can express together.
pub(crate) fn choices(api: &Api, guide: &Guide, id: ApiId) -> Vec<BTreeSet<ParameterId>> {
    const MAX_CHOICES: usize = 3;
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
    all.truncate(MAX_CHOICES);
    if all.is_empty() {
        all.push(BTreeSet::new());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_codes_or_unsayable() {
        let check =
            |key: &str, expect: KeyForm| assert_eq!(form_of(&Value::String(key.into())), expect, "{key}");
        check("billing-api", KeyForm::Name);
        check("ada@example.com", KeyForm::Name);
        check("INV-2041", KeyForm::Code);
        check("a90c0d76", KeyForm::Unsayable);
        check("7724fdaa-c549-30ec-532d-0ebee53edbb0", KeyForm::Unsayable);
        check("arn:aws:task/1", KeyForm::Unsayable);
        assert_eq!(form_of(&Value::Integer(4117)), KeyForm::Code);
        assert_eq!(form_of(&Value::Integer(61_234_567_890)), KeyForm::Unsayable);
    }
}
