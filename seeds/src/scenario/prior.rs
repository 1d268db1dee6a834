//! Owns the user and the values that earlier scenarios of a conversation have settled.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::places::BoundValue;
use crate::model::{FieldId, Resource, ResourceId};
use crate::value::Value;

/// The user and the values that earlier scenarios of a conversation have settled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    /// The user's own record, which the binding `me` must hold.
    pub me: Option<(ResourceId, Value)>,
    /// The user's name, which the record or value of the caller must have.
    pub name: Option<Value>,
    /// The user's name at a service that stores no other, if the full name is unknown.
    pub username: Option<Value>,
    /// Stated amounts of money. `money_places` reuse one of them if it fits.
    pub amounts: Vec<Value>,
    /// Names of the bindings that are amounts of money.
    pub money_places: Vec<String>,
    /// Stated names of people. Bindings of new people reuse one of them if it fits.
    pub people: Vec<Value>,
    /// Stated titles. `naming_places` reuse one of them if it fits.
    pub titles: Vec<Value>,
    /// Names of the bindings for titles that a write gives to a new record.
    pub naming_places: Vec<String>,
    /// Mentioned records. Bindings of records reuse one of them if it fits.
    pub records: Vec<(ResourceId, Value)>,
}

impl Prior {
    /// Returns true if a binding reuses a stated person, record, title or amount.
    pub fn is_taken_up(
        &self,
        (place, bound): &(String, BoundValue),
        name_of: impl Fn(ResourceId, &Value) -> Option<Value>,
    ) -> bool {
        let stated = |value: &Value| self.people.contains(value) || self.titles.contains(value);
        match bound {
            BoundValue::Record(resource, key) => {
                self.speaks_of(*resource, key) || name_of(*resource, key).as_ref().is_some_and(stated)
            }
            BoundValue::Value(value, _) => {
                stated(value) || (self.money_places.contains(place) && self.amounts.contains(value))
            }
            BoundValue::Records(..) | BoundValue::New(..) => false,
        }
    }

    /// Returns true if the conversation has mentioned a record.
    pub fn speaks_of(&self, resource: ResourceId, key: &Value) -> bool {
        self.records.iter().any(|(of, own)| *of == resource && own == key)
    }

    /// The empty state at the start of a conversation.
    pub const NONE: Self = Self {
        me: None,
        name: None,
        username: None,
        amounts: Vec::new(),
        money_places: Vec::new(),
        people: Vec::new(),
        titles: Vec::new(),
        naming_places: Vec::new(),
        records: Vec::new(),
    };
}

/// Fields that hold names of people.
pub type PersonFields = BTreeSet<(ResourceId, FieldId)>;

/// Returns true if a user name contains the first or the last name of a person.
pub fn is_username_of(username: &str, name: &str) -> bool {
    let folded = |text: &str| -> String {
        text.nfd().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let username = folded(username);
    name.split(' ').map(folded).any(|part| part.len() >= MIN_NAME_PART && username.contains(&part))
}

/// Minimum number of letters of a first or last name in a user name.
const MIN_NAME_PART: usize = 3;

/// Returns the field of a resource that holds the name of a person: the display field, otherwise the first
/// such field.
pub fn person_field(resource: &Resource, id: ResourceId, people: &PersonFields) -> Option<FieldId> {
    let names_person = |field: &FieldId| people.contains(&(id, *field));
    let mut fields = (0..resource.fields.len()).map(|field| FieldId(field as u16));
    resource.display.filter(names_person).or_else(|| fields.find(names_person))
}
