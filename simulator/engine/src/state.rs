//! States: the frozen base with the changes of a session.
//!
//! A state stores only its changes, in persistent maps. A copy shares everything, and a fork costs a handful
//! of reference counts. A record that is changed back to the base's leaves the overlay.

pub(super) mod kept;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use diorama_seeds::expr::eval::Records;
use diorama_seeds::model::{ApiId, DomainId, FieldId, Record, ResourceId};
use diorama_seeds::task::OutageKind;
use diorama_seeds::value::{Instant, Str, Value};
use rpds::RedBlackTreeMapSync;

use super::base::Base;
use super::digest::{Digest, Sum, record_hash, state_digest};
use super::fit::as_key;
use super::index::{Form, placed, wanted};
use super::overlay::{Candidates, MergedRecords, PickedRecords, Table};
use super::tools::SearchVersion;

/// A state of a world: records, clock, tokens and create counters. Cloning copies no records.
#[derive(Clone, Debug)]
pub struct State {
    clock: Instant,
    seed: u64,
    search: SearchVersion,
    tables: Arc<[Table]>,
    tokens: RedBlackTreeMapSync<Str, Token>,
    token_sum: Sum,
    issued: u64,
    names: Arc<[Str]>,
    /// The remaining outages.
    outages: Arc<[(ApiId, OutageKind)]>,
}

/// Approximate bytes of memory of a token.
const TOKEN_BYTES: u64 = 256;

/// A valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) domain: DomainId,
    pub(super) user: Value,
    pub(super) expires: Instant,
}

/// A change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// The resource of the record.
    pub resource: ResourceId,
    /// Its key.
    pub key: Value,
    /// The record before the change. None if it is new.
    pub before: Option<Record>,
    /// The record after the change. None if it is deleted.
    pub after: Option<Record>,
}

impl State {
    /// Returns the state at the start of a session: the base's records and the world's clock.
    #[must_use]
    pub fn initial(base: &Base, seed: u64) -> Self {
        Self {
            clock: base.world().clock,
            seed,
            search: SearchVersion::default(),
            tables: Arc::clone(&base.initial),
            tokens: RedBlackTreeMapSync::new_sync(),
            token_sum: Sum::default(),
            issued: 0,
            names: Arc::clone(&base.names),
            outages: Arc::default(),
        }
    }

    /// Returns the clock. Only [`Self::set_clock`] changes it.
    #[must_use]
    pub const fn clock(&self) -> Instant {
        self.clock
    }

    /// Sets the clock.
    pub const fn set_clock(&mut self, clock: Instant) {
        self.clock = clock;
    }

