//! Units of measurement and conversion between them.

/// Converts a value from one unit to another; `None` when a unit is unknown or they measure different things.
#[must_use]
pub fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    (from == to).then_some(value)
}
