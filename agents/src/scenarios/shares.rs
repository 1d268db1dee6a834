//! Shares of the conversations that are to show something.

use std::collections::BTreeMap;

/// Shares of the conversations that are to show something, by its label.
pub type Shares = BTreeMap<String, f64>;
