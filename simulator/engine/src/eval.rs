//! Evaluation of expressions, as the engine uses it.
//!
//! The evaluator stands beside the typed form in `seeds`, because made-up records (`fake: {provider: expr}`) need
//! it too, and one language has one meaning. What is the engine's is [`Records`], implemented for its state.

pub use diorama_seeds::expr::eval::{Bound, Budget, DEFAULT_BUDGET, Env, EvalError, NoRecords, Records};
