//! Fields of resources, parameters of APIs, items of lists and members of objects.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::fake::FakeForm;
use super::wire::{self, is_false};
use super::words::{OnDelete, Place, TypeName};

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
    #[schemars(with = "Option<FakeForm>")]
    pub fake: Option<Json>,
    /// Fields of source worlds only: other values are made from it, and the world that runs does not have it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub private: bool,
    /// Parameters only: `path`, `query`, `body` or `header`; default by method and path.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Parameters only: the name by which HTTP callers send it, where that is another: `filter[status]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_as: Option<String>,
    /// Parameters that are lists only: the character between items in the query string, where that is no comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Parameters only: taken and checked, and of no effect, as other people's documents have them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignored: bool,
    /// Parameters only: callers may send it, and tools do not show it, as it belongs to the protocol.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The meaning, for callers.
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

impl FieldDoc {
    /// The provider that makes the values up, where the field names one.
    pub fn provider(&self) -> Option<&str> {
        let fake = self.fake.as_ref()?;
        fake.get("provider").unwrap_or(fake).as_str()
    }
}
