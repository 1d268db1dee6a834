//! Values for the arguments of a goal, drawn from records that exist or could.

use diorama_seeds::contract::{first_state, is_gone, is_passing};
use diorama_seeds::english::fold;
use diorama_seeds::model::{
    Api, ApiId, BehaviourKind, Comparison, FilterTest, ParameterId, Query, Record, ResourceId, World,
};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Decimal, Time, Value};
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::ask::is_person;
use crate::synthesis::plan::Planner;
use crate::synthesis::world::refers_to;

/// Values for all parameters of an API, drawn so that they go together.
pub fn arguments(planner: &mut Planner<'_>, id: ApiId) -> Vec<(ParameterId, Value)> {
    let world = planner.world.base.world();
    let api = world.api(id);
    // Filters take their values from one record, so that at least that one matches.
    let example = match &api.behaviour.kind {
        BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. } => {
            own_record(planner, query.resource).map(|record| (query, record))
        }
        _ => None,
    };
    let mut rows: Vec<(ResourceId, Record)> = Vec::new();
    let about = example.as_ref().map(|(query, record)| (query.resource, record.clone()));
    let mut values = keys(planner, api, about);
    for (index, parameter) in api.parameters.iter().enumerate() {
        let parameter_id = ParameterId(index as u16);
        let filters = |query: &Query| query.filters.iter().any(|filter| filter.parameter == parameter_id);
        let filtered = example.as_ref().is_some_and(|(query, _)| filters(query));
        if filtered {
            values.retain(|(known, _)| *known != parameter_id);
        }
        if api.token == Some(parameter_id) || values.iter().any(|(known, _)| *known == parameter_id) {
            continue;
        }
        let value = match &example {
            Some((query, record)) => {
                let filter = query.filters.iter().find(|filter| filter.parameter == parameter_id);
                match filter.map(|filter| &filter.test) {
                    Some(FilterTest::Compare(field, comparison)) => {
                        record.get(field.index()).and_then(|value| filter_value(planner, value, *comparison))
                    }
                    Some(FilterTest::Text(fields)) => fields.iter().find_map(|field| {
                        let text = record.get(field.index())?.as_str()?;
                        text.split(|c: char| !c.is_alphanumeric())
                            .filter(|word| word.len() > 3)
                            .choose(planner.rng)
                            .map(Value::string)
                    }),
                    None if parameter.required => draw(planner, api, parameter_id, &values, &mut rows),
                    None => None,
                }
            }
            None => draw(planner, api, parameter_id, &values, &mut rows),
        };
        if let Some(value) = value {
            values.push((parameter_id, value));
        }
    }
    planner.named = keys_named(api, &values);
    values
}

/// Keys for the parameters that must refer to a record, what stands above a record with it: an emoji and its guild.
/// The last names what the call is about, the ones before it where that is.
pub(super) fn keys(
    planner: &mut Planner<'_>,
    api: &Api,
    about: Option<(ResourceId, Record)>,
) -> Vec<(ParameterId, Value)> {
    let world = planner.world.base.world();
    let mut known: Vec<(ResourceId, Record)> = about.into_iter().collect();
    let mut values = Vec::new();
    for (index, parameter) in api.parameters.iter().enumerate().rev() {
        let Type::Reference { resource, .. } = parameter.schema.kind else { continue };
        let id = ParameterId(index as u16);
        if !parameter.required || api.token == Some(id) {
            continue;
        }
        let above = known.iter().filter(|(of, _)| *of != resource).find_map(|(of, record)| {
            let refers = |schema: &Schema| refers_to(&schema.kind) == Some(resource);
            let field = world.resource(*of).fields.iter().position(|field| refers(&field.schema))?;
            let key = record.get(field).filter(|key| !key.is_missing())?;
            planner.session.state().get(&planner.world.base, resource, key).cloned()
        });
        let Some(record) = above.or_else(|| own_record(planner, resource)) else { continue };
        let Some(key) = record.get(world.resource(resource).key.index()).cloned() else { continue };
        known.push((resource, record));
        values.push((id, key));
    }
    for (first, resource) in first_parts(api) {
        let record = known.iter().find(|(of, _)| *of == resource).map(|(_, record)| record);
        let value = record.and_then(|record| first_part(world, api, (first, resource), record));
        values.extend(value.map(|value| (first, value)));
    }
    values
}

