//! Argument parsing: turns a call's JSON into typed values, or a refusal that names the wrong argument.

use diorama_seeds::model::{Api, Parameter, Place};
use diorama_seeds::schema::MAX_DEPTH;
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::{Map, Value as Json};

use super::refusal::{Outcome, Refusal};

/// Parses the arguments of a call, in the order of the API's parameters. Fills in defaults; arguments without
/// a value or a default are absent. The token is optional here: a call without it is unauthorised, not
/// malformed.
pub(super) fn parse(api: &Api, given: &Map<String, Json>, zone: &Zone) -> Outcome<Vec<Value>> {
    let held = api.contract.as_ref().is_some_and(|contract| contract.request.is_some());
    // A body with a contract was already checked by its schema.
    if let Some(name) = given.keys().find(|name| api.parameter_named(name).is_none()).filter(|_| !held) {
        return Err(unknown(api, name));
    }
    // Records must be able to store everything that a document's schema accepts.
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

/// Returns true if JSON nests lists and objects deeper than `levels`.
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
