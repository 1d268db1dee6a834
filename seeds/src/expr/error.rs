//! Owns the errors of parsing and of evaluating expressions.

/// A problem with an expression, and its offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset} of the expression: {message}")]
pub struct ExprError {
    /// Byte offset inside the expression's text.
    pub offset: usize,
    /// The text that was found, the expected one, and what to do.
    pub message: String,
}

/// The reason for which an evaluation has no result. The inputs that the expression reads decide whose error
/// it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The step budget is used up.
    #[error("the expression takes too many steps; narrow its folds with an equality on a field")]
    Budget,
    /// The byte budget is used up.
    #[error("the expression makes or reads too many bytes of text; shorten what it joins or repeats")]
    Bytes,
    /// An integer, decimal, date or instant is out of range.
    #[error("the result of `{0}` is out of range")]
    Overflow(&'static str),
    /// Division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A number is not finite.
    #[error("the result of `{0}` is not a finite number")]
    NotFinite(&'static str),
    /// An operand has a type that the operation does not take.
    #[error("`{operation}` does not take {found}")]
    Type {
        /// Operator or function.
        operation: &'static str,
        /// Kind of the operand.
        found: &'static str,
    },
}
