//! Evidence: whether a reply of the episode holds what a statement rests on.

use diorama_seeds::model::{FieldId, ResourceId, World};
use diorama_seeds::task::Evidence;
use diorama_seeds::value::{Value, Zone};

use crate::engine::{Body, Origin};
use crate::session::LogEntry;

/// Evidence, made ready.
#[derive(Clone, Debug)]
pub(crate) enum Ready {
    /// Position in [`Leaves`].
    Leaf(usize),
    Computed {
        api: String,
        path: String,
        value: String,
    },
    Refused {
        api: String,
        status: u16,
    },
    Empty {
        api: String,
    },
    All(Vec<Ready>),
}

/// Leaves that evidence asks for, each once: the log's replies are walked once for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaves(Vec<(ResourceId, Value, FieldId)>);

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
            Evidence::Leaf { resource, key, field } => {
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
                Self::Leaf(leaves.position((id, key, field)))
            }
            Evidence::Computed { api: name, path, value } => {
                Self::Computed { api: api(name)?, path: path.clone(), value: value.clone() }
            }
            Evidence::Refused { api: name, status } => Self::Refused { api: api(name)?, status: *status },
            Evidence::Empty { api: name } => Self::Empty { api: api(name)? },
            Evidence::All { of } if of.is_empty() => return Err(EvidenceError::Nothing),
            Evidence::All { of } => {
                Self::All(of.iter().map(|part| Self::new(part, world, leaves)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Whether the log holds it; `seen` comes from [`Leaves::seen`].
    pub(crate) fn holds<'a>(
        &self,
        log: &(impl Iterator<Item = &'a LogEntry> + Clone),
        seen: &[bool],
        zone: &Zone,
    ) -> bool {
        match self {
            Self::Leaf(position) => seen.get(*position).copied().unwrap_or(false),
            Self::Computed { api, path, value } => log.clone().any(|entry| {
                entry.call.api == *api
                    && entry.reply.is_success()
                    && shows(&entry.reply.body, path, value, zone)
            }),
            Self::Refused { api, status } => log
                .clone()
                .any(|entry| entry.call.api == *api && entry.api.is_some() && entry.reply.status == *status),
            Self::Empty { api } => log.clone().any(|entry| {
                entry.call.api == *api && entry.reply.is_success() && is_empty(&entry.reply.body)
            }),
            Self::All(parts) => parts.iter().all(|part| part.holds(log, seen, zone)),
        }
    }
}

impl Leaves {
    fn position(&mut self, leaf: (ResourceId, Value, FieldId)) -> usize {
        self.0.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            self.0.push(leaf);
            self.0.len() - 1
        })
    }

    /// Which of the leaves successful replies of the log show.
    pub(crate) fn seen<'a>(&self, log: impl Iterator<Item = &'a LogEntry>) -> Vec<bool> {
        let mut seen = vec![false; self.0.len()];
        if self.0.is_empty() {
            return seen;
        }
        for entry in log.filter(|entry| entry.reply.is_success()) {
            let mut stack = vec![&entry.reply.body];
            while let Some(body) = stack.pop() {
                match body {
                    Body::Leaf(_, Origin::Field { resource, key, field }) => {
                        for (position, (of, record, wanted)) in self.0.iter().enumerate() {
                            if of == resource && wanted == field && record == key {
                                seen[position] = true;
                            }
                        }
                    }
                    Body::Leaf(..) => {}
                    Body::Object(members) => stack.extend(members.iter().map(|(_, member)| member)),
                    Body::List(items) => stack.extend(items),
                }
            }
        }
        seen
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

/// Whether a reply matched nothing: an empty list, or only zeros and nulls, and no field of any record.
fn is_empty(body: &Body) -> bool {
    let mut nothing = false;
    let mut stack = vec![body];
    while let Some(body) = stack.pop() {
        match body {
            Body::Leaf(_, Origin::Field { .. }) => return false,
            Body::Leaf(value, Origin::Computed) => match value.as_f64() {
                Some(0.0) => nothing = true,
                Some(_) => return false,
                None if value.is_missing() => nothing = true,
                None => {}
            },
            Body::Leaf(..) => {}
            Body::Object(members) => stack.extend(members.iter().map(|(_, member)| member)),
            Body::List(items) => {
                nothing |= items.is_empty();
                stack.extend(items);
            }
        }
    }
    nothing
}
