//! The checked form of a world: names resolved to positions, expressions typed. What the engine runs.
//!
//! Made from a [`crate::doc::WorldDoc`] by [`crate::world::compile`]. Everything here is read-only after that.

mod behaviour;
pub(crate) mod ids;
mod policy;
mod reply;
mod security;
pub mod walk;

use std::sync::Arc;

use indexmap::IndexMap;

use crate::casing::Casing;
use crate::schema::{Schema, Type};
use crate::value::{Instant, Str, Value, Zone};

pub use crate::doc::{Comparison, KeyPlace, Method, OnDelete, PageStyle, PagingMember, Place};
pub use behaviour::{
    Behaviour, BehaviourKind, Change, Confirm, Each, Effect, Filter, FilterTest, Measure, Page, Query,
    Require, Setter, Sort, Which,
};
pub use ids::{ApiId, DomainId, FieldId, ParameterId, ResourceId};
pub use policy::{Articles, HouseRule};
pub use reply::{Many, Member, Reply, Shape, Source};
pub use security::{Need, SecurityKind, SecurityScheme};

/// A world, checked.
#[derive(Clone, Debug)]
pub struct World {
    /// Identifier.
    pub name: Str,
    /// One line for people.
    pub title: Str,
    /// Where the clock starts.
    pub clock: Instant,
    /// The one zone.
    pub zone: Zone,
    /// True when it stands for a public benchmark.
    pub benchmark: bool,
    /// True when all records are written out.
    pub materialised: bool,
    /// Domains.
    pub domains: Vec<Domain>,
    /// Resources of all domains.
    pub resources: Vec<Resource>,
    /// APIs of all domains: the pool. Names are unique in it.
    pub apis: Vec<Api>,
    /// BLAKE3 of the canonical form (lower-case hex), set for materialised worlds.
    pub hash: Option<Str>,
}

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Identifier.
    pub name: Str,
    /// One line for people.
    pub title: Str,
    /// A sentence.
    pub description: Str,
    /// Field of life or economy.
    pub sector: Str,
    /// Prefix of its paths, without a final slash; empty or with a leading slash.
    pub base_path: Str,
    /// How its names are written to callers. Names of parameters and members in this model are so written already.
    pub casing: Casing,
    /// The people whom the service serves.
    pub users: Option<ResourceId>,
    /// Sign-in.
    pub auth: Option<Auth>,
    /// How HTTP callers prove who they are.
    pub security: Vec<SecurityScheme>,
    /// Values that callers are told at the start, by the name of their parameter.
    pub given: Vec<(Str, Given)>,
    /// The rules of its policy, in their order.
    pub house: Vec<HouseRule>,
    /// The records that tell the policy, where callers are to search for it.
    pub articles: Option<Articles>,
}

impl Domain {
    /// The values that system messages tell callers, by the name of their parameter.
    pub fn list_told(&self) -> impl Iterator<Item = (&Str, &Value)> {
        self.given.iter().filter_map(|(name, given)| match given {
            Given::Value(value) => Some((name, value)),
            Given::FieldOf(..) => None,
        })
    }
}

/// A value that callers are told at the start.
#[derive(Clone, Debug)]
pub enum Given {
    /// This one.
    Value(Value),
    /// What a record has in a field, the first that refers to what is given before: for HTTP clients alone.
    FieldOf(ResourceId, FieldId),
}

/// How a domain's users sign in.
#[derive(Clone, Debug)]
pub struct Auth {
    /// The users.
    pub user: ResourceId,
    /// Field with the sign-in name.
    pub login: FieldId,
    /// Field with the secret.
    pub secret: FieldId,
    /// Name of the argument that carries the token.
    pub parameter: Str,
    /// Life of a token, in seconds.
    pub expires_in_s: u32,
}

