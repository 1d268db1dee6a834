//! Whether the replies of an episode settle what a call that was not made would answer.
//!
//! A statement is known from replies when no world that fits the replies contradicts it. So records are changed one at a
//! time: a change that alters the answer to the call must also alter a reply that the agent got. The engine makes all calls
//! again, so no rule of an API is interpreted here.

use std::collections::BTreeSet;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, Origin, Reply, State, apply};
use diorama_seeds::expr::{Node, Operator};
use diorama_seeds::model::{Api, BehaviourKind, FieldId, ParameterId, Record, Resource, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Call;
use diorama_seeds::value::{Date, Instant, Time, Value};
use serde_json::Map;

/// Worlds with more records than this in the resources of a call are not searched.
const MAX_RECORDS: usize = 5_000;
/// Other values that are tried for a field.
const MAX_OTHER_VALUES: usize = 8;

/// Returns true if an API gives out or takes back tokens.
const fn signs(api: &Api) -> bool {
    matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut)
}

/// Returns true if an API calculates by more than counting, adding up and differences.
fn has_formula(api: &Api) -> bool {
    let BehaviourKind::Compute(members) = &api.behaviour.kind else { return false };
    let bindings = api.behaviour.bindings.iter().map(|(_, expr)| expr);
    members.iter().map(|(_, expr)| expr).chain(bindings).any(|expr| is_formula(&expr.node))
}

fn is_formula(node: &Node) -> bool {
    match node {
        Node::Call(..) => true,
        Node::Binary(operator, left, right) => {
            matches!(operator, Operator::Multiply | Operator::Divide | Operator::Remainder)
                || is_formula(left)
                || is_formula(right)
        }
        Node::Fold(fold) => fold.value.iter().any(is_formula),
        Node::Field(inner, _) | Node::Get(_, inner) | Node::Negate(inner) | Node::Cast(inner, _) => {
            is_formula(inner)
        }
        Node::Conditional(_, yes, no) => is_formula(yes) || is_formula(no),
        _ => false,
    }
}

/// What a call that was not made would answer.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// This text at a place of the reply.
    Value {
        /// The place.
        path: &'a str,
        /// The text.
        text: &'a str,
    },
    /// This status.
    Refused(u16),
    /// A success that matches nothing.
    Empty,
}

/// The calls of an episode up to a point, with the state before each.
pub struct History<'a> {
    base: &'a Base,
    entries: Vec<(&'a LogEntry, State)>,
    last: State,
}

impl<'a> History<'a> {
    /// Makes the calls of a log again.
    #[must_use]
    pub fn new(base: &'a Base, initial: &State, log: impl Iterator<Item = &'a LogEntry>) -> Self {
        let mut state = initial.clone();
        let mut entries = Vec::new();
        for entry in log {
            state.set_clock(entry.clock);
            let before = state.clone();
            let moves = !entry.changes.is_empty() || entry.api.is_some_and(|id| signs(base.world().api(id)));
            let mut honest = entry.faults.is_empty();
            // A reply that a fault or a hidden tool changed tells nothing of the records.
            if moves || !entry.reply.is_success() {
                let applied = apply(base, &state, &entry.call);
                honest = applied.reply == entry.reply;
                state = applied.state;
            }
            if honest {
                entries.push((entry, before));
            }
        }
        Self { base, entries, last: state }
    }

    /// Returns true if the replies settle that a call gives an answer.
    #[must_use]
    pub fn settles(&self, api: &Api, arguments: &[(ParameterId, Value)], answer: Answer<'_>) -> bool {
        let world = self.base.world();
        // Nobody knows the formula of a calculation without asking for it, unless it only counts, adds and subtracts.
        if matches!(answer, Answer::Value { .. }) && has_formula(api) {
            return false;
        }
        let resources = api.resources();
        let records: usize = resources.iter().map(|id| world.resource(*id).records.len()).sum();
        // Only replies about the same records can settle anything.
        let about = |entry: &LogEntry| {
            let called = entry.api.map(|id| world.api(id));
            called.is_some_and(|called| called.resources().iter().any(|id| resources.contains(id)))
        };
        let replies: Vec<(&LogEntry, &State)> = self
            .entries
            .iter()
            .filter(|(entry, _)| about(entry))
            .map(|(entry, state)| (*entry, state))
            .collect();
        if replies.is_empty() || records > MAX_RECORDS {
            return false;
        }
        let Some(call) = self.call(api, arguments) else { return false };
        let states = std::iter::once(&self.last).chain(self.entries.iter().rev().map(|(_, state)| state));
        let mut replied = states.map(|state| (state, self.reply(state, &call)));
        let Some((state, reply)) = replied.find(|(_, reply)| answer.is_given(reply, self.base)) else {
            return false;
        };
        let search = Search { history: self, call: &call, api, arguments, answer, state, reply, replies };
        match answer {
            Answer::Refused(status) if status != 404 => search.settles_refusal(&resources),
            _ => search.settles_all(&resources),
        }
    }

