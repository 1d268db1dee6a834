//! Owns the ranges, codes and sentences by names of fields, from the embedded table.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::names::ends;
use crate::table::sections;

/// Names with one meaning.
pub(super) struct Row {
    pub(super) names: Vec<&'static str>,
    pub(super) value: &'static str,
}

static ROWS: LazyLock<HashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<Row>> = HashMap::new();
    for (section, row) in sections(include_str!("../../../data/defaults.txt")) {
        let Some((names, value)) = row.split_once(':') else { continue };
        let row = Row { names: names.split(", ").collect(), value: value.trim() };
        found.entry(section).or_default().push(row);
    }
    found
});

/// Returns the rows of a section, in their order.
pub(super) fn rows(section: &str) -> &'static [Row] {
    ROWS.get(section).map_or(&[], Vec::as_slice)
}

/// Returns the value of the first row with a name that equals or ends these words.
pub(super) fn value(section: &str, words: &[String]) -> Option<&'static str> {
    rows(section).iter().find(|row| ends(words, &row.names)).map(|row| row.value)
}

/// Returns [`value`] as numbers.
pub(in super::super) fn numbers<const N: usize>(section: &str, words: &[String]) -> Option<[f64; N]> {
    read(value(section, words)?)
}

fn read<const N: usize>(value: &str) -> Option<[f64; N]> {
    let numbers: Vec<f64> = value.split(' ').filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

/// Returns the rows that cannot be parsed, for the tests.
#[cfg(test)]
pub(super) fn unreadable() -> Vec<&'static str> {
    let bad = |section: &str, ok: fn(&str) -> bool| {
        rows(section).iter().map(|row| row.value).filter(move |value| !ok(value)).collect::<Vec<_>>()
    };
    let triple = |value: &str| read::<3>(value).is_some();
    let pair = |value: &str| read::<2>(value).is_some();
    [bad("integers", triple), bad("reals", triple), bad("spans", pair)].concat()
}
