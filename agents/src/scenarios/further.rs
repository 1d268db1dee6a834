//! Chooses the further goals of a user: the one that follows from a stated fact, and the transition to it.

use diorama_engine::Reading;
use diorama_seeds::model::ResourceId;
use diorama_seeds::scenario::{Bindings, BoundValue, Prior, RecordSource, Scenario};
use diorama_seeds::value::Value;
use rand::RngExt;

use super::player::Player;
use super::set::Further;
use super::sign_in::may_be_signed_in;
use super::unplayed::PlayError;
use super::words::Scene;
use crate::draws::fork;

impl<'a> Player<'a, '_> {
    /// Finds the first of several scenarios of the same user that uses a stated fact.
    /// Without a need for a link it returns the first whose bindings succeed, with these. Bindings use the
    /// current records.
    ///
    /// # Errors
    /// Returns an error if one is needed with any link, and no scenario can be bound.
    pub(crate) fn find_next(
        &mut self,
        alternatives: &[&'a Scenario],
        further: Further,
    ) -> Result<Option<(&'a Scenario, Bindings)>, PlayError> {
        if alternatives.is_empty() {
            return Ok(None);
        }
        let (stated, key) = (self.stated(), self.rng.random());
        let (mut other, mut missing) = (None, String::new());
        for scenario in alternatives {
            let prior = self.prior(scenario, &stated);
            match self.bind(scenario, &prior, key) {
                Ok(bindings) if self.takes_up(scenario, &bindings, &prior) => {
                    return Ok(Some((scenario, bindings)));
                }
                Ok(bindings) if other.is_none() => other = Some((*scenario, bindings)),
                Ok(_) => {}
                Err(PlayError::NoBindings(place)) => missing = place,
                Err(other) => return Err(other),
            }
        }
        match further {
            Further::Linked => Ok(None),
            Further::Any => other.map(Some).ok_or(PlayError::NoBindings(missing)),
        }
    }

    /// Returns the bindings of a scenario, if the user of the conversation may be its user.
    fn bind(&self, scenario: &'a Scenario, prior: &Prior, key: u64) -> Result<Bindings, PlayError> {
        let (world, state) = (self.world, self.session.state());
        let is_signed_in = self.manner.is_signed_in || self.token(scenario.domain).is_some();
        if is_signed_in && !may_be_signed_in(world.base.world(), scenario) {
            return Err(PlayError::NoBindings(scenario.caller().to_owned()));
        }
        let reading = Reading::new(&world.base, state);
        let source = RecordSource { prior, ..world.record_source(&reading, state.clock()) };
        let bound = scenario.bind(source, &mut fork(key, &scenario.doc.name));
        bound.map_err(|place| PlayError::NoBindings(place.to_owned()))
    }

    /// Returns true if a scenario's bindings use a stated fact: a person, a thing or an amount.
    fn takes_up(&self, scenario: &Scenario, bindings: &Bindings, prior: &Prior) -> bool {
        let (world, state) = (self.world, self.session.state());
        let name_of = |resource: ResourceId, key: &Value| {
            let record = state.get(&world.base, resource, key)?;
            record.get(world.base.world().resource(resource).display?.index()).cloned()
        };
        let is_other = |(place, _): &&(String, BoundValue)| place != scenario.caller();
        bindings.iter().filter(is_other).any(|bound| prior.is_taken_up(bound, name_of))
    }

    /// Goes on to another scenario of the same user.
    pub(crate) fn go_on(&mut self, scenario: &'a Scenario, bindings: Bindings) {
        let casing = self.world.base.world().domains[scenario.domain.index()].casing;
        self.scene = Scene::new(self.world, casing, bindings, self.session.state().clone());
        self.user.callers.extend(self.scene.held(scenario.caller()).cloned());
        self.calls.named.clear();
        self.scenario = scenario;
        self.talk.turn = None;
        self.user.skips_sign_in = self.token(scenario.domain).is_some();
    }
}
