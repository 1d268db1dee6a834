//! Finds APIs that cannot succeed on a world's initial records.
//!
//! This is a search, not a proof. It tries a bounded number of calls with arguments from the records. It
//! reports an API only if all its well-formed calls were refused.

use diorama_seeds::model::{Api, ApiId, BehaviourKind, Field, Parameter, Record, ResourceId};
use diorama_seeds::schema::{KeyKind, Type};
use diorama_seeds::task::Call;
use diorama_seeds::value::{Date, Instant, Time, Value};
use serde_json::{Map, Value as Json, json};

use super::apply::attempt;
use super::base::Base;
use super::state::{State, Token};

/// Maximum number of calls per API.
const TRIES: usize = 600;

/// Uncomputable calls of one API after which the search gives up.
const MOST_FAULTS: u32 = 4;

/// The token of the signed-in user.
const TOKEN: &str = "possible";

/// Maximum number of records tried per parameter, at even steps over the resource.
const SAMPLE: usize = 150;

/// Returns the APIs of which no tried call succeeded, although some were well-formed.
///
/// Only the initial records count. So an API that depends on another API's result is reported, too.
#[must_use]
pub fn never_succeeding(base: &Base) -> Vec<ApiId> {
    let count = u16::try_from(base.world().apis.len()).unwrap_or(u16::MAX);
    (0..count).map(ApiId).filter(|api| !succeeds(base, *api)).collect()
}

/// Returns true if a tried call succeeds, or if none was well-formed.
fn succeeds(base: &Base, id: ApiId) -> bool {
    let mut well_formed = false;
    let mut faults = 0;
    for (state, call) in tries(base, id).take(TRIES) {
        let Err(refusal) = attempt(base, &state, &call) else { return true };
        well_formed |= refusal.status != 400;
        // A call that exceeds its budget is slow. An API with several such calls will have more of them.
        faults += u32::from(refusal.is_fault());
        if faults == MOST_FAULTS {
            break;
        }
    }
    // Without users no one can sign in, so no call was tried.
    !well_formed && !signed_in(base, base.world().api(id)).is_empty()
}

/// Returns calls with arguments from the initial records, each with a state in which its caller is signed in.
pub(super) fn tries(base: &Base, id: ApiId) -> impl Iterator<Item = (State, Call)> {
    let api = base.world().api(id);
    let users = signed_in(base, api);
    let rows = sample(base, subject(base, api));
    (0..).map_while(move |number: usize| {
        let (state, user) = users.get(number % users.len().max(1))?;
        // Rows and users advance at different rates, so that all combinations occur.
        let row = rows.get(number / users.len().max(1) % rows.len().max(1));
        let arguments = arguments(base, api, row, user.as_ref(), number);
        Some((state.clone(), Call { api: api.name.to_string(), arguments }))
    })
}

/// The signed-in user.
struct SignedInUser {
    resource: ResourceId,
    user: Value,
}

impl SignedInUser {
    /// Returns the keys of the records that refer to the user.
    fn own(&self, base: &Base, resource: ResourceId) -> Vec<Value> {
        let declared = base.world().resource(resource);
        let refers = |field: &Field| matches!(field.schema.kind, Type::Reference { resource, .. } if resource == self.resource);
        let fields: Vec<usize> =
            declared.fields.iter().enumerate().filter(|(_, field)| refers(field)).map(|(at, _)| at).collect();
        let own =
            base.records(resource).iter().filter(|record| fields.iter().any(|at| record[*at] == self.user));
        own.take(SAMPLE).map(|record| record[declared.key.index()].clone()).collect()
    }
}

/// Returns states in which a user is signed in. If the API needs no token, returns the initial state. Returns
/// nothing if it needs one and there are no users.
fn signed_in(base: &Base, api: &Api) -> Vec<(State, Option<SignedInUser>)> {
    let initial = State::initial(base, 0);
    let auth = base.world().domains.get(api.domain.index()).and_then(|domain| domain.auth.as_ref());
    let (Some(_), Some(auth)) = (api.token, auth) else { return vec![(initial, None)] };
    let key = base.world().resource(auth.user).key.index();
    let users = sample(base, Some(auth.user)).into_iter().map(|(_, user)| {
        let mut state = initial.clone();
        let expires = Instant(state.clock().0.saturating_add(1));
        let user = user[key].clone();
        state.issue(TOKEN.into(), Token { domain: api.domain, user: user.clone(), expires });
        (state, Some(SignedInUser { resource: auth.user, user }))
    });
    users.collect()
}

/// Returns the resource that a call is about. One of its records supplies matching arguments.
fn subject(base: &Base, api: &Api) -> Option<ResourceId> {
    match &api.behaviour.kind {
        // The subject is the record with the list. The members are only the reply.
        BehaviourKind::Members { resource, .. } => Some(*resource),
        BehaviourKind::Aggregate { query, .. } => Some(query.resource),
        BehaviourKind::SignIn { .. } => {
            base.world().domains.get(api.domain.index())?.auth.as_ref().map(|auth| auth.user)
        }
        BehaviourKind::Action { target: None } | BehaviourKind::Compute(_) | BehaviourKind::SignOut => {
            api.parameters.iter().find_map(|parameter| match parameter.schema.kind {
                Type::Reference { resource, .. } => Some(resource),
                _ => None,
            })
        }
        kind => kind.shown(),
    }
}

