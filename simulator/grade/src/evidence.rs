//! Evidence: whether the replies of an episode hold what a statement rests on.

mod alteration;
mod history;
mod search;

use diorama_seeds::model::{ApiId, FieldId, ParameterId, ResourceId, World};
use diorama_seeds::task::Evidence;
use diorama_seeds::value::{Value, Zone};
use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin, Reply};

pub use self::history::Verdicts;
pub(crate) use self::history::{History, Standard};

/// Evidence, made ready.
#[derive(Clone, Debug)]
pub(crate) enum Ready {
    /// Position among the leaves of [`Wanted`].
    Leaf(usize),
    /// A field, by name, of a new record, by number.
    New(u32, String, Option<serde_json::Value>),
    Answer(Question),
    /// Tools, one of which a search shows.
    Searched(Vec<String>),
    All(Vec<Ready>),
}

/// A call, and the answer that it gives.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Its position among the questions of [`Wanted`].
    number: usize,
    api: ApiId,
    /// The arguments that the call must have.
    arguments: Vec<(ParameterId, Value)>,
    answer: Answer,
}

/// What a reply says.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A text at a place of the reply.
    Value { path: String, text: String },
    /// A status.
    Refused(u16),
    /// A success that matches nothing.
    Empty,
}

/// Arguments as values of their parameters; what is none says nothing.
#[must_use]
pub fn parsed(
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

/// The value of a field as JSON spells it; of a list, one item.
fn shown_value(
    resource: &diorama_seeds::model::Resource,
    field: FieldId,
    json: &serde_json::Value,
    world: &World,
) -> Option<Value> {
    let mut schema = &resource.field(field).schema;
    if let (diorama_seeds::schema::Type::List(item), false) = (&schema.kind, json.is_array()) {
        schema = item;
    }
    schema.parse_json(json, &world.zone).ok()
}

/// Whether a call was made with all of these arguments.
pub(crate) fn has_all(entry: &LogEntry, arguments: &[(ParameterId, Value)], world: &World) -> bool {
    arguments.iter().all(|(id, wanted)| has_argument(entry, *id, wanted, world))
}

/// Whether a call was made with an argument, strings in any case.
fn has_argument(entry: &LogEntry, id: ParameterId, wanted: &Value, world: &World) -> bool {
    let Some(parameter) = entry.api.and_then(|api| world.api(api).parameters.get(id.index())) else {
        return false;
    };
    let given = entry.call.arguments.get(&*parameter.name);
    let value = given.and_then(|json| parameter.schema.parse_json(json, &world.zone).ok());
    value.is_some_and(|value| alike(&value, wanted))
}

/// Which record each new one is in an episode.
pub(crate) struct NewRecords<'a> {
    pub(crate) world: &'a World,
    /// The resource of each, by number.
    pub(crate) resources: &'a [(u32, ResourceId)],
    /// The key of each that was made.
    pub(crate) keys: &'a BTreeMap<u32, Value>,
}

impl NewRecords<'_> {
    /// A field of a new record: resource, key, field.
    pub(crate) fn field(&self, number: u32, field: &str) -> Option<(ResourceId, &Value, FieldId)> {
        let (_, resource) = self.resources.iter().find(|(known, _)| *known == number)?;
        Some((*resource, self.keys.get(&number)?, self.world.resource(*resource).field_named(field)?))
    }
}

/// What evidence asks for. Each leaf is there once: the log's replies are walked once for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    leaves: Vec<Leaf>,
    /// How many questions there are.
    questions: usize,
}

/// A field of a record, and the value that it must show, where it must show one.
#[derive(Clone, Debug, PartialEq)]
struct Leaf {
    resource: ResourceId,
    key: Value,
    field: FieldId,
    value: Option<Value>,
}

/// Why evidence can never be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// It has no parts, so it would always hold.
    #[error("evidence that consists of nothing would always hold; name what a reply must show")]
    Nothing,
    /// A resource that is not there.
    #[error("the world has no resource `{0}`; use a qualified name")]
    Resource(String),
    /// A field that is not there.
    #[error("the resource `{0}` has no field `{1}`")]
    Field(String, String),
    /// A key that is none.
    #[error("`{1}` is no key of `{0}`: {2}")]
    Key(String, String, String),
    /// An API that is not there.
    #[error("the world has no API `{0}`")]
    Api(String),
}

