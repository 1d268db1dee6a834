//! Owns the evaluation of typed expressions over records.
//!
//! It is a pure function of the expression and its [`Env`]. It reads fields, arguments and literals without
//! allocation, and keeps a fold's variable on the stack. `docs/world-format.md` defines the meaning of
//! expressions.

use std::cell::Cell;
use std::ops::ControlFlow;

pub use crate::expr::error::EvalError;
use crate::expr::node::{Expr, Node, Slot};
use crate::expr::operator::{Cast, Operator};
use crate::model::{FieldId, Record, ResourceId};
use crate::value::{Instant, Value, Zone};

pub(super) mod arithmetic;
mod compare;
mod folds;
mod functions;

/// Access to the records that expressions read.
///
/// Visitors get records in key order. They return [`ControlFlow::Break`] to stop early.
pub trait Records {
    /// Returns the record with this key.
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record>;

    /// Visits every record of the resource.
    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>);

    /// Visits, through an index, at least the records whose field equals the value, which is never null or
    /// absent. Without an index it visits none and returns false, and the caller scans.
    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool;
}

/// The content of a slot, or the result of an evaluation.
#[derive(Clone, Debug, Default)]
pub enum SlotContent {
    /// An empty slot, which reads as null.
    #[default]
    Empty,
    /// A value.
    Value(Value),
    /// A record.
    Record(Record),
}

/// The remaining budget of an evaluation. A step is a node or a visited record. Bytes are those of the texts
/// and lists that it makes or reads. One budget serves all expressions of a call.
#[derive(Debug)]
pub struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
}

/// Steps of one call, unless the caller sets another number.
pub const DEFAULT_BUDGET: u64 = 200_000;
/// Bytes of one call, unless the caller sets another number or allows very many steps.
pub const DEFAULT_BYTES: u64 = 16 << 20;
/// Bytes for each step of a large budget.
const STEP_BYTES: u64 = 80;
/// Bytes that count for a list item in addition to its own.
const ITEM_BYTES: u64 = 16;

/// The inputs of an evaluation.
#[derive(Clone, Copy)]
pub struct Env<'e> {
    /// Values of the call's arguments, by parameter. A parameter that was not given and has no default is
    /// absent.
    pub arguments: &'e [Value],
    /// Values of `record`, `item`, `me` and `let` names, by slot. Fold variables need no slot here. A slot
    /// beyond the end reads as null.
    pub bound: &'e [SlotContent],
    /// Current time of the world.
    pub clock: Instant,
    /// Time zone of the world.
    pub zone: &'e Zone,
    /// The records.
    pub records: &'e dyn Records,
    /// The remaining budget.
    pub budget: &'e Budget,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(DEFAULT_BUDGET)
    }
}

impl Budget {
    /// Makes a budget of steps, with bytes in proportion.
    pub fn new(steps: u64) -> Self {
        Self::with_bytes(steps, steps.saturating_mul(STEP_BYTES).max(DEFAULT_BYTES))
    }

    /// Makes a budget of steps and bytes.
    pub const fn with_bytes(steps: u64, bytes: u64) -> Self {
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes) }
    }

    /// Returns the remaining steps.
    pub fn left(&self) -> u64 {
        self.steps.get()
    }

    /// Returns the remaining bytes.
    pub fn bytes_left(&self) -> u64 {
        self.bytes.get()
    }

    /// Takes steps for visits that the engine makes itself, such as the records that a list examines.
    ///
    /// # Errors
    /// Returns [`EvalError::Budget`] if fewer steps remain.
    pub fn take(&self, steps: u64) -> Result<(), EvalError> {
        spend(&self.steps, steps).ok_or(EvalError::Budget)
    }

    /// Takes the bytes of a value that will be made or read, with all nested values. It counts only as far as
    /// bytes remain.
    ///
    /// # Errors
    /// Returns [`EvalError::Bytes`] if fewer bytes remain.
    pub fn take_bytes_of(&self, value: &Value) -> Result<(), EvalError> {
        match value {
            Value::String(text) => self.take_bytes(text.len() as u64),
            Value::List(items) => items.iter().try_for_each(|item| {
                self.take_bytes(ITEM_BYTES)?;
                self.take_bytes_of(item)
            }),
            Value::Object(members) => members.iter().try_for_each(|(name, value)| {
                self.take_bytes(ITEM_BYTES + name.len() as u64)?;
                self.take_bytes_of(value)
            }),
            _ => Ok(()),
        }
    }

    fn take_bytes(&self, bytes: u64) -> Result<(), EvalError> {
        spend(&self.bytes, bytes).ok_or(EvalError::Bytes)
    }
}

