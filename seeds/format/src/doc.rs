//! Owns the world format, version 1: the document as people, models and importers write it.
//!
//! These structs only describe the serialised form. The model in `diorama-seeds` is the checked form that
//! runs. `docs/world-format.md` documents every key. Unknown keys are refused.

mod api;
mod fake;
mod field;
mod forms;
mod house;
mod private;
mod scenario;
mod security;
mod wire;
mod wordings;
mod words;
mod world;

pub use api::*;
pub use fake::FakeDoc;
pub use field::FieldDoc;
pub use house::*;
pub use scenario::*;
pub use security::*;
pub use wordings::*;
pub use words::*;
pub use world::*;
