//! API-Bank (Li et al., 2023): replays its recorded dialogues in a world of ours, and measures agents on them
//! by its rules.
//!
//! `api_bank/world.yaml` has the world's APIs. Records, date and answers of external services come from the
//! benchmark's folder. Two calls are equivalent if each, on freshly initialised databases, makes the same
//! change and gives the same reply (section 3.3 of the paper). The rules of the benchmark's released
//! evaluator are implemented as well.

mod agents;
mod calculator;
mod dialogue;
mod measure;
mod released;
mod replay;
mod scenario;
mod search;
mod world;

pub use agents::{ApiBank, Task};
pub use dialogue::{Dialogue, Gold, Turn, dialogues};
pub use measure::ceiling;
pub use replay::replay;
pub use scenario::{Scenario, scenarios};
pub use world::BankWorld;