/// Takes an amount from the budget. If less remains, it takes the rest and returns none.
fn spend(left: &Cell<u64>, wanted: u64) -> Option<()> {
    let rest = left.get().checked_sub(wanted);
    left.set(rest.unwrap_or(0));
    rest.map(|_| ())
}

impl<'e> Env<'e> {
    /// Evaluates an expression to a value or a record. A missing record is null.
    ///
    /// # Errors
    /// Returns [`EvalError`], also if the result is a date or timestamp outside the calendar.
    pub fn evaluate(&self, expr: &Expr) -> Result<SlotContent, EvalError> {
        let bound = self.bind(expr)?;
        if let SlotContent::Value(value) = &bound {
            self.checked(value, expr.node.operation())?;
        }
        Ok(bound)
    }

    /// Evaluates like [`Env::evaluate`], for use in other expressions: dates and timestamps may lie outside
    /// the calendar.
    ///
    /// # Errors
    /// Returns an [`EvalError`] if the evaluation fails.
    pub fn bind(&self, expr: &Expr) -> Result<SlotContent, EvalError> {
        Ok(match self.run(&expr.node, None)? {
            EvalResult::Record(record) => SlotContent::Record(record.clone()),
            other => SlotContent::Value(other.into_value("a value")?),
        })
    }

    /// Evaluates to a value.
    ///
    /// # Errors
    /// Returns the errors of [`Env::evaluate`], and an error if the result is a record.
    pub fn value(&self, node: &Node) -> Result<Value, EvalError> {
        self.result(node, None)
    }

    /// Returns true if a condition holds. Null and absent count as false.
    ///
    /// # Errors
    /// Returns the errors of [`Env::evaluate`].
    pub fn holds(&self, node: &Node) -> Result<bool, EvalError> {
        self.truth(node, None)
    }

    /// Returns true if a condition holds with this record in this slot, regardless of [`Env::bound`]. It is
    /// the fast way to test many records.
    ///
    /// # Errors
    /// Returns the errors of [`Env::evaluate`].
    pub fn holds_for(&self, node: &Node, slot: Slot, record: &Record) -> Result<bool, EvalError> {
        self.truth(node, Some(&Frame { slot, record, outer: None, known: None }))
    }

    /// Evaluates like [`Env::value`], with this record in this slot.
    ///
    /// # Errors
    /// Returns the errors of [`Env::evaluate`].
    pub fn value_for(&self, node: &Node, slot: Slot, record: &Record) -> Result<Value, EvalError> {
        self.result(node, Some(&Frame { slot, record, outer: None, known: None }))
    }

    /// Evaluates a node, and checks that its value lies within the calendar.
    fn result(&self, node: &Node, frame: Option<&Frame<'_>>) -> Result<Value, EvalError> {
        let value = self.run(node, frame)?.into_value("a value")?;
        self.checked(&value, node.operation())?;
        Ok(value)
    }

    fn checked(&self, value: &Value, operation: &'static str) -> Result<(), EvalError> {
        if value.is_in_calendar(self.zone) { Ok(()) } else { Err(EvalError::Overflow(operation)) }
    }

