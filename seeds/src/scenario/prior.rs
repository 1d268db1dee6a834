//! The user and the values that a conversation has settled before one of its later scenarios begins.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::places::BoundValue;
use crate::model::{FieldId, Resource, ResourceId};
use crate::value::Value;

/// The user and the values that a conversation has settled before one of its later scenarios begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    /// The user's own record, which the place `me` must hold.
    pub me: Option<(ResourceId, Value)>,
    /// The user's name, which the record or the value of the caller must have.
    pub name: Option<Value>,
    /// The user's name at a service that knows no other, where their full name is not known.
    pub username: Option<Value>,
    /// Amounts of money that were stated: `money_places` take one of them where it fits.
    pub amounts: Vec<Value>,
    /// The places of numbers that are amounts of money.
    pub money_places: Vec<String>,
    /// Names of people that were stated: places of new people take one of them where it fits.
    pub people: Vec<Value>,
    /// Titles that were stated: `naming_places` take one of them where it fits.
    pub titles: Vec<Value>,
    /// The places of texts that a write gives to something new.
    pub naming_places: Vec<String>,
    /// Records that were spoken of: places of records take one of them where it fits.
    pub records: Vec<(ResourceId, Value)>,
}

impl Prior {
    /// Returns true if a binding takes up somebody or something that was stated, or an amount.
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

    /// Returns true if a record was spoken of.
    pub fn speaks_of(&self, resource: ResourceId, key: &Value) -> bool {
        self.records.iter().any(|(of, own)| *of == resource && own == key)
    }

    /// Nothing: the conversation begins.
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

/// Returns true if a user name has the first or the last name of a person in it.
pub fn is_username_of(username: &str, name: &str) -> bool {
    let folded = |text: &str| -> String {
        text.nfd().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let username = folded(username);
    name.split(' ').map(folded).any(|part| part.len() >= MIN_NAME_PART && username.contains(&part))
}

/// Letters of a first or last name that tell a user name, at least.
const MIN_NAME_PART: usize = 3;

/// The field of a resource that holds the name of a person: the one that it is called by, or else the first.
pub fn person_field(resource: &Resource, id: ResourceId, people: &PersonFields) -> Option<FieldId> {
    let names_person = |field: &FieldId| people.contains(&(id, *field));
    let mut fields = (0..resource.fields.len()).map(|field| FieldId(field as u16));
    resource.display.filter(names_person).or_else(|| fields.find(names_person))
}
