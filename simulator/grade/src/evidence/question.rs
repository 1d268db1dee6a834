//! Questions: a call that was not made, and the answer that it would give.

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin, Reply};
use diorama_seeds::model::{ApiId, ParameterId, ResourceId, World};
use diorama_seeds::value::{Str, Value, Zone};

/// A call, and the answer that it gives.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Index among the questions of a task.
    pub(super) number: usize,
    pub(super) api: ApiId,
    /// The arguments that the call must have.
    pub(super) arguments: Vec<(ParameterId, Value)>,
    pub(super) answer: Answer,
}

/// The answer that a reply must give.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The reply has this text at this path.
    Value { path: String, text: String },
    /// The reply has this status.
    Refused(u16),
    /// The shadow world refuses the call by one of these policy rules.
    Forbidden(Vec<Str>),
    /// The shadow world does not refuse the call by any of these policy rules.
    Permitted(Vec<Str>),
    /// The reply is a success that matches no record.
    Empty,
    /// No other record of the list has a better value in the field than this one.
    First { array: String, by: String, greatest: bool, resource: ResourceId, key: Value },
}

/// The effort with which the search tries to contradict an answer. Thorough searches try more values and take
/// longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Standard {
    /// The standard for the verdict on an agent.
    Usual,
    /// Tries more values, in all fields of all records. The standard that excuses a mutant.
    Thorough,
}

/// Parses arguments by their parameters' types. Unknown or malformed arguments are dropped.
pub(crate) fn parse_arguments(
    api: &str,
    arguments: &serde_json::Map<String, serde_json::Value>,
    world: &World,
) -> Vec<(ParameterId, Value)> {
    let Some(api) = world.api_named(api).map(|id| world.api(id)) else { return Vec::new() };
    let value = |(name, json): (&String, &serde_json::Value)| {
        let id = api.parameter_named(name)?;
        let parameter = api.parameters.get(id.index())?;
        Some((id, parameter.schema.parse_json(json, &world.zone).ok()?))
    };
    arguments.iter().filter_map(value).collect()
}

/// Returns true if a call has all of these arguments.
pub(crate) fn has_all(entry: &LogEntry, arguments: &[(ParameterId, Value)], world: &World) -> bool {
    arguments.iter().all(|(id, wanted)| has_argument(entry, *id, wanted, world))
}

/// Returns true if a call has an argument. Strings are compared without case.
fn has_argument(entry: &LogEntry, id: ParameterId, wanted: &Value, world: &World) -> bool {
    let Some(parameter) = entry.api.and_then(|api| world.api(api).parameters.get(id.index())) else {
        return false;
    };
    let given = entry.call.arguments.get(&*parameter.name);
    let value = given.and_then(|json| parameter.schema.parse_json(json, &world.zone).ok());
    value.is_some_and(|value| alike(&value, wanted))
}

impl Question {
    /// Returns true if an entry makes the question's call and its reply gives the answer. For
    /// [`Answer::First`] the call must have no further arguments, since they may narrow the list.
    pub(super) fn is_answered_by(&self, entry: &LogEntry, world: &World) -> bool {
        entry.api == Some(self.api)
            && (!matches!(self.answer, Answer::First { .. }) || self.has_all_of(entry, world))
            && self.answer.is_given(&entry.reply, world)
            && has_all(entry, &self.arguments, world)
    }
}

impl Question {
    /// Returns true if the call has no arguments but the question's and a token.
    fn has_all_of(&self, entry: &LogEntry, world: &World) -> bool {
        let api = world.api(self.api);
        entry.call.arguments.keys().all(|name| {
            let id = api.parameter_named(name);
            id.is_some() && (id == api.token || self.arguments.iter().any(|(known, _)| Some(*known) == id))
        })
    }
}

impl Answer {
    pub(super) fn is_given(&self, reply: &Reply, world: &World) -> bool {
        match self {
            Self::Value { path, text } => reply.is_success() && shows(&reply.body, path, text, &world.zone),
            Self::Refused(status) => reply.status == *status,
            Self::Forbidden(rules) => is_refused_by(reply, rules),
            Self::Permitted(rules) => !is_refused_by(reply, rules),
            Self::Empty => reply.is_success() && reply.body.is_empty_result(),
            Self::First { array, by, greatest, resource, key } => {
                let Some(Body::List(items)) = reply.body.at(array) else { return false };
                let rank = |item: &Body| item.at(by)?.value()?.ordinal();
                let own = items.iter().find(|item| shows_record(item, *resource, key)).and_then(rank);
                own.is_some_and(|own| {
                    let others = items.iter().filter_map(rank);
                    others.into_iter().all(|rank| if *greatest { rank <= own } else { rank >= own })
                })
            }
        }
    }
}

/// Returns true if a reply of the shadow world refuses a call by one of these rules.
fn is_refused_by(reply: &Reply, rules: &[Str]) -> bool {
    let detail = reply.body.member("detail").and_then(Body::value).and_then(Value::as_str);
    !reply.is_success() && detail.is_some_and(|detail| rules.iter().any(|rule| **rule == *detail))
}

impl Standard {
    /// Returns how many other values the search tries per field, and how many records it takes them from.
    pub(super) const fn max_other_values(self) -> (usize, usize) {
        match self {
            Self::Usual => (8, 1),
            Self::Thorough => (16, 8),
        }
    }

    /// Returns the maximum number of existing records that new ones are modelled on.
    pub(super) const fn max_models(self) -> usize {
        match self {
            Self::Usual => 8,
            Self::Thorough => 16,
        }
    }
}

fn shows_record(item: &Body, resource: ResourceId, key: &Value) -> bool {
    item.values().any(|(_, origin)| {
        matches!(origin, Origin::Field { resource: of, key: whose, .. } if (*of, whose) == (resource, key))
    })
}

/// Returns true if two values are equal. Strings are compared without case.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.to_lowercase() == b.to_lowercase(),
        _ => a == b,
    }
}

/// Returns true if a reply has the value at the path, and the value comes from records. Constants do not
/// count.
fn shows(body: &Body, path: &str, value: &str, zone: &Zone) -> bool {
    match body.at(path) {
        Some(Body::Leaf(_, Origin::Constant)) | None => false,
        Some(Body::Leaf(found, _)) => found.to_text(zone) == value,
        Some(other) => other.to_json(zone) == value,
    }
}
