//! Owns the index of records by key, and of given records by display value, so that references are resolved
//! without a scan.

use std::collections::{HashMap, HashSet};

use super::super::plan::GivenValue;
use crate::value::Value;

/// Returns the given value of a field, or none if it is an unresolved reference.
pub(super) fn given_value(row: &[(usize, GivenValue)], field: usize) -> Option<&Value> {
    row.iter().find_map(|(given, value)| match value {
        GivenValue::Value(value) if *given == field => Some(value),
        _ => None,
    })
}

/// The possible targets of given references in one resource. The first look-up fills it.
#[derive(Default)]
pub(super) struct ReferenceTargets {
    keys: HashSet<Value>,
    /// Number of the resource's keys that are in `keys`.
    counted: usize,
    /// Numbers of given records, by display value.
    given: Option<HashMap<String, Vec<usize>>>,
}

impl ReferenceTargets {
    /// Returns true for the key of a record. `keys` must only grow between two calls.
    pub(super) fn has_key(&mut self, keys: &[Value], key: &Value) -> bool {
        self.keys.extend(keys.iter().skip(self.counted).cloned());
        self.counted = keys.len();
        self.keys.contains(key)
    }

    /// Returns the numbers of the given records with this display value.
    pub(super) fn given(
        &mut self,
        rows: &[Vec<(usize, GivenValue)>],
        display: usize,
        name: &str,
    ) -> &[usize] {
        let by_name = self.given.get_or_insert_with(|| {
            let mut found: HashMap<String, Vec<usize>> = HashMap::new();
            for (number, row) in rows.iter().enumerate() {
                if let Some(name) = given_value(row, display).and_then(Value::as_str) {
                    found.entry(name.to_owned()).or_default().push(number);
                }
            }
            found
        });
        by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
