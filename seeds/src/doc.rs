//! The world format, version 1: the document as people, models and importers write it.
//!
//! These structs are the wire form and nothing more; [`crate::model`] is the checked form that runs. Every key
//! is documented in `docs/world-format.md`. Unknown keys are refused.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The world format version that this crate reads and writes.
pub const WORLD_VERSION: u32 = 1;

/// A world document. A world of one domain may write `domain`, `resources` and `apis` at the top; a world of
/// several lists them under `domains`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldDoc {
    /// The format version; must be 1 and must be the first key.
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
    /// Licence of the records and texts, as an SPDX expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
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
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub resources: IndexMap<String, ResourceDoc>,
    /// The single domain's APIs (short form).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<ApiDoc>,
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
    /// The family this domain is a variant of, such as `appointment_booking`; default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archetype: Option<String>,
    /// Prefix of the domain's paths; empty by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base_path: String,
    /// How users sign in, where some APIs need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthDoc>,
}

/// One domain of a world of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainDoc {
    /// The head.
    pub domain: DomainHead,
    /// Resources by name.
    #[serde(default)]
    pub resources: IndexMap<String, ResourceDoc>,
    /// The APIs in order.
    #[serde(default)]
    pub apis: Vec<ApiDoc>,
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
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub set: IndexMap<String, Json>,
}

/// A count, or the records themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub kind: Option<String>,
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
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub on_delete: Option<String>,
    /// How to make values up: a provider's name, or `{provider: ..., options}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fake: Option<Json>,
    /// Parameters only: `path`, `query`, `body` or `header`; default by method and path.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
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
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub synonyms: IndexMap<String, Vec<String>>,
}

/// One API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiDoc {
    /// The name callers use: `BookAppointment`.
    pub name: String,
    /// HTTP method, upper case.
    pub method: String,
    /// Path with `{parameter}` segments, below the domain's base path.
    pub path: String,
    /// What it does, in a sentence, for callers.
    #[serde(default)]
    pub description: String,
    /// Parameters by name, in the order in which callers see them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub parameters: IndexMap<String, FieldDoc>,
    /// Needs a token from the domain's sign-in.
    #[serde(default, skip_serializing_if = "is_false")]
    pub auth: bool,
    /// What the call does.
    pub behaviour: BehaviourDoc,
    /// What the reply shows; default: the whole record.
    #[serde(default, skip_serializing_if = "ReplyDoc::is_default")]
    pub reply: ReplyDoc,
    /// How people ask for it, for the offline query agent. Not part of a materialised world.
    #[serde(default, skip_serializing_if = "PhrasesDoc::is_empty")]
    pub phrases: PhrasesDoc,
}

/// What a call does: exactly one of the kinds, with its options. Strings marked *expression* are in the
/// expression language of `docs/world-format.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BehaviourDoc {
    /// Kind: one record by key. `get: doctor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// Kind: the one record whose fields equal the parameters of `by`; none is 404, several 409.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<String>,
    /// Kind: the records that pass the filters, in order, in pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Kind: a new record; parameters named like fields are taken over, `set` adds or overrides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// Kind: all settable fields of a record are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
    /// Kind: the given fields of a record change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Kind: a record goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
    /// Kind: an action verb: checks, then the effects of `also`. Names the record acted on; `none` for no record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Kind: the members of an ordered list of references. `members: playlist.tracks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<String>,
    /// Kind: puts members into such a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_members: Option<String>,
    /// Kind: takes members out of such a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_members: Option<String>,
    /// Kind: a computed reply: output names to expressions.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub compute: IndexMap<String, String>,
    /// Kind: measures over the records that pass the filters, by group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<String>,
    /// Kind: checks name and secret, gives a token. Parameters are named by the domain's `auth.login` and `auth.secret`.
    #[serde(skip_serializing_if = "is_false")]
    pub sign_in: bool,
    /// Kind: ends the token.
    #[serde(skip_serializing_if = "is_false")]
    pub sign_out: bool,

    /// Expression for the key of the record acted on; default: the parameter that references the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// lookup: field to parameter.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub by: IndexMap<String, String>,
    /// list, aggregate: parameter to filter. A filter whose argument is not given does nothing.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub filters: IndexMap<String, FilterDoc>,
    /// list, aggregate, members: expression over `item` that must hold.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// list, members: the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<SortDoc>,
    /// list, members: paging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<PageDoc>,
    /// create, replace, patch: field to expression.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub set: IndexMap<String, String>,
    /// add_members, remove_members: the parameter with the member's key, or a list of keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// add_members: the parameter with the position, from 0; default: the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// aggregate: the field that makes the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// aggregate: output name to measure, such as `count`, `sum(total)`, `avg(price)`, `min(x)`, `max(x)`.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub measures: IndexMap<String, String>,
    /// Names for expressions used below, evaluated once, in order.
    #[serde(rename = "let", skip_serializing_if = "IndexMap::is_empty")]
    pub bindings: IndexMap<String, String>,
    /// Checks in order; the first that does not hold ends the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<RequireDoc>,
    /// Further changes, after the kind's own; all or none happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<EffectDoc>,
}

/// A check before a call takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequireDoc {
    /// Boolean expression; null counts as false.
    pub that: String,
    /// The refusal when it does not hold.
    #[serde(rename = "else")]
    pub otherwise: RefusalDoc,
}

