//! Evaluation: agents under test, in conversations that are graded.
//!
//! Owns what an agent holds ([`environment`]), who judges it ([`judge`]), and the measures. An agent sees what a user would
//! show it: never gold, checks or what the user holds back. The `oracle` and the adversaries test the judge and not an
//! agent: they are built from the task itself ([`Insiders`]), and still act through the environment.
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

pub mod adversaries;
pub mod attribution;
pub mod batch;
pub mod cells;
pub mod guesses;
pub mod judge;
pub mod labelled;
pub mod measures;
pub mod meter;
pub mod oracle;
pub mod page;
pub mod paired;
pub mod remote;
pub mod retrieval;
pub mod stored;

pub use diorama_tested::{Agent, environment};

use self::judge::Insider;

/// Agents that test the judge: each is built from the task that it will meet.
pub trait Insiders: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// The agent for a task.
    fn agent<'a>(&'a self, insider: Insider<'a>) -> Box<dyn Agent + 'a>;
}
