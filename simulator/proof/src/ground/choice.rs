//! Decides if an argument without a visible source is a choice: a closer look that the request leaves open.

use std::collections::BTreeMap;

use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::{Body, Origin, State};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{GoldCall, places};
use serde_json::Value as Json;

use super::seen::VisiblePart;
use crate::answer::RequestedFact;
use crate::grounded::GroundedGoal;

/// An argument without a visible source. It is judged when all later sources are known.
pub(crate) struct UnsourcedArgument {
    pub(super) call: usize,
    pub(super) name: String,
}

/// Returns true if a read's reply without this argument still shows every value that is used.
pub(super) fn is_choice(
    left: &UnsourcedArgument,
    gold: &[GoldCall],
    goals: &[GroundedGoal],
    seen: &VisiblePart<'_>,
    initial: &State,
) -> bool {
    let Some(entry) = seen.entries.get(left.call).filter(|entry| entry.reply.is_success()) else {
        return false;
    };
    let api = entry.api.map(|id| seen.context.base.world().api(id));
    let parameter = api.and_then(|api| api.parameters.get(api.parameter_named(&left.name)?.index()));
    let value = entry.call.arguments.get(&left.name);
    if !parameter.zip(value).is_some_and(|(parameter, value)| can_be_chosen(&parameter.schema.kind, value)) {
        return false;
    }
    // The earlier changes are made again to restore the state before the call.
    let mut session = Session::new(
        seen.context.base.clone(),
        SessionOptions { seed: initial.seed(), clock: Some(initial.clock()), ..SessionOptions::default() },
    );
    for before in
        seen.entries.iter().take(left.call).filter(|entry| !entry.changes.is_empty() || signs(entry))
    {
        session.call(&before.call);
    }
    let mut call = entry.call.clone();
    call.arguments.remove(&left.name);
    let wider = session.call(&call);
    let has = |leaf: &Body| match leaf {
        Body::Leaf(value, origin) => wider
            .reply
            .body
            .values()
            .any(|(other, from)| other == value && (from == origin || matches!(from, Origin::Computed))),
        // A whole list counts only if it is equal.
        _ => wider.reply.body == entry.reply.body,
    };
    let taken = |path: &str| entry.reply.body.at(path).is_some_and(&has);
    let by_arguments = gold
        .iter()
        .flat_map(|later| later.sources.values())
        .all(|source| places(source).iter().all(|(of, path)| *of as usize != left.call || taken(path)));
    let by_facts = goals.iter().flat_map(|goal| &goal.asked).all(|asked| {
        asked.call() != left.call
            || match asked {
                RequestedFact::Leaf { path, .. } => taken(path),
                // The argument decides the count and the choice of items, so the reply must be equal.
                _ => wider.reply.body == entry.reply.body,
            }
    });
    wider.reply.is_success()
        && by_arguments
        && by_facts
        && !takes_list(left.call, gold, goals, &entry.reply.body, &wider.reply.body)
}

/// Returns true if an agent can choose a value by the tool's schema alone.
/// An unstated key, word, number or hour is a guess, unless no record has one.
fn can_be_chosen(kind: &Type, value: &Json) -> bool {
    match (kind, value) {
        (Type::Enum(_) | Type::Boolean | Type::Date | Type::DateTime, _) => true,
        (Type::List(item), Json::Array(values)) => {
            values.iter().all(|value| can_be_chosen(&item.kind, value))
        }
        (Type::Object(fields), Json::Object(members)) => fields.iter().all(|field| {
            members.get(&*field.name).is_none_or(|member| can_be_chosen(&field.schema.kind, member))
        }),
        (Type::Integer | Type::Number | Type::Decimal { .. }, value) => matches!(value.as_i64(), Some(0 | 1)),
        (Type::List(item), one) => can_be_chosen(&item.kind, one),
        _ => false,
    }
}

/// Returns true if the solution uses all items of a list that has more without the argument: that is no
/// closer look.
fn takes_list(call: usize, gold: &[GoldCall], goals: &[GroundedGoal], body: &Body, wider: &Body) -> bool {
    let mut told: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let sources = gold.iter().flat_map(|later| later.sources.values()).flat_map(places);
    for place in sources.filter(|(of, _)| *of as usize == call).filter_map(|(_, path)| item(path)) {
        *told.entry(place).or_default() += 1;
    }
    for asked in goals.iter().flat_map(|goal| &goal.asked) {
        if let RequestedFact::Leaf { path, .. } = asked
            && asked.call() == call
            && let Some(place) = item(path)
        {
            *told.entry(place).or_default() += 1;
        }
    }
    let length = |body: &Body, path: &str| match body.at(path) {
        Some(Body::List(items)) => items.len(),
        _ => 0,
    };
    told.iter().any(|((list, _), told)| {
        let items = length(body, list);
        items > 1 && *told >= items && length(wider, list) != items
    })
}

/// Returns the list and the member of a path such as `data.slots[3].fee`.
fn item(path: &str) -> Option<(&str, &str)> {
    let (list, rest) = path.rsplit_once('[')?;
    Some((list, rest.split_once(']')?.1))
}

fn signs(entry: &LogEntry) -> bool {
    entry.reply.body.leaves().any(|(path, ..)| path.ends_with("token"))
}
