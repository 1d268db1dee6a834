//! Indexes over the frozen records of one resource.
//!
//! An index narrows; it does not decide. It may name a record that does not match (a collision of hashes), never
//! miss one that does, so whoever asks compares again.

use std::hash::{Hash, Hasher};

use diorama_seeds::model::{FieldId, Record};
use diorama_seeds::value::Value;
use rustc_hash::{FxHashMap, FxHasher};

/// The part of a field's value that an index is built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The whole value; numbers by their numeric value.
    Exact,
    /// Text, whatever its case and the white space around it.
    Folded,
    /// Each item of a list.
    Items,
}

/// Positions of records by the hash of a field's value.
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

    /// Positions in ascending order, which is key order.
    pub(super) fn positions(&self, hash: u64) -> &[u32] {
        let Some((start, length)) = self.spans.get(&hash) else { return &[] };
        let start = *start as usize;
        self.positions.get(start..start + *length as usize).unwrap_or(&[])
    }
}

/// The hashes under which an index of this form finds a value.
pub(super) fn fingerprints(form: Form, value: &Value, found: impl FnMut(u64)) {
    match (form, value) {
        (Form::Items, Value::List(items)) => items.iter().filter_map(fingerprint).for_each(found),
        (Form::Items, _) => {}
        (Form::Exact, value) => fingerprint(value).into_iter().for_each(found),
        (Form::Folded, value) => folded_fingerprint(value).into_iter().for_each(found),
    }
}

/// The hash under which a value is asked for.
pub(super) fn wanted(form: Form, value: &Value) -> Option<u64> {
    if form == Form::Folded { folded_fingerprint(value) } else { fingerprint(value) }
}

/// A value's hash together with the field and form it is of, so that one map serves all indexes of a resource.
pub(super) fn placed(field: FieldId, form: Form, hash: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (field.0, form as u8, hash).hash(&mut hasher);
    hasher.finish()
}

/// A hash that is the same for values that are loosely equal; none for a missing value.
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

/// As [`fingerprint`], for text whatever its case.
fn folded_fingerprint(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => fingerprint(&Value::String(fold(text).into())),
        other => fingerprint(other),
    }
}

/// Text without regard to case and surrounding white space.
pub(super) fn fold(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Equality as look-ups mean it: text in any case and trimmed, numbers by value.
pub(super) fn same_folded(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left == right || fold(left) == fold(right),
        _ => left.loosely_equals(right),
    }
}
