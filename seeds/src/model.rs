//! Owns the checked form of a world, which the engine runs: names are positions, and expressions are typed.
//!
//! [`crate::world::compile`] makes it from a [`crate::doc::WorldDoc`]. It is read-only after that.

mod behaviour;
mod governance;
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
    Behaviour, BehaviourKind, Change, Confirm, Each, Effect, Filter, FilterTest, Measure, Misreading, Page,
    Query, ReadingError, Require, Setter, Sort, Which,
};
pub use ids::{ApiId, DomainId, FieldId, ParameterId, ResourceId};
pub use policy::{Articles, HouseRule};
pub use reply::{Many, Member, Reply, Shape, Source};
pub use security::{Need, SecurityKind, SecurityScheme};

/// A checked world.
#[derive(Clone, Debug)]
pub struct World {
    /// Identifier.
    pub name: Str,
    /// Title in one line.
    pub title: Str,
    /// Initial time of the clock.
    pub clock: Instant,
    /// The only time zone of the world.
    pub zone: Zone,
    /// True if the world represents a public benchmark.
    pub benchmark: bool,
    /// True if the world has all records.
    pub materialised: bool,
    /// Domains.
    pub domains: Vec<Domain>,
    /// Resources of all domains.
    pub resources: Vec<Resource>,
    /// APIs of all domains. Their names are unique in the world.
    pub apis: Vec<Api>,
    /// BLAKE3 of the canonical form in lower-case hexadecimal, for materialised worlds.
    pub hash: Option<Str>,
}

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Identifier.
    pub name: Str,
    /// Title in one line.
    pub title: Str,
    /// Description in one sentence.
    pub description: Str,
    /// Area of life or economy.
    pub sector: Str,
    /// Prefix of its paths, without a final slash. It is empty or begins with a slash.
    pub base_path: Str,
    /// Casing of names for callers. Names of parameters and members in this model already have it.
    pub casing: Casing,
    /// Resource of the people who use the service.
    pub users: Option<ResourceId>,
    /// Configuration of sign-in.
    pub auth: Option<Auth>,
    /// Security schemes of HTTP callers.
    pub security: Vec<SecurityScheme>,
    /// Values that callers get at the start, by the name of their parameter.
    pub given: Vec<(Str, StartValue)>,
    /// Rules of its policy, in order.
    pub house: Vec<HouseRule>,
    /// The records that tell the policy, where callers are to search for it.
    pub articles: Option<Articles>,
}

impl Domain {
    /// Returns the values that system messages show to callers, by the name of their parameter.
    pub fn list_told(&self) -> impl Iterator<Item = (&Str, &Value)> {
        self.given.iter().filter_map(|(name, given)| match given {
            StartValue::Value(value) => Some((name, value)),
            StartValue::FieldOf(..) => None,
        })
    }
}

/// A value that callers get at the start.
#[derive(Clone, Debug)]
pub enum StartValue {
    /// A fixed value.
    Value(Value),
    /// A field of the first record that refers to the values given before. Only HTTP clients get it.
    FieldOf(ResourceId, FieldId),
}

/// Configuration of a domain's sign-in.
#[derive(Clone, Debug)]
pub struct Auth {
    /// Resource of the users.
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
    /// Name of the resource, unique in its domain.
    pub name: Str,
    /// `name`, or `domain.name` if two domains have the same name, so that it is unique in the world.
    pub qualified: Str,
    /// Domain of the resource.
    pub domain: DomainId,
    /// Singular noun.
    pub label: Str,
    /// Plural noun.
    pub plural: Str,
    /// Description of a record in one sentence.
    pub description: Str,
    /// The key field.
    pub key: FieldId,
    /// Format of new keys.
    pub key_format: KeyFormat,
    /// Field whose value people use as the name of a record.
    pub display: Option<FieldId>,
    /// Field that holds the owner's key.
    pub owner: Option<FieldId>,
    /// True if the resource has exactly one record.
    pub singleton: bool,
    /// Groups of fields whose combined values are unique.
    pub unique_together: Vec<Vec<FieldId>>,
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Names for expressions over one of its records.
    pub defines: Vec<Define>,
    /// Records of a materialised world, sorted by key. A source world has none.
    pub records: Vec<Record>,
}

