//! What a conversation has settled before its next scenario begins: the user, and what was stated.

use diorama_engine::Origin;
use diorama_proof::survey::reads;
use diorama_seeds::model::{Api, Parameter, World};
use diorama_seeds::scenario::{BoundValue, Prior, Scenario, person_field};
use diorama_seeds::schema::Type;
use diorama_seeds::value::{Decimal, Value};

use super::player::Player;

impl Player<'_> {
    /// What the conversation has settled for a scenario to come.
    pub(super) fn prior(&self, next: &Scenario) -> Prior {
        let model = self.world.base.world();
        let people = &self.world.world_template.people;
        let mut prior = Prior::default();
        for caller in &self.callers {
            match caller {
                BoundValue::Record(resource, key) => {
                    let described = model.resource(*resource);
                    if model.domains[described.domain.index()].users != Some(*resource) {
                        continue;
                    }
                    if described.domain == next.domain {
                        prior.me = Some((*resource, key.clone()));
                    }
                    let record = self.session.state().get(&self.world.base, *resource, key);
                    let display = person_field(described, *resource, people);
                    let name = record.zip(display);
                    let name = name.and_then(|(record, field)| record.get(field.index())).cloned();
                    if name.is_none() && prior.name.is_none() {
                        let called = record.zip(described.display);
                        let called = called.and_then(|(record, field)| record.get(field.index())).cloned();
                        prior.username = prior.username.or(called.filter(|called| called.as_str().is_some()));
                    }
                    prior.name = prior.name.or(name);
                }
                BoundValue::Value(name @ Value::String(_), _) => {
                    prior.name = prior.name.or(Some(name.clone()))
                }
                BoundValue::Value(..) | BoundValue::Records(..) => {}
            }
        }
        let stated = |text: &str| self.said.iter().chain(&self.answered).any(|said| said.contains(text));
        for entry in &self.calls {
            let domain = entry.api.map(|api| model.api(api).domain);
            for (_, value, origin) in entry.reply.body.leaves() {
                if let Value::Decimal(amount) = value
                    && !prior.amounts.contains(&plain(*amount))
                    && self.answered.iter().any(|said| states(said, &amount.reduced().to_string()))
                {
                    prior.amounts.push(plain(*amount));
                }
                let (Origin::Field { resource, field, .. }, Value::String(text)) = (origin, value) else {
                    continue;
                };
                if text.len() < MIN_TITLE_LENGTH || prior.name.as_ref() == Some(value) || !stated(text) {
                    continue;
                }
                let is_display = model.resource(*resource).display == Some(*field);
                // The same matter is not gone into again.
                if domain == Some(next.domain) && model.resource(*resource).domain == next.domain {
                    continue;
                }
                let list = match people.contains(&(*resource, *field)) {
                    true => &mut prior.people,
                    false if is_display => &mut prior.titles,
                    false => continue,
                };
                if !list.contains(value) {
                    list.push(value.clone());
                }
            }
        }
        prior.money_places =
            places(next, model, |_, parameter| matches!(parameter.schema.kind, Type::Decimal { .. }));
        prior.naming_places = places(next, model, |api, parameter| {
            !reads(api) && matches!(parameter.schema.kind, Type::String)
        });
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

/// The amount as a number that a scenario's place may hold.
fn plain(amount: Decimal) -> Value {
    let reduced = amount.reduced();
    match reduced.scale {
        0 => Value::Integer(reduced.minor),
        _ => Value::number(reduced.as_f64()).unwrap_or(Value::Null),
    }
}

/// The places of a scenario that stand for an argument of a kind.
fn places(scenario: &Scenario, world: &World, is_kind: impl Fn(&Api, &Parameter) -> bool) -> Vec<String> {
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

/// Characters of a title that another scenario takes up, at least.
const MIN_TITLE_LENGTH: usize = 4;
