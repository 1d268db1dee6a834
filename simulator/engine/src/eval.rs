//! Evaluation of expressions in the engine.
//!
//! The evaluator is in `seeds`, because the record generator (`fake: {provider: expr}`) uses it, too. The
//! engine implements [`Records`] for its states.

pub use diorama_seeds::expr::eval::{
    Budget, DEFAULT_BUDGET, Env, EvalError, NoRecords, Records, SlotContent,
};
