//! States: the frozen base overlaid with what a session has changed.
//!
//! A state owns only its changes, in persistent maps, so a copy shares everything and a fork costs a handful of
//! reference counts. A record that is changed back to what the base has leaves the overlay again.

use std::cmp::Ordering;
use std::sync::Arc;

use diorama_seeds::model::{DomainId, FieldId, Record, ResourceId};
use diorama_seeds::value::{Instant, Str, Value};
use rpds::RedBlackTreeMapSync;

use super::base::Base;
use super::digest::{Digest, Sum, record_hash, state_digest};
use super::index::Form;

/// A state of a world: records, clock, tokens, counters of creates. Cloning copies nothing.
#[derive(Clone, Debug)]
pub struct State {
    clock: Instant,
    seed: u64,
    tables: Arc<[Table]>,
    tokens: RedBlackTreeMapSync<Str, Token>,
    token_sum: Sum,
    issued: u64,
    names: Arc<[Str]>,
}

/// What a state has changed in one resource.
#[derive(Clone, Debug)]
pub(super) struct Table {
    changed: RedBlackTreeMapSync<Value, Option<Record>>,
    sum: Sum,
    count: usize,
    creates: u64,
}

/// A token that is out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) domain: DomainId,
    pub(super) user: Value,
    pub(super) expires: Instant,
}

/// A change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// Of this resource.
    pub resource: ResourceId,
    /// Its key.
    pub key: Value,
    /// The record before; none when it is new.
    pub before: Option<Record>,
    /// The record after; none when it is gone.
    pub after: Option<Record>,
}

impl Table {
    pub(super) fn new(sum: Sum, count: usize) -> Self {
        Self { changed: RedBlackTreeMapSync::new_sync(), sum, count, creates: 0 }
    }
}

impl State {
    /// The state a session starts in: the base's records, the world's clock.
    #[must_use]
    pub fn initial(base: &Base, seed: u64) -> Self {
        Self {
            clock: base.world().clock,
            seed,
            tables: Arc::clone(&base.initial),
            tokens: RedBlackTreeMapSync::new_sync(),
            token_sum: Sum::default(),
            issued: 0,
            names: Arc::clone(&base.names),
        }
    }

    /// The clock now. It moves only when told.
    #[must_use]
    pub const fn clock(&self) -> Instant {
        self.clock
    }

    /// Sets the clock.
    pub const fn set_clock(&mut self, clock: Instant) {
        self.clock = clock;
    }

    /// The seed that new keys and tokens follow from.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The record of a key.
    #[must_use]
    pub fn get<'a>(&'a self, base: &'a Base, resource: ResourceId, key: &Value) -> Option<&'a Record> {
        let table = self.tables.get(resource.index())?;
        if !table.changed.is_empty()
            && let Some(changed) = table.changed.get(key)
        {
            return changed.as_ref();
        }
        base.find(resource, key)
    }

    /// All records of a resource in the order of their keys.
    pub fn iter<'a>(&'a self, base: &'a Base, resource: ResourceId) -> impl Iterator<Item = &'a Record> {
        self.merged(base, resource, Frozen::All(base.records(resource).iter()))
    }

    /// How many records a resource has.
    #[must_use]
    pub fn count(&self, _base: &Base, resource: ResourceId) -> usize {
        self.tables.get(resource.index()).map_or(0, |table| table.count)
    }

    /// The hash of all records and tokens.
    #[must_use]
    pub fn digest(&self) -> Digest {
        state_digest(self.names.iter().zip(self.tables.iter().map(|table| table.sum)), self.token_sum)
    }