/// A name for an expression over a record: `seat.free`, or with parameters `table.free_at(args.starts_at)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Name of the definition.
    pub name: Str,
    /// Names of its parameters.
    pub parameters: Vec<Str>,
    /// The expression, in which `item` is the record.
    pub source: Str,
}

/// Format of new keys. They are pseudo-random and sparse, and depend on the session seed, the resource and
/// the number of successful creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFormat {
    /// Integers between two bounds, both included.
    Integer {
        /// Minimum.
        min: i64,
        /// Maximum.
        max: i64,
    },
    /// Text in which `#` is a digit. Inside `{}`, `A` is an upper-case letter, `x` a lower-case hexadecimal
    /// digit, and `w` a word. All other characters stand for themselves: `APT-####`, `{AAA}-###`.
    Code(Str),
}

/// A record: one value for each field of its resource, in order.
pub type Record = Arc<[Value]>;

/// A field of a resource.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the field.
    pub name: Str,
    /// Type of its values.
    pub schema: Schema,
    /// True if the field may be absent.
    pub optional: bool,
    /// Value if none is given.
    pub default: Option<Value>,
    /// True if the world makes the value. Graders ignore it.
    pub generated: bool,
    /// True if no two records share a value.
    pub unique: bool,
    /// True if callers word the text freely.
    pub free_text: bool,
    /// For references: effect of deleting the target.
    pub on_delete: OnDelete,
    /// Description for people.
    pub description: Str,
    /// Noun for people.
    pub label: Str,
    /// Synonyms of enum values.
    pub synonyms: IndexMap<Str, Vec<Str>>,
}

/// An API.
#[derive(Clone, Debug)]
pub struct Api {
    /// Name of the API, unique in the world.
    pub name: Str,
    /// Name before variants, with its domain, if the document states it.
    pub source_api: Option<Str>,
    /// Domain of the API.
    pub domain: DomainId,
    /// HTTP method.
    pub method: Method,
    /// Path below the domain's base path, with `{parameter}` segments.
    pub path: Str,
    /// Query parameters or headers that select it among APIs of one method and path. An empty value means any.
    pub chosen_by: Vec<(Str, Str)>,
    /// Description in one sentence.
    pub description: Str,
    /// Sentence with the units and currencies of its replies. It is empty if description and names show them.
    pub measures: Str,
    /// Search phrases for the API.
    pub search: Vec<Str>,
    /// Parameters in order. An API with `auth` has the token as the last.
    pub parameters: Vec<Parameter>,
    /// Parameter that carries the token.
    pub token: Option<ParameterId>,
    /// JSON Schemas of error bodies over HTTP, by status. An entry without a status covers all others.
    pub errors: Vec<(Option<u16>, Arc<serde_json::Value>)>,
    /// Credentials of HTTP callers: one of these sets of schemes. An API without sets needs none.
    pub security: Vec<Vec<Need>>,
    /// Promises of a document about the bodies.
    pub contract: Option<Arc<crate::contract::Contract>>,
    /// Effect of a call.
    pub behaviour: Behaviour,
    /// Shape of a reply.
    pub reply: Reply,
    /// Number of slots for the evaluation of its expressions.
    pub slots: u16,
}

/// A parameter of an API.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: Str,
    /// Type of its values.
    pub schema: Schema,
    /// True if the parameter is required.
    pub required: bool,
    /// Documented value if it is not given.
    pub default: Option<Value>,
    /// True if callers get its value at the start.
    pub told: bool,
    /// Name over HTTP, if it differs.
    pub sent_as: Option<Str>,
    /// Character between list items in a query string, if it is no comma.
    pub separator: Option<char>,
    /// True if tools do not show it.
    pub hidden: bool,
    /// Location in an HTTP request.
    pub place: Place,
    /// Description for callers.
    pub description: Str,
    /// Noun for people.
    pub label: Str,
    /// True if callers word the text freely.
    pub free_text: bool,
    /// Field that it represents, by `like`, its name or a filter.
    pub field: Option<(ResourceId, FieldId)>,
    /// Synonyms of enum values.
    pub synonyms: IndexMap<Str, Vec<Str>>,
}

impl Parameter {
    /// Returns the name by which HTTP callers send it.
    pub fn wire_name(&self) -> &str {
        self.sent_as.as_deref().unwrap_or(&self.name)
    }
}

