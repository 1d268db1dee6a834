//! The user simulator: what a user answers to an assistant, and the conversation that results.
//!
//! Generation, `eval` and the server all use this one. The user gives what was asked for and nothing more: a message that
//! asks nothing brings nothing out. This package must not see checks or reference
//! calls. Of the records, it sees those that replies showed and those that the user's wanted calls name.

mod answer;
mod asks;
mod calls;
mod choices;
mod compare;
mod confirm;
mod conflict;
mod consent;
pub mod conversation;
mod detail;
mod mentions;
mod message;
mod phrases;
mod progress;
mod recall;
mod reply;
mod shown;
mod ties;
mod tokens;
mod topic;
mod turn;
mod vocabulary;
mod wants;

pub use self::answer::answer;
pub use self::confirm::{Consented, confirm};
pub use self::consent::is_consent;
pub use self::progress::{Answer, AssistantTurn, Progress, Scene};
pub use self::reply::{joined, tells_nothing};
pub use self::turn::asks_leave;

#[cfg(test)]
#[path = "../../engine/src/tests/shared.rs"]
mod shared;
