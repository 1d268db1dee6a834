//! Owns scenarios: complete conversations with bindings for records and values.
//!
//! `places` checks a scenario against its world. `bind` chooses records and values that make it true. `prior`
//! holds the results of earlier scenarios in the same conversation. The pipeline renders the templates and
//! makes the calls; this module makes none.

mod bind;
mod places;
mod prior;

pub use self::bind::RecordSource;
pub use self::places::{Bindings, BoundValue, Scenario, compile};
pub use self::prior::{PersonFields, Prior, is_username_of, person_field};
