//! Overlays: the changes of a state in one resource, merged with the frozen records for readers.
//!
//! An overlay is sorted by key and indexed like the base, in persistent maps. Copies share it, and a session
//! with thousands of changes still answers in microseconds.

use std::cmp::Ordering;

use diorama_seeds::model::{FieldId, Record};
use diorama_seeds::value::Value;
use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::digest::Sum;

/// The changes of a state in one resource, with the resource's digest, record count and create counter.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The changed records by key. None means that the record is deleted.
    changed: RedBlackTreeMapSync<Value, Option<Record>>,
    /// The changed records that exist, by the hashes of the indexes.
    found: RedBlackTreeSetSync<(u64, Value)>,
    sum: Sum,
    count: usize,
    creates: u64,
    /// The number of the create that made a record, by key.
    made: RedBlackTreeMapSync<Value, u64>,
    /// Approximate bytes of the changes, by [`weight`].
    bytes: u64,
    /// Approximate bytes of all changes ever made.
    written: u64,
}

/// Bytes of a changed record beside its values: its entries in the overlay and the indexes.
const ENTRY_BYTES: u64 = 256;

/// Estimates the bytes of memory that a changed record takes.
fn weight(record: Option<&Record>) -> u64 {
    ENTRY_BYTES + record.map_or(0, |record| record.iter().map(held).sum())
}

/// Estimates the bytes of memory that a value takes. Shared parts count for each value.
pub(super) fn held(value: &Value) -> u64 {
    let own = size_of::<Value>() as u64;
    own + match value {
        Value::String(text) => text.len() as u64,
        Value::List(items) => items.iter().map(held).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() as u64 + held(value)).sum(),
        _ => 0,
    }
}

impl Table {
    pub(super) fn new(sum: Sum, count: usize) -> Self {
        let (changed, found) = (RedBlackTreeMapSync::new_sync(), RedBlackTreeSetSync::new_sync());
        let made = RedBlackTreeMapSync::new_sync();
        Self { changed, found, sum, count, creates: 0, made, bytes: 0, written: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// Returns true if both are the same overlay or a copy of it. Overlays with equal content but different
    /// histories count as different.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        (self.is_empty() && other.is_empty()) || self.changed.ptr_eq(&other.changed)
    }

    pub(super) const fn sum(&self) -> Sum {
        self.sum
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the approximate bytes of the changes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the approximate bytes of all changes ever made, including undone ones.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    pub(super) const fn creates(&self) -> u64 {
        self.creates
    }

    /// Returns the number of the create that made a record, or 0 for a record of the base.
    pub(super) fn made(&self, key: &Value) -> u64 {
        self.made.get(key).copied().unwrap_or_default()
    }

    /// Returns the keys of created records, each with the number of its create.
    pub(super) fn all_made(&self) -> impl Iterator<Item = (&Value, u64)> {
        self.made.iter().map(|(key, create)| (key, *create))
    }

    pub(super) fn set_creates(&mut self, creates: u64, made: impl Iterator<Item = (Value, u64)>) {
        (self.creates, self.made) = (creates, made.collect());
    }

    pub(super) fn count_create(&mut self, key: &Value) {
        self.creates += 1;
        self.made.insert_mut(key.clone(), self.creates);
    }

    /// Returns the changed record with a key: none if it is unchanged, `Some(None)` if it is deleted.
    pub(super) fn changed(&self, key: &Value) -> Option<&Option<Record>> {
        if self.changed.is_empty() { None } else { self.changed.get(key) }
    }

    /// Returns the changed keys in order, each with its current record.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.changed.iter()
    }

    /// Returns the number of changed records.
    pub(super) fn changes(&self) -> usize {
        self.changed.size()
    }

    /// Returns the changed keys in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Value> {
        self.changed.keys()
    }

    /// Updates digest and count for a removed and an added record.
    pub(super) fn account(&mut self, removed: Option<Sum>, added: Option<Sum>) {
        if let Some(sum) = removed {
            self.sum.subtract(sum);
            self.count -= 1;
        }
        if let Some(sum) = added {
            self.sum.add(sum);
            self.count += 1;
        }
    }