/// A refusal: status and message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusalDoc {
    /// HTTP status, 400 to 499.
    pub status: u16,
    /// Lower-case sentence for the caller.
    pub message: String,
}

/// A change to records, as part of an action. Exactly one of `create`, `update`, `delete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EffectDoc {
    /// Makes a record of this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// Changes records of this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<String>,
    /// Deletes records of this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
    /// update, delete: expression for the key of one record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// update, delete: expression over `item`; all records for which it holds change.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The effect happens only when this expression holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// create, update: field to expression; in an update, `item` is the record before the change.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub set: IndexMap<String, String>,
    /// create: the name under which later expressions see the new record.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a list parameter filters by: a field (equality), or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FilterDoc {
    /// Equality with this field.
    Field(String),
    /// A comparison with a field.
    Compare(CompareDoc),
    /// Text search.
    Text(TextDoc),
}

/// A comparison of a field with an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareDoc {
    /// The field.
    pub field: String,
    /// `eq`, `ne`, `lt`, `le`, `gt`, `ge`; `on` (a date-time on a date); `prefix`, `contains` (strings, any case);
    /// `has` (a list field holds the argument); `in` (the argument is a list that holds the field).
    pub op: String,
}

/// Text search: every word of the argument occurs in one of the fields, any case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextDoc {
    /// The fields searched.
    pub text: Vec<String>,
}

/// The order of a list. Ties are broken by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SortDoc {
    /// Fixed or default order: a field, with `-` in front for descending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The parameter with which the caller chooses: a field's name, `-` in front (or `.desc` behind) for descending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The fields the caller may choose; the parameter's enum must list them with and without `-`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Paging.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageDoc {
    /// `page` (page number from 1), `offset`, or `cursor`.
    pub style: String,
    /// Items on a page when the caller does not say; default 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// The parameter with the page number, offset or cursor; default the style's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The parameter with the page size, if callers may choose; the parameter's `max` bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// What a reply shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyDoc {
    /// HTTP status of success; default 200, 201 for create, 204 is never used (callers see a body).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What each record shows; default: every field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<ReplyFieldDoc>>,
    /// Lists: the array's name; default: the resource's plural. An empty string makes the array the whole body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// Lists: the name of the count of all matches; default `total`, with paging also the page's place. An empty
    /// string leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// Lists: names of further paging members: `page`, `pages`, `offset`, `limit`, `next` to output names.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub paging: IndexMap<String, String>,
    /// Puts the whole body under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<String>,
    /// Members beside the list or record, from expressions.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub with: IndexMap<String, String>,
}

/// One member of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplyFieldDoc {
    /// A field under its own name.
    Field(String),
    /// Anything else.
    Member(Box<ReplyMemberDoc>),
}

/// A reply member with a name and one source: `field`, `follow`, `many`, `expr`, `object` or `value`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyMemberDoc {
    /// Output name.
    #[serde(rename = "as")]
    pub name: String,
    /// A field of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// A reference field (or list of references): the record behind it is embedded, showing `fields`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<String>,
    /// The records of another resource that reference this one, showing `fields`: `many: review`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub many: Option<String>,
    /// With `many`: the reference field in the other resource; default: the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// With `many`: expression over `item` that must hold.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// With `many`: the order, a field with an optional `-`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// With `many`: at most so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// An expression over `record`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expr: Option<String>,
    /// A nested object with these members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Vec<ReplyFieldDoc>>,
    /// A constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// With `follow` and `many`: the members of each embedded record; default: every field. A single unnamed
    /// member (`- {as: "", field: name}`) makes the embedding that bare value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<ReplyFieldDoc>>,
}

/// How people ask for an API and how its result is told, for the offline query and caller agents.
///
/// `{parameter}` stands for the argument as a person says it (a reference by the record's display name, a date
/// in words), `[ ... {parameter} ...]` for a part that is there only when its arguments are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhrasesDoc {
    /// Verb first, lower case, no final stop: `book {doctor_id} for {patient}[ at {starts_at}]`.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub imperative: Vec<String>,
    /// Whole requests as users write them: `My tooth hurts, get me in with {doctor_id} {starts_at}.`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub request: Vec<String>,
    /// Lists and aggregates: a noun phrase, plural: `dermatologists[ in {city}]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noun: Vec<String>,
    /// What the assistant says when it is done; `{parameter}` and `{reply:path.to.leaf}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
}

impl WorldDoc {
    /// The domains, whichever form the document uses.
    #[must_use]
    pub fn into_domains(mut self) -> (Self, Vec<DomainDoc>) {
        let mut domains = std::mem::take(&mut self.domains);
        if self.domain.is_some() || !self.resources.is_empty() || !self.apis.is_empty() {
            let head = self.domain.take().unwrap_or_else(|| DomainHead { name: self.name.clone(), ..DomainHead::default() });
            domains.insert(
                0,
                DomainDoc {
                    domain: head,
                    resources: std::mem::take(&mut self.resources),
                    apis: std::mem::take(&mut self.apis),
                },
            );
        }
        (self, domains)
    }
}

impl Default for RecordsDoc {
    fn default() -> Self {
        Self::Given(Vec::new())
    }
}

impl ReplyDoc {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl PhrasesDoc {
    fn is_empty(&self) -> bool {
        *self == Self::default()
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
