//! The six gates of the tester, one file each. A gate gives the reason why a task does not pass.

pub mod alternatives;
pub mod damage;
pub mod determined;
pub mod gold;
pub mod grounded;
pub mod no_op;
