//! The world format, version 1: the document as people, models and importers write it.
//!
//! These structs are the wire form and nothing more; [`crate::model`] is the checked form that runs. Every key
//! is documented in `docs/world-format.md`. Unknown keys are refused.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

mod api;
mod order;
mod scenario;
mod security;
mod wire;
mod words;

use crate::casing::Casing;

pub use api::*;
pub use scenario::*;
pub use security::*;
pub use words::*;

/// The world format version that this crate reads and writes.
pub const WORLD_VERSION: u32 = 1;

/// A world document. A world of one domain may write `domain`, `resources` and `apis` at the top; a world of
/// several lists them under `domains`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldDoc {
    /// The format version; must be 1 and must be the first key.
    #[schemars(extend("const" = 1))]
    pub world: u32,
    /// Identifier: lower-case letters, digits, `_` and `-`.
    pub name: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the world is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The moment the world starts at, in its zone: `2026-03-02T09:00`.
    pub clock: String,
    /// IANA time zone; default `UTC`.
    #[serde(default = "utc")]
    pub zone: String,
    /// Licence of the records and texts: an SPDX expression, else a name or an address. Left out: unstated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the world was made from: `azure.com, ServiceBusManagementClient, version 2017-04-01`. Left out: unstated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// True for worlds that stand for a public benchmark: `generate` refuses them for training rows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub benchmark: bool,
    /// Present in a materialised world: the seed its records were made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materialised: Option<u64>,
    /// The single domain's head (short form).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainHead>,
    /// The single domain's resources (short form).
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub resources: IndexMap<String, ResourceDoc>,
    /// The single domain's APIs (short form).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<ApiDoc>,
    /// The single domain's scenarios (short form).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioDoc>,
    /// What operators tell their assistants of who they are. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    /// The domains (long form).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainDoc>,
}

/// What a domain is, apart from its resources and APIs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainHead {
    /// Identifier, such as `dental_clinic`.
    pub name: String,
    /// One line for people, such as `Dental clinic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the domain covers, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The field of the economy or of life, such as `health`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sector: Option<String>,
    /// Read and left out: worlds of datasets of schema version 1 have it.
    #[serde(default, rename = "archetype", skip_serializing)]
    #[schemars(skip)]
    #[doc(hidden)]
    pub former: Option<serde::de::IgnoredAny>,
    /// Prefix of the domain's paths; empty by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base_path: String,
    /// How the names of parameters and of members of replies are written to callers; default: as they stand here.
    /// Expressions, phrases and scenarios keep the names that stand here.
    #[serde(default, skip_serializing_if = "Casing::is_written")]
    pub casing: Casing,
    /// How users sign in, where some APIs need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthDoc>,
    /// JSON Schemas that the contracts of APIs refer to, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub schemas: IndexMap<String, serde_json::Value>,
    /// How HTTP callers prove who they are, by name; APIs say in `security` which they take.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub security: IndexMap<String, SecurityDoc>,
}

/// One domain of a world of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainDoc {
    /// The head.
    pub domain: DomainHead,
    /// Resources by name.
    #[serde(default, deserialize_with = "wire::unique")]
    pub resources: IndexMap<String, ResourceDoc>,
    /// The APIs in order.
    #[serde(default)]
    pub apis: Vec<ApiDoc>,
    /// Conversations written whole. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioDoc>,
    /// What operators tell their assistants of who they are. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
}

/// Sign-in: which resource holds the users, and how long a token lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthDoc {
    /// The resource whose records are the users.
    pub user: String,
    /// The user's field compared with the sign-in name.
    pub login: String,
    /// The user's field compared with the password or secret.
    pub secret: String,
    /// How the token is passed: the argument's name; over HTTP also `Authorization: Bearer`. Default `token`.
    #[serde(default = "token")]
    pub parameter: String,
    /// Seconds until a token expires; default 3600.
    #[serde(default = "hour")]
    pub expires_in_s: u32,
}

/// A kind of record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceDoc {
    /// The field that identifies a record. When `fields` does not declare it, it is a sparse integer.
    pub key: String,
    /// Singular noun for people; default: the resource's name with spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Plural noun for people; default: made from the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<String>,
    /// The field by which people call a record (`name`, `title`); default: the first unique string field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// What a record is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The field that holds the key of the owning user, for resources of the signed-in user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Exactly one record exists.
    #[serde(default, skip_serializing_if = "is_false")]
    pub singleton: bool,
    /// Groups of fields whose values together occur once: `[[doctor_id, starts_at]]`. A second is refused with 409.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_together: Vec<Vec<String>>,
    /// The fields, in the order in which replies show them.
    #[serde(deserialize_with = "wire::unique")]
    pub fields: IndexMap<String, FieldDoc>,
    /// Source worlds: how many records to make, or records given in full or in part. Materialised: all of them.
    #[serde(default)]
    pub records: RecordsDoc,
    /// Source worlds with a count: the first records take these values, the rest is made up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<IndexMap<String, Json>>,
    /// Source worlds: records made for each record of another resource, after those of `records`: the seasons of
    /// each show, the cast of each film.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<EachDoc>,
}

/// Records made for each record of a parent: `{of: season, by: season_id, min: 6, max: 10}`.
///
/// In such a record the provider `position` (`start`, default 1) gives its place among those of the same parent
/// and entry, and `through` (`ref: season_id`, `field: tv_id`) copies a field of the record behind a reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EachDoc {
    /// The parent resource.
    pub of: String,
    /// The reference field that takes the parent's key.
    pub by: String,
    /// Least number for one parent.
    pub min: u32,
    /// Greatest number for one parent.
    pub max: u32,
    /// Values that these records have in common, a null for a reference that is not theirs.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub set: IndexMap<String, Json>,
}

