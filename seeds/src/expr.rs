//! Expressions: a documented subset of CEL, in typed form.
//!
//! Owns the typed form; parsing ([`compile`]), evaluation ([`eval`]) and units ([`units`]) are in this module's
//! children. Evaluation reads records through [`eval::Records`], so that the engine, which has them, and the
//! making of records, which has only some, share one meaning. Nothing here has side effects, and every
//! expression is bounded: it folds over records of one world, never over anything it makes itself.

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