    /// Sets or deletes the record with a key. A record that equals the base's (`frozen`) leaves the overlay.
    /// `found_by` returns the index hashes of a record.
    pub(super) fn put(
        &mut self,
        key: &Value,
        record: Option<Record>,
        frozen: Option<&Record>,
        found_by: impl Fn(&Record) -> Vec<u64>,
    ) {
        let hashes = |record: Option<&Record>| record.map_or_else(Vec::new, &found_by);
        let kept = frozen == record.as_ref();
        let old = hashes(self.changed(key).and_then(Option::as_ref));
        let new = if kept { Vec::new() } else { hashes(record.as_ref()) };
        for hash in old.iter().filter(|hash| !new.contains(hash)) {
            self.found.remove_mut(&(*hash, key.clone()));
        }
        for hash in new.iter().filter(|hash| !old.contains(hash)) {
            self.found.insert_mut((*hash, key.clone()));
        }
        if let Some(old) = self.changed(key) {
            self.bytes -= weight(old.as_ref());
        }
        if kept {
            self.changed.remove_mut(key);
        } else {
            let bytes = weight(record.as_ref());
            self.bytes += bytes;
            self.written += bytes;
            self.changed.insert_mut(key.clone(), record);
        }
    }

    /// Returns all changes in key order, or none if there are no changes.
    pub(super) fn all(&self) -> Option<Changes<'_>> {
        (!self.is_empty()).then(|| Changes { hidden: None, rest: Box::new(self.changed.iter()) })
    }

    /// Returns the changed records with an index hash, in key order.
    pub(super) fn found(&self, hash: u64) -> Changes<'_> {
        // The lower bound uses an absent key, which sorts first.
        let entries = self.found.range((hash, Value::Absent)..).take_while(move |(of, _)| *of == hash);
        let rest = entries.filter_map(|(_, key)| self.changed.get_key_value(key));
        Changes { hidden: Some(self), rest: Box::new(rest) }
    }
}

type Entry<'a> = (&'a Value, &'a Option<Record>);

/// Changes of one resource in key order.
pub(super) struct Changes<'a> {
    /// The overlay that hides changed frozen records, if `rest` has only some of its changes.
    hidden: Option<&'a Table>,
    rest: Box<dyn Iterator<Item = Entry<'a>> + 'a>,
}

/// The frozen records at some positions.
pub(super) struct PickedRecords<'a> {
    records: &'a [Record],
    positions: std::slice::Iter<'a, u32>,
}

impl<'a> PickedRecords<'a> {
    pub(super) fn new(records: &'a [Record], positions: &'a [u32]) -> Self {
        Self { records, positions: positions.iter() }
    }
}

impl<'a> Iterator for PickedRecords<'a> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        self.records.get(*self.positions.next()? as usize)
    }
}

/// Frozen records merged with changes, in key order.
pub(super) struct MergedRecords<'a, F> {
    key: FieldId,
    frozen: F,
    changes: Option<Changes<'a>>,
    next_frozen: Option<&'a Record>,
    next_change: Option<Entry<'a>>,
}

impl<'a, F: Iterator<Item = &'a Record>> MergedRecords<'a, F> {
    pub(super) fn new(key: FieldId, frozen: F, changes: Option<Changes<'a>>) -> Self {
        let mut merged = Self { key, frozen, changes, next_frozen: None, next_change: None };
        if merged.changes.is_some() {
            merged.advance_frozen();
            merged.advance_change();
        }
        merged
    }

    fn advance_frozen(&mut self) {
        let key = self.key.index();
        self.next_frozen = match self.changes.as_ref().and_then(|changes| changes.hidden) {
            Some(table) => {
                self.frozen.find(|record| record.get(key).is_none_or(|key| table.changed(key).is_none()))
            }
            None => self.frozen.next(),
        };
    }

    fn advance_change(&mut self) {
        self.next_change = self.changes.as_mut().and_then(|changes| changes.rest.next());
    }
}

impl<'a, F: Iterator<Item = &'a Record>> Iterator for MergedRecords<'a, F> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        if self.changes.is_none() {
            return self.frozen.next();
        }
        loop {
            let order = match (self.next_frozen, self.next_change) {
                (Some(frozen), Some((key, _))) => frozen.get(self.key.index()).cmp(&Some(key)),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            if order == Ordering::Less {
                let frozen = self.next_frozen;
                self.advance_frozen();
                return frozen;
            }
            if order == Ordering::Equal {
                self.advance_frozen();
            }
            let (_, record) = self.next_change?;
            self.advance_change();
            if record.is_some() {
                return record.as_ref();
            }
        }
    }
}

/// Records that may match a lookup.
pub(super) enum Candidates<'a> {
    /// The record with a key.
    One(std::option::IntoIter<&'a Record>),
    /// The records that an index returns.
    Many(MergedRecords<'a, PickedRecords<'a>>),
}

impl<'a> Iterator for Candidates<'a> {
    type Item = &'a Record;

    fn next(&mut self) -> Option<&'a Record> {
        match self {
            Self::One(record) => record.next(),
            Self::Many(records) => records.next(),
        }
    }
}
