//! From a call's JSON to typed arguments, or a refusal that says which one is wrong.

use diorama_seeds::model::{Api, Parameter, Place};
use diorama_seeds::schema::MAX_DEPTH;
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::{Map, Value as Json};

use super::refusal::{Outcome, Refusal};

/// Parses the arguments of a call by position. Defaults are filled in; one that is not given and has none is
/// absent. The token is not required here: without it the call is unauthorised, not ill-formed.
pub(super) fn parse(api: &Api, given: &Map<String, Json>, zone: &Zone) -> Outcome<Vec<Value>> {
    let held = api.contract.as_ref().is_some_and(|contract| contract.request.is_some());
    // A body under a contract has been checked by its schema.
    if let Some(name) = given.keys().find(|name| api.parameter_named(name).is_none()).filter(|_| !held) {
        return Err(unknown(api, name));
    }
    // Records must be able to keep whatever a document's schema accepts.
    if let Some((name, _)) = given.iter().find(|(_, json)| held && is_deeper(json, MAX_DEPTH - 1)) {
        let expected = format!("at most {MAX_DEPTH} levels of lists and objects");
        let shown: Str = name.chars().take(60).collect::<String>().into();
        return Err(Refusal::new(400, format!("`{shown}`: expected {expected}, found more"))
            .about(Some(&shown))
            .expecting(expected));
    }
    let mut values = Vec::with_capacity(api.parameters.len());
    for (position, parameter) in api.parameters.iter().enumerate() {
        let token = api.token.is_some_and(|token| token.index() == position);
        values.push(match given.get(&*parameter.name) {
            Some(json) if held && parameter.place == Place::Body => {
                let parsed = parameter.schema.parse_json(json, zone).ok();
                parsed.or_else(|| super::contract::any(json, zone)).unwrap_or(Value::Null)
            }
            Some(json) => parameter.schema.parse_json(json, zone).map_err(|mismatch| {
                let name = format!("{}{}", parameter.name, mismatch.at);
                Refusal::new(400, format!("`{name}`: {mismatch}"))
                    .about(Some(&parameter.name))
                    .expecting(mismatch.expected)
            })?,
            None => match &parameter.default {
                Some(default) => default.clone(),
                None if parameter.required && !token => return Err(missing(parameter)),
                None => Value::Absent,
            },
        });
    }
    Ok(values)
}

/// Returns true if JSON has more levels of lists and objects than these.
fn is_deeper(json: &Json, levels: u32) -> bool {
    let inner = |json: &Json| is_deeper(json, levels - 1);
    match json {
        Json::Array(items) => levels == 0 || items.iter().any(inner),
        Json::Object(members) => levels == 0 || members.values().any(inner),
        _ => false,
    }
}

fn missing(parameter: &Parameter) -> Refusal {
    let expected = parameter.schema.expected();
    Refusal::new(400, format!("`{}` is missing: expected {expected}, found nothing", parameter.name))
        .about(Some(&parameter.name))
        .expecting(expected)
}

fn unknown(api: &Api, name: &str) -> Refusal {
    let known: Vec<&str> = api.parameters.iter().map(|parameter| &*parameter.name).collect();
    let expected =
        if known.is_empty() { "no arguments".to_owned() } else { format!("only {}", known.join(", ")) };
    let shown: String = name.chars().take(60).collect();
    Refusal::new(400, format!("`{shown}` is not a parameter of {}: expected {expected}", api.name))
        .about(Some(&shown.into()))
        .expecting(expected)
}
