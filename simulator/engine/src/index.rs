//! Indexes over the frozen records of one resource.
//!
//! An index narrows a search. Hash collisions may add records that do not match, but no match is missed.
//! Callers compare again.

use std::hash::{Hash, Hasher};

use diorama_seeds::model::{FieldId, Record};
use diorama_seeds::value::Value;
use rustc_hash::{FxHashMap, FxHasher};

/// The aspect of a field's value that an index uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The whole value. Numbers compare by value.
    Exact,
    /// A string without regard to case and surrounding white space.
    Folded,
    /// Each item of a list.
    Items,
}

/// Positions of records, by hash of a field's value.
#[derive(Debug)]
pub(super) struct Index {
    spans: FxHashMap<u64, (u32, u32)>,
    positions: Vec<u32>,
}

impl Index {
    pub(super) fn new(records: &[Record], field: FieldId, form: Form) -> Self {
        let mut hashes: Vec<(u64, u32)> = Vec::with_capacity(records.len());
        for (position, record) in records.iter().enumerate() {
            let value = record.get(field.index()).unwrap_or(&Value::Absent);
            fingerprints(form, value, |hash| hashes.push((hash, position as u32)));
        }
        hashes.sort_unstable();
        hashes.dedup();
        let mut spans = FxHashMap::default();
        for (at, (hash, _)) in hashes.iter().enumerate() {
            let span: &mut (u32, u32) = spans.entry(*hash).or_insert((at as u32, 0));
            span.1 += 1;
        }
        Self { spans, positions: hashes.into_iter().map(|(_, position)| position).collect() }
    }

    /// Returns positions in ascending order, which is the order of keys.
    pub(super) fn positions(&self, hash: u64) -> &[u32] {
        let Some((start, length)) = self.spans.get(&hash) else { return &[] };
        let start = *start as usize;
        self.positions.get(start..start + *length as usize).unwrap_or(&[])
    }
}

/// Calls `found` with each hash under which an index of this form stores a value.
pub(super) fn fingerprints(form: Form, value: &Value, found: impl FnMut(u64)) {
    match (form, value) {
        (Form::Items, Value::List(items)) => items.iter().filter_map(fingerprint).for_each(found),
        (Form::Items, _) => {}
        (Form::Exact, value) => fingerprint(value).into_iter().for_each(found),
        (Form::Folded, value) => folded_fingerprint(value).into_iter().for_each(found),
    }
}

/// Returns the hash under which a value is looked up.
pub(super) fn wanted(form: Form, value: &Value) -> Option<u64> {
    if form == Form::Folded { folded_fingerprint(value) } else { fingerprint(value) }
}

/// Combines a value's hash with its field and form, so that one map serves all indexes of a resource.
pub(super) fn placed(field: FieldId, form: Form, hash: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (field.0, form as u8, hash).hash(&mut hasher);
    hasher.finish()
}

/// Returns a hash that is equal for loosely equal values, or none for a missing value.
fn fingerprint(value: &Value) -> Option<u64> {
    let mut hasher = FxHasher::default();
    let number = match value {
        Value::Absent | Value::Null => return None,
        Value::Decimal(decimal) => Some(decimal.reduced().as_f64()),
        other => other.as_f64(),
    };
    match number {
        Some(number) => number.to_bits().hash(&mut hasher),
        None => value.hash(&mut hasher),
    }
    Some(hasher.finish())
}

/// Returns a [`fingerprint`] that ignores the case of strings.
fn folded_fingerprint(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => fingerprint(&Value::String(fold(text).into())),
        other => fingerprint(other),
    }
}

/// Returns a string in lower case and without surrounding white space.
pub(super) fn fold(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Compares values for lookups. Strings compare trimmed and without case, numbers by value.
pub(super) fn same_folded(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left == right || fold(left) == fold(right),
        _ => left.loosely_equals(right),
    }
}
