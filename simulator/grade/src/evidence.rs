//! Evidence: whether a reply of the episode holds what a statement rests on.

use diorama_seeds::model::{Api, BehaviourKind, FieldId, ParameterId, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::Evidence;
use diorama_seeds::value::{Value, Zone};
use std::collections::BTreeMap;

use super::measures::leaf_schema;
use diorama_engine::session::LogEntry;
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
fn has_all(entry: &LogEntry, arguments: &[(ParameterId, Value)], world: &World) -> bool {
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
    /// What the user has said.
    pub(crate) said: &'a [String],
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

    /// Whether the log holds it; `seen` comes from [`Leaves::see`], `new` says which record each new one is.
    pub(crate) fn holds<'a>(
        &self,
        log: &(impl Iterator<Item = &'a LogEntry> + Clone),
        seen: &[bool],
        new: &NewRecords<'_>,
    ) -> bool {
        let zone = &new.world.zone;
        match self {
            Self::Leaf(position) => seen.get(*position).copied().unwrap_or(false),
            Self::Computed { api, path, value, arguments } => log.clone().any(|entry| {
                entry.call.api == *api
                    && entry.reply.is_success()
                    && has_all(entry, arguments, new.world)
                    && shows(&entry.reply.body, path, value, zone)
            }) || new.world.api_named(api).zip(value.parse().ok()).is_some_and(|(api, value)| {
                let computes = new.world.api(api);
                log.clone().any(|entry| derives(entry, value, computes, arguments, new.said, new.world))
            }),
            Self::Refused { api, status, arguments } => log.clone().any(|entry| {
                entry.call.api == *api
                    && entry.api.is_some()
                    && entry.reply.status == *status
                    && has_all(entry, arguments, new.world)
            }) || new.world.api_named(api).map(|id| new.world.api(id)).is_some_and(|refusing| {
                *status == 404 && lists_all(log.clone(), refusing, new.world)
                    || log.clone().any(|entry| {
                        tells_beforehand(entry, refusing, *status, arguments, new.said, new.world)
                    })
            }),
            Self::Empty { api, arguments } => log.clone().any(|entry| {
                entry.call.api == *api
                    && entry.reply.is_success()
                    && is_empty(&entry.reply.body)
                    && has_all(entry, arguments, new.world)
            }),
            Self::New(number, field, value) => new.field(*number, field).is_some_and(|(resource, key, field)| {
                let successes = log.clone().filter(|entry| entry.reply.is_success());
                successes.flat_map(|entry| entry.reply.body.values()).any(|(leaf, origin)| {
                    let same = matches!(origin, Origin::Field { resource: of, key: whose, field: shown } if *of == resource && whose == key && *shown == field);
                    same && value.as_ref().is_none_or(|value| leaf.to_json(zone) == *value)
                })
            }),
            Self::All(parts) => parts.iter().all(|part| part.holds(log, seen, new)),
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

/// Whether a read shows beforehand what another call is refused for: a look-up that did not find what that call names, or
/// a reply that shows the record that it names.
#[must_use]
pub fn tells_beforehand(
    entry: &LogEntry,
    refusing: &Api,
    status: u16,
    arguments: &[(ParameterId, Value)],
    said: &[String],
    world: &World,
) -> bool {
    if entry.api.is_none_or(|id| world.api(id).writes()) {
        return false;
    }
    if status == 404 {
        if lists_all(std::iter::once(entry), refusing, world) {
            return true;
        }
        let sent = parsed(&entry.call.api, &entry.call.arguments, world);
        let nothing = entry.reply.is_success() && is_empty(&entry.reply.body);
        // A search that finds nothing for a part of the name would not find the whole.
        let looked_for = |wanted: &Value| {
            sent.iter().any(|(_, given)| alike(given, wanted) || (nothing && is_part(given, wanted)))
        };
        // Without arguments in the checks: what the user named was looked for.
        let named = |json: &serde_json::Value| json.as_str().is_some_and(|text| is_named(text, said));
        let by_user = arguments.is_empty() && entry.call.arguments.values().any(named);
        let absent = entry.reply.status == 404 || nothing;
        return absent && (by_user || arguments.iter().any(|(_, wanted)| looked_for(wanted)));
    }
    let body = &entry.reply.body;
    // It is about what the call names; where the checks do not say what that is, about what the user named.
    let subject = |value: &Value| match arguments {
        [] => is_named(&value.to_text(&world.zone), said),
        arguments => arguments.iter().any(|(_, wanted)| wanted == value),
    };
    entry.reply.is_success()
        && body.values().any(|(value, _)| subject(value))
        && rules(refusing, status).iter().any(|rule| rule.is_shown(body, world))
}

impl Rule<'_> {
    /// Whether a reply shows something that it looks at.
    fn is_shown(&self, body: &Body, world: &World) -> bool {
        body.values().any(|(_, origin)| match origin {
            Origin::Field { resource, field, .. } => {
                let declared = world.resource(*resource);
                let names = declared.field(*field);
                let plain = !matches!(names.schema.kind, Type::Reference { .. }) && *field != declared.key;
                (plain && self.words.iter().any(|word| **word == *names.name))
                    || self.folds.iter().any(|folded| *folded == &*declared.name)
            }
            Origin::Computed => !self.folds.is_empty(),
            Origin::Constant => false,
        })
    }
}

/// Whether replies list every record of the kind that an API looks up, on one page or several.
fn lists_all<'a>(entries: impl Iterator<Item = &'a LogEntry>, looks_up: &Api, world: &World) -> bool {
    let (BehaviourKind::Lookup { resource, .. } | BehaviourKind::Get { resource, .. }) =
        &looks_up.behaviour.kind
    else {
        return false;
    };
    let successes = entries.filter(|entry| entry.reply.is_success());
    let mut keys: Vec<&Value> = successes
        .flat_map(|entry| entry.reply.body.values())
        .filter_map(|(_, origin)| match origin {
            Origin::Field { resource: of, key, .. } if of == resource => Some(key),
            _ => None,
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    !keys.is_empty() && keys.len() >= world.resource(*resource).records.len()
}

/// What a rule of an API looks at: the names in it, and the resources whose records it counts.
struct Rule<'a> {
    words: Vec<&'a str>,
    folds: Vec<&'a str>,
}

/// The rules by which an API refuses with a status.
fn rules(api: &Api, status: u16) -> Vec<Rule<'_>> {
    let of_status = api.behaviour.require.iter().filter(|rule| rule.status == status);
    of_status
        .map(|rule| {
            // The names that `let` gives are looked through too.
            let bound = api.behaviour.bindings.iter().map(|(_, bound)| &*bound.source);
            let texts = std::iter::once(&*rule.that.source).chain(bound);
            let mut read = Rule { words: Vec::new(), folds: Vec::new() };
            for text in texts {
                let mut before = "";
                for word in
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
                {
                    if matches!(word, "any" | "all" | "count" | "sum" | "first" | "max" | "min") {
                        read.folds.push(before);
                    }
                    read.words.push(word);
                    before = word;
                }
            }
            read
        })
        .collect()
}

/// Whether a number follows from another read than the one that computes it: from the items of a list, or from two
/// numbers of a record. The read must be about the same: no argument that it shares with the other differs, and each that it
/// lacks is shown by its reply or leaves it with more items than the number counts.
#[must_use]
pub fn derives(
    entry: &LogEntry,
    wanted: f64,
    computes: &Api,
    arguments: &[(ParameterId, Value)],
    said: &[String],
    world: &World,
) -> bool {
    let Some(api) = entry.api.map(|id| world.api(id)).filter(|api| !api.writes()) else { return false };
    if !entry.reply.is_success() {
        return false;
    }
    let sent = parsed(&entry.call.api, &entry.call.arguments, world);
    let shown = |body: &Body, value: &Value| body.values().any(|(known, _)| known == value);
    let body = &entry.reply.body;
    let met = |value: &Value| sent.iter().any(|(_, given)| alike(given, value)) || shown(body, value);
    // Checks of the first version do not say of which arguments: then of what the user named.
    let all = !arguments.is_empty() && arguments.iter().all(|(_, value)| met(value));
    if !arguments.is_empty() && !arguments.iter().any(|(_, value)| met(value)) {
        return false;
    }
    // What neither the call nor the reply shows cannot be told from the items, unless it is a bound.
    let is_bound = |id: ParameterId| {
        let kind = computes.parameters.get(id.index()).map(|parameter| &parameter.schema.kind);
        matches!(
            kind,
            Some(
                Type::Integer
                    | Type::Number
                    | Type::Decimal { .. }
                    | Type::Date
                    | Type::DateTime
                    | Type::Time
            )
        )
    };
    if arguments.iter().any(|(id, value)| !met(value) && !is_bound(*id)) {
        return false;
    }
    // What it was asked beside must not be another choice.
    let strange =
        |given: &Value| !arguments.iter().any(|(_, value)| alike(given, value)) && !shown(body, given);
    let free = |id: ParameterId| api.token == Some(id) || api.chooses_view(id);
    if !all && sent.iter().any(|(id, given)| !free(*id) && strange(given)) {
        return false;
    }
    let near = |found: f64| (found - wanted).abs() <= 0.005_000_1;
    body.parts().any(|part| match part {
        Body::List(items) => {
            let count = items.len() as f64;
            let whole = wanted.fract() == 0.0 && wanted >= 1.0;
            near(count)
                || (whole && !all && count >= wanted)
                || (whole && count >= wanted && shares(items, arguments, wanted))
                || over(items).any(near)
        }
        Body::Object(members) => {
            // Of one measure: nobody subtracts a year from credits.
            let measure = |origin: &Origin| {
                let schema = leaf_schema(origin, world);
                let currency = match &schema.kind {
                    Type::Decimal { currency, .. } => currency.clone(),
                    _ => None,
                };
                (schema.unit, currency)
            };
            let leaves = members.iter().filter_map(|(_, member)| match member {
                Body::Leaf(value, origin) => Some((value.as_f64()?, measure(origin))),
                _ => None,
            });
            let numbers: Vec<_> = leaves.take(12).collect();
            let pairs = numbers.iter().enumerate().flat_map(|(at, (a, measure))| {
                let alike = numbers.iter().skip(at + 1).filter(move |(_, other)| other == measure);
                alike.map(move |(b, _)| (a - b).abs())
            });
            let mut texts = members.iter().filter_map(|(_, member)| member.value()?.as_str());
            let mut named = || arguments.is_empty() && texts.any(|text| is_named(text, said));
            (all || named()) && pairs.into_iter().any(near)
        }
        Body::Leaf(..) => false,
    })
}

/// Whether the user named a text, in any case.
fn is_named(text: &str, said: &[String]) -> bool {
    let lower = text.to_lowercase();
    text.len() > 2 && said.iter().any(|turn| turn.to_lowercase().contains(&lower))
}

/// Whether so many items at most show an argument's value each.
fn shares(items: &[Body], arguments: &[(ParameterId, Value)], wanted: f64) -> bool {
    arguments.iter().any(|(_, value)| {
        let with = items.iter().filter(|item| item.values().any(|(known, _)| known == value));
        with.count() as f64 >= wanted
    })
}

/// The least, the greatest, the sum and the mean of each numeric member of a list's items.
fn over(items: &[Body]) -> impl Iterator<Item = f64> {
    let members = match items.first() {
        Some(Body::Object(members)) => members.as_slice(),
        _ => &[],
    };
    members.iter().flat_map(move |(name, _)| {
        let values: Vec<f64> = items.iter().filter_map(|item| item.member(name)?.value()?.as_f64()).collect();
        let sum: f64 = values.iter().sum();
        let mean = if values.is_empty() { f64::NAN } else { sum / values.len() as f64 };
        let least = values.iter().copied().fold(f64::NAN, f64::min);
        let most = values.iter().copied().fold(f64::NAN, f64::max);
        [sum, mean, least, most]
    })
}

/// Whether a text is a part of another, in any case.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => {
            part.len() > 3 && whole.to_lowercase().contains(&part.to_lowercase())
        }
        _ => false,
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

/// Whether a reply matched nothing: an empty list, or only zeros and nulls, and no field of any record.
fn is_empty(body: &Body) -> bool {
    let mut nothing = false;
    for part in body.parts() {
        match part {
            Body::Leaf(_, Origin::Field { .. }) => return false,
            Body::Leaf(value, Origin::Computed) => match value.as_f64() {
                Some(0.0) => nothing = true,
                Some(_) => return false,
                None if value.is_missing() => nothing = true,
                None => {}
            },
            Body::Leaf(..) | Body::Object(_) => {}
            Body::List(items) => nothing |= items.is_empty(),
        }
    }
    nothing
}
