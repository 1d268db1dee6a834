//! Proves tasks.
//!
//! Owns candidates, the grounding of their arguments and statements, and the six gates. A candidate holds
//! only messages and calls, whoever wrote it. The gates derive everything else again from the visible text
//! and the replies. This package writes no candidates, and knows no files, datasets or chat models.

pub mod answer;
pub mod binding;
pub mod candidate;
pub mod checks;
mod context;
pub mod difficulty;
mod gate;
pub mod gates;
pub mod ground;
mod grounded;
pub mod measures;
pub mod reason;
mod statements;
pub mod survey;
pub mod verdict;
mod vocabulary;

pub use candidate::Candidate;
pub use context::{Stop, WorldContext};
pub use gate::Gate;
pub use gates::{GateReport, Tally, prove};
pub use ground::{ground, ground_with};
pub use grounded::GroundedCandidate;
pub use reason::{Code, Reason};
pub use survey::Survey;
pub use vocabulary::Vocabulary;
