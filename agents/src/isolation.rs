//! Work on documents of others in processes of their own: what crashes, hangs or grows there ends only itself.

pub mod bounds;
mod jq;
pub mod prepare;
pub mod process;
pub mod worker;