    fn reply(&self, state: &State, call: &Call) -> Reply {
        apply(self.base, state, call).reply
    }

    /// The call with the token that the episode has for its domain.
    fn call(&self, api: &Api, arguments: &[(ParameterId, Value)]) -> Option<Call> {
        let world = self.base.world();
        let mut given = Map::new();
        for (id, value) in arguments {
            given.insert(api.parameters.get(id.index())?.name.to_string(), value.to_json(&world.zone));
        }
        if let Some(token) = api.token.and_then(|token| api.parameters.get(token.index())) {
            let known = self.entries.iter().rev().find_map(|(entry, _)| {
                let called = world.api(entry.api.filter(|id| world.api(*id).domain == api.domain)?);
                if signs(called) {
                    let issued = entry.reply.body.parts().find_map(|part| part.member("token")?.value());
                    return issued.map(|token| token.to_json(&world.zone));
                }
                entry.call.arguments.get(&*called.parameters.get(called.token?.index())?.name).cloned()
            })?;
            given.insert(token.name.to_string(), known);
        }
        Some(Call { api: api.name.to_string(), arguments: given })
    }
}

impl Answer<'_> {
    fn is_given(self, reply: &Reply, base: &Base) -> bool {
        match self {
            Self::Value { path, text } => {
                reply.is_success() && super::shows(&reply.body, path, text, &base.world().zone)
            }
            Self::Refused(status) => reply.status == status,
            Self::Empty => reply.is_success() && reply.body.is_empty_result(),
        }
    }
}

/// A search for a change that alters the answer and no reply.
struct Search<'a> {
    history: &'a History<'a>,
    call: &'a Call,
    api: &'a Api,
    arguments: &'a [(ParameterId, Value)],
    answer: Answer<'a>,
    state: &'a State,
    /// The reply to the call in that state.
    reply: Reply,
    /// The calls about the same resources, with the state before each.
    replies: Vec<(&'a LogEntry, &'a State)>,
}

/// Another record in the place of one, or no record.
struct Change {
    resource: ResourceId,
    key: Value,
    /// The field that differs; none for a record that is new or gone.
    field: Option<FieldId>,
    record: Option<Record>,
}

/// Which of a record's changes are tried.
#[derive(Clone, Copy)]
enum Tried<'a> {
    All,
    /// These fields, and the whole record gone.
    Fields(&'a BTreeSet<(ResourceId, FieldId)>),
}

