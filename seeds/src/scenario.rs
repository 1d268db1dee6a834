//! Scenarios: conversations written whole, with places for records and values.
//!
//! `places` checks a scenario against its world, `bind` chooses the records and values that make it true, `prior` is what other
//! scenarios of the same conversation have settled before. Words are templates of the pipeline, which also plays the calls; nothing
//! here runs one.

mod bind;
mod places;
mod prior;

pub use self::bind::RecordSource;
pub use self::places::{Bindings, BoundValue, Scenario, compile};
pub use self::prior::{PersonFields, Prior, is_username_of, person_field};
