//! Makes the claims of a player: when a goal opens, its facts by their paths, and the fields that are asked
//! for in vain.

use diorama_engine::Origin;
use diorama_proof::candidate::{AskClaim, FactClaim, Opening};
use diorama_seeds::doc::ScenarioWhenDoc;
use diorama_seeds::scenario::BoundValue;
use diorama_seeds::value::Value;

use super::player::Player;
use super::unplayed::PlayError;

impl Player<'_, '_> {
    pub(crate) fn opening(&self, when: &ScenarioWhenDoc) -> Result<Opening, PlayError> {
        let mut opening = Opening { outcome: when.outcome, ..Opening::default() };
        if let Some(shown) = &when.shown {
            let end = shown.find(['.', '[']).unwrap_or(shown.len());
            let (name, path) = shown.split_at(end);
            let call = self.calls.named.get(name).and_then(|calls| calls.last());
            opening.call = Some(*call.ok_or_else(|| PlayError::Unknown(shown.clone()))?);
            let path = path.trim_start_matches('.');
            opening.path = (!path.is_empty()).then(|| self.scene.casing().write_path(path));
        }
        Ok(opening)
    }

    /// Returns facts by their name: a path of a named reply, or a field of bound records in the latest reply.
    pub(crate) fn facts(&self, fact: &str) -> Result<Vec<FactClaim>, PlayError> {
        let within = |name: &str| fact.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        let (counted, sized) = (within("count"), within("magnitude"));
        let path = counted.or(sized).unwrap_or(fact);
        let form = FactClaim { count: counted.is_some(), magnitude: sized.is_some(), ..FactClaim::default() };
        let missing = || PlayError::NoFact(fact.to_owned());
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        if let Some(calls) = self.calls.named.get(name) {
            // A number after the name selects a call of a step that is repeated for each item.
            let (call, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                Some((number, rest)) if calls.len() > 1 => {
                    (number.parse::<usize>().ok().and_then(|number| calls.get(number)), rest)
                }
                _ => (calls.last(), rest),
            };
            let call = *call.ok_or_else(missing)?;
            let path = self.scene.casing().write_path(rest.trim_start_matches('.'));
            return Ok(vec![FactClaim { call, path, ..form }]);
        }
        let field = rest.strip_prefix('.').ok_or_else(missing)?;
        let (resource, keys, several) = match self.scene.held(name) {
            Some(BoundValue::Record(resource, key)) => (*resource, std::slice::from_ref(key), false),
            Some(BoundValue::Records(resource, keys)) => (*resource, keys.as_slice(), true),
            _ => return Err(missing()),
        };
        let field = self.world.base.world().resource(resource).field_named(field).ok_or_else(missing)?;
        let shown = |key: &Value| {
            let wanted = Origin::Field { resource, key: key.clone(), field };
            self.calls.made.iter().enumerate().rev().find_map(|(call, entry)| {
                let (path, ..) = entry.reply.body.leaves().find(|(_, _, origin)| **origin == wanted)?;
                Some(FactClaim { call, path, several, ..form.clone() })
            })
        };
        keys.iter().map(|key| shown(key).ok_or_else(missing)).collect()
    }

    pub(crate) fn ask(&self, ask: &str) -> Result<AskClaim, PlayError> {
        let (resource, field) = ask.split_once('.').ok_or_else(|| PlayError::Unknown(ask.to_owned()))?;
        let model = self.world.base.world();
        let own =
            model.resources.iter().find(|own| own.domain == self.scenario.domain && *own.name == *resource);
        let resource = own.ok_or_else(|| PlayError::Unknown(ask.to_owned()))?.qualified.to_string();
        Ok(AskClaim { resource, field: field.to_owned() })
    }
}
