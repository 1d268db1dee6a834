//! Evaluation: agents under test, in conversations that are graded.
//!
//! Owns the environment that an agent acts in ([`environment`]), the judge ([`judge`]), and the measures. An agent sees
//! what a user would show it: never gold, checks or withheld details. Scripted policies ([`policies`]) such as the `oracle`
//! test the judge and not an agent: most are privileged agents, built from the task itself ([`judge::Privileged`]), and still
//! act through the environment.
//!
//! An agent that only looks compiles:
//!
//! ```
//! use diorama_agents::evaluation::environment::Environment;
//!
//! fn look(environment: &mut dyn Environment) -> usize {
//!     environment.view().tools.len()
//! }
//! ```
//!
//! One that reaches for the solution does not:
//!
//! ```compile_fail
//! use diorama_agents::evaluation::environment::Environment;
//!
//! fn look(environment: &mut dyn Environment) -> usize {
//!     environment.task().gold.len()
//! }
//! ```
//!
//! Nor does one that is handed the judge itself:
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
