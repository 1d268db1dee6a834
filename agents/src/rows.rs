//! Owns the rows: the sources that give them batch by batch, and the attempts at one row until it is proven.
//!
//! It has the only way from a proposal to a row, which leads through the gates ([`prove`]) for every author.
//! It must not read the environment, the clock of the machine or the terminal.

pub mod attempt;
pub mod documents;
pub mod proposal;
pub mod prove;
pub mod row;
pub mod source;
pub mod turns;
pub mod uses;

#[cfg(test)]
mod tests;
