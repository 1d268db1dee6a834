//! Contracts: what the JSON Schemas of a document promise about bodies.
//!
//! Owns two questions about a schema: whether a value is valid by it ([`Schemas::check`]), and which valid value shows what
//! is known of a record ([`Schemas::reply`]). Pure: the same schema, facts and seeds give the same value. It knows nothing
//! of resources; who asks says what is known.

mod body;
mod check;
mod conditions;
mod form;
mod format;
mod headers;
mod kinds;
mod make;
mod merge;
mod names;
mod sample;
mod schemas;

pub use body::Contract;
pub use check::{Side, Wrong};
pub use format::fits as fits_format;
pub use kinds::{is_json_kind, is_lines_kind};
pub use make::{Facts, Known, List, Listed, Lookup, Named, NoRecords};
pub use names::{
    ANY_KEY, AS, KEYS, ME, RESOURCE, first_state, is_gone, is_passing, key_name, noun, plain, tells_error,
};
pub use schemas::Schemas;

#[cfg(test)]
mod tests;
