//! Owns the relations between values that follow from member names: the order of timestamps, the events that
//! a state implies, and sums.
//!
//! The words are in `seeds/data/members.txt`. With these relations, callers make the members of one object
//! consistent. The module is pure and knows neither records nor schemas: callers pass the names and enforce
//! the relations.

mod amounts;
mod lists;
mod moments;
mod states;
mod table;

pub use amounts::{Bond, bonds, is_amount, is_of_money};
pub use lists::{Page, counted, page_member, place_names};
pub use moments::{Lies, Moment, MomentKind};
pub use states::{Stand, holds_state, is_over, reached, stand, tells_same};

/// Returns true if a name ends with a word whose meaning differs between services.
pub fn is_ambiguous(name: &str) -> bool {
    crate::english::split_identifier(name).last().is_some_and(|last| table::has("ambiguous", last))
}

/// Returns true if a noun ends with a word whose meaning differs between services.
pub fn is_ambiguous_noun(noun: &str) -> bool {
    crate::english::split_identifier(noun).last().is_some_and(|last| table::has("ambiguous nouns", last))
}
