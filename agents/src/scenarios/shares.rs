//! Defines shares of conversations, by tag.

use std::collections::BTreeMap;

/// The share of conversations that must show a tag, by its label; each in `0..=1`.
pub type Shares = BTreeMap<String, f64>;
