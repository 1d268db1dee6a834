//! Owns the work on untrusted documents in processes of their own. A crash, a hang or memory growth there
//! ends that process only.

pub mod bounds;
mod jq;
pub mod prepare;
pub mod process;
pub mod worker;