/// The parameters that are the first part of a key of two (`{owner}/{repo}`), with what the second is the key of.
pub(in crate::synthesis) fn first_parts(
    api: &Api,
) -> impl Iterator<Item = (ParameterId, ResourceId)> + use<'_> {
    api.parameters.iter().enumerate().filter_map(|(index, parameter)| {
        matches!(parameter.schema.kind, Type::String).then_some(())?;
        let (_, after) = api.path.split_once(&format!("{{{}}}/{{", parameter.name))?;
        let second = api.parameter_named(after.split('}').next()?)?;
        let resource = refers_to(&api.parameters[second.index()].schema.kind)?;
        Some((ParameterId(index as u16), resource))
    })
}

/// What a record has as the first part of its key.
pub(in crate::synthesis) fn first_part(
    world: &World,
    api: &Api,
    (first, resource): (ParameterId, ResourceId),
    record: &Record,
) -> Option<Value> {
    let field = world.resource(resource).field_named(&api.parameters[first.index()].name)?;
    record.get(field.index()).filter(|value| !value.is_missing()).cloned()
}

/// The records that a call names by their keys.
pub(super) fn keys_named(api: &Api, values: &[(ParameterId, Value)]) -> Vec<(ResourceId, Value)> {
    let refers = |(id, key): &(ParameterId, Value)| match api.parameters[id.index()].schema.kind {
        Type::Reference { resource, .. } => Some((resource, key.clone())),
        _ => None,
    };
    values.iter().filter_map(refers).collect()
}

fn filter_value(planner: &Planner<'_>, value: &Value, comparison: Comparison) -> Option<Value> {
    match (comparison, value) {
        (_, Value::Null | Value::Absent) => None,
        (Comparison::On, Value::DateTime(instant)) => {
            Some(Value::Date(planner.world.base.world().zone.date_of(*instant)))
        }
        (Comparison::Has, Value::List(items)) => items.first().cloned(),
        (Comparison::In, value) => Some(Value::List([value.clone()].into())),
        (Comparison::NotEqual | Comparison::Less | Comparison::Greater, _) => None,
        (_, value) => Some(value.clone()),
    }
}

/// A value for a parameter of a write or a computation.
fn draw(
    planner: &mut Planner<'_>,
    api: &Api,
    id: ParameterId,
    earlier: &[(ParameterId, Value)],
    rows: &mut Vec<(ResourceId, Record)>,
) -> Option<Value> {
    let world = planner.world.base.world();
    let parameter = &api.parameters[id.index()];
    if let BehaviourKind::RemoveMembers { resource, field, member, .. } = &api.behaviour.kind
        && *member == id
    {
        let (_, key) = earlier
            .iter()
            .find(|(other, _)| refers_to(&api.parameters[other.index()].schema.kind) == Some(*resource))?;
        let record = planner.session.state().get(&planner.world.base, *resource, key)?;
        let Value::List(items) = record.get(field.index())? else { return None };
        let item = items.choose(planner.rng)?.clone();
        return Some(match parameter.schema.kind {
            Type::List(_) => Value::List([item].into()),
            _ => item,
        });
    }
    match &parameter.schema.kind {
        Type::Reference { resource, .. } => {
            let record = own_record(planner, *resource)?;
            return record.get(world.resource(*resource).key.index()).cloned();
        }
        Type::List(item) => {
            if let Some(resource) = refers_to(&item.kind) {
                let key = world.resource(resource).key.index();
                let count = planner.rng.random_range(1..=3);
                let records = &world.resource(resource).records;
                let chosen: Vec<Value> = records
                    .sample(planner.rng, count)
                    .filter_map(|record| record.get(key).cloned())
                    .collect();
                return (!chosen.is_empty()).then(|| Value::List(chosen.into()));
            }
        }
        _ => {}
    }
    if let Some((resource, field)) = parameter.field {
        let row = match rows.iter().find(|(of, _)| *of == resource) {
            Some((_, row)) => row.clone(),
            None => {
                let row = planner.world.alternates.resource(resource).records.choose(planner.rng)?.clone();
                rows.push((resource, row.clone()));
                row
            }
        };
        let value = row.get(field.index())?.clone();
        let value = match &api.contract {
            Some(_) => documented(planner, api, id, earlier, value)?,
            None => value,
        };
        return (!value.is_missing() && parameter.schema.allows(&value)).then_some(value);
    }
    let today = world.zone.date_of(world.clock);
    let limit = |value: &Option<Value>, otherwise: i64| {
        value.as_ref().and_then(Value::as_f64).map_or(otherwise, |v| v as i64)
    };
    let (low, high) = (limit(&parameter.schema.limits.min, 1), limit(&parameter.schema.limits.max, 12));
    let rng = &mut *planner.rng;
    match &parameter.schema.kind {
        Type::Integer => {
            Some(Value::Integer(rng.random_range(low..=high.clamp(low, low.saturating_add(11)))))
        }
        Type::Number => Value::number(rng.random_range(low..=high.max(low)) as f64),
        Type::Decimal { scale, .. } => {
            let whole = rng.random_range(low..=high.clamp(low, low.saturating_add(500)));
            Some(Value::Decimal(Decimal {
                minor: whole.checked_mul(10_i64.checked_pow(u32::from(*scale))?)?,
                scale: *scale,
            }))
        }
        Type::Date => Some(Value::Date(Date(today.0 + rng.random_range(1..21)))),
        Type::Time => Some(Value::Time(Time(rng.random_range(16..40) * 1800))),
        Type::DateTime => {
            let date = Date(today.0 + rng.random_range(1..14));
            Some(Value::DateTime(world.zone.instant(date, Time(rng.random_range(18..36) * 1800))))
        }
        Type::Enum(values) => values.choose(rng).cloned().map(Value::String),
        Type::Boolean => Some(Value::Bool(true)),
        _ => None,
    }
}

