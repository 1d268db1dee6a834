//! Evidence: whether a reply of the episode holds what a statement rests on.

mod settled;

use diorama_seeds::model::{FieldId, ParameterId, ResourceId, World};
use diorama_seeds::task::Evidence;
use diorama_seeds::value::{Value, Zone};
use std::collections::BTreeMap;

use diorama_engine::session::LogEntry;

pub use self::settled::{Answer, History};
use diorama_engine::{Body, Origin};

/// Evidence, made ready.
#[derive(Clone, Debug)]
pub(crate) enum Ready {
    /// Position in [`Leaves`].
    Leaf(usize),
    /// A field, by name, of a new record, by number.
    New(u32, String, Option<serde_json::Value>),
    Computed {
        api: String,
        path: String,
        value: String,
        arguments: Vec<(ParameterId, Value)>,
    },
    Refused {
        api: String,
        status: u16,
        arguments: Vec<(ParameterId, Value)>,
    },
    Empty {
        api: String,
        arguments: Vec<(ParameterId, Value)>,
    },
    All(Vec<Ready>),
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

/// Leaves that evidence asks for, each once: the log's replies are walked once for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaves(Vec<Leaf>);

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
        leaves: &mut Leaves,
    ) -> Result<Self, EvidenceError> {
        let api = |name: &str| match world.api_named(name) {
            Some(_) => Ok(name.to_owned()),
            None => Err(EvidenceError::Api(name.to_owned())),
        };
        Ok(match evidence {
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
                Self::Leaf(leaves.position(Leaf { resource: id, key, field, value }))
            }
            Evidence::New { new, field, value } => Self::New(*new, field.clone(), value.clone()),
            Evidence::Computed { api: name, path, value, arguments } => Self::Computed {
                api: api(name)?,
                path: path.clone(),
                value: value.clone(),
                arguments: parsed(name, arguments, world),
            },
            Evidence::Refused { api: name, status, arguments } => {
                Self::Refused { api: api(name)?, status: *status, arguments: parsed(name, arguments, world) }
            }
            Evidence::Empty { api: name, arguments } => {
                Self::Empty { api: api(name)?, arguments: parsed(name, arguments, world) }
            }
            Evidence::All { of } if of.is_empty() => return Err(EvidenceError::Nothing),
            Evidence::All { of } => {
                Self::All(of.iter().map(|part| Self::new(part, world, leaves)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Returns true if the log holds it. `seen` comes from [`Leaves::see`], `new` says which record each new one is, and `history`
    /// gives the same calls with their states: other replies may settle what a call was not made for.
    pub(crate) fn holds<'h, 'a: 'h>(
        &self,
        log: &(impl Iterator<Item = &'a LogEntry> + Clone),
        seen: &[bool],
        new: &NewRecords<'_>,
        history: &impl Fn() -> &'h History<'a>,
    ) -> bool {
        let world = new.world;
        let direct = |api: &str, arguments: &[(ParameterId, Value)], shows: &dyn Fn(&LogEntry) -> bool| {
            log.clone().any(|entry| {
                entry.call.api == api
                    && entry.api.is_some()
                    && shows(entry)
                    && has_all(entry, arguments, world)
            })
        };
        let settled = |api: &str, arguments: &[(ParameterId, Value)], answer: Answer<'_>| {
            let api = world.api_named(api).map(|id| world.api(id));
            api.is_some_and(|api| history().settles(api, arguments, answer))
        };
        match self {
            Self::Leaf(position) => seen.get(*position).copied().unwrap_or(false),
            Self::Computed { api, path, value, arguments } => {
                let shows = |entry: &LogEntry| {
                    entry.reply.is_success() && shows(&entry.reply.body, path, value, &world.zone)
                };
                direct(api, arguments, &shows)
                    || settled(api, arguments, Answer::Value { path, text: value })
            }
            Self::Refused { api, status, arguments } => {
                direct(api, arguments, &|entry| entry.reply.status == *status)
                    || settled(api, arguments, Answer::Refused(*status))
            }
            Self::Empty { api, arguments } => {
                let empty = |entry: &LogEntry| entry.reply.is_success() && entry.reply.body.is_empty_result();
                direct(api, arguments, &empty) || settled(api, arguments, Answer::Empty)
            }
            Self::New(number, field, value) => new.field(*number, field).is_some_and(|(resource, key, field)| {
                let successes = log.clone().filter(|entry| entry.reply.is_success());
                successes.flat_map(|entry| entry.reply.body.values()).any(|(leaf, origin)| {
                    let same = matches!(origin, Origin::Field { resource: of, key: whose, field: shown } if *of == resource && whose == key && *shown == field);
                    same && value.as_ref().is_none_or(|value| leaf.to_json(&world.zone) == *value)
                })
            }),
            Self::All(parts) => parts.iter().all(|part| part.holds(log, seen, new, history)),
        }
    }
}

impl Leaves {
    fn position(&mut self, leaf: Leaf) -> usize {
        self.0.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            self.0.push(leaf);
            self.0.len() - 1
        })
    }

    /// That none of them is shown.
    pub(crate) fn none(&self) -> Vec<bool> {
        vec![false; self.0.len()]
    }

    /// Marks those of the leaves that successful replies show.
    pub(crate) fn see<'a>(&self, log: impl Iterator<Item = &'a LogEntry>, seen: &mut [bool]) {
        if self.0.is_empty() {
            return;
        }
        let successes = log.filter(|entry| entry.reply.is_success());
        for (shown, origin) in successes.flat_map(|entry| entry.reply.body.values()) {
            let Origin::Field { resource, key, field } = origin else { continue };
            for (position, leaf) in self.0.iter().enumerate() {
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