impl Api {
    /// Returns true if the world supplies the value of a parameter: the token, or a value given at the start.
    pub fn is_filled(&self, id: ParameterId) -> bool {
        self.token == Some(id) || self.parameters.get(id.index()).is_some_and(|parameter| parameter.told)
    }

    /// Returns the parameter for the whole body, if the contract has one.
    pub fn whole_body(&self) -> Option<&Parameter> {
        self.parameters.get(self.contract.as_ref()?.whole?.index())
    }

    /// Returns the parameter with this name.
    pub fn parameter_named(&self, name: &str) -> Option<ParameterId> {
        self.parameters
            .iter()
            .position(|parameter| &*parameter.name == name)
            .map(|index| ParameterId(index as u16))
    }

    /// Returns true if a call can change records.
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

    /// Returns the query of a list or an aggregate. Other behaviours have none.
    pub const fn query(&self) -> Option<&Query> {
        match &self.behaviour.kind {
            BehaviourKind::List(query)
            | BehaviourKind::Members { query, .. }
            | BehaviourKind::Aggregate { query, .. } => Some(query),
            _ => None,
        }
    }

    /// Returns true if a parameter only affects the view of a list: its order, its page, or its search words.
    pub fn chooses_view(&self, id: ParameterId) -> bool {
        let Some(query) = self.query() else { return false };
        let pages = query
            .page
            .as_ref()
            .is_some_and(|page| page.parameter == id || [page.limit, page.number].contains(&Some(id)));
        let sorts = query.sort_parameter.as_ref().is_some_and(|(sorts, _)| *sorts == id);
        let searches = query
            .filters
            .iter()
            .any(|filter| filter.parameter == id && matches!(filter.test, FilterTest::Text(_)));
        pages || sorts || searches
    }

    /// Returns true if the reply of a success is empty: it shows no member of a record and no other member.
    /// Over HTTP it is 204 without a body.
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
    /// Returns the description for callers: the API's own, and the units and currencies of its replies.
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
    /// Returns the resource at a position.
    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.index()]
    }

    /// Returns the API at a position.
    pub fn api(&self, id: ApiId) -> &Api {
        &self.apis[id.index()]
    }

    /// Returns all APIs in order.
    pub fn api_ids(&self) -> impl Iterator<Item = ApiId> + use<> {
        (0..self.apis.len()).map(|index| ApiId(index as u16))
    }

    /// Returns the API with this name.
    pub fn api_named(&self, name: &str) -> Option<ApiId> {
        self.apis.iter().position(|api| &*api.name == name).map(|index| ApiId(index as u16))
    }

    /// Returns the values that system messages show to callers of a domain, by the name of their parameter.
    pub fn list_told(&self, domain: DomainId) -> impl Iterator<Item = (&Str, &Value)> {
        self.domains.get(domain.index()).into_iter().flat_map(Domain::list_told)
    }

    /// Returns the values that HTTP clients of a domain get at the start, by the name of their parameter.
    pub fn given(&self, domain: DomainId) -> Vec<(&Str, &Value)> {
        let Some(domain) = self.domains.get(domain.index()) else { return Vec::new() };
        // The given records with their resources.
        let mut chosen: Vec<(ResourceId, &Record)> = Vec::new();
        let mut given = Vec::new();
        for (name, one) in &domain.given {
            let (of, field) = match one {
                StartValue::Value(value) => {
                    given.push((name, value));
                    continue;
                }
                StartValue::FieldOf(of, field) => (*of, *field),
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

    /// Returns the value that system messages show for a parameter of an API.
    pub fn told_for(&self, api: &Api, parameter: &Parameter) -> Option<&Value> {
        if !parameter.told {
            return None;
        }
        self.list_told(api.domain).find(|(name, _)| **name == parameter.name).map(|(_, value)| value)
    }

    /// Returns the resource with this qualified name.
    pub fn resource_named(&self, qualified: &str) -> Option<ResourceId> {
        self.resources
            .iter()
            .position(|resource| &*resource.qualified == qualified)
            .map(|index| ResourceId(index as u16))
    }
}

impl Resource {
    /// Returns the field at a position.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// Returns the field with this name.
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| &*field.name == name).map(|index| FieldId(index as u16))
    }

    /// Returns a field of a record in words: `fee of the dentist`.
    pub fn about(&self, field: FieldId) -> String {
        format!("{} of the {}", self.field(field).label, self.label)
    }
}