/// A kind of record.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name, unique inside its domain.
    pub name: Str,
    /// `name`, or `domain.name` where another domain of the world has the same name. Unique in the world: what
    /// diffs, hashes and checks use.
    pub qualified: Str,
    /// Its domain.
    pub domain: DomainId,
    /// Singular noun.
    pub label: Str,
    /// Plural noun.
    pub plural: Str,
    /// A sentence that says what a record is.
    pub description: Str,
    /// The key field.
    pub key: FieldId,
    /// How new keys are made.
    pub key_format: KeyFormat,
    /// The field people call a record by.
    pub display: Option<FieldId>,
    /// The field with the owner's key.
    pub owner: Option<FieldId>,
    /// Exactly one record.
    pub singleton: bool,
    /// Groups of fields whose values together occur once.
    pub unique_together: Vec<Vec<FieldId>>,
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Names for expressions over one of its records.
    pub defines: Vec<Define>,
    /// The records of a materialised world, sorted by key. Empty in a source world.
    pub records: Vec<Record>,
}

/// A name for an expression over a record: `seat.free`, or with parameters `table.free_at(args.starts_at)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// The name.
    pub name: Str,
    /// Names that the expression takes arguments by.
    pub parameters: Vec<Str>,
    /// The expression; `item` is the record.
    pub source: Str,
}

/// How the keys of new records are made: pseudo-random and sparse, a function of the session seed, the resource
/// and the number of successful creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFormat {
    /// Integers between these, both included.
    Integer {
        /// Least.
        min: i64,
        /// Greatest.
        max: i64,
    },
    /// Text in which `#` is a digit, `A` inside `{}` is an upper-case letter and `x` inside `{}` is a lower-case
    /// hexadecimal digit, `w` a word; everything else stands for itself: `APT-####`, `{AAA}-###`, `{xxxxxxxx}`.
    Code(Str),
}

/// A record: one value for each field of its resource, in order.
pub type Record = Arc<[Value]>;

/// A field of a resource.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Str,
    /// Its type.
    pub schema: Schema,
    /// May be absent.
    pub optional: bool,
    /// Value when none is given.
    pub default: Option<Value>,
    /// Made by the world; ignored by graders.
    pub generated: bool,
    /// No two records share it.
    pub unique: bool,
    /// Free wording.
    pub free_text: bool,
    /// For references: what deleting the target does.
    pub on_delete: OnDelete,
    /// For people.
    pub description: Str,
    /// A noun for people.
    pub label: Str,
    /// People's words for enum values.
    pub synonyms: IndexMap<Str, Vec<Str>>,
}

/// An API.
#[derive(Clone, Debug)]
pub struct Api {
    /// Its name, unique in the world.
    pub name: Str,
    /// Its name before variants, with its domain, where the document tells it.
    pub source_api: Option<Str>,
    /// Its domain.
    pub domain: DomainId,
    /// HTTP method.
    pub method: Method,
    /// Path below the domain's base path, with `{parameter}` segments.
    pub path: Str,
    /// Query parameters or headers, with the values that choose it among those of the same method and path; an empty value is any.
    pub chosen_by: Vec<(Str, Str)>,
    /// A sentence that says what it does.
    pub description: Str,
    /// A sentence with the units and currencies of what it replies; empty where description and names tell them.
    pub measures: Str,
    /// Phrases that people use for the API, for searches.
    pub search: Vec<Str>,
    /// Parameters in order. An API with `auth` has the token as its last one.
    pub parameters: Vec<Parameter>,
    /// The parameter that carries the token.
    pub token: Option<ParameterId>,
    /// JSON Schemas of error bodies over HTTP, by status; without a status, of all others.
    pub errors: Vec<(Option<u16>, Arc<serde_json::Value>)>,
    /// Credentials of HTTP callers: one of these sets of schemes. None are needed when there is no set.
    pub security: Vec<Vec<Need>>,
    /// Promises of a document about its bodies.
    pub contract: Option<Arc<crate::contract::Contract>>,
    /// The effect of a call.
    pub behaviour: Behaviour,
    /// The shape of a reply.
    pub reply: Reply,
    /// Slots that an evaluation of any of its expressions needs.
    pub slots: u16,
}

