//! Simulates the user: computes the user's answers to an assistant, and keeps the resulting conversation.
//!
//! Generation, `eval` and the server all use it. The user answers what was asked and volunteers nothing. This
//! package must not see checks or reference calls. It sees the records that replies showed and that wanted
//! calls name, and the names of records beside those.

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
mod fit;
mod form;
mod lead;
mod mentions;
mod message;
mod parts;
mod phrases;
mod progress;
mod recall;
mod reply;
mod roles;
mod scope;
mod shown;
mod source;
mod ties;
mod tokens;
mod topic;
mod turn;
mod verbs;
mod vocabulary;
mod wants;
mod wording;
mod words;

pub use self::answer::answer;
pub use self::confirm::{ConsentAnswer, confirm};
pub use self::consent::is_consent;
pub use self::progress::{Answer, AssistantTurn, Progress, Scene};
pub use self::reply::{join_sentences, tells_nothing};
pub use self::turn::asks_leave;

#[cfg(test)]
#[path = "../../engine/src/tests/shared.rs"]
mod shared;