fn sample(base: &Base, resource: Option<ResourceId>) -> Vec<(ResourceId, Record)> {
    let Some(resource) = resource else { return Vec::new() };
    let records = base.records(resource);
    let step = records.len().div_ceil(SAMPLE).max(1);
    records.iter().step_by(step).map(|record| (resource, record.clone())).collect()
}

fn arguments(
    base: &Base,
    api: &Api,
    row: Option<&(ResourceId, Record)>,
    signed: Option<&SignedInUser>,
    number: usize,
) -> Map<String, Json> {
    let mut arguments = Map::new();
    for (position, parameter) in api.parameters.iter().enumerate() {
        let name = parameter.name.to_string();
        if api.token.is_some_and(|token| token.index() == position) {
            arguments.extend(signed.map(|_| (name, json!(TOKEN))));
            continue;
        }
        // Half of the tries leave out optional arguments, so that no single filter can make them all fail.
        if !parameter.required && mix(number, position).is_multiple_of(2) {
            continue;
        }
        // Most tries use the caller's own records, which the caller may change.
        let signed = signed.filter(|_| !mix(number, position + 128).is_multiple_of(4));
        let values = suggestions(base, parameter, row, signed);
        // A third of the tries use the row's own value; the others use any suggestion.
        let chosen =
            if number.is_multiple_of(3) { 0 } else { mix(number, position + 64) % values.len().max(1) };
        arguments.extend(values.into_iter().nth(chosen).map(|value| (name, value)));
    }
    arguments
}

/// Returns values to try for a parameter. Those of the row come first.
fn suggestions(
    base: &Base,
    parameter: &Parameter,
    row: Option<&(ResourceId, Record)>,
    signed: Option<&SignedInUser>,
) -> Vec<Json> {
    let world = base.world();
    let zone = &world.zone;
    let mut values: Vec<Value> = Vec::new();
    if let (Some((resource, field)), Some((of, record))) = (parameter.field, row)
        && resource == *of
    {
        values.extend(record.get(field.index()).cloned());
    }
    if let Some((resource, record)) = row {
        let declared = world.resource(*resource);
        let named =
            declared.field_named(&world.domains[declared.domain.index()].casing.read(&parameter.name));
        values.extend(named.and_then(|field| record.get(field.index()).cloned()));
    }
    let (kind, listed) = match &parameter.schema.kind {
        Type::List(item) => (&item.kind, true),
        kind => (kind, false),
    };
    let mut single: Vec<Value> = Vec::new();
    if let Type::Reference { resource, .. } = kind {
        let key = world.resource(*resource).key.index();
        single.extend(row.filter(|(of, _)| of == resource).map(|(_, record)| record[key].clone()));
        let own = signed.map_or_else(Vec::new, |signed| signed.own(base, *resource));
        if own.is_empty() {
            single.extend(sample(base, Some(*resource)).into_iter().map(|(_, record)| record[key].clone()));
        }
        single.extend(own);
    } else if let Some((resource, field)) = parameter.field {
        let records = sample(base, Some(resource)).into_iter();
        single.extend(records.filter_map(|(_, record)| record.get(field.index()).cloned()).take(40));
    }
    single.extend(typical(world.clock, zone.date_of(world.clock), kind));
    single.extend(parameter.schema.limits.min.clone());
    single.extend(parameter.schema.limits.max.clone());
    match listed {
        true => values.extend(single.into_iter().map(|value| Value::List([value].into()))),
        false => values.extend(single),
    }
    values.extend(parameter.default.clone());
    let values = values.iter().filter(|value| !value.is_missing()).map(|value| value.to_json(zone));
    values.filter(|json| parameter.schema.parse_json(json, zone).is_ok()).collect()
}

fn typical(clock: Instant, today: Date, kind: &Type) -> Vec<Value> {
    let texts = |texts: &[&str]| texts.iter().map(|text| Value::string(text)).collect::<Vec<_>>();
    match kind {
        Type::Integer => [1, 2, 5, 10, 100].map(Value::Integer).to_vec(),
        Type::Number | Type::Decimal { .. } => [1, 10, 100, 1_000].map(Value::Integer).to_vec(),
        Type::Boolean => vec![Value::Bool(true), Value::Bool(false)],
        Type::Date => {
            [1, 2, 3, 7, 14, 30, 0, -1, -7, -30, -365].map(|days| Value::Date(Date(today.0 + days))).to_vec()
        }
        Type::Time => [9, 10, 12, 14, 18].map(|hour| Value::Time(Time(hour * 3600))).to_vec(),
        Type::DateTime => {
            // Whole hours of coming days, and some in the past.
            let hour = clock.0 - clock.0.rem_euclid(3600);
            let at = |hours: i64| Value::DateTime(Instant(hour.saturating_add(hours * 3600)));
            [1, 2, 25, 28, 51, 77, 124, 171, 341, 725, -24, -170].map(at).to_vec()
        }
        Type::Enum(values) => values.iter().cloned().map(Value::String).collect(),
        Type::String => texts(&["text", "a", "2026", "anna@example.org", "AB12"]),
        Type::Reference { key: KeyKind::Integer, .. } => vec![Value::Integer(1)],
        Type::Reference { key: KeyKind::String, .. } => texts(&["a"]),
        Type::Any => vec![Value::Integer(1), Value::object([])],
        Type::Object(_) => vec![Value::object([])],
        Type::List(_) => vec![Value::List([].into())],
    }
}

/// Returns a fixed pseudo-random number, so that parameters vary independently.
const fn mix(number: usize, position: usize) -> usize {
    let mut bits = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (position as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    bits ^= bits >> 31;
    bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^= bits >> 29;
    (bits >> 8) as usize
}
