//! What the names of members say of their values: which moments come first, what has come about in a state, what adds up.
//!
//! Owns the words (`seeds/data/members.txt`) and the relations that follow from them, so that the members of one thing
//! can be made to agree. Pure; it knows neither records nor schemas: who asks has the names, and keeps the relations.

mod amounts;
mod lists;
mod moments;
mod states;
mod table;

pub use amounts::{Bond, bonds, is_amount, is_of_money};
pub use lists::{Page, counted, page_member, place_names};
pub use moments::{Lies, Moment, MomentKind};
pub use states::{Stand, holds_state, is_over, reached, stand, tells_same};

/// Returns true if a name ends with a word that means different things in different services.
pub fn is_ambiguous(name: &str) -> bool {
    crate::english::split_identifier(name).last().is_some_and(|last| table::has("ambiguous", last))
}

/// Returns true if a noun ends with a word that means different things in different services.
pub fn is_ambiguous_noun(noun: &str) -> bool {
    crate::english::split_identifier(noun).last().is_some_and(|last| table::has("ambiguous nouns", last))
}