/// A parameter of an API.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Str,
    /// Its type.
    pub schema: Schema,
    /// True when it must be given.
    pub required: bool,
    /// Documented value when it is not given.
    pub default: Option<Value>,
    /// True where callers are told its value at the start.
    pub told: bool,
    /// The name by which HTTP callers send it, where that is another.
    pub sent_as: Option<Str>,
    /// The character between the items of a list in a query string, where that is no comma.
    pub separator: Option<char>,
    /// True where tools do not show it.
    pub hidden: bool,
    /// Where it stands in an HTTP request.
    pub place: Place,
    /// For callers.
    pub description: Str,
    /// A noun for people.
    pub label: Str,
    /// Free wording.
    pub free_text: bool,
    /// The field it is about, when `like`, its name or a filter says so.
    pub field: Option<(ResourceId, FieldId)>,
    /// People's words for enum values.
    pub synonyms: IndexMap<Str, Vec<Str>>,
}

impl Parameter {
    /// The name by which HTTP callers send it.
    pub fn wire_name(&self) -> &str {
        self.sent_as.as_deref().unwrap_or(&self.name)
    }
}

impl Api {
    /// Returns true if nobody says the value of a parameter: it is the token of who has signed in, or told at the start.
    pub fn is_filled(&self, id: ParameterId) -> bool {
        self.token == Some(id) || self.parameters.get(id.index()).is_some_and(|parameter| parameter.told)
    }

    /// The parameter that holds the request's body as a whole, where a contract says so.
    pub fn whole_body(&self) -> Option<&Parameter> {
        self.parameters.get(self.contract.as_ref()?.whole?.index())
    }

    /// The parameter of a name.
    pub fn parameter_named(&self, name: &str) -> Option<ParameterId> {
        self.parameters
            .iter()
            .position(|parameter| &*parameter.name == name)
            .map(|index| ParameterId(index as u16))
    }

    /// True when a call can change records.
    pub fn writes(&self) -> bool {
        !self.behaviour.also.is_empty()
            || matches!(
                self.behaviour.kind,
                BehaviourKind::Create { .. }
                    | BehaviourKind::Replace { .. }
                    | BehaviourKind::Patch { .. }
                    | BehaviourKind::Delete { .. }
                    | BehaviourKind::AddMembers { .. }
                    | BehaviourKind::RemoveMembers { .. }
            )
            || self.behaviour.keep.is_some()
    }

    /// The records of a list or an aggregate; none for other behaviours.
    pub const fn query(&self) -> Option<&Query> {
        match &self.behaviour.kind {
            BehaviourKind::List(query)
            | BehaviourKind::Members { query, .. }
            | BehaviourKind::Aggregate { query, .. } => Some(query),
            _ => None,
        }
    }

    /// True when a parameter only chooses how a list is looked at: its order, its page, the words it is searched by.
    pub fn chooses_view(&self, id: ParameterId) -> bool {
        let Some(query) = self.query() else { return false };
        let pages = query.page.as_ref().is_some_and(|page| page.parameter == id || page.limit == Some(id));
        let sorts = query.sort_parameter.as_ref().is_some_and(|(sorts, _)| *sorts == id);
        let searches = query
            .filters
            .iter()
            .any(|filter| filter.parameter == id && matches!(filter.test, FilterTest::Text(_)));
        pages || sorts || searches
    }

