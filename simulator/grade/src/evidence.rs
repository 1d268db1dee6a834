//! Evidence: decides if the replies of an episode show the values that a fact or an ending rests on.

mod alteration;
mod history;
mod permission;
mod question;
mod search;

use diorama_seeds::model::{DomainId, FieldId, ResourceId, World};
use diorama_seeds::task::Evidence;
use diorama_seeds::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;

pub(crate) use self::history::History;
pub use self::history::Verdicts;
pub(crate) use self::permission::permits;
use self::question::{Answer, Question};
pub(crate) use self::question::{Standard, has_all, parse_arguments};

/// Evidence with resolved names.
#[derive(Clone, Debug)]
pub(crate) enum ResolvedEvidence {
    /// Index into the leaves of [`EvidenceNeeds`].
    Leaf(usize),
    /// Number of a new record, name of its field, and the value that a reply must show, if any.
    New(u32, String, Option<serde_json::Value>),
    Answer(Question),
    /// Tool names and domains. A search must show one of the tools, or a tool of one of the domains.
    Searched(Vec<String>, Vec<DomainId>),
    All(Vec<ResolvedEvidence>),
}

/// Parses a JSON value by the type of a field, or by its item type if only the field is a list.
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

/// Maps the expected new records to the records that an episode created.
pub(crate) struct NewRecords<'a> {
    pub(crate) world: &'a World,
    /// Resource of each expected new record, by number.
    pub(crate) resources: &'a [(u32, ResourceId)],
    /// Key of each new record that the episode created, by number.
    pub(crate) keys: &'a BTreeMap<u32, Value>,
}

impl NewRecords<'_> {
    /// Returns the resource, the key and the field id of a new record.
    pub(crate) fn field(&self, number: u32, field: &str) -> Option<(ResourceId, &Value, FieldId)> {
        let (_, resource) = self.resources.iter().find(|(known, _)| *known == number)?;
        Some((*resource, self.keys.get(&number)?, self.world.resource(*resource).field_named(field)?))
    }
}

/// The field values and questions that the evidence of a task needs. Equal leaves are stored once, so one
/// pass over the log serves them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvidenceNeeds {
    leaves: Vec<Leaf>,
    /// Number of questions.
    questions: usize,
}

/// A field of a record, with the value that a reply must show. Without a value, any will do.
#[derive(Clone, Debug, PartialEq)]
struct Leaf {
    resource: ResourceId,
    key: Value,
    field: FieldId,
    value: Option<Value>,
}

/// The reason for which evidence can never be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// The evidence has no parts, so it would always hold.
    #[error("evidence that consists of nothing would always hold; name what a reply must show")]
    Nothing,
    /// The world has no such resource.
    #[error("the world has no resource `{0}`; use a qualified name")]
    Resource(String),
    /// The resource has no such field.
    #[error("the resource `{0}` has no field `{1}`")]
    Field(String, String),
    /// The key does not parse by the resource's key type.
    #[error("`{1}` is no key of `{0}`: {2}")]
    Key(String, String, String),
    /// The world has no such API.
    #[error("the world has no API `{0}`")]
    Api(String),
    /// The world has no such domain.
    #[error("the world has no domain `{0}`")]
    Domain(String),
}