/// A count, or the records themselves.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RecordsDoc {
    /// How many to make.
    Count(u32),
    /// The records; missing fields are made up when the world is materialised.
    Given(Vec<IndexMap<String, Json>>),
}

/// A field of a resource, a parameter of an API, an item of a list or a field of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldDoc {
    /// `integer`, `number`, `decimal`, `date`, `time`, `date-time`, `boolean`, `string`, `list`, `object`, `any`.
    /// May be left out where `enum`, `ref` or `like` says enough.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TypeName>,
    /// Parameters only: takes type, limits, unit and description from `resource.field`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Holds the key of a record of this resource.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The values a string may take.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Type of a list's items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<FieldDoc>>,
    /// Fields of an object.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub fields: IndexMap<String, FieldDoc>,
    /// Decimal places of a decimal, 0 to 9; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u8>,
    /// ISO 4217 code: the decimal is money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Unit of a number, such as `km`, `kg`, `min`, `%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Least value (numbers, dates, times).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Json>,
    /// Greatest value (numbers, dates, times).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Json>,
    /// Least length: characters of a string, items of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Greatest length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// Regular expression that the whole string must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Format of a string, shown and used for made-up values: `email`, `uri`, `phone`, `uuid`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// May be null.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nullable: bool,
    /// Fields: may be absent. Parameters: need not be given (the same as `required: false`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Value when none is given. For fields a literal; for parameters a literal that is documented to callers.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "wire::present")]
    pub default: Option<Json>,
    /// Made by the world (a code, a time stamp); ignored by graders.
    #[serde(default, skip_serializing_if = "is_false")]
    pub generated: bool,
    /// No two records share the value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unique: bool,
    /// Free wording (a note, a message): compared by a text matcher unless the user dictated it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub free_text: bool,
    /// References: what deleting the target does. `restrict` (default) refuses, `cascade` deletes, `clear` nulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_delete: Option<OnDelete>,
    /// How to make values up: a provider's name, or `{provider: ..., options}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fake: Option<Json>,
    /// Parameters only: `path`, `query`, `body` or `header`; default by method and path.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Parameters only: taken and checked, and of no effect, as other people's documents have them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignored: bool,
    /// What it means, for callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A noun for people; default: the name with spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Questions a user asks for this field; `{it}` is the record: `When does {it} start?`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Sentences that state this field; `{it}` and `{value}`: `{it} starts {value}.`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub say: Vec<String>,
    /// Enums: what people say for a value, such as `paediatrics: [children's doctor]`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub synonyms: IndexMap<String, Vec<String>>,
}

/// What stands for a licence or a source that nothing states.
pub const UNSTATED: &str = "unstated";

impl WorldDoc {
    /// The licence of the records and texts.
    #[must_use]
    pub fn license(&self) -> &str {
        stated(self.license.as_deref())
    }

    /// What the world was made from.
    #[must_use]
    pub fn source(&self) -> &str {
        stated(self.source.as_deref())
    }

    /// The domains, whichever form the document uses; those of the long form are only looked at.
    #[must_use]
    pub fn to_domains(&self) -> Cow<'_, [DomainDoc]> {
        let is_long = self.domain.is_none() && self.resources.is_empty() && self.apis.is_empty();
        if is_long { Cow::Borrowed(&self.domains) } else { Cow::Owned(self.clone().into_domains().1) }
    }

    /// The document without its conversations, which take more room than all the rest.
    pub(crate) fn without_scenarios(&self) -> Self {
        let domain = |domain: &DomainDoc| DomainDoc {
            domain: domain.domain.clone(),
            resources: domain.resources.clone(),
            apis: domain.apis.clone(),
            scenarios: Vec::new(),
            system: Vec::new(),
        };
        Self {
            domains: self.domains.iter().map(domain).collect(),
            scenarios: Vec::new(),
            system: Vec::new(),
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            clock: self.clock.clone(),
            zone: self.zone.clone(),
            license: self.license.clone(),
            source: self.source.clone(),
            domain: self.domain.clone(),
            resources: self.resources.clone(),
            apis: self.apis.clone(),
            ..*self
        }
    }

    /// The domains, whichever form the document uses.
    #[must_use]
    pub fn into_domains(mut self) -> (Self, Vec<DomainDoc>) {
        let mut domains = std::mem::take(&mut self.domains);
        if self.domain.is_some() || !self.resources.is_empty() || !self.apis.is_empty() {
            let head = self
                .domain
                .take()
                .unwrap_or_else(|| DomainHead { name: self.name.clone(), ..DomainHead::default() });
            domains.insert(
                0,
                DomainDoc {
                    domain: head,
                    resources: std::mem::take(&mut self.resources),
                    apis: std::mem::take(&mut self.apis),
                    scenarios: std::mem::take(&mut self.scenarios),
                    system: std::mem::take(&mut self.system),
                },
            );
        }
        (self, domains)
    }
}

fn stated(text: Option<&str>) -> &str {
    text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(UNSTATED)
}

impl Default for RecordsDoc {
    fn default() -> Self {
        Self::Given(Vec::new())
    }
}

fn utc() -> String {
    "UTC".to_owned()
}

fn token() -> String {
    "token".to_owned()
}

const fn hour() -> u32 {
    3600
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
