//! States: the frozen base overlaid with what a session has changed.
//!
//! A state owns only its changes, in persistent maps, so a copy shares everything and a fork costs a handful of
//! reference counts. A record that is changed back to what the base has leaves the overlay again.

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
use super::overlay::{Candidates, Merged, Picked, Table};
use super::tools::SearchVersion;

/// A state of a world: records, clock, tokens, counters of creates. Cloning copies nothing.
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
    /// The outages to come.
    outages: Arc<[(ApiId, OutageKind)]>,
}

/// About how many bytes of memory a token takes.
const TOKEN_BYTES: u64 = 256;

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

impl State {
    /// The state a session starts in: the base's records, the world's clock.
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

    /// Returns true if this is another state or a copy of it: the same records where they are kept, the same tokens,
    /// counters and clock. States that came about in two ways are not found out to be equal.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.reads_as(other) && self.issued == other.issued && self.seed == other.seed
    }

    /// [`State::is`] to whoever only reads: new keys and tokens may be others.
    #[must_use]
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
            && self.token_sum == other.token_sum
            && self.clock == other.clock
            && self.search == other.search
            && self.outages == other.outages
    }

    /// The version of the search that `ToolSearcher` does.
    #[must_use]
    pub const fn search(&self) -> SearchVersion {
        self.search
    }

    /// Has `ToolSearcher` do another version of the search than the default.
    pub const fn set_search(&mut self, version: SearchVersion) {
        self.search = version;
    }

    /// The outages to come.
    pub(super) fn outages(&self) -> &[(ApiId, OutageKind)] {
        &self.outages
    }

    pub(super) fn set_outages(&mut self, outages: impl Iterator<Item = (ApiId, OutageKind)>) {
        self.outages = outages.collect();
    }

    /// Takes out an outage that a call has met.
    pub(super) fn end_outage(&mut self, position: usize) {
        let left = self.outages.iter().enumerate().filter(|(other, _)| *other != position);
        self.outages = left.map(|(_, outage)| *outage).collect();
    }

    /// How many outages are to come.
    #[must_use]
    pub fn outages_to_come(&self) -> usize {
        self.outages.len()
    }

    /// The record of a key.
    #[must_use]
    pub fn get<'a>(&'a self, base: &'a Base, resource: ResourceId, key: &Value) -> Option<&'a Record> {
        match self.tables.get(resource.index())?.changed(key) {
            Some(changed) => changed.as_ref(),
            None => base.find(resource, key),
        }
    }

    /// All records of a resource in the order of their keys.
    pub fn iter<'a>(&'a self, base: &'a Base, resource: ResourceId) -> impl Iterator<Item = &'a Record> {
        let records = base.records(resource).iter();
        let table = self.tables.get(resource.index());
        Merged::new(key_of(base, resource), records, table.and_then(Table::all))
    }

    /// A copy in which the record of a key is another one, or gone. Its digest stays that of this state.
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

    /// Returns the state without some records. Whatever refers to them refers to nothing.
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

    /// How many records a resource has.
    #[must_use]
    pub fn count(&self, _base: &Base, resource: ResourceId) -> usize {
        self.tables.get(resource.index()).map_or(0, Table::count)
    }

    /// The hash of all records and tokens.
    #[must_use]
    pub fn digest(&self) -> Digest {
        state_digest(self.names.iter().zip(self.tables.iter().map(Table::sum)), self.token_sum)
    }

    /// Returns true if all records are those of the base.
    pub(super) fn is_initial(&self) -> bool {
        self.tables.iter().all(Table::is_empty)
    }

    /// The frozen records of a resource, when none of them is overlaid.
    pub(super) fn untouched<'a>(&self, base: &'a Base, resource: ResourceId) -> Option<&'a [Record]> {
        self.tables.get(resource.index())?.is_empty().then(|| base.records(resource))
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
    ) -> Option<Candidates<'a>> {
        let key = key_of(base, resource);
        if field == key && form == Form::Exact {
            return Some(Candidates::One(self.get(base, resource, &as_key(value)).into_iter()));
        }
        let positions = base.positions(resource, field, form, value)?;
        let table = self.tables.get(resource.index())?;
        let records = Picked::new(base.records(resource), positions);
        let changed = if table.is_empty() {
            None
        } else {
            Some(table.found(placed(field, form, wanted(form, value)?)))
        };
        Some(Candidates::Many(Merged::new(key, records, changed)))
    }

    /// Visits, through an index, at least the records whose field equals a value. Returns false, and visits none, when there is no
    /// index.
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

    /// About how many bytes of memory the state takes beside its base. What forks share is counted for each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tokens = self.tokens.size() as u64 * TOKEN_BYTES;
        self.tables.iter().map(Table::bytes).sum::<u64>() + tokens
    }

    /// About how many bytes all changes took that led here, undone ones too.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.tables.iter().map(Table::written).sum::<u64>() + self.issued * TOKEN_BYTES
    }

    /// How many creates of a resource have succeeded.
    pub(super) fn creates(&self, resource: ResourceId) -> u64 {
        self.tables.get(resource.index()).map_or(0, Table::creates)
    }

    /// Which create made a record; nothing for one of the base.
    pub(super) fn made(&self, resource: ResourceId, key: &Value) -> u64 {
        self.tables.get(resource.index()).map_or(0, |table| table.made(key))
    }

    /// Counts one more successful create.
    pub(super) fn count_create(&mut self, resource: ResourceId, key: &Value) {
        if let Some(table) = Arc::make_mut(&mut self.tables).get_mut(resource.index()) {
            table.count_create(key);
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

fn key_of(base: &Base, resource: ResourceId) -> FieldId {
    base.world().resources.get(resource.index()).map_or(FieldId(0), |resource| resource.key)
}

/// The differences between two states of a base, sorted by resource and key.
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

/// The difference that changes made together, in their order, sorted by resource and key: what was changed back is none.
#[must_use]
pub fn net<'a>(changes: impl IntoIterator<Item = &'a RecordChange>) -> Vec<RecordChange> {
    // The first and the last change of each record.
    let mut found: BTreeMap<(ResourceId, &Value), (&RecordChange, &RecordChange)> = BTreeMap::new();
    for change in changes {
        found.entry((change.resource, &change.key)).or_insert((change, change)).1 = change;
    }
    let differs = found.into_values().filter(|(first, last)| first.before != last.after);
    differs.map(|(first, last)| RecordChange { before: first.before.clone(), ..last.clone() }).collect()
}

/// A state as expressions read it outside a call.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    base: &'a Base,
    state: &'a State,
}

impl<'a> Reading<'a> {
    /// The records of a state.
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
