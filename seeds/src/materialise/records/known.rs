//! Records by key, and given ones by display value, so that a reference finds the one that it means without a scan.

use std::collections::{HashMap, HashSet};

use super::super::plan::Given;
use crate::value::Value;

/// The given value of a field; none where it is a reference that is still to be resolved.
pub(super) fn given_value(row: &[(usize, Given)], field: usize) -> Option<&Value> {
    row.iter().find_map(|(given, value)| match value {
        Given::Value(value) if *given == field => Some(value),
        _ => None,
    })
}

/// The records of one resource that given references may mean; filled when the first of them is looked up.
#[derive(Default)]
pub(super) struct Known {
    keys: HashSet<Value>,
    /// How many of the resource's keys are in `keys`.
    counted: usize,
    /// By display value, the numbers of given records.
    given: Option<HashMap<String, Vec<usize>>>,
}

impl Known {
    /// Returns true for the key of a record. `keys` only grows between two calls.
    pub(super) fn has_key(&mut self, keys: &[Value], key: &Value) -> bool {
        self.keys.extend(keys.iter().skip(self.counted).cloned());
        self.counted = keys.len();
        self.keys.contains(key)
    }

    /// The numbers of the given records that are called so.
    pub(super) fn given(&mut self, rows: &[Vec<(usize, Given)>], display: usize, name: &str) -> &[usize] {
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