    fn run<'v>(&'v self, node: &'v Node, frame: Option<&'v Frame<'v>>) -> Result<EvalResult<'v>, EvalError> {
        self.budget.take(1)?;
        if let Some(value) = self.borrowed(node, frame) {
            return Ok(EvalResult::Ref(value));
        }
        Ok(match node {
            Node::Literal(value) => EvalResult::Ref(value),
            Node::Argument(_) => EvalResult::NULL,
            Node::Variable(slot) => self.variable(*slot, frame),
            Node::Now => EvalResult::Own(Value::DateTime(self.clock)),
            Node::Today => EvalResult::Own(Value::Date(self.zone.date_of(self.clock))),
            Node::Field(record, field) => match self.run(record, frame)? {
                EvalResult::Record(record) => {
                    record.get(field.index()).map_or(EvalResult::NULL, EvalResult::Ref)
                }
                _ => EvalResult::NULL,
            },
            Node::Member(object, name) => member(self.run(object, frame)?, name),
            Node::Item(list, position) => {
                let list = self.run(list, frame)?;
                item(list, self.run(position, frame)?.value())
            }
            Node::Get(resource, key) => match self.run(key, frame)?.value() {
                Some(key) if !key.is_missing() => {
                    self.records.get(*resource, key).map_or(EvalResult::NULL, EvalResult::Record)
                }
                _ => EvalResult::NULL,
            },
            Node::Fold(fold) => self.inner_fold(fold, frame)?,
            Node::Conditional(condition, yes, no) => {
                let branch = if self.truth(condition, frame)? { yes } else { no };
                self.run(branch, frame)?
            }
            Node::Negate(operand) => {
                let operand = self.run(operand, frame)?;
                EvalResult::Own(arithmetic::subtract(&Value::Integer(0), operand.scalar("-")?, "-")?)
            }
            Node::Cast(operand, cast) => {
                let operand = self.run(operand, frame)?;
                match (operand.scalar("a number")?, cast) {
                    (Value::Number(_), Cast::Number) => operand,
                    (Value::Decimal(decimal), Cast::Decimal(scale)) if decimal.scale == *scale => operand,
                    (value, cast) => EvalResult::Own(arithmetic::cast(value, *cast)?),
                }
            }
            Node::Binary(operator, left, right) => match operator {
                Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Remainder => {
                    let (left, right) = (self.run(left, frame)?, self.run(right, frame)?);
                    // Only joined texts have bytes. All other operands here are numbers.
                    for operand in [&left, &right] {
                        operand.value().map_or(Ok(()), |value| self.budget.take_bytes_of(value))?;
                    }
                    let sign = operator.sign();
                    EvalResult::Own(arithmetic::apply(*operator, left.scalar(sign)?, right.scalar(sign)?)?)
                }
                // The step of this node is already counted.
                _ => EvalResult::Own(Value::Bool(self.test(node, frame)?)),
            },
            Node::Exists(..) | Node::Not(_) | Node::Matches(..) => {
                EvalResult::Own(Value::Bool(self.test(node, frame)?))
            }
            Node::Call(function, arguments) => self.call(function, arguments, frame)?,
            Node::List(nodes) => {
                let items: Result<Vec<Value>, EvalError> =
                    nodes.iter().map(|node| self.result(node, frame)).collect();
                let list = Value::List(items?.into());
                // Items may share memory, but a reader or writer of the list handles each.
                self.budget.take_bytes_of(&list)?;
                EvalResult::Own(list)
            }
        })
    }

    /// Evaluates a node as a condition. It makes no value for a comparison.
    fn truth(&self, node: &Node, frame: Option<&Frame<'_>>) -> Result<bool, EvalError> {
        self.budget.take(1)?;
        self.test(node, frame)
    }

    fn test(&self, node: &Node, frame: Option<&Frame<'_>>) -> Result<bool, EvalError> {
        match node {
            Node::Binary(operator, left, right) => match operator {
                Operator::And => Ok(self.truth(left, frame)? && self.truth(right, frame)?),
                Operator::Or => Ok(self.truth(left, frame)? || self.truth(right, frame)?),
                Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Remainder => self.run(node, frame).map(|out| out.is_true()),
                _ => match (self.borrowed(left, frame), self.borrowed(right, frame)) {
                    // This is the fast path for the most frequent comparisons, of a field with an argument or
                    // literal.
                    (Some(left), Some(right)) => {
                        self.budget.take(2)?;
                        self.look_through(*operator, right)?;
                        Ok(compare::holds(*operator, Some(left), Some(right)))
                    }
                    _ => {
                        let (left, right) = (self.run(left, frame)?, self.run(right, frame)?);
                        right.value().map_or(Ok(()), |right| self.look_through(*operator, right))?;
                        Ok(compare::holds(*operator, left.value(), right.value()))
                    }
                },
            },
            Node::Not(operand) => Ok(!self.truth(operand, frame)?),
            Node::Exists(resource, key) => Ok(match self.run(key, frame)?.value() {
                Some(key) if !key.is_missing() => self.records.get(*resource, key).is_some(),
                _ => false,
            }),
            Node::Matches(text, pattern) => {
                let text = self.run(text, frame)?;
                text.value().map_or(Ok(()), |text| self.budget.take_bytes_of(text))?;
                Ok(text.value().and_then(Value::as_str).is_some_and(|text| pattern.matches(text)))
            }
            other => self.run(other, frame).map(|out| out.is_true()),
        }
    }

    /// Takes the bytes of a list in which an item is searched.
    fn look_through(&self, operator: Operator, list: &Value) -> Result<(), EvalError> {
        if operator == Operator::In { self.budget.take_bytes_of(list) } else { Ok(()) }
    }

