//! The proof of a task.
//!
//! Owns what a candidate is, the ground its arguments and statements stand on, and the six gates. A candidate holds
//! nothing but what was said and done, whoever wrote it: what the gates need beyond that is derived again from the
//! visible text and the replies. No author of candidates lives here, and nothing here knows of files, datasets or
//! chat models.

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
pub use grounded::Grounded;
pub use reason::{Code, Reason};
pub use survey::Survey;
pub use vocabulary::Vocabulary;
