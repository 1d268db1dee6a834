//! Collects the user of a conversation and its stated facts, for the next scenario.

use diorama_engine::Origin;
use diorama_proof::survey::reads;
use diorama_seeds::model::{Api, DomainId, Parameter, ResourceId, World};
use diorama_seeds::scenario::{BoundValue, Prior, Scenario, person_field};
use diorama_seeds::schema::Type;
use diorama_seeds::value::{Decimal, Value};

use super::player::Player;

/// The values of replies that messages of a conversation stated.
pub(crate) struct StatedValues {
    amounts: Vec<Value>,
    names: Vec<Name>,
    /// The records whose names were stated.
    records: Vec<(ResourceId, Value)>,
}

/// A name in a reply that a message stated.
#[derive(PartialEq)]
struct Name {
    domain: DomainId,
    is_person: bool,
    name: Value,
}

impl Player<'_, '_> {
    /// Returns the stated amounts, names and titles of replies, each once, in the order of the replies.
    pub(crate) fn stated(&self) -> StatedValues {
        let model = self.world.base.world();
        let people = &self.world.world_template.people;
        let is_said =
            |text: &str| self.talk.said.iter().chain(&self.talk.answered).any(|said| said.contains(text));
        let mut stated = StatedValues { amounts: Vec::new(), names: Vec::new(), records: Vec::new() };
        for (_, value, origin) in self.calls.made.iter().flat_map(|entry| entry.reply.body.leaves()) {
            match (value, origin) {
                (Value::Decimal(amount), _) => {
                    let (number, text) = (to_number(*amount), amount.reduced().to_string());
                    if !stated.amounts.contains(&number)
                        && self.talk.answered.iter().any(|said| states(said, &text))
                    {
                        stated.amounts.push(number);
                    }
                }
                (Value::String(text), Origin::Field { resource, field, key }) => {
                    let described = model.resource(*resource);
                    let is_person = people.contains(&(*resource, *field));
                    let is_name = is_person || described.display == Some(*field);
                    let name = Name { domain: described.domain, is_person, name: value.clone() };
                    let is_stated = is_name && text.len() >= MIN_TITLE_LENGTH && is_said(text);
                    if is_stated && described.display == Some(*field) {
                        stated.records.push((*resource, key.clone()));
                    }
                    if is_stated && text.starts_with(char::is_uppercase) && !stated.names.contains(&name) {
                        stated.names.push(name);
                    }
                }
                _ => {}
            }
        }
        stated
    }

    /// Returns the facts that the conversation provides for the next scenario.
    pub(crate) fn prior(&self, next: &Scenario, stated: &StatedValues) -> Prior {
        let model = self.world.base.world();
        let mut prior = self.user(next.domain);
        prior.amounts.clone_from(&stated.amounts);
        let is_user = |record: &(ResourceId, Value)| {
            let is_own = |caller: &BoundValue| caller.is_record(record.0, &record.1);
            self.user.callers.iter().any(is_own)
        };
        let of_domain = stated.records.iter().filter(|(of, _)| model.resource(*of).domain == next.domain);
        prior.records = of_domain.filter(|record| !is_user(record)).cloned().collect();
        // The same goal is not repeated, and the user is no third person.
        let of_others = stated.names.iter().filter(|name| name.domain != next.domain);
        for Name { is_person, name, .. } in of_others {
            let list = if *is_person { &mut prior.people } else { &mut prior.titles };
            if prior.name.as_ref() != Some(name) && !list.contains(name) {
                list.push(name.clone());
            }
        }
        prior.money_places =
            find_places(next, model, |_, parameter| matches!(parameter.schema.kind, Type::Decimal { .. }));
        prior.naming_places = find_places(next, model, |api, parameter| {
            !reads(api) && matches!(parameter.schema.kind, Type::String)
        });
        prior
    }

    /// Returns the known facts of the user in a domain: their own record, their name, else their user name.
    fn user(&self, domain: DomainId) -> Prior {
        let model = self.world.base.world();
        let mut prior = Prior::default();
        for caller in &self.user.callers {
            match caller {
                BoundValue::Record(resource, key) => {
                    let described = model.resource(*resource);
                    if model.domains[described.domain.index()].users != Some(*resource) {
                        continue;
                    }
                    if described.domain == domain {
                        prior.me = Some((*resource, key.clone()));
                    }
                    let Some(record) = self.session.state().get(&self.world.base, *resource, key) else {
                        continue;
                    };
                    let person = person_field(described, *resource, &self.world.world_template.people);
                    let name = person.and_then(|field| record.get(field.index())).cloned();
                    if name.is_none() && prior.name.is_none() {
                        let display = described.display.and_then(|field| record.get(field.index()));
                        prior.username =
                            prior.username.or(display.filter(|name| name.as_str().is_some()).cloned());
                    }
                    prior.name = prior.name.or(name);
                }
                BoundValue::Value(name @ Value::String(_), _) => {
                    prior.name = prior.name.or(Some(name.clone()));
                }
                BoundValue::Value(..) | BoundValue::Records(..) | BoundValue::New(..) => {}
            }
        }
        prior
    }
}

/// Returns true if a message states a number, not as a part of another number or of a time.
fn states(said: &str, number: &str) -> bool {
    said.match_indices(number).any(|(at, _)| {
        let before = said[..at].chars().next_back();
        let mut after = said[at + number.len()..].chars();
        let (next, second) = (after.next(), after.next());
        let is_part = |next: char| {
            matches!(next, '.' | ',' | ':') && second.is_some_and(|second| second.is_ascii_digit())
        };
        !before.is_some_and(|before| before.is_ascii_digit() || matches!(before, '.' | ',' | ':'))
            && !next.is_some_and(|next| next.is_ascii_digit() || is_part(next))
    })
}

/// Returns an amount as a number that a scenario's binding may hold.
fn to_number(amount: Decimal) -> Value {
    let reduced = amount.reduced();
    match reduced.scale {
        0 => Value::Integer(reduced.minor),
        _ => Value::number(reduced.as_f64()).unwrap_or(Value::Null),
    }
}

/// Returns the bindings of a scenario that stand for an argument of a kind.
fn find_places(
    scenario: &Scenario,
    world: &World,
    is_kind: impl Fn(&Api, &Parameter) -> bool,
) -> Vec<String> {
    let casing = world.domains[scenario.domain.index()].casing;
    let mut found = Vec::new();
    for call in scenario.doc.calls() {
        let Some(id) = call.call.as_deref().and_then(|name| world.api_named(name)) else { continue };
        let api = world.api(id);
        for (parameter, given) in &call.with {
            let parameter =
                api.parameter_named(&casing.write(parameter)).map(|id| &api.parameters[id.index()]);
            if let (Some(parameter), Some(place)) = (parameter, given.as_str())
                && is_kind(api, parameter)
            {
                found.push(place.to_owned());
            }
        }
    }
    found
}

/// The fewest characters of a title that another scenario uses.
const MIN_TITLE_LENGTH: usize = 4;
