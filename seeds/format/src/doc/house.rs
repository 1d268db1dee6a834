//! Owns the part of the world format that describes a domain's policy: numbers, and rules that no API
//! enforces.

use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{self, is_false};

/// A domain's policy. No API enforces it: assistants read it and keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HouseDoc {
    /// Numbers that rules name, each with the values of which every materialised world draws one.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub numbers: IndexMap<String, Vec<i64>>,
    /// The rules.
    pub rules: Vec<RuleDoc>,
    /// The records that tell the policy, where assistants are to search for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub articles: Option<ArticlesDoc>,
}

/// `{resource: policy_article, text: text, rules: rules}`: a list of the domain shows the records, but not their `rules`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArticlesDoc {
    /// The resource.
    pub resource: String,
    /// Its string field with the words of an article.
    pub text: String,
    /// Its field, a list of strings, with the names of the rules that an article in force tells: empty for others.
    pub rules: String,
    /// Numbers of `numbers` as articles tell them that were replaced.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub replaced: IndexMap<String, i64>,
}

/// A rule: exactly one of `notice`, `cap`, `window`, `role`, `frequency`, `obligation`, `order`, `confirm`. Strings marked
/// *expression* see what a `require` of the governed APIs sees; strings marked *words* stand in the rule's sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleDoc {
    /// Its name, unique in the domain: `notice_to_cancel`.
    pub name: String,
    /// The APIs that it governs.
    pub calls: Vec<String>,
    /// Words: the governed act, in the imperative: `cancel an appointment`.
    pub act: String,
    /// Expression: the calls that it governs; all calls of its APIs when left out. `act` says the same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// So much time must be left before something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeDoc>,
    /// A value may not be above a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<CapDoc>,
    /// A value must lie between two others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowDoc>,
    /// Only some people, records or states allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleDoc>,
    /// Something may not be there more often than a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<FrequencyDoc>,
    /// Something else must have been done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obligation: Option<ObligationDoc>,
    /// Something else must not have happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderDoc>,
    /// The user must have said yes to the call, with some values stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ConfirmDoc>,
    /// Exceptions: where one holds, the rule does not govern the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unless: Vec<ExceptionDoc>,
}

/// A number, or the name of one under `numbers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AmountDoc {
    /// The number itself.
    Number(i64),
    /// Its name.
    Name(String),
}

/// `{of: record.starts_at, hours: notice_hours, until: the appointment starts}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoticeDoc {
    /// Expression: the date-time, with `days` a date or a date-time, before which the time must be left.
    pub of: String,
    /// Least number of hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<AmountDoc>,
    /// Least number of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<AmountDoc>,
    /// Words: what happens at the time: `the appointment starts`.
    pub until: String,
}

/// `{of: args.amount, at_most: highest_amount, what: the amount, unit: euros}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapDoc {
    /// Expression: the number.
    pub of: String,
    /// The greatest that is allowed.
    pub at_most: AmountDoc,
    /// Words: what is counted or measured: `the amount`.
    pub what: String,
    /// Words: its unit, in the plural: `euros`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// `{of: "time(args.starts_at)", from: first_hour, to: last_hour, clock: true, what: the start}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowDoc {
    /// Expression: a number, with `clock` a time of day.
    pub of: String,
    /// The least that is allowed.
    pub from: AmountDoc,
    /// The greatest that is allowed.
    pub to: AmountDoc,
    /// True if the ends are full hours of the day, from 0 to 23.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clock: bool,
    /// Words: what must lie between them: `the start`.
    pub what: String,
}

/// `{is: "patient.get(record.patient_id).balance == 0", where: the patient owes nothing}`, or `{by: the front desk}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleDoc {
    /// Expression: for whom, or for what, the act is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// Words: the same as a clause.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// Words: those who alone do it, in the place of `is` and `where`: the assistant never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// `{of: "loan.count(l, l.member_id == me.member_id)", at_most: most_loans, what: books on loan}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrequencyDoc {
    /// Expression: how many there are before the call.
    pub of: String,
    /// How many there may be after it.
    pub at_most: AmountDoc,
    /// Words: what is counted, in the plural: `booked appointments`.
    pub what: String,
    /// Words: who has them: `a patient`.
    pub who: String,
}

/// `{done: "record.note != null", duty: a note on the appointment gives the reason}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObligationDoc {
    /// Expression: that it was done.
    pub done: String,
    /// Words: the same as a clause.
    pub duty: String,
}

/// `{after: "record.handed_over", event: the parcel was handed over}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderDoc {
    /// Expression: that it has happened.
    pub after: String,
    /// Words: the same as a clause.
    pub event: String,
}

/// `{state: [{of: record.starts_at, what: its start}]}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmDoc {
    /// The values that the user must hear before they say yes; at least one.
    pub state: Vec<StatedDoc>,
}

/// `{of: record.starts_at, what: its start}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatedDoc {
    /// Expression: the value.
    pub of: String,
    /// Words: a noun in the singular: `its start`.
    pub what: String,
}

/// `{that: "record.note == 'emergency'", where: it is an emergency}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExceptionDoc {
    /// Expression: the calls that the rule does not govern.
    pub that: String,
    /// Words: the same as a clause.
    #[serde(rename = "where")]
    pub clause: String,
}

impl HouseDoc {
    /// Replaces the names of governed APIs. `names` maps old names to new ones.
    pub fn rename_apis(&mut self, names: &HashMap<String, String>) {
        for call in self.rules.iter_mut().flat_map(|rule| &mut rule.calls) {
            if let Some(new) = names.get(call) {
                call.clone_from(new);
            }
        }
    }
}
