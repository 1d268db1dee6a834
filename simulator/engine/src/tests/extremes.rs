//! Owns the tests of the catalog with extreme arguments: no call makes a world fail, and far days select
//! correctly.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_seeds::model::{Api, ApiId, Comparison, FilterTest, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Call;
use diorama_seeds::value::{Value, Zone};
use serde_json::{Value as Json, json};

use crate::possible::tries;
use crate::{Base, CallResult, Origin, Reply, State, apply, extremes};

/// Maximum number of tries to find a successful call.
const TRIES: usize = 400;
/// Characters of a long string, and items of a long list.
const LONG: usize = 100_000;

/// Pairs of years with the same calendar: the last and the first year, each with a year whose neighbours also
/// exist.
const FAR: [(&str, &str); 2] = [("9999", "9599"), ("0000", "0400")];

fn worlds() -> Vec<(&'static str, Arc<Base>)> {
    let base = |name: &'static str| {
        let text = diorama_catalog::source(name).unwrap();
        let doc =
            diorama_seeds::world::read(name, text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        let made =
            diorama_seeds::materialise::materialised(&doc, 3).unwrap_or_else(|report| panic!("{report}"));
        (name, Base::new(made.world.clone()).unwrap())
    };
    diorama_catalog::names().map(base).collect()
}

/// Returns a successful call of each API, with the state for it.
fn working(base: &Base) -> Vec<(&Api, State, Call)> {
    let apis = base.world().apis.iter().enumerate();
    let working = apis.filter_map(|(at, api)| {
        let mut tries = tries(base, ApiId(at as u16)).take(TRIES);
        let (state, call) = tries.find(|(state, call)| apply(base, state, call).reply.is_success())?;
        Some((api, state, call))
    });
    working.collect()
}

fn with(call: &Call, name: &str, value: Json) -> Call {
    let mut call = call.clone();
    call.arguments.insert(name.to_owned(), value);
    call
}

/// Formats a call and its reply for messages.
fn describe(world: &str, call: &Call, reply: &Reply, zone: &Zone) -> String {
    let shown: String = Json::from(call.arguments.clone()).to_string().chars().take(200).collect();
    format!("{world}: {} {shown} -> {} {}", call.api, reply.status, reply.to_json(zone))
}

#[test]
fn no_argument_makes_a_world_fail_now_or_later() {
    let problems = |(world, base): &(&str, Arc<Base>)| {
        let zone = &base.world().zone;
        let working = working(base);
        let mut problems = BTreeSet::new();
        for (api, state, call) in &working {
            for parameter in &api.parameters {
                for value in extremes(&parameter.schema, LONG) {
                    let call = with(call, &parameter.name, value);
                    let CallResult { reply, state, changes, .. } = apply(base, state, &call);
                    if reply.status >= 500 {
                        problems.insert(describe(world, &call, &reply, zone));
                    }
                    // Later calls calculate with the value that was stored here.
                    for (_, _, call) in working.iter().filter(|_| !changes.is_empty()) {
                        let reply = apply(base, &state, call).reply;
                        if reply.status >= 500 {
                            problems.insert(describe(world, call, &reply, zone));
                        }
                    }
                }
            }
        }
        problems
    };
    let problems: BTreeSet<String> = worlds().iter().flat_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Returns the status of a reply and the records in it.
fn status_and_keys<'a>(reply: &'a Reply) -> (u16, BTreeSet<(ResourceId, &'a Value)>) {
    let key = |(_, origin): (&'a Value, &'a Origin)| match origin {
        Origin::Field { resource, key, .. } => Some((*resource, key)),
        _ => None,
    };
    (reply.status, reply.body.values().filter_map(key).collect())
}

/// A day at the end of the calendar selects the same records as the same day 400 years nearer.
#[test]
fn the_ends_of_the_calendar_are_days_like_others() {
    let problems = |(world, base): &(&str, Arc<Base>)| {
        let zone = &base.world().zone;
        let mut problems = Vec::new();
        for (api, state, call) in working(base) {
            for parameter in &api.parameters {
                for (end, near) in FAR {
                    let day = if end == "9999" { "12-31" } else { "01-01" };
                    let value = |year: &str| match parameter.schema.kind {
                        Type::Date => Some(json!(format!("{year}-{day}"))),
                        Type::DateTime => Some(json!(format!("{year}-{day}T12:00"))),
                        _ => None,
                    };
                    let Some((far, nearer)) = value(end).zip(value(near)) else { continue };
                    let [far, nearer] = [far, nearer].map(|value| with(&call, &parameter.name, value));
                    let (one, other) = (apply(base, &state, &far).reply, apply(base, &state, &nearer).reply);
                    // The result itself may be out of range.
                    let beyond = one.status == 422 && one.to_json(zone).contains("out of range");
                    if status_and_keys(&one) != status_and_keys(&other) && !beyond {
                        problems.push(describe(world, &far, &one, zone));
                        problems.push(describe(world, &nearer, &other, zone));
                    }
                }
            }
        }
        problems
    };
    let problems: Vec<String> = worlds().iter().flat_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A bound in the far future or past selects the same records as no bound.
#[test]
fn far_bounds_select_what_no_bound_does() {
    let mut bounds = 0;
    let mut problems = Vec::new();
    for (world, base) in worlds() {
        let zone = &base.world().zone;
        for (api, state, call) in working(&base) {
            for filter in api.query().into_iter().flat_map(|query| &query.filters) {
                let FilterTest::Compare(field, comparison) = filter.test else { continue };
                let parameter = &api.parameters[filter.parameter.index()];
                let (day, number) = match comparison {
                    Comparison::Less | Comparison::LessOrEqual => ("9999-12-31", 1_000_000_000),
                    Comparison::Greater | Comparison::GreaterOrEqual => ("0000-01-01", -1_000_000_000),
                    _ => continue,
                };
                let value = match parameter.schema.kind {
                    Type::Date => json!(day),
                    Type::DateTime => json!(format!("{day}T12:00:00Z")),
                    Type::Integer | Type::Number | Type::Decimal { .. } => json!(number),
                    _ => continue,
                };
                if parameter.schema.parse_json(&value, zone).is_err() {
                    continue;
                }
                let query = api.query().unwrap();
                let mut records = state.iter(&base, query.resource);
                let mut open = call.clone();
                open.arguments.remove(&*parameter.name);
                if parameter.required || records.any(|record| record[field.index()].is_missing()) {
                    continue;
                }
                bounds += 1;
                let bound = with(&open, &parameter.name, value);
                let (found, expected) =
                    (apply(&base, &state, &bound).reply, apply(&base, &state, &open).reply);
                if found != expected {
                    problems.push(describe(world, &bound, &found, zone));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(bounds > 15, "only {bounds} filters were tried");
}
