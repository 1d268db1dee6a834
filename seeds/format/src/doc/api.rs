//! Owns the part of the world format that describes APIs: parameters, behaviour, reply and phrases.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::field::FieldDoc;
use super::wire::{self, is_false};
use super::words::{Comparison, Method, PageStyle, PagingMember};
use crate::casing::Casing;
use crate::normal_form::nfc;
use crate::task::{RefusalClass, refusal};

/// One API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiDoc {
    /// The name callers use: `BookAppointment`.
    pub name: String,
    /// Its name before worlds were joined and varied, with its domain: `dental_clinic.BookAppointment`. Filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_api: Option<String>,
    /// HTTP method, upper case.
    pub method: Method,
    /// Path with `{parameter}` segments, below the domain's base path.
    pub path: String,
    /// Query parameters or headers, with the values that choose this API among those of the same method and path; an empty value is any.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub chosen_by: IndexMap<String, String>,
    /// A sentence for callers that says what it does.
    #[serde(default)]
    pub description: String,
    /// A sentence with the units and currencies of what it replies, where description and names do not tell them. Filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<String>,
    /// Parameters by name, in the order in which callers see them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub parameters: IndexMap<String, FieldDoc>,
    /// Needs a token from the domain's sign-in.
    #[serde(default, skip_serializing_if = "is_false")]
    pub auth: bool,
    /// Credentials of HTTP callers: one of these, each a set of the domain's security schemes with the scopes that
    /// the token must have. An empty set lets callers without any in. Tool calls need none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<IndexMap<String, Vec<String>>>,
    /// JSON Schemas of error bodies over HTTP, by status or `default`. An error takes the schema of its status, with
    /// the members of a problem document added where it allows more; without one it is a problem document.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub errors: IndexMap<String, Json>,
    /// Promises of a document about its bodies: requests are checked by it, and replies are made valid by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<ContractDoc>,
    /// The effect of a call.
    pub behaviour: BehaviourDoc,
    /// The shape of the reply; default: the whole record.
    #[serde(default, skip_serializing_if = "ReplyDoc::is_default")]
    pub reply: ReplyDoc,
    /// How people ask for it, for the offline query agent. Only `search` is part of a materialised world.
    #[serde(default, skip_serializing_if = "PhrasesDoc::is_empty")]
    pub phrases: PhrasesDoc,
}

/// The bodies of an API as JSON Schema. `#/schemas/Name` refers to the domain's `schemas`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContractDoc {
    /// The request's body; parameters in the body are its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Json>,
    /// The parameter that takes the whole body, where it is no object with members of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// The body of a success, made of what is known of the record; nothing where a success has no JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Json>,
    /// Media types of a success, where there are others than JSON: what a request prefers is sent. Calls by name get JSON.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// The headers of a success, by name, as JSON Schemas. A `Location` of something new is its path; others show the
    /// member of the body that has their name, or what their schema lends.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub headers: IndexMap<String, Json>,
    /// The body is a form: one that is empty is no missing body.
    #[serde(skip_serializing_if = "is_false")]
    pub form: bool,
    /// A change merges members of objects inside the body, and null takes one away (RFC 7396).
    #[serde(skip_serializing_if = "is_false")]
    pub merge: bool,
    /// The members of the body, each in the one before, that hold the members of the record: `[data, attributes]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// A request over HTTP must have a body.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_body: bool,
    /// The status of a request whose body is not valid; default 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<u16>,
}

/// The effect of a call: exactly one of the kinds, with its options. Strings marked *expression* are in the
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
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
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
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub by: IndexMap<String, String>,
    /// list, aggregate: parameter to filter. A filter whose argument is not given does nothing.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub filters: IndexMap<String, FilterDoc>,
    /// list, aggregate, members: expression over `item` that must hold; create: see `each`.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// list, members: the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<SortDoc>,
    /// list, members: paging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<PageDoc>,
    /// create, replace, patch, action, with a contract: the field (of type `any`) that keeps the body as it was sent;
    /// fields of the same name take what fits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// replace, patch: a record that is not there is made, with `set`.
    #[serde(skip_serializing_if = "is_false")]
    pub upsert: bool,
    /// create, with `keep`: the parameter whose list has a body for each record. An item that names the key of a record
    /// of the same `set` changes that record. With `where`, the records for which it holds and that no item names go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// create, replace, patch: field to expression.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub set: IndexMap<String, String>,
    /// patch, action: the state that the record comes to, of the `states` of its resource. A record in another state than the move
    /// starts from is refused, before the checks of `require`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<String>,
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
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub measures: IndexMap<String, String>,
    /// Names for expressions used below, evaluated once, in order.
    #[serde(rename = "let", skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub bindings: IndexMap<String, String>,
    /// Checks in order; the first that does not hold ends the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<RequireDoc>,
    /// Further changes, after the kind's own; all or none happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<EffectDoc>,
}