impl Ready {
    /// Resolves the names.
    pub(crate) fn new(
        evidence: &Evidence,
        world: &World,
        wanted: &mut Wanted,
    ) -> Result<Self, EvidenceError> {
        let mut answer = |name: &str, arguments, answer| {
            let api = world.api_named(name).ok_or_else(|| EvidenceError::Api(name.to_owned()))?;
            wanted.questions += 1;
            let arguments = parsed(name, arguments, world);
            Ok(Self::Answer(Question { number: wanted.questions - 1, api, arguments, answer }))
        };
        match evidence {
            Evidence::Leaf { resource, key, field, value } => {
                let id = world
                    .resource_named(resource)
                    .ok_or_else(|| EvidenceError::Resource(resource.clone()))?;
                let declared = world.resource(id);
                let field = declared
                    .field_named(field)
                    .ok_or_else(|| EvidenceError::Field(resource.clone(), field.clone()))?;
                let schema = &declared.field(declared.key).schema;
                let key = schema
                    .parse_text(key, &world.zone)
                    .map_err(|error| EvidenceError::Key(resource.clone(), key.clone(), error.to_string()))?;
                // A value that the field no longer takes is held against nothing.
                let value = value.as_ref().and_then(|json| shown_value(declared, field, json, world));
                Ok(Self::Leaf(wanted.position(Leaf { resource: id, key, field, value })))
            }
            Evidence::New { new, field, value } => Ok(Self::New(*new, field.clone(), value.clone())),
            Evidence::Computed { api, path, value, arguments } => {
                answer(api, arguments, Answer::Value { path: path.clone(), text: value.clone() })
            }
            Evidence::Refused { api, status, arguments } => answer(api, arguments, Answer::Refused(*status)),
            Evidence::Empty { api, arguments } => answer(api, arguments, Answer::Empty),
            Evidence::Searched { tools } if tools.is_empty() => Err(EvidenceError::Nothing),
            Evidence::Searched { tools } => Ok(Self::Searched(tools.clone())),
            Evidence::All { of } if of.is_empty() => Err(EvidenceError::Nothing),
            Evidence::All { of } => {
                let parts = of.iter().map(|part| Self::new(part, world, wanted));
                Ok(Self::All(parts.collect::<Result<_, _>>()?))
            }
        }
    }

    /// Returns true if the log holds it. `seen` comes from [`Wanted::see`], `new` says which record each new one is, and `history`
    /// gives the same calls with their states: other replies may tell, by the standard, what a call was not made for.
    pub(crate) fn holds<'h, 'a: 'h>(
        &self,
        log: &[Arc<LogEntry>],
        seen: &[bool],
        new: &NewRecords<'_>,
        history: &impl Fn() -> &'h History<'a>,
        standard: Standard,
    ) -> bool {
        let world = new.world;
        match self {
            Self::Leaf(position) => seen.get(*position).copied().unwrap_or(false),
            Self::Answer(question) => {
                log.iter().any(|entry| question.is_answered_by(entry, world))
                    || history().tells(question, standard)
            }
            Self::New(number, field, value) => new.field(*number, field).is_some_and(|(resource, key, field)| {
                let successes = log.iter().filter(|entry| entry.reply.is_success());
                successes.flat_map(|entry| entry.reply.body.values()).any(|(leaf, origin)| {
                    let same = matches!(origin, Origin::Field { resource: of, key: whose, field: shown } if *of == resource && whose == key && *shown == field);
                    same && value.as_ref().is_none_or(|value| leaf.to_json(&world.zone) == *value)
                })
            }),
            Self::Searched(tools) => log.iter().flat_map(|entry| entry.tools_found()).any(|name| {
                tools.iter().any(|tool| tool == name)
            }),
            Self::All(parts) => parts.iter().all(|part| part.holds(log, seen, new, history, standard)),
        }
    }
}

impl Question {
    /// Returns true if an entry is such a call, and its reply gives the answer.
    fn is_answered_by(&self, entry: &LogEntry, world: &World) -> bool {
        entry.api == Some(self.api)
            && self.answer.is_given(&entry.reply, world)
            && has_all(entry, &self.arguments, world)
    }
}

impl Answer {
    fn is_given(&self, reply: &Reply, world: &World) -> bool {
        match self {
            Self::Value { path, text } => reply.is_success() && shows(&reply.body, path, text, &world.zone),
            Self::Refused(status) => reply.status == *status,
            Self::Empty => reply.is_success() && reply.body.is_empty_result(),
        }
    }
}

impl Wanted {
    fn position(&mut self, leaf: Leaf) -> usize {
        self.leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        })
    }

    /// That none of the leaves is shown.
    pub(crate) fn none(&self) -> Vec<bool> {
        vec![false; self.leaves.len()]
    }

    /// Marks those of the leaves that successful replies show.
    pub(crate) fn see<'a>(&self, log: impl Iterator<Item = &'a LogEntry>, seen: &mut [bool]) {
        if self.leaves.is_empty() {
            return;
        }
        let successes = log.filter(|entry| entry.reply.is_success());
        for (shown, origin) in successes.flat_map(|entry| entry.reply.body.values()) {
            let Origin::Field { resource, key, field } = origin else { continue };
            for (position, leaf) in self.leaves.iter().enumerate() {
                if leaf.resource == *resource
                    && leaf.field == *field
                    && leaf.key == *key
                    && leaf.value.as_ref().is_none_or(|value| value == shown)
                {
                    seen[position] = true;
                }
            }
        }
    }
}

/// Whether two values are one, strings in any case.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.to_lowercase() == b.to_lowercase(),
        _ => a == b,
    }
}

/// Whether the place of a reply shows a value that says something about the records.
fn shows(body: &Body, path: &str, value: &str, zone: &Zone) -> bool {
    match body.at(path) {
        Some(Body::Leaf(_, Origin::Constant)) | None => false,
        Some(Body::Leaf(found, _)) => found.to_text(zone) == value,
        Some(other) => other.to_json(zone) == value,
    }
}
