//! Owns expressions: a documented subset of CEL, in typed form.
//!
//! Its children parse ([`compile`]) and evaluate ([`eval`]) expressions, and know units ([`units`]).
//! Evaluation reads records through [`eval::Records`]. The engine has all records, and materialisation only
//! some, but both share one meaning. Expressions have no side effects and are bounded: they fold over the
//! records of one world, never over lists that they make.

mod ast;
mod check;
mod error;
pub mod eval;
#[cfg(test)]
mod fixture;
mod functions;
mod index;
mod lexer;
pub(crate) mod node;
mod operator;
mod parse;
mod scope;
pub mod units;

pub use check::compile;
pub(crate) use check::{check_syntax, compile_condition, compile_value};
pub use error::ExprError;
pub use functions::Function;
pub use index::index_of;
pub use lexer::quote;
pub use node::{Expr, ExprType, Fold, FoldKind, Node, Slot};
pub use operator::{Cast, Operator};
pub use scope::Scope;
