//! Owns the facts from which replies are made.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::contract::names::{KEYS, key_name, noun, plain};
use crate::table::rows;

/// Names of members in which replies wrap their content.
pub(super) static WRAPPERS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| rows(include_str!("wrappers.txt")).collect());

/// KnownValues values of a record, for the members of a reply.
#[derive(Clone, Debug, Default)]
pub struct KnownValues {
    /// Seed of generated members. Equal seeds give equal values.
    pub seed: u64,
    /// Key of the record.
    pub key: Json,
    /// Name of the key member that is added if no member of a list item shows the key. It is empty if no path
    /// takes the key.
    pub key_name: String,
    /// Noun of the record.
    pub noun: String,
    /// Index of its resource in the [`Lookup`].
    pub of: Option<usize>,
    /// True if a caller made the record. Members that the caller did not send are not generated.
    pub is_new: bool,
    /// Members of the request, by the names that the caller used.
    pub sent: Map<String, Json>,
    /// Members by plain name.
    pub members: HashMap<String, Json>,
    /// The record itself and those above it or referenced by it, by the names that members give them.
    pub named: Vec<NameableRecord>,
    /// The lists of references that it holds.
    pub lists: Vec<ListedRecords>,
}

/// The records of a list of references.
#[derive(Clone, Debug)]
pub struct ListedRecords {
    /// Noun of the member: `tag` for `tag_ids`.
    pub role: String,
    /// Noun of the records.
    pub noun: String,
    /// Index of their resource.
    pub of: Option<usize>,
    /// Keys of the records.
    pub keys: Vec<Json>,
}

/// A record that members can name. Example: the conversation of a message.
#[derive(Clone, Debug)]
pub struct NameableRecord {
    /// Noun of the record.
    pub noun: String,
    /// Noun of the member that shows it: `owner` for the user of `owner_id`.
    pub role: String,
    /// Index of its resource, if it is known.
    pub of: Option<usize>,
    /// Plain name of the parameter that holds the key. A member may have the same name.
    pub name: String,
    /// Key of the record.
    pub key: Json,
    /// True if the path of the call contains the key, so that no other value is possible.
    pub sure: bool,
}

/// The list that a reply shows.
pub struct List {
    /// Name of the member that holds the list. It is empty if the body is the list.
    pub name: String,
    /// KnownValues values of its items.
    pub items: Vec<Rc<KnownValues>>,
}

/// Finds the records that members refer to. The defaults find none.
pub trait Lookup {
    /// Returns a record of a noun, the same one for equal seeds. Returns none if no resource has the noun.
    fn record(&self, _noun: &str, _seed: u64) -> Option<KnownValues> {
        None
    }

    /// Returns a record of a resource, the same one for equal seeds.
    fn record_of(&self, _resource: &str, _seed: u64) -> Option<KnownValues> {
        None
    }

    /// Returns the record with this key, of a resource if one is given, otherwise of a noun.
    fn at(&self, _of: Option<usize>, _noun: &str, _key: &Json) -> Option<KnownValues> {
        None
    }

    /// Returns a record of the only resource whose key has this plain name.
    fn keyed(&self, _name: &str, _seed: u64) -> Option<KnownValues> {
        None
    }

    /// Returns the records of a noun that belong to a record, or none if no resource fits. If several
    /// resources fit, it takes the one whose records stand for records of `like`.
    fn parts(&self, _noun: &str, _whole: &KnownValues, _like: Option<&str>) -> Option<Vec<KnownValues>> {
        None
    }

    /// Returns the record of the caller, if a path shows it.
    fn caller(&self) -> Option<KnownValues> {
        None
    }
}

/// A lookup that finds no records.
#[derive(Clone, Copy, Debug)]
pub struct NoRecords;

impl Lookup for NoRecords {}

/// Facts from which a reply is made.
pub struct Facts<'a> {
    /// The record that the reply shows, or the context of its list.
    pub known: Rc<KnownValues>,
    /// The list that the reply shows.
    pub list: Option<List>,
    /// Current time of the session, in seconds of Unix time. Generated timestamps lie before it.
    pub now: i64,
    /// Finds the records that members refer to.
    pub lookup: &'a dyn Lookup,
}

impl KnownValues {
    /// Returns the record that a member names: `conversation_sid`, or `id` inside `conversation`.
    pub(super) fn named(&self, name: &str, inside: &str) -> Option<&NameableRecord> {
        let fits = |named: &&NameableRecord| named.name == name && !KEYS.contains(&name);
        if let Some(named) = self.named.iter().find(fits) {
            return Some(named);
        }
        let (stem, ending) = key_name(name)?;
        if !KEYS.contains(&ending) {
            return None;
        }
        let stem = if stem.is_empty() { inside } else { &stem };
        self.meant(stem)
    }

    /// Returns the record above that a member refers to by any kind of record: `resource_id` beside
    /// `resource_type`.
    pub(super) fn of_any_kind(
        &self,
        name: &str,
        beside: Option<&Map<String, Json>>,
    ) -> Option<&NameableRecord> {
        let (stem, _) = key_name(name).filter(|(_, ending)| KEYS.contains(ending))?;
        let kind = format!("{stem}type");
        let tells_kind = beside?.keys().any(|beside| plain(beside) == kind);
        self.named.iter().find(|named| tells_kind && !stem.is_empty() && named.of != self.of)
    }

    /// Returns the key of a record that was sent in an envelope without its key.
    pub(super) fn enveloped_key(&self, name: &str, inside: &str, depth: u32) -> Option<&Json> {
        let is_key = !self.key_name.is_empty() && plain(&self.key_name) == name;
        (is_key && depth <= 2 && WRAPPERS.contains(&inside)).then_some(&self.key)
    }

    /// Returns the sent text whose slug a member shows: `size` for `size_slug`.
    pub(super) fn sent_slug(&self, name: &str) -> Option<&Json> {
        let (stem, _) = key_name(name).filter(|(stem, ending)| *ending == "slug" && !stem.is_empty())?;
        let sent = self.sent.iter().find(|(sent, _)| noun(sent) == stem);
        sent.map(|(_, value)| value).filter(|value| value.is_string())
    }

    /// Returns the record above that has the name of a member: `room` for a record below a room.
    pub(super) fn above(&self, name: &str) -> Option<&NameableRecord> {
        self.meant(name).filter(|named| named.of != self.of && key_name(name).is_none())
    }

    /// Returns the reference that a noun denotes, by its role or by the noun of its record.
    pub(super) fn meant(&self, noun: &str) -> Option<&NameableRecord> {
        let by = |of: fn(&NameableRecord) -> &String| self.named.iter().find(|named| of(named) == noun);
        by(|named| &named.role).or_else(|| by(|named| &named.noun)).filter(|_| !noun.is_empty())
    }
}
