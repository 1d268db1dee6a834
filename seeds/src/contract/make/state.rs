//! Owns the state of a reply during its generation.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::known::{Facts, KnownValues};
use crate::contract::schemas::Schemas;

/// Maximum depth of objects that show all members. Deeper objects show only required ones.
pub(super) const FULL_DEPTH: u32 = 3;
/// Maximum number of generated parts in one reply. Later parts are cut short.
pub(super) const MAX_STEPS: u32 = 60_000;

/// Source of a member's value.
#[derive(Clone)]
pub(super) enum Scope<'f> {
    /// The members of a record.
    Record(Rc<KnownValues>),
    /// The members of a known object.
    Found(&'f Map<String, Json>, Rc<KnownValues>),
    /// Only the record around the object is known.
    Made(Rc<KnownValues>),
}

/// The number of objects among the members of an object, as seen from one member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    NoObject,
    /// The member holds an object, and so do other members.
    Object,
    /// The member is the only one that holds an object.
    OnlyObject,
}

/// A position in the reply.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) name: &'p str,
    /// Noun of the surrounding object.
    pub(super) inside: &'p str,
    /// Name of the surrounding object as written. `whole` is its seed.
    pub(super) within: &'p str,
    pub(super) whole: u64,
    pub(super) seed: u64,
    pub(super) depth: u32,
    /// KnownValues value at this position.
    pub(super) found: Option<&'p Json>,
    /// Members of the surrounding object.
    pub(super) beside: Option<&'p Map<String, Json>>,
}

pub(super) struct Maker<'a> {
    pub(super) schemas: &'a Schemas,
    pub(super) facts: &'a Facts<'a>,
    pub(super) open: Vec<String>,
    pub(super) listed: bool,
    pub(super) steps: u32,
    /// Number of schemas that were checked against values.
    pub(super) checks: Cell<u32>,
    /// Bytes of constants from schemas so far.
    pub(super) constant_bytes: u64,
    /// Number of members that showed known values.
    pub(super) told: u32,
}

impl<'p> Place<'p> {
    /// Makes a position at the top, without a known value.
    pub(super) const fn top(seed: u64) -> Self {
        Place { name: "", inside: "", within: "", whole: seed, seed, depth: 0, found: None, beside: None }
    }

    /// Makes a position below this one, without a known value.
    pub(super) const fn below<'q>(&self, name: &'q str, inside: &'q str, seed: u64) -> Place<'q>
    where
        'p: 'q,
    {
        let (within, whole) = (self.name, self.seed);
        Place { name, inside, within, whole, seed, depth: self.depth + 1, found: None, beside: None }
    }
}

impl<'f> Scope<'f> {
    pub(super) const fn known(&self) -> &Rc<KnownValues> {
        match self {
            Self::Record(known) | Self::Found(_, known) | Self::Made(known) => known,
        }
    }

    /// Returns true if all values are known, as for a new record or an object that was sent.
    pub(super) fn is_said(&self) -> bool {
        matches!(self, Self::Found(..)) || self.known().is_new
    }
}
