//! Sessions: isolated copies of a world, each with its clock, log and visible APIs.
//!
//! A session is cheap: it shares the base, and a fork shares everything up to where the two part.

mod calls;
mod entry;
mod faulty;
mod kept;
mod log;
mod memo;
mod replay;

pub use self::calls::{Session, SessionOptions};
pub use self::entry::LogEntry;
pub use self::kept::KeptSession;
pub use self::memo::Memo;
pub use self::replay::Entries;

#[cfg(test)]
mod tests;