    /// The records of a resource at positions `start..end` of the key order, when none of them is overlaid.
    pub(super) fn untouched<'a>(&self, base: &'a Base, resource: ResourceId) -> Option<&'a [Record]> {
        let table = self.tables.get(resource.index())?;
        table.changed.is_empty().then(|| base.records(resource))
    }

    /// A superset of the records whose field has this value (by an index, in key order); `None` when there is no
    /// index for it or the value is missing.
    pub(super) fn candidates<'a>(
        &'a self,
        base: &'a Base,
        resource: ResourceId,
        field: FieldId,
        form: Form,
        value: &Value,
    ) -> Option<Merged<'a>> {
        let positions = base.positions(resource, field, form, value)?;
        Some(self.merged(base, resource, Frozen::Some(base.records(resource), positions.iter())))
    }

    /// How many creates of a resource have succeeded.
    pub(super) fn creates(&self, resource: ResourceId) -> u64 {
        self.tables.get(resource.index()).map_or(0, |table| table.creates)
    }

    /// Counts one more successful create.
    pub(super) fn count_create(&mut self, resource: ResourceId) {
        if let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) {
            table.creates += 1;
        }
    }

    /// Sets or removes the record of a key; returns what was there.
    pub(super) fn put(
        &mut self,
        base: &Base,
        resource: ResourceId,
        key: &Value,
        record: Option<Record>,
        scratch: &mut Vec<u8>,
    ) -> Option<Record> {
        let before = self.get(base, resource, key).cloned();
        let name = self.names.get(resource.index()).map_or("", |name| &**name);
        let removed = before.as_ref().map(|before| record_hash(scratch, name, key, before));
        let added = record.as_ref().map(|record| record_hash(scratch, name, key, record));
        let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) else { return before };
        if let Some(sum) = removed {
            table.sum.subtract(sum);
            table.count -= 1;
        }
        if let Some(sum) = added {
            table.sum.add(sum);
            table.count += 1;
        }
        if base.find(resource, key) == record.as_ref() {
            table.changed.remove_mut(key);
        } else {
            table.changed.insert_mut(key.clone(), record);
        }
        before
    }

    pub(super) fn token(&self, text: &str) -> Option<&Token> {
        self.tokens.get(text)
    }

    pub(super) const fn tokens_issued(&self) -> u64 {
        self.issued
    }

    pub(super) fn issue(&mut self, text: Str, token: Token) {
        self.revoke(&text);
        self.token_sum.add(token.hash(&text));
        self.tokens.insert_mut(text, token);
        self.issued += 1;
    }

    pub(super) fn revoke(&mut self, text: &str) {
        if let Some(token) = self.tokens.get(text) {
            self.token_sum.subtract(token.hash(text));
            self.tokens.remove_mut(text);
        }
    }

    fn merged<'a>(&'a self, base: &'a Base, resource: ResourceId, frozen: Frozen<'a>) -> Merged<'a> {
        let key = base.world().resources.get(resource.index()).map_or(FieldId(0), |resource| resource.key);
        let changed =
            self.tables.get(resource.index()).map(|table| &table.changed).filter(|map| !map.is_empty());
        let changed: Option<Overlaid<'a>> = changed.map(|map| Overlaid::new(map));
        Merged { frozen, changed, key, held: None }
    }

    /// The digest computed from every record; for tests of the incremental one.
    #[cfg(test)]
    pub(super) fn digest_from_scratch(&self, base: &Base) -> Digest {
        let mut scratch = Vec::new();
        let sums = self.names.iter().enumerate().map(|(position, name)| {
            let id = ResourceId(position as u16);
            let key = base.world().resource(id).key.index();
            let mut sum = Sum::default();
            self.iter(base, id)
                .for_each(|record| sum.add(record_hash(&mut scratch, name, &record[key], record)));
            (name, sum)
        });
        let sums: Vec<_> = sums.collect();
        let mut tokens = Sum::default();
        self.tokens.iter().for_each(|(text, token)| tokens.add(token.hash(text)));
        state_digest(sums.into_iter(), tokens)
    }
}

impl Token {
    fn hash(&self, text: &str) -> Sum {
        let record =
            [Value::Integer(i64::from(self.domain.0)), self.user.clone(), Value::DateTime(self.expires)];
        record_hash(&mut Vec::new(), "", &Value::String(text.into()), &record)
    }
}

/// What differs between two states of a base, sorted by resource and key.
#[must_use]
pub fn diff(base: &Base, from: &State, to: &State) -> Vec<RecordChange> {
    let mut changes = Vec::new();
    for (position, (old, new)) in from.tables.iter().zip(to.tables.iter()).enumerate() {
        if old.changed.ptr_eq(&new.changed) {
            continue;
        }
        let resource = ResourceId(position as u16);
        let mut keys: Vec<&Value> = old.changed.keys().chain(new.changed.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let (before, after) = (from.get(base, resource, key), to.get(base, resource, key));
            if before != after {
                let (before, after) = (before.cloned(), after.cloned());
                changes.push(RecordChange { resource, key: key.clone(), before, after });
            }
        }
    }
    changes
}

/// Frozen records with the overlay's laid over them, in key order.
pub(super) struct Merged<'a> {
    frozen: Frozen<'a>,
    changed: Option<Overlaid<'a>>,
    key: FieldId,
    held: Option<&'a Record>,
}

enum Frozen<'a> {
    All(std::slice::Iter<'a, Record>),
    Some(&'a [Record], std::slice::Iter<'a, u32>),
}

type Entry<'a> = (&'a Value, &'a Option<Record>);

struct Overlaid<'a> {
    rest: Box<dyn Iterator<Item = Entry<'a>> + 'a>,
    held: Option<Entry<'a>>,
}

impl<'a> Overlaid<'a> {
    fn new(map: &'a RedBlackTreeMapSync<Value, Option<Record>>) -> Self {
        let mut rest = map.iter();
        let held = rest.next();
        Self { rest: Box::new(rest), held }
    }
}

impl<'a> Iterator for Frozen<'a> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        match self {
            Self::All(records) => records.next(),
            Self::Some(records, positions) => records.get(*positions.next()? as usize),
        }
    }
}

impl<'a> Iterator for Merged<'a> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        let Some(changed) = &mut self.changed else { return self.frozen.next() };
        loop {
            let frozen = self.held.take().or_else(|| self.frozen.next());
            let Some((key, record)) = changed.held else { return frozen };
            let order = frozen.map_or(Ordering::Greater, |frozen| frozen[self.key.index()].cmp(key));
            if order == Ordering::Less {
                return frozen;
            }
            if order == Ordering::Greater {
                self.held = frozen;
            }
            changed.held = changed.rest.next();
            if record.is_some() {
                return record.as_ref();
            }
        }
    }
}
