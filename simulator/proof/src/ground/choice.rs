//! Whether an argument that nothing visible gives is a choice: a closer look that the request leaves open.

use std::collections::BTreeMap;

use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::{Body, Origin, State};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{GoldCall, places};
use serde_json::Value as Json;

use super::seen::Seen;
use crate::answer::Asked;
use crate::grounded::GroundedGoal;

/// An argument that nothing visible gives. It may still be a choice: that shows when all later sources are known.
pub(crate) struct Unsourced {
    pub(super) call: usize,
    pub(super) name: String,
}

/// Whether everything that is taken from a read's reply is there without an argument of it.
pub(super) fn is_choice(
    left: &Unsourced,
    gold: &[GoldCall],
    goals: &[GroundedGoal],
    seen: &Seen<'_>,
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
    // The state before the call: the changes before it are made again.
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
        // A whole list is taken only where it is the same.
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
                Asked::Leaf { path, .. } => taken(path),
                // How many there are, and which, is what the argument decides.
                _ => wider.reply.body == entry.reply.body,
            }
    });
    wider.reply.is_success()
        && by_arguments
        && by_facts
        && !takes_list(left.call, gold, goals, &entry.reply.body, &wider.reply.body)
}

/// Returns true if a value can be chosen by who sees the tool alone. A key, a word, a number or an hour that nobody said is a guess, apart from
/// whether there is any at all.
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

/// Whether all items of a list are asked for or taken by later calls, of which there are others without the argument: that is no closer look.
fn takes_list(call: usize, gold: &[GoldCall], goals: &[GroundedGoal], body: &Body, wider: &Body) -> bool {
    let mut told: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let sources = gold.iter().flat_map(|later| later.sources.values()).flat_map(places);
    for place in sources.filter(|(of, _)| *of as usize == call).filter_map(|(_, path)| item(path)) {
        *told.entry(place).or_default() += 1;
    }
    for asked in goals.iter().flat_map(|goal| &goal.asked) {
        if let Asked::Leaf { path, .. } = asked
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

/// The list and the member that a path such as `data.slots[3].fee` leads to.
fn item(path: &str) -> Option<(&str, &str)> {
    let (list, rest) = path.rsplit_once('[')?;
    Some((list, rest.split_once(']')?.1))
}

fn signs(entry: &LogEntry) -> bool {
    entry.reply.body.leaves().any(|(path, ..)| path.ends_with("token"))
}