    /// Returns the value of a node that refers to an existing one: a literal, an argument, or a field of a
    /// variable or found record.
    fn borrowed<'v>(&'v self, node: &'v Node, frame: Option<&'v Frame<'v>>) -> Option<&'v Value> {
        match node {
            Node::Literal(value) => Some(value),
            Node::Argument(id) => Some(self.arguments.get(id.index()).unwrap_or(&NULL)),
            Node::Field(record, field) => {
                let record = match &**record {
                    Node::Variable(slot) => match self.variable(*slot, frame) {
                        EvalResult::Record(record) => Some(record),
                        _ => None,
                    },
                    Node::Get(resource, key) => {
                        let key = self.borrowed(key, frame)?;
                        if key.is_missing() { None } else { self.records.get(*resource, key) }
                    }
                    _ => return None,
                };
                Some(record.and_then(|record| record.get(field.index())).unwrap_or(&NULL))
            }
            _ => None,
        }
    }

    fn variable<'v>(&'v self, slot: Slot, mut frame: Option<&'v Frame<'v>>) -> EvalResult<'v> {
        while let Some(Frame { slot: found, record, outer, .. }) = frame {
            if *found == slot {
                return EvalResult::Record(record);
            }
            frame = *outer;
        }
        match self.bound.get(usize::from(slot.0)) {
            Some(SlotContent::Value(value)) => EvalResult::Ref(value),
            Some(SlotContent::Record(record)) => EvalResult::Record(record),
            Some(SlotContent::Empty) | None => EvalResult::NULL,
        }
    }
}

static NULL: Value = Value::Null;

/// The variable of a running fold, or a record under test. Inner frames come first.
struct Frame<'v> {
    slot: Slot,
    record: &'v Record,
    outer: Option<&'v Frame<'v>>,
    /// Values that are the same for all records of the fold. None for a record under test.
    known: Option<&'v folds::InnerFolds>,
}

/// A result. It is borrowed if possible, so that reading fields and arguments allocates nothing.
enum EvalResult<'v> {
    Ref(&'v Value),
    Own(Value),
    Record(&'v Record),
}

impl<'v> EvalResult<'v> {
    const NULL: Self = EvalResult::Own(Value::Null);

    /// Returns the value, or none for a record.
    fn value(&self) -> Option<&Value> {
        match self {
            EvalResult::Ref(value) => Some(value),
            EvalResult::Own(value) => Some(value),
            EvalResult::Record(_) => None,
        }
    }

    fn scalar(&self, operation: &'static str) -> Result<&Value, EvalError> {
        self.value().ok_or(EvalError::Type { operation, found: "a record" })
    }

    fn into_value(self, operation: &'static str) -> Result<Value, EvalError> {
        match self {
            EvalResult::Ref(value) => Ok(value.clone()),
            EvalResult::Own(value) => Ok(value),
            EvalResult::Record(_) => Err(EvalError::Type { operation, found: "a record" }),
        }
    }

    fn is_true(&self) -> bool {
        matches!(self.value(), Some(Value::Bool(true)))
    }
}

fn member<'v>(object: EvalResult<'v>, name: &str) -> EvalResult<'v> {
    fn find<'f>(fields: &'f [(crate::value::Str, Value)], name: &str) -> Option<&'f Value> {
        let position = fields.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        fields.get(position).map(|(_, value)| value)
    }
    match object {
        EvalResult::Ref(Value::Object(fields)) => {
            find(fields, name).map_or(EvalResult::NULL, EvalResult::Ref)
        }
        EvalResult::Own(Value::Object(fields)) => {
            find(&fields, name).map_or(EvalResult::NULL, |value| EvalResult::Own(value.clone()))
        }
        _ => EvalResult::NULL,
    }
}

fn item<'v>(list: EvalResult<'v>, position: Option<&Value>) -> EvalResult<'v> {
    let Some(Value::Integer(position)) = position else { return EvalResult::NULL };
    let Ok(position) = usize::try_from(*position) else { return EvalResult::NULL };
    match list {
        EvalResult::Ref(Value::List(items)) => items.get(position).map_or(EvalResult::NULL, EvalResult::Ref),
        EvalResult::Own(Value::List(items)) => {
            items.get(position).map_or(EvalResult::NULL, |value| EvalResult::Own(value.clone()))
        }
        _ => EvalResult::NULL,
    }
}

/// A world without records, for expressions over values only.
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

#[cfg(test)]
mod tests;
