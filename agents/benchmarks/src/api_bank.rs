//! API-Bank (Li et al., 2023): its recorded dialogues, replayed on a world of ours, and agents measured on them by its rules.
//!
//! The world's APIs are in `api_bank/world.yaml`; its records, its day and the answers of services outside of it are read from
//! the benchmark's folder. Two calls are equivalent when, each made on databases initialised anew, they change the same and
//! give the same (section 3.3 of the paper). The rules of the evaluator that was released with the benchmark stand beside ours.

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
