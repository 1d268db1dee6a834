//! Owns the world document: its domains and their resources.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::api::ApiDoc;
use super::field::FieldDoc;
use super::house::HouseDoc;
use super::scenario::{ReactionsDoc, ScenarioDoc, SignInDoc};
use super::security::SecurityDoc;
use super::wire::{self, is_false};
use crate::casing::Casing;

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
    /// The purpose of the world.
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
    /// The source of the world: `azure.com, ServiceBusManagementClient, version 2017-04-01`. Left out: unstated.
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
    /// Sentences in which operators tell their assistants who they are. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    /// Messages of users when a matter of the world is settled. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "ReactionsDoc::is_empty")]
    pub reactions: ReactionsDoc,
    /// How users sign in when a call needs it. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "SignInDoc::is_empty")]
    pub sign_in: SignInDoc,
    /// The domains (long form).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainDoc>,
}

/// The description of a domain, apart from its resources and APIs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainHead {
    /// Identifier, such as `dental_clinic`.
    pub name: String,
    /// One line for people, such as `Dental clinic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence that says what the domain covers.
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
    /// The resource of the people whom the service serves, such as `patient`; default: `auth.user`. In a world of several
    /// domains, the nth record of each domain's users is the same person: name, phone number, address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<String>,
    /// The continent of its records, as the names of its time zones begin (`Europe`), where records name places of several countries;
    /// worlds with the domain are set there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continent: Option<String>,
    /// How users sign in, where some APIs need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthDoc>,
    /// JSON Schemas that the contracts of APIs refer to, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub schemas: IndexMap<String, serde_json::Value>,
    /// Values that callers are told at the start, by the name of the parameter that takes them: subscriptions, projects and other keys that
    /// no reply lists.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub given: IndexMap<String, GivenDoc>,
    /// How HTTP callers prove who they are, by name; APIs say in `security` which they take.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub security: IndexMap<String, SecurityDoc>,
    /// The domain's policy: rules that its APIs do not enforce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house: Option<HouseDoc>,
}

/// A value that callers are told at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GivenDoc {
    /// This text or whole number, which system messages tell.
    Value(serde_json::Value),
    /// The field `resource.field` of the first record that refers to the values given before: for HTTP clients alone. People name the records
    /// they mean.
    FieldOf(String),
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
    /// Sentences in which operators tell their assistants who they are. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    /// Messages of users when a matter of the domain is settled. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "ReactionsDoc::is_empty")]
    pub reactions: ReactionsDoc,
    /// How users sign in when a call needs it. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "SignInDoc::is_empty")]
    pub sign_in: SignInDoc,
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
    /// A sentence that says what a record is.
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
    /// Names for expressions over a record of the resource, which is `item`: `free: "item.copies > 0"` is written `book.free` wherever
    /// `book` is one of its records. A name may have parameters: `free_at(at): "..."` is written `table.free_at(args.starts_at)`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub define: IndexMap<String, String>,
    /// The states of a record: which may follow which. Behaviours move records with `moves`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<StatesDoc>,
    /// Source worlds: tables, from one row of which several fields of a record are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RowsDoc>,
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

/// The states of a record: `{field: status, to: {refunded: {from: [valid], else: the ticket has been refunded already}}}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatesDoc {
    /// The enum that holds the state.
    pub field: String,
    /// By the state that a record comes to: where it may come from.
    #[serde(deserialize_with = "wire::unique")]
    pub to: IndexMap<String, MoveDoc>,
}

/// A move to a state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveDoc {
    /// The states that it starts from.
    pub from: Vec<String>,
    /// The message with which a call is refused (409) for a record in another state; default: made from the states.
    #[serde(rename = "else", default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
}