/// A drawn value as people give it to an operation of a document: a text of one sentence without its stop, the address
/// of a person after the name of whom the call is about, and a state that somebody sets. Nothing where there is none.
fn documented(
    planner: &mut Planner<'_>,
    api: &Api,
    id: ParameterId,
    earlier: &[(ParameterId, Value)],
    value: Value,
) -> Option<Value> {
    let parameter = &api.parameters[id.index()];
    if let (Type::Enum(values), BehaviourKind::Replace { .. } | BehaviourKind::Patch { .. }) =
        (&parameter.schema.kind, &api.behaviour.kind)
    {
        // What something begins with, nobody makes it again, and what passes by itself is not set.
        let of_state = ["state", "status"].iter().any(|state| parameter.name.to_lowercase().ends_with(state));
        let first = first_state(values.iter().map(|value| &**value), &[]);
        let is_set = |value: &str| {
            !(is_passing(value) || is_gone(value) || of_state && values.len() > 2 && first == Some(value))
        };
        if value.as_str().is_some_and(|value| !is_set(value)) {
            let set = values.iter().filter(|value| is_set(value));
            return set.choose(planner.rng).cloned().map(Value::String);
        }
        return Some(value);
    }
    let Some(text) = value.as_str() else { return Some(value) };
    if let Some(sentence) = text.strip_suffix('.')
        && !sentence.contains(['.', '!', '?', '\n'])
    {
        return Some(Value::string(sentence));
    }
    if let Some((_, host)) = text.split_once('@').filter(|_| !text.contains(' '))
        && let Some(name) = earlier.iter().rev().find_map(|(other, key)| {
            let of = refers_to(&api.parameters[other.index()].schema.kind)?;
            let label = &planner.world.base.world().resource(of).label;
            is_person(label).then(|| planner.display(of, key)).flatten()
        })
    {
        let address: Vec<String> = name.split_whitespace().map(fold).collect();
        let is_plain =
            |part: &String| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return address.iter().all(is_plain).then(|| Value::string(&format!("{}@{host}", address.join("."))));
    }
    Some(value)
}

/// A record of the resource; of the signed-in user where records have owners and somebody signed in.
pub(super) fn own_record(planner: &mut Planner<'_>, resource: ResourceId) -> Option<Record> {
    let described = planner.world.base.world().resource(resource);
    let owner = described.owner.zip(planner.owner_key());
    // A record that the plan itself made has another key in every session: no user can speak of it.
    let base = &planner.world.base;
    let state = planner.session.state();
    let mine =
        |record: &&Record| owner.as_ref().is_none_or(|(field, key)| record.get(field.index()) == Some(key));
    if let Some((_, key)) = planner.topic.as_ref().filter(|(of, _)| *of == resource) {
        return state.get(base, resource, key).filter(mine).cloned();
    }
    for _ in 0..4 {
        let record = described.records.iter().filter(mine).choose(planner.rng)?;
        let key = record.get(described.key.index())?;
        if let Some(now) = state.get(base, resource, key).filter(mine) {
            return Some(now.clone());
        }
    }
    None
}
