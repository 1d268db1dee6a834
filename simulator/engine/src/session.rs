//! Sessions: isolated copies of a world, each with a clock, a log and a set of visible APIs.
//!
//! A session shares the base. A fork also shares all records and log entries up to the fork.

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
