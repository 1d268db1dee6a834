//! Documents of folders: which files they are, what they are called, and the processes in which they are read.

pub mod bounds;
pub mod find;
pub mod isolated;
mod jq;
pub mod names;
pub mod prepare;
pub mod several;
pub mod worker;
