//! Rows: what a source gives batch by batch, and the attempts at one row until it is proven.
//!
//! Owns the one way from a proposal over the gates to a row. No row is made without proof ([`prove`]), whoever proposed it. It must not read
//! the environment, the clock of the machine or the terminal.

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
