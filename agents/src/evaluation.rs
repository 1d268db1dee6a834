//! Owns the evaluation of agents under test in graded conversations.
//!
//! It has the environment of an agent ([`environment`]), the judge ([`judge`]), and the measures. An
//! agent sees the user's view alone: never gold, checks or withheld details. Scripted policies ([`policies`])
//! such as the `oracle` test the judge, not an agent. Most are privileged agents, built from the task itself
//! ([`judge::PrivilegedTask`]), and still act through the environment.
//!
//! An agent that reads its view compiles:
//!
//! ```
//! use diorama_agents::evaluation::environment::Environment;
//!
//! fn look(environment: &mut dyn Environment) -> usize {
//!     environment.view().tools.len()
//! }
//! ```
//!
//! An agent that reads the solution does not compile:
//!
//! ```compile_fail
//! use diorama_agents::evaluation::environment::Environment;
//!
//! fn look(environment: &mut dyn Environment) -> usize {
//!     environment.task().gold.len()
//! }
//! ```
//!
//! An agent that has the judge itself does not compile either:
//!
//! ```compile_fail,E0616
//! fn look(judge: &diorama_agents::evaluation::judge::Judge) -> usize {
//!     judge.task.gold.len()
//! }
//! ```

pub mod at_once;
pub mod attribution;
pub mod batch;
mod call_matching;
pub mod contender;
pub mod judge;
pub mod labelled;
pub mod measures;
pub mod page;
pub mod paired;
pub mod policies;
pub mod remote;
pub mod results;
pub mod run;
pub mod run_error;
pub mod stored;
pub mod transcribed;

pub use diorama_baselines::{Agent, environment, meter, shares};