impl ResolvedEvidence {
    /// Resolves the names of evidence, and adds its leaves and questions to `wanted`.
    pub(crate) fn new(
        evidence: &Evidence,
        world: &World,
        wanted: &mut EvidenceNeeds,
    ) -> Result<Self, EvidenceError> {
        let mut answer = |name: &str, arguments: &_, answer| {
            let api = world.api_named(name).ok_or_else(|| EvidenceError::Api(name.to_owned()))?;
            wanted.questions += 1;
            let arguments = parse_arguments(name, arguments, world);
            Ok(Self::Answer(Question { number: wanted.questions - 1, api, arguments, answer }))
        };
        let rules = |name: &str| match world.api_named(name) {
            Some(id) => world.api(id).behaviour.rules.iter().map(|rule| rule.message.clone()).collect(),
            None => Vec::new(),
        };
        match evidence {
            Evidence::Leaf { resource, key, field, value } => {
                let (id, key) = record(resource, key, world)?;
                let declared = world.resource(id);
                let field = declared
                    .field_named(field)
                    .ok_or_else(|| EvidenceError::Field(resource.clone(), field.clone()))?;
                // A value that the field's type no longer allows is dropped: any value of the field will do.
                let value = value.as_ref().and_then(|json| shown_value(declared, field, json, world));
                Ok(Self::Leaf(wanted.position(Leaf { resource: id, key, field, value })))
            }
            Evidence::New { new, field, value } => Ok(Self::New(*new, field.clone(), value.clone())),
            Evidence::Computed { api, path, value, arguments } => {
                answer(api, arguments, Answer::Value { path: path.clone(), text: value.clone() })
            }
            Evidence::Refused { api, status, arguments } => answer(api, arguments, Answer::Refused(*status)),
            Evidence::Forbidden { api, arguments, token } => {
                let mut arguments = arguments.clone();
                let declared = world.api_named(api).map(|id| world.api(id));
                let parameter = declared.and_then(|api| api.parameters.get(api.token?.index()));
                if let (Some(parameter), Some(token)) = (parameter, token) {
                    arguments.insert(parameter.name.to_string(), token.clone().into());
                }
                answer(api, &arguments, Answer::Forbidden(rules(api)))
            }
            Evidence::Empty { api, arguments } => answer(api, arguments, Answer::Empty),
            Evidence::First { api, arguments, array, by, greatest, resource, key } => {
                let (resource, key) = record(resource, key, world)?;
                let (array, by, greatest) = (array.clone(), by.clone(), *greatest);
                answer(api, arguments, Answer::First { array, by, greatest, resource, key })
            }
            Evidence::Searched { tools, domains } if tools.is_empty() && domains.is_empty() => {
                Err(EvidenceError::Nothing)
            }
            Evidence::Searched { tools, domains } => {
                let domain = |name: &String| {
                    let position = world.domains.iter().position(|domain| *domain.name == **name);
                    position.map(|at| DomainId(at as u16)).ok_or_else(|| EvidenceError::Domain(name.clone()))
                };
                Ok(Self::Searched(tools.clone(), domains.iter().map(domain).collect::<Result<_, _>>()?))
            }
            Evidence::All { of } if of.is_empty() => Err(EvidenceError::Nothing),
            Evidence::All { of } => {
                let parts = of.iter().map(|part| Self::new(part, world, wanted));
                Ok(Self::All(parts.collect::<Result<_, _>>()?))
            }
        }
    }

    /// Returns true if the log shows the evidence. `seen` comes from [`EvidenceNeeds::mark_seen`], and `new`
    /// maps the expected new records. `history` replays the calls: by the `standard`, other replies may already
    /// tell an answer that no call asked for.
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
            Self::Searched(tools, domains) => {
                let domain = |name: &str| Some(world.api(world.api_named(name)?).domain);
                log.iter().flat_map(|entry| entry.tools_found()).any(|name| {
                    tools.iter().any(|tool| tool == name)
                        || domain(name).is_some_and(|domain| domains.contains(&domain))
                })
            }
            Self::All(parts) => parts.iter().all(|part| part.holds(log, seen, new, history, standard)),
        }
    }
}

/// Returns the resource and the key of a record that evidence names.
fn record(resource: &str, key: &str, world: &World) -> Result<(ResourceId, Value), EvidenceError> {
    let unknown = || EvidenceError::Resource(resource.to_owned());
    let id = world.resource_named(resource).ok_or_else(unknown)?;
    let declared = world.resource(id);
    let value = declared.field(declared.key).schema.parse_text(key, &world.zone);
    let value =
        value.map_err(|error| EvidenceError::Key(resource.to_owned(), key.to_owned(), error.to_string()))?;
    Ok((id, value))
}

impl EvidenceNeeds {
    fn position(&mut self, leaf: Leaf) -> usize {
        self.leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        })
    }

    /// Returns one false per leaf: the start value for [`EvidenceNeeds::mark_seen`].
    pub(crate) fn initial_seen(&self) -> Vec<bool> {
        vec![false; self.leaves.len()]
    }

    /// Sets `seen` for the leaves that successful replies show.
    pub(crate) fn mark_seen<'a>(&self, log: impl Iterator<Item = &'a LogEntry>, seen: &mut [bool]) {
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