impl BehaviourDoc {
    /// Returns the resource whose single records the behaviour reads or writes. Returns none for aggregates
    /// and for kinds that list or change members.
    pub fn resource(&self) -> Option<&String> {
        let kinds = [
            &self.get,
            &self.lookup,
            &self.list,
            &self.create,
            &self.replace,
            &self.patch,
            &self.delete,
            &self.action,
        ];
        kinds.into_iter().flatten().next()
    }
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
    /// Why, by meaning: a class of refusal, or those that fit. That of the status is right besides, and alone when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "refusal")]
    #[schemars(with = "refusal::OneOrSeveral")]
    pub reason: Vec<RefusalClass>,
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
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub set: IndexMap<String, String>,
    /// create: the name under which later expressions see the new record.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The filter of a list parameter: a field (equality), or more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    /// The comparison of the field with the argument.
    pub op: Comparison,
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
    /// The parameter with which the caller chooses: a field's name, `-` in front (or `.desc` behind) for descending;
    /// or `asc` and `desc`, which turn the order of `by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The fields the caller may choose; the parameter's enum must list them with and without `-`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Paging.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageDoc {
    /// How callers name a page.
    pub style: PageStyle,
    /// Items on a page when the caller does not say; default 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// The parameter with the page number, offset or cursor; default the style's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The number of the first page, default 1, or of the first item, default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u8>,
    /// The parameter with the page size, if callers may choose; the parameter's `max` bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// cursor: the parameter with a page number, from 1, for callers that give no cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
}

/// The shape of a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyDoc {
    /// HTTP status of success; default 200, 201 for create, 204 is never used (callers see a body).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Status where an upsert makes the record; `status` when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<u16>,
    /// The members of each record; default: every field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<ReplyFieldDoc>>,
    /// Lists: the array's name; default: the resource's plural. An empty string makes the array the whole body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// Lists: the name of the count of all matches; default `total`, with paging also the page's place. An empty
    /// string leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// Lists: output names of paging members; default: those of the style.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub paging: IndexMap<PagingMember, String>,
    /// Puts the whole body under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<String>,
    /// Members beside the list or record, from expressions.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub with: IndexMap<String, String>,
}

/// One member of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    /// A constant; null is one.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "wire::present")]
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
    /// The assistant's words when it is done; `{parameter}` and `{reply:path.to.leaf}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// People's words for what it does, for searches inside a session: `extend a loan`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<String>,
    /// It is neither asked for nor used for look-ups: it is there for callers that still use it.
    #[serde(skip_serializing_if = "is_false")]
    pub unasked: bool,
    /// Why nobody asks for it, although it may be used for look-ups: `people have no noun for it: gethomedata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_request: Option<String>,
}

impl ReplyDoc {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl PhrasesDoc {
    /// Converts the slots of all phrases to callers' names.
    pub fn cased(&self, casing: Casing) -> Self {
        let cased = |phrases: &[String]| phrases.iter().map(|phrase| casing.write_phrase(phrase)).collect();
        Self {
            imperative: cased(&self.imperative),
            request: cased(&self.request),
            noun: cased(&self.noun),
            done: cased(&self.done),
            search: self.search.clone(),
            unasked: self.unasked,
            no_request: self.no_request.clone(),
        }
    }

    /// Returns the part that a materialised world keeps: the phrases that sessions search by.
    pub fn kept(&self) -> Self {
        let search = self.search.iter().map(|phrase| nfc(phrase).to_string()).collect();
        Self { search, ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
