//! Consent: the calls to which the user said yes, as policy rules with `confirms` require.

use std::collections::BTreeMap;

use diorama_engine::session::LogEntry;
use diorama_seeds::model::{Api, ParameterId, World};
use diorama_seeds::task::Call;
use diorama_seeds::value::Value;

/// Calls to which the user said yes.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// The calls, as the assistant was going to make them.
    pub calls: &'a [Call],
    /// Number of calls in the episode when the user said yes.
    pub at: usize,
}

impl Consent<'_> {
    /// Returns true if the user said yes to a call before it was made. `position` is the call's index in the
    /// log.
    pub(crate) fn covers(&self, entry: &LogEntry, position: usize, world: &World) -> bool {
        self.at <= position && self.calls.iter().any(|call| is_same_call(call, &entry.call, world))
    }
}

/// Returns true if two calls have the same API and the same arguments. Defaults are filled in, and tokens are
/// ignored.
#[must_use]
pub fn is_same_call(one: &Call, other: &Call, world: &World) -> bool {
    one.api == other.api
        && world.api_named(&one.api).map(|id| world.api(id)).is_some_and(|api| {
            arguments(one, api, world).is_some_and(|one| arguments(other, api, world) == Some(one))
        })
}

/// Returns the arguments of a call as values, with defaults and without the token. Returns none if an
/// argument does not parse.
#[must_use]
pub fn arguments(call: &Call, api: &Api, world: &World) -> Option<BTreeMap<ParameterId, Value>> {
    let mut found = BTreeMap::new();
    for (index, parameter) in api.parameters.iter().enumerate() {
        let id = ParameterId(index as u16);
        let given = call.arguments.get(&*parameter.name).filter(|given| !given.is_null());
        let value = match given {
            Some(given) => Some(parameter.schema.parse_json(given, &world.zone).ok()?),
            None => parameter.default.clone(),
        };
        found.extend(value.filter(|_| api.token != Some(id)).map(|value| (id, value)));
    }
    let is_known =
        |(name, given): (&String, &serde_json::Value)| given.is_null() || api.parameter_named(name).is_some();
    call.arguments.iter().all(is_known).then_some(found)
}
