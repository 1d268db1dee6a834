//! The state of a reply while it is made.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::known::{Facts, Known};
use crate::contract::schemas::Schemas;

/// Objects inside objects show all of their members so deep; below that only those that are required.
pub(super) const FULL_DEPTH: u32 = 3;
/// Parts of one reply that are made before it is cut short.
pub(super) const MAX_STEPS: u32 = 60_000;

/// Where a member's value comes from.
#[derive(Clone)]
pub(super) enum Scope<'f> {
    /// The members of a record.
    Record(Rc<Known>),
    /// The members of an object that is known.
    Found(&'f Map<String, Json>, Rc<Known>),
    /// Only the owner is known.
    Made(Rc<Known>),
}

/// True when a member of an object holds another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    NoObject,
    /// As other members do.
    Object,
    /// As no other member does.
    OnlyObject,
}

/// A place in the reply.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) name: &'p str,
    /// The noun of the object that it is in.
    pub(super) inside: &'p str,
    /// The name of that object as it is written, and its seed.
    pub(super) within: &'p str,
    pub(super) whole: u64,
    pub(super) seed: u64,
    pub(super) depth: u32,
    /// The known value of this place.
    pub(super) found: Option<&'p Json>,
    /// The members of the object that it is in.
    pub(super) beside: Option<&'p Map<String, Json>>,
}

pub(super) struct Maker<'a> {
    pub(super) schemas: &'a Schemas,
    pub(super) facts: &'a Facts<'a>,
    pub(super) open: Vec<String>,
    pub(super) listed: bool,
    pub(super) steps: u32,
    /// Schemas held against values so far.
    pub(super) checks: Cell<u32>,
    /// Bytes so far of values that schemas give.
    pub(super) constant_bytes: u64,
    /// Members so far that showed what is known.
    pub(super) told: u32,
}

impl<'p> Place<'p> {
    /// A place at the top, of which nothing is known.
    pub(super) const fn top(seed: u64) -> Self {
        Place { name: "", inside: "", within: "", whole: seed, seed, depth: 0, found: None, beside: None }
    }

    /// A place inside this one, of which nothing is known.
    pub(super) const fn below<'q>(&self, name: &'q str, inside: &'q str, seed: u64) -> Place<'q>
    where
        'p: 'q,
    {
        let (within, whole) = (self.name, self.seed);
        Place { name, inside, within, whole, seed, depth: self.depth + 1, found: None, beside: None }
    }
}

impl<'f> Scope<'f> {
    pub(super) const fn known(&self) -> &Rc<Known> {
        match self {
            Self::Record(known) | Self::Found(_, known) | Self::Made(known) => known,
        }
    }

    /// True when somebody has said all that there is to say: of a new record, and of an object that was sent.
    pub(super) fn is_said(&self) -> bool {
        matches!(self, Self::Found(..)) || self.known().is_new
    }
}