impl Search<'_> {
    /// Returns true if each change that alters the answer alters a reply, and one does.
    fn settles_all(&self, resources: &BTreeSet<ResourceId>) -> bool {
        let mut altering: Vec<Change> = resources.iter().filter_map(|id| self.new_record(*id)).collect();
        altering.retain(|change| self.alters_answer(change));
        let shown = self.shown_records(resources);
        for (resource, record) in shown.iter().filter(|(id, record)| self.matters(*id, record)) {
            altering.extend(
                self.changes(*resource, record, Tried::All).filter(|change| self.alters_answer(change)),
            );
        }
        if altering.is_empty() || !altering.iter().all(|change| self.alters_reply(change)) {
            return false;
        }
        let fields: BTreeSet<_> =
            altering.iter().filter_map(|change| Some((change.resource, change.field?))).collect();
        self.other_records(resources, &shown).all(|(resource, record)| {
            let mut changes = self.changes(resource, record, Tried::Fields(&fields));
            changes.all(|change| !self.alters_answer(&change) || self.alters_reply(&change))
        })
    }

    /// Returns true if the reason of a refusal was shown: for each record of which a change would let the call succeed, one such
    /// change alters a reply. Where several rules fail, a change that meets the first of them counts.
    fn settles_refusal(&self, resources: &BTreeSet<ResourceId>) -> bool {
        let rule = self.failed_rule(&self.reply);
        let shown = self.shown_records(resources);
        self.shows_cause(resources, &shown, Reply::is_success).or_else(|| {
            let meets = |reply: &Reply| reply.is_success() || self.failed_rule(reply) > rule;
            rule.and_then(|_| self.shows_cause(resources, &shown, meets))
        }) == Some(true)
    }

    /// Whether, for each record with a change after which the reply is as wanted, such a change alters a reply of the episode; none
    /// where no record has one.
    fn shows_cause(
        &self,
        resources: &BTreeSet<ResourceId>,
        shown: &[(ResourceId, &Record)],
        wanted: impl Fn(&Reply) -> bool,
    ) -> Option<bool> {
        let fits = |change: &Change| {
            wanted(&self.history.reply(&change.applied(self.history.base, self.state), self.call))
        };
        let mut fields = BTreeSet::new();
        let mut found = false;
        for (resource, record) in shown.iter().filter(|(id, record)| self.matters(*id, record)) {
            let causes: Vec<Change> = self.changes(*resource, record, Tried::All).filter(fits).collect();
            found |= !causes.is_empty();
            if !causes.is_empty() && !causes.iter().any(|change| self.alters_reply(change)) {
                return Some(false);
            }
            fields.extend(causes.iter().filter_map(|change| Some((change.resource, change.field?))));
        }
        // Where no shown record is in the way, one that a list leaves out may be: a seat that is not among the free ones.
        let tried = if found { Tried::Fields(&fields) } else { Tried::All };
        for (resource, record) in self.other_records(resources, shown) {
            let causes: Vec<Change> = self.changes(resource, record, tried).filter(fits).collect();
            found |= !causes.is_empty();
            if !causes.is_empty() && !causes.iter().any(|change| self.alters_reply(change)) {
                return Some(false);
            }
        }
        found.then_some(true)
    }

    /// Returns true if the reply to the call would be another one without a record.
    fn matters(&self, resource: ResourceId, record: &Record) -> bool {
        let key = record[self.history.base.world().resource(resource).key.index()].clone();
        let gone = Change { resource, key, field: None, record: None };
        self.history.reply(&gone.applied(self.history.base, self.state), self.call) != self.reply
    }

    /// The records that the replies show a field of.
    fn shown_records(&self, resources: &BTreeSet<ResourceId>) -> Vec<(ResourceId, &Record)> {
        let leaves = self.replies.iter().flat_map(|(entry, _)| entry.reply.body.values());
        let keys: BTreeSet<(ResourceId, &Value)> = leaves
            .filter_map(|(_, origin)| match origin {
                Origin::Field { resource, key, .. } if resources.contains(resource) => Some((*resource, key)),
                _ => None,
            })
            .collect();
        let record = |(resource, key)| Some((resource, self.state.get(self.history.base, resource, key)?));
        keys.into_iter().filter_map(record).collect()
    }

    /// The records that the replies do not show and that matter for the reply to the call.
    fn other_records<'r>(
        &'r self,
        resources: &'r BTreeSet<ResourceId>,
        shown: &'r [(ResourceId, &'r Record)],
    ) -> impl Iterator<Item = (ResourceId, &'r Record)> {
        let all = resources
            .iter()
            .flat_map(|id| self.state.iter(self.history.base, *id).map(|record| (*id, record)));
        all.filter(|(id, record)| {
            !shown.iter().any(|(of, known)| of == id && known == record) && self.matters(*id, record)
        })
    }

    /// The position of the rule that a refusal states.
    fn failed_rule(&self, reply: &Reply) -> Option<usize> {
        let detail = reply.body.member("detail")?.value()?.as_str()?;
        self.api.behaviour.require.iter().position(|rule| &*rule.message == detail)
    }

    fn alters_answer(&self, change: &Change) -> bool {
        let state = change.applied(self.history.base, self.state);
        !self.answer.is_given(&self.history.reply(&state, self.call), self.history.base)
    }

    fn alters_reply(&self, change: &Change) -> bool {
        self.replies.iter().any(|(entry, state)| {
            let other = change.applied(self.history.base, state);
            self.history.reply(&other, &entry.call) != entry.reply
        })
    }

    /// The ways in which a record is changed: the whole record gone, and each field to other values.
    fn changes<'r>(
        &'r self,
        resource: ResourceId,
        record: &'r Record,
        tried: Tried<'r>,
    ) -> impl Iterator<Item = Change> + 'r {
        let declared = self.history.base.world().resource(resource);
        let key = &record[declared.key.index()];
        let fields = (0..declared.fields.len()).map(|at| FieldId(at as u16)).filter(move |field| {
            *field != declared.key
                && match tried {
                    Tried::All => true,
                    Tried::Fields(fields) => fields.contains(&(resource, *field)),
                }
        });
        let changed = fields.flat_map(move |field| {
            let others = self.other_values(declared, resource, field, &record[field.index()]);
            others.into_iter().map(move |value| {
                let mut other: Vec<Value> = record.to_vec();
                other[field.index()] = value;
                (Some(field), Some(Record::from(other)))
            })
        });
        let all = std::iter::once((None, None)).chain(changed);
        all.map(move |(field, record)| Change { resource, key: key.clone(), field, record })
    }

    /// Other values of a field: those that the call names, those of other records, and values next to it.
    fn other_values(
        &self,
        declared: &Resource,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
    ) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let kind = &declared.field(field).schema.kind;
        let named =
            self.arguments.iter().map(|(_, value)| value).filter(|named| named.kind() == value.kind());
        found.extend(named.cloned());
        match (kind, value) {
            (Type::Enum(values), _) => found.extend(values.iter().cloned().map(Value::String)),
            (_, Value::Bool(flag)) => found.push(Value::Bool(!flag)),
            (_, Value::Integer(number)) => {
                found.extend([0, number.saturating_add(1_000_000)].map(Value::Integer));
            }
            (_, Value::Number(number)) => found.extend(Value::number(number + 1.0)),
            (_, Value::Decimal(decimal)) => {
                for minor in [0, decimal.minor.saturating_add(100_000_000)] {
                    found.push(Value::Decimal(diorama_seeds::value::Decimal { minor, ..*decimal }));
                }
            }
            (_, Value::Date(date)) => found.extend([-400, 400].map(|days| Value::Date(Date(date.0 + days)))),
            (_, Value::Time(time)) => found.push(Value::Time(Time((time.0 + 3_600) % 86_400))),
            (_, Value::DateTime(instant)) => {
                let seconds = [-400 * 86_400, 400 * 86_400];
                found.extend(seconds.map(|seconds| Value::DateTime(Instant(instant.0 + seconds))));
            }
            _ => {}
        }
        let records = self.state.iter(self.history.base, resource);
        found.extend(
            records.filter_map(|record| record.get(field.index())).find(|other| *other != value).cloned(),
        );
        if declared.field(field).optional && !value.is_missing() {
            found.push(Value::Absent);
        }
        found.dedup();
        found.retain(|other| other != value);
        found.truncate(MAX_OTHER_VALUES);
        found
    }

    /// One record more, which has what the call names.
    fn new_record(&self, resource: ResourceId) -> Option<Change> {
        let declared = self.history.base.world().resource(resource);
        let mut record: Vec<Value> = self.state.iter(self.history.base, resource).last()?.to_vec();
        let key = match &record[declared.key.index()] {
            Value::Integer(key) => Value::Integer(key.checked_add(1)?),
            Value::String(key) => Value::string(&format!("{key}0")),
            _ => return None,
        };
        record[declared.key.index()] = key;
        for (id, value) in self.arguments {
            let parameter = self.api.parameters.get(id.index())?;
            if let Some((of, field)) = parameter.field
                && of == resource
                && record[field.index()].kind() == value.kind()
            {
                record[field.index()] = value.clone();
            }
        }
        let key = record[declared.key.index()].clone();
        Some(Change { resource, key, field: None, record: Some(record.into()) })
    }
}

impl Change {
    fn applied(&self, base: &Base, state: &State) -> State {
        state.with_record(base, self.resource, &self.key, self.record.clone())
    }
}