    /// True when a success has nothing to show: no member of the record acted on, and nothing beside it. Over HTTP such a
    /// reply is 204 without a body.
    pub fn shows_nothing(&self) -> bool {
        if let Some(contract) = &self.contract {
            return contract.reply.is_none();
        }
        let record = !matches!(
            self.behaviour.kind,
            BehaviourKind::List(_)
                | BehaviourKind::Members { .. }
                | BehaviourKind::Compute(_)
                | BehaviourKind::Aggregate { .. }
                | BehaviourKind::SignIn { .. }
                | BehaviourKind::SignOut
        );
        record && self.reply.members.is_empty() && self.reply.with.is_empty() && self.reply.envelope.is_none()
    }
}

impl Api {
    /// The description that callers read: the API's own, and the units and currencies of what it replies.
    pub fn documented(&self) -> String {
        let own = &*self.description;
        match &*self.measures {
            "" => own.to_owned(),
            measures if own.is_empty() => measures.to_owned(),
            measures if own.ends_with(['.', '!', '?']) => format!("{own} {measures}"),
            measures => format!("{own}. {measures}"),
        }
    }
}

impl World {
    /// The resource at a position.
    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.index()]
    }

    /// The API at a position.
    pub fn api(&self, id: ApiId) -> &Api {
        &self.apis[id.index()]
    }

    /// All APIs, in their order.
    pub fn api_ids(&self) -> impl Iterator<Item = ApiId> + use<> {
        (0..self.apis.len()).map(|index| ApiId(index as u16))
    }

    /// The API of a name.
    pub fn api_named(&self, name: &str) -> Option<ApiId> {
        self.apis.iter().position(|api| &*api.name == name).map(|index| ApiId(index as u16))
    }

    /// The values that system messages tell callers of a domain, by the name of their parameter.
    pub fn list_told(&self, domain: DomainId) -> impl Iterator<Item = (&Str, &Value)> {
        self.domains.get(domain.index()).into_iter().flat_map(Domain::list_told)
    }

    /// The values that HTTP clients of a domain are told at the start, by the name of their parameter.
    pub fn given(&self, domain: DomainId) -> Vec<(&Str, &Value)> {
        let Some(domain) = self.domains.get(domain.index()) else { return Vec::new() };
        // Records that are given, with their resources.
        let mut chosen: Vec<(ResourceId, &Record)> = Vec::new();
        let mut given = Vec::new();
        for (name, one) in &domain.given {
            let (of, field) = match one {
                Given::Value(value) => {
                    given.push((name, value));
                    continue;
                }
                Given::FieldOf(of, field) => (*of, *field),
            };
            let resource = self.resource(of);
            let fits = |record: &&Record| {
                chosen.iter().all(|(other, known)| {
                    let key = known.get(self.resource(*other).key.index());
                    let fields = resource.fields.iter().zip(record.iter());
                    let mut references = fields.filter(|(field, _)| {
                        matches!(&field.schema.kind, Type::Reference { resource, .. } if resource == other)
                    });
                    references.all(|(_, value)| Some(value) == key)
                })
            };
            let first = resource.records.iter().find(fits).or(resource.records.first());
            if let Some(record) = first {
                chosen.push((of, record));
                given.extend(record.get(field.index()).map(|value| (name, value)));
            }
        }
        given
    }

    /// The value that system messages tell for a parameter of an API.
    pub fn told_for(&self, api: &Api, parameter: &Parameter) -> Option<&Value> {
        if !parameter.told {
            return None;
        }
        self.list_told(api.domain).find(|(name, _)| **name == parameter.name).map(|(_, value)| value)
    }

    /// The resource of a qualified name.
    pub fn resource_named(&self, qualified: &str) -> Option<ResourceId> {
        self.resources
            .iter()
            .position(|resource| &*resource.qualified == qualified)
            .map(|index| ResourceId(index as u16))
    }
}

impl Resource {
    /// The field at a position.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// The field of a name.
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| &*field.name == name).map(|index| FieldId(index as u16))
    }

    /// A field of a record in words: `fee of the dentist`.
    pub fn about(&self, field: FieldId) -> String {
        format!("{} of the {}", self.field(field).label, self.label)
    }
}