    /// Returns the seed of new keys and tokens.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true if this is the same state or a copy of it, with the same tokens, counters and clock.
    /// States with equal content but different histories count as different.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.reads_as(other) && self.issued == other.issued && self.seed == other.seed
    }

    /// Returns [`State::is`] for readers: the next keys and tokens may differ.
    #[must_use]
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
            && self.token_sum == other.token_sum
            && self.clock == other.clock
            && self.search == other.search
            && self.outages == other.outages
    }

    /// Returns the version of the search in `ToolSearcher`.
    #[must_use]
    pub const fn search(&self) -> SearchVersion {
        self.search
    }

    /// Sets the version of the search in `ToolSearcher`.
    pub const fn set_search(&mut self, version: SearchVersion) {
        self.search = version;
    }

    /// Returns the remaining outages.
    pub(super) fn outages(&self) -> &[(ApiId, OutageKind)] {
        &self.outages
    }

    pub(super) fn set_outages(&mut self, outages: impl Iterator<Item = (ApiId, OutageKind)>) {
        self.outages = outages.collect();
    }

    /// Removes an outage that a call has met.
    pub(super) fn end_outage(&mut self, position: usize) {
        let left = self.outages.iter().enumerate().filter(|(other, _)| *other != position);
        self.outages = left.map(|(_, outage)| *outage).collect();
    }

    /// Returns the number of remaining outages.
    #[must_use]
    pub fn outages_to_come(&self) -> usize {
        self.outages.len()
    }

    /// Returns the record with a key.
    #[must_use]
    pub fn get<'a>(&'a self, base: &'a Base, resource: ResourceId, key: &Value) -> Option<&'a Record> {
        match self.tables.get(resource.index())?.changed(key) {
            Some(changed) => changed.as_ref(),
            None => base.find(resource, key),
        }
    }

    /// Returns all records of a resource in key order.
    pub fn iter<'a>(&'a self, base: &'a Base, resource: ResourceId) -> impl Iterator<Item = &'a Record> {
        let records = base.records(resource).iter();
        let table = self.tables.get(resource.index());
        MergedRecords::new(key_of(base, resource), records, table.and_then(Table::all))
    }

    /// Returns a copy in which one record is replaced or deleted. The digest is not updated.
    #[must_use]
    pub fn with_record(
        &self,
        base: &Base,
        resource: ResourceId,
        key: &Value,
        record: Option<Record>,
    ) -> Self {
        let mut other = self.clone();
        other.set_record(base, resource, key, record);
        other
    }

    /// Returns the state without some records. References to them become invalid.
    #[must_use]
    pub fn without<'a>(
        &self,
        base: &Base,
        records: impl IntoIterator<Item = (ResourceId, &'a Value)>,
    ) -> Self {
        let mut other = self.clone();
        records.into_iter().for_each(|(resource, key)| other.set_record(base, resource, key, None));
        other
    }

    fn set_record(&mut self, base: &Base, resource: ResourceId, key: &Value, record: Option<Record>) {
        if let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) {
            table.put(key, record, base.find(resource, key), |record| base.found_by(resource, record));
        }
    }

    /// Returns the number of records of a resource.
    #[must_use]
    pub fn count(&self, _base: &Base, resource: ResourceId) -> usize {
        self.tables.get(resource.index()).map_or(0, Table::count)
    }

    /// Returns the hash of all records and tokens.
    #[must_use]
    pub fn digest(&self) -> Digest {
        state_digest(self.names.iter().zip(self.tables.iter().map(Table::sum)), self.token_sum)
    }

    /// Returns true if all records are those of the base.
    pub(super) fn is_initial(&self) -> bool {
        self.tables.iter().all(Table::is_empty)
    }

    /// Returns the frozen records of a resource, if none of them has changed.
    pub(super) fn untouched<'a>(&self, base: &'a Base, resource: ResourceId) -> Option<&'a [Record]> {
        self.tables.get(resource.index())?.is_empty().then(|| base.records(resource))
    }

    /// Returns at least the records whose field has this value, by an index and in key order. Returns `None`
    /// if there is no such index or the value is missing.
    pub(super) fn candidates<'a>(
        &'a self,
        base: &'a Base,
        resource: ResourceId,
        field: FieldId,
        form: Form,
        value: &Value,
    ) -> Option<Candidates<'a>> {
        let key = key_of(base, resource);
        if field == key && form == Form::Exact {
            return Some(Candidates::One(self.get(base, resource, &as_key(value)).into_iter()));
        }
        let positions = base.positions(resource, field, form, value)?;
        let table = self.tables.get(resource.index())?;
        let records = PickedRecords::new(base.records(resource), positions);
        let changed = if table.is_empty() {
            None
        } else {
            Some(table.found(placed(field, form, wanted(form, value)?)))
        };
        Some(Candidates::Many(MergedRecords::new(key, records, changed)))
    }

    /// Visits at least the records whose field equals a value, through an index. Returns false without a
    /// visit if there is no index.
    pub(super) fn find<'a>(
        &'a self,
        base: &'a Base,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'a Record) -> ControlFlow<()>,
    ) -> bool {
        let Some(mut candidates) = self.candidates(base, resource, field, Form::Exact, value) else {
            return false;
        };
        let _ = candidates.try_for_each(visit);
        true
    }

    /// Returns the approximate bytes of memory beside the base. Parts that forks share count for each fork.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tokens = self.tokens.size() as u64 * TOKEN_BYTES;
        self.tables.iter().map(Table::bytes).sum::<u64>() + tokens
    }

    /// Returns the approximate bytes of all changes that led to this state, including undone ones.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.tables.iter().map(Table::written).sum::<u64>() + self.issued * TOKEN_BYTES
    }

    /// Returns the number of successful creates of a resource.
    pub(super) fn creates(&self, resource: ResourceId) -> u64 {
        self.tables.get(resource.index()).map_or(0, Table::creates)
    }

    /// Returns the number of the create that made a record, or 0 for a record of the base.
    pub(super) fn made(&self, resource: ResourceId, key: &Value) -> u64 {
        self.tables.get(resource.index()).map_or(0, |table| table.made(key))
    }

    /// Counts a successful create.
    pub(super) fn count_create(&mut self, resource: ResourceId, key: &Value) {
        if let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) {
            table.count_create(key);
        }
    }

    /// Sets or deletes the record with a key, and returns the previous record.
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
        if let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) {
            table.account(removed, added);
            table.put(key, record, base.find(resource, key), |record| base.found_by(resource, record));
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

    /// Returns the digest calculated from every record, to test the incremental one.
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

fn key_of(base: &Base, resource: ResourceId) -> FieldId {
    base.world().resources.get(resource.index()).map_or(FieldId(0), |resource| resource.key)
}

/// Returns the differences between two states of a base, sorted by resource and key.
#[must_use]
pub fn diff(base: &Base, from: &State, to: &State) -> Vec<RecordChange> {
    let mut changes = Vec::new();
    for (position, (old, new)) in from.tables.iter().zip(to.tables.iter()).enumerate() {
        if old.same_as(new) {
            continue;
        }
        let resource = ResourceId(position as u16);
        let mut keys: Vec<&Value> = old.keys().chain(new.keys()).collect();
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

/// Returns the net effect of changes in their order, sorted by resource and key. Changes that were undone are
/// left out.
#[must_use]
pub fn net<'a>(changes: impl IntoIterator<Item = &'a RecordChange>) -> Vec<RecordChange> {
    // Maps each record to its first and its last change.
    let mut found: BTreeMap<(ResourceId, &Value), (&RecordChange, &RecordChange)> = BTreeMap::new();
    for change in changes {
        found.entry((change.resource, &change.key)).or_insert((change, change)).1 = change;
    }
    let differs = found.into_values().filter(|(first, last)| first.before != last.after);
    differs.map(|(first, last)| RecordChange { before: first.before.clone(), ..last.clone() }).collect()
}

/// A view of a state for expressions outside of a call.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    base: &'a Base,
    state: &'a State,
}

impl<'a> Reading<'a> {
    /// Makes a view of a state of `base`.
    #[must_use]
    pub const fn new(base: &'a Base, state: &'a State) -> Self {
        Self { base, state }
    }
}

impl Records for Reading<'_> {
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        self.state.get(self.base, resource, key)
    }

    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {
        let _ = self.state.iter(self.base, resource).try_for_each(visit);
    }

    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        self.state.find(self.base, resource, field, value, visit)
    }
}
