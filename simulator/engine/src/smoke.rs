//! The smoke test: calls every API with valid arguments, and with arguments that it must refuse.

use diorama_seeds::model::{ApiId, Parameter};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json, json};

use super::apply::attempt;
use super::base::Base;
use super::possible::tries;
use super::refusal::Refusal;
use super::state::State;

/// Number of well-formed calls per API.
const CALLS: usize = 48;

/// The result for one API.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Smoke {
    /// The API.
    pub api: String,
    /// Number of well-formed calls that succeeded.
    pub succeeded: u32,
    /// Number of well-formed calls that the world's rules refused (4xx).
    pub refused: u32,
    /// Number of calls with wrong arguments, all of which were refused.
    pub invalid: u32,
    /// Defects, one of each kind: uncomputable calls, and accepted wrong arguments.
    pub faults: Vec<String>,
}

/// Calls every API of a world on its initial records.
#[must_use]
pub fn smoke(base: &Base) -> Vec<Smoke> {
    let count = u16::try_from(base.world().apis.len()).unwrap_or(u16::MAX);
    (0..count).map(|api| smoke_one(base, ApiId(api))).collect()
}

fn smoke_one(base: &Base, id: ApiId) -> Smoke {
    let api = base.world().api(id);
    let mut smoke =
        Smoke { api: api.name.to_string(), succeeded: 0, refused: 0, invalid: 0, faults: Vec::new() };
    let mut sound: Option<(State, Call)> = None;
    for (state, call) in tries(base, id).take(CALLS) {
        match attempt(base, &state, &call) {
            Ok(_) => smoke.succeeded += 1,
            Err(refusal) if refusal.is_fault() => {
                smoke.fault(format!("a call with fitting arguments failed: {}", refusal.detail));
            }
            Err(Refusal { status: 400, .. }) => {
                smoke.refused += 1;
                continue;
            }
            Err(_) => smoke.refused += 1,
        }
        sound.get_or_insert((state, call));
    }
    let Some((state, call)) = sound else { return smoke };
    for (what, arguments) in wrong(&api.parameters, &call.arguments) {
        match attempt(base, &state, &Call { api: call.api.clone(), arguments }) {
            Ok(_) => smoke.fault(format!("it took {what}")),
            Err(refusal) if refusal.is_fault() => smoke.fault(format!("{what} failed: {}", refusal.detail)),
            Err(_) => smoke.invalid += 1,
        }
    }
    smoke
}

impl Smoke {
    fn fault(&mut self, what: String) {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }
}

/// Returns sets of arguments with one error each, and a description of the error.
fn wrong(parameters: &[Parameter], sound: &Map<String, Json>) -> Vec<(String, Map<String, Json>)> {
    let with = |name: &str, value: Json| {
        let mut arguments = sound.clone();
        arguments.insert(name.to_owned(), value);
        arguments
    };
    let unknown = (0..).map(|number| format!("not_a_parameter_{number}"));
    let unknown = unknown.filter(|name| parameters.iter().all(|parameter| *parameter.name != **name)).take(1);
    let mut all: Vec<_> =
        unknown.map(|name| ("an unknown parameter".to_owned(), with(&name, json!(1)))).collect();
    for parameter in parameters {
        let name = &*parameter.name;
        if parameter.required && sound.contains_key(name) {
            let mut arguments = sound.clone();
            arguments.remove(name);
            all.push((format!("a call without the required `{name}`"), arguments));
        }
        if !matches!(parameter.schema.kind, Type::Any) {
            // An object type may accept any object, so it gets a string.
            let odd = match parameter.schema.kind {
                Type::Object(_) => json!("text"),
                _ => json!({ "not": "a value" }),
            };
            all.push((format!("a `{name}` of the wrong type"), with(name, odd)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{base, shop};

    #[test]
    fn every_api_of_a_sound_world_succeeds_and_refuses_what_is_wrong() {
        let base = shop();
        let all = smoke(&base);
        assert_eq!(all.len(), base.world().apis.len());
        for smoke in &all {
            assert!(smoke.faults.is_empty(), "{smoke:?}");
            assert!(smoke.invalid > 0, "{smoke:?}");
        }
    }
    #[test]
    fn a_fault_of_the_world_is_told() {
        let base = base(concat!(
            "{world: 1, name: odd, clock: 2026-03-02T09:00, materialised: 0, domain: {name: odd}, apis: [",
            "{name: Split, method: GET, path: /split, description: Divides by nothing., ",
            "parameters: {n: {type: integer}}, behaviour: {compute: {x: '1 / (args.n - args.n)'}}}]}",
        ));
        let [split] = smoke(&base).try_into().unwrap();
        assert_eq!((split.succeeded, split.refused, split.invalid), (0, 0, 3));
        let found = "`n`: the call cannot be answered with this value: division by zero";
        assert_eq!(split.faults, [format!("a call with fitting arguments failed: {found}")]);
    }
}
