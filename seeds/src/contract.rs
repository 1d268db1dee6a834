//! Owns contracts: the promises of a document's JSON Schemas about bodies.
//!
//! It validates a value against a schema ([`Schemas::check`]), and makes a valid value that shows known facts
//! of a record ([`Schemas::reply`]). It is pure: the same schema, facts and seeds give the same value. It
//! knows no resources; callers pass the known facts.

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
pub use format::{fits as fits_format, is_mail_date};
pub use kinds::{is_json_kind, is_lines_kind};
pub use make::{Facts, KnownValues, List, ListedRecords, Lookup, NameableRecord, NoRecords};
pub use names::{
    ANY_KEY, AS, KEYS, ME, RESOURCE, first_state, is_gone, is_passing, key_name, noun, plain, tells_error,
};
pub use schemas::Schemas;

#[cfg(test)]
mod tests;