/// A table of values that go together: `{fields: [name, fuel, months], of: [[Everyday Power, electricity, 0], ...]}`.
///
/// The first field chooses the row. Made in another way, it is looked up; a text without a `fake` is drawn from the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowsDoc {
    /// The fields, in the order of the values.
    pub fields: Vec<String>,
    /// The rows: a value for each field, null for none.
    #[serde(serialize_with = "wire::lines")]
    pub of: Vec<Vec<Json>>,
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

/// Stands for the licence or source of a world that states none.
pub const UNSTATED: &str = "unstated";

impl WorldDoc {
    /// Returns the licence of the records and strings, or [`UNSTATED`].
    pub fn license(&self) -> &str {
        stated(self.license.as_deref())
    }

    /// Returns the source of the world, or [`UNSTATED`].
    pub fn source(&self) -> &str {
        stated(self.source.as_deref())
    }

    /// Returns the domains in the long form. Borrows them if the document already uses that form.
    pub fn to_domains(&self) -> Cow<'_, [DomainDoc]> {
        let is_long = self.domain.is_none() && self.resources.is_empty() && self.apis.is_empty();
        if is_long { Cow::Borrowed(&self.domains) } else { Cow::Owned(self.clone().into_domains().1) }
    }

    /// Returns the document without domains and scenarios.
    pub fn head(&self) -> Self {
        Self {
            domain: None,
            resources: IndexMap::new(),
            apis: Vec::new(),
            scenarios: Vec::new(),
            system: Vec::new(),
            reactions: ReactionsDoc::default(),
            sign_in: SignInDoc::default(),
            domains: Vec::new(),
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            clock: self.clock.clone(),
            zone: self.zone.clone(),
            license: self.license.clone(),
            source: self.source.clone(),
            ..*self
        }
    }

    /// Returns the document without its scenarios, which are larger than everything else.
    pub fn without_scenarios(&self) -> Self {
        let domain = |domain: &DomainDoc| DomainDoc {
            domain: domain.domain.clone(),
            resources: domain.resources.clone(),
            apis: domain.apis.clone(),
            ..DomainDoc::default()
        };
        Self {
            domain: self.domain.clone(),
            resources: self.resources.clone(),
            apis: self.apis.clone(),
            domains: self.domains.iter().map(domain).collect(),
            ..self.head()
        }
    }

    /// Splits the document into its head and its domains, whichever form it uses.
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
                    reactions: std::mem::take(&mut self.reactions),
                    sign_in: std::mem::take(&mut self.sign_in),
                },
            );
        }
        (self, domains)
    }
}

impl ResourceDoc {
    /// Returns true if a table supplies the field's values.
    pub fn has_rows_of(&self, field: &str) -> bool {
        self.rows.iter().any(|rows| rows.fields.iter().any(|name| name == field))
    }
}

fn stated(text: Option<&str>) -> &str {
    text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(UNSTATED)
}

impl DomainDoc {
    /// Renames APIs everywhere in the domain, all at once: a new name may equal another API's old name.
    pub fn rename_apis(&mut self, names: &HashMap<String, String>) {
        self.scenarios.iter_mut().for_each(|scenario| scenario.rename_apis(names));
        self.domain.house.iter_mut().for_each(|house| house.rename_apis(names));
    }

    /// Sets the source of each API that has none.
    pub fn name_sources(&mut self) {
        name_sources(&self.domain.name, &mut self.apis);
    }
}

impl WorldDoc {
    /// Returns the document with the source of each API set.
    #[must_use]
    pub fn with_sources(mut self) -> Self {
        let name = self.domain.as_ref().map_or(&self.name, |head| &head.name);
        name_sources(name, &mut self.apis);
        self.domains.iter_mut().for_each(DomainDoc::name_sources);
        self
    }
}

/// Sets the source of each API that has none: its domain and its name.
fn name_sources(domain: &str, apis: &mut [ApiDoc]) {
    for api in apis.iter_mut().filter(|api| api.source_api.is_none()) {
        api.source_api = Some(format!("{domain}.{}", api.name));
    }
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
