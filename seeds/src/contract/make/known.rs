//! Facts that replies are made from.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::contract::names::{KEYS, key_name, plain};
use crate::table::rows;

/// Names under which replies put what they show.
pub(super) static WRAPPERS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| rows(include_str!("wrappers.txt")).collect());

/// Known values of a record, for the members of a reply.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The seed of made-up members: the same seed, the same values.
    pub seed: u64,
    /// The record's key.
    pub key: Json,
    /// The name under which a list shows the key where none of its members does; empty where no path asks for it.
    pub key_name: String,
    /// The record's noun.
    pub noun: String,
    /// The index of its resource, as the [`Lookup`] counts them.
    pub of: Option<usize>,
    /// A caller made it: a member that the caller did not send is not made up.
    pub is_new: bool,
    /// The members that were sent, by the names that the caller used.
    pub sent: Map<String, Json>,
    /// Members by plain name.
    pub members: HashMap<String, Json>,
    /// The records that it stands below or refers to, and itself, by the names that members give them.
    pub named: Vec<Named>,
    /// The lists of records that it refers to.
    pub lists: Vec<Listed>,
}

/// The records that a list of references holds.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The noun by which a member shows them: `tag` for `tag_ids`.
    pub role: String,
    /// The noun of what they are.
    pub noun: String,
    /// The index of their resource.
    pub of: Option<usize>,
    /// Their keys.
    pub keys: Vec<Json>,
}

/// A value that members name: the conversation of a message.
#[derive(Clone, Debug)]
pub struct Named {
    /// The noun of what it is the key of.
    pub noun: String,
    /// The noun by which a member shows it: `owner` for the user of `owner_id`.
    pub role: String,
    /// The index of its resource, where that is known.
    pub of: Option<usize>,
    /// The plain name of the parameter that gave it, which a member may have, too.
    pub name: String,
    /// The key.
    pub key: Json,
    /// The path of the call says it, so that nothing else can.
    pub sure: bool,
}

/// The list that a reply shows.
pub struct List {
    /// The name of the member that holds it; empty where the body is the list.
    pub name: String,
    /// Known values of its items.
    pub items: Vec<Rc<Known>>,
}

/// Finds the records that members refer to. What an implementation does not look for is not found.
pub trait Lookup {
    /// A record of what a noun names: always the same one for a seed; nothing where no resource has that noun.
    fn record(&self, _noun: &str, _seed: u64) -> Option<Known> {
        None
    }

    /// A record of a resource: always the same one for a seed.
    fn record_of(&self, _resource: &str, _seed: u64) -> Option<Known> {
        None
    }

    /// The record that has this key: of a resource where one is given, else of what a noun names.
    fn at(&self, _of: Option<usize>, _noun: &str, _key: &Json) -> Option<Known> {
        None
    }

    /// A record of the resource whose key has a plain name that no other key has.
    fn keyed(&self, _name: &str, _seed: u64) -> Option<Known> {
        None
    }

    /// The records of what a noun names that belong to a record; nothing where none could. Of several kinds that might be
    /// meant it is the one that stands for records of `like`.
    fn parts(&self, _noun: &str, _whole: &Known, _like: Option<&str>) -> Option<Vec<Known>> {
        None
    }

    /// The record of the caller, where some path shows it.
    fn caller(&self) -> Option<Known> {
        None
    }
}

/// A lookup that finds nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoRecords;

impl Lookup for NoRecords {}

/// Facts that a reply is made from.
pub struct Facts<'a> {
    /// The record that it shows; for a list what stands around it.
    pub known: Rc<Known>,
    /// The list that it shows.
    pub list: Option<List>,
    /// The session's moment, in seconds of Unix time: made-up moments lie before it.
    pub now: i64,
    /// Records that members refer to.
    pub lookup: &'a dyn Lookup,
}

impl Known {
    /// The key of the record that a member names: `conversation_sid`, or `id` inside `conversation`.
    pub(super) fn named(&self, name: &str, inside: &str) -> Option<&Named> {
        let fits = |named: &&Named| named.name == name && !KEYS.contains(&name);
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

    /// The key of a record whose members were sent in an envelope, which lacks the key.
    pub(super) fn enveloped_key(&self, name: &str, inside: &str, depth: u32) -> Option<&Json> {
        let is_key = !self.key_name.is_empty() && plain(&self.key_name) == name;
        (is_key && depth <= 2 && WRAPPERS.contains(&inside)).then_some(&self.key)
    }

    /// The record above that a member has for its name: `room` of what stands below a room.
    pub(super) fn above(&self, name: &str) -> Option<&Named> {
        self.meant(name).filter(|named| named.of != self.of && key_name(name).is_none())
    }

    /// The reference that a noun means: by its role, else by the kind of the record.
    pub(super) fn meant(&self, noun: &str) -> Option<&Named> {
        let by = |of: fn(&Named) -> &String| self.named.iter().find(|named| of(named) == noun);
        by(|named| &named.role).or_else(|| by(|named| &named.noun)).filter(|_| !noun.is_empty())
    }
}
