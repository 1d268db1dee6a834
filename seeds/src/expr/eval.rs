//! Evaluation of typed expressions over records.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::expr::{Expr, Node, Slot};
use crate::model::{FieldId, Record, ResourceId};
use crate::value::{Instant, Value, Zone};

/// The records that expressions read.
///
/// Visitors get records in key order; they return [`ControlFlow::Break`] to stop early.
pub trait Records {
    /// The record with this key.
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record>;

    /// Visits every record of the resource.
    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>);

    /// Visits, through an index, at least the records whose field equals the value (never null or absent).
    /// Returns false, and visits none, when there is no index; the caller then scans.
    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool;
}

/// What a slot holds, and what an evaluation gives.
#[derive(Clone, Debug, Default)]
pub enum Bound {
    /// Nothing was put there; reads as null.
    #[default]
    Empty,
    /// A value.
    Value(Value),
    /// A record.
    Record(Record),
}

/// How many steps an evaluation may still take: one for each node and each record visited. One budget serves all
/// expressions of a call.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

/// Steps of one call, unless the caller says otherwise.
pub const DEFAULT_BUDGET: u64 = 200_000;

/// What an evaluation reads.
#[derive(Clone, Copy)]
pub struct Env<'e> {
    /// Values of the call's arguments, by parameter; absent when not given and without default.
    pub arguments: &'e [Value],
    /// `record`, `item`, `me`, then `let` names, by slot. Fold variables need no place here; a slot beyond the
    /// end reads as null.
    pub bound: &'e [Bound],
    /// The world's clock.
    pub clock: Instant,
    /// The world's zone.
    pub zone: &'e Zone,
    /// The records.
    pub records: &'e dyn Records,
    /// The steps left.
    pub budget: &'e Budget,
}

/// Why an evaluation has no result: an error of the world (500), not of the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The steps are used up.
    #[error("the expression takes too many steps; narrow its folds with an equality on a field")]
    Budget,
    /// An integer, decimal, date or instant is out of range.
    #[error("the result of `{0}` is out of range")]
    Overflow(&'static str),
    /// Division by zero.
    #[error("division by zero; guard it with a condition")]
    DivisionByZero,
    /// A number is not finite.
    #[error("the result of `{0}` is not a finite number")]
    NotFinite(&'static str),
    /// An operand has a type that the operation does not take.
    #[error("`{operation}` does not take {found}")]
    Type {
        /// The operator or function.
        operation: &'static str,
        /// The operand's kind.
        found: &'static str,
    },
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(DEFAULT_BUDGET)
    }
}

impl Budget {
    /// A budget of so many steps.
    #[must_use]
    pub const fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// The steps left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes steps: for visits that the engine makes itself (the records a list looks at).
    ///
    /// # Errors
    /// [`EvalError::Budget`] when there are not so many.
    pub fn take(&self, steps: u64) -> Result<(), EvalError> {
        match self.0.get().checked_sub(steps) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                self.0.set(0);
                Err(EvalError::Budget)
            }
        }
    }
}

impl Env<'_> {
    /// Evaluates an expression to a value or a record (`Bound::Value(Value::Null)` for a record that is not there).
    ///
    /// # Errors
    /// [`EvalError`]: the world's fault, not the call's.
    pub fn evaluate(&self, expr: &Expr) -> Result<Bound, EvalError> {
        let _ = expr;
        Err(EvalError::Budget)
    }

    /// Evaluates to a value; a record becomes the object of its... its key cannot be known here, so null.
    ///
    /// # Errors
    /// As [`Env::evaluate`].
    pub fn value(&self, node: &Node) -> Result<Value, EvalError> {
        let _ = node;
        Err(EvalError::Budget)
    }

    /// Whether a condition holds; null and absent count as false.
    ///
    /// # Errors
    /// As [`Env::evaluate`].
    pub fn holds(&self, node: &Node) -> Result<bool, EvalError> {
        let _ = node;
        Err(EvalError::Budget)
    }

    /// Whether a condition holds with this record in this slot, whatever [`Env::bound`] has there: the fast way
    /// to test many records.
    ///
    /// # Errors
    /// As [`Env::evaluate`].
    pub fn holds_for(&self, node: &Node, slot: Slot, record: &Record) -> Result<bool, EvalError> {
        let _ = (node, slot, record);
        Err(EvalError::Budget)
    }

    /// [`Env::value`] with this record in this slot.
    ///
    /// # Errors
    /// As [`Env::evaluate`].
    pub fn value_for(&self, node: &Node, slot: Slot, record: &Record) -> Result<Value, EvalError> {
        let _ = (node, slot, record);
        Err(EvalError::Budget)
    }
}

/// A world without records, for expressions over values alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecords;

impl Records for NoRecords {
    fn get(&self, _: ResourceId, _: &Value) -> Option<&Record> {
        None
    }

    fn scan<'r>(&'r self, _: ResourceId, _: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {}

    fn find<'r>(
        &'r self,
        _: ResourceId,
        _: FieldId,
        _: &Value,
        _: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        true
    }
}
