//! Owns folds over the records of a resource.

use std::cell::RefCell;
use std::ops::ControlFlow;

use crate::expr::error::EvalError;
use crate::expr::eval::{Env, EvalResult, Frame, arithmetic, compare};
use crate::expr::index::mentions;
use crate::expr::node::{Fold, FoldKind, Node};
use crate::expr::operator::Operator;
use crate::model::Record;
use crate::value::Value;

/// State of a fold.
struct FoldState<'r> {
    count: i64,
    value: Value,
    record: Option<&'r Record>,
}

/// Values of inner folds that are the same for all records of the outer one. The address of a fold identifies
/// it.
#[derive(Default)]
pub(super) struct InnerFolds(RefCell<Vec<(*const Fold, Value)>>);

impl InnerFolds {
    fn get(&self, fold: &Fold) -> Option<Value> {
        let known = self.0.borrow();
        known.iter().find(|(place, _)| std::ptr::eq(*place, fold)).map(|(_, value)| value.clone())
    }

    fn keep(&self, fold: &Fold, value: Value) {
        self.0.borrow_mut().push((std::ptr::from_ref(fold), value));
    }
}

impl<'e> Env<'e> {
    pub(super) fn fold<'v>(
        &'v self,
        fold: &'v Fold,
        frame: Option<&'v Frame<'v>>,
    ) -> Result<EvalResult<'v>, EvalError> {
        let mut gathered = FoldState { count: 0, value: fold.zero.clone(), record: None };
        let mut failure = None;
        let known = InnerFolds::default();
        let mut visit = |record: &'e Record| match self.gather(fold, record, frame, &known, &mut gathered) {
            Ok(flow) => flow,
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        };
        // An index finds only existing values. The condition handles a missing value or a failed evaluation,
        // because it may not need the value.
        let narrowed = fold.index.as_ref().is_some_and(|(field, key)| match self.run(key, frame) {
            Ok(key) => match key.value() {
                Some(key) if !key.is_missing() => self.records.find(fold.resource, *field, key, &mut visit),
                _ => false,
            },
            Err(_) => false,
        });
        if !narrowed {
            self.records.scan(fold.resource, &mut visit);
        }
        if let Some(error) = failure {
            return Err(error);
        }
        Ok(match fold.kind {
            FoldKind::Any => EvalResult::Own(Value::Bool(gathered.count > 0)),
            // `all` counts records that fail the condition, and stops at the first.
            FoldKind::All => EvalResult::Own(Value::Bool(gathered.count == 0)),
            FoldKind::Count => EvalResult::Own(Value::Integer(gathered.count)),
            FoldKind::Sum | FoldKind::Min | FoldKind::Max => EvalResult::Own(gathered.value),
            FoldKind::Average if gathered.count == 0 => EvalResult::NULL,
            FoldKind::Average => {
                let count = Value::Integer(gathered.count);
                EvalResult::Own(arithmetic::apply(Operator::Divide, &gathered.value, &count)?)
            }
            FoldKind::First => gathered.record.map_or(EvalResult::NULL, EvalResult::Record),
        })
    }

    /// Evaluates a fold inside another. It evaluates the inner fold only once if that does not read the outer
    /// record.
    pub(super) fn inner_fold<'v>(
        &'v self,
        fold: &'v Fold,
        frame: Option<&'v Frame<'v>>,
    ) -> Result<EvalResult<'v>, EvalError> {
        let Some((frame, known)) = frame.and_then(|frame| Some((frame, frame.known?))) else {
            return self.fold(fold, frame);
        };
        if let Some(value) = known.get(fold) {
            return Ok(EvalResult::Own(value));
        }
        let reads = |node: &Node| mentions(node, frame.slot);
        if reads(&fold.condition) || fold.value.as_ref().is_some_and(reads) {
            return self.fold(fold, Some(frame));
        }
        let out = self.fold(fold, frame.outer)?;
        if let Some(value) = out.value() {
            known.keep(fold, value.clone());
        }
        Ok(out)
    }

    /// Adds one record to the state of the fold.
    fn gather(
        &self,
        fold: &Fold,
        record: &'e Record,
        outer: Option<&Frame<'_>>,
        known: &InnerFolds,
        gathered: &mut FoldState<'e>,
    ) -> Result<ControlFlow<()>, EvalError> {
        self.budget.take(1)?;
        let frame = Frame { slot: fold.slot, record, outer, known: Some(known) };
        let holds = self.truth(&fold.condition, Some(&frame))?;
        if holds == (fold.kind == FoldKind::All) {
            return Ok(ControlFlow::Continue(()));
        }
        match fold.kind {
            FoldKind::Any | FoldKind::All => {
                gathered.count = 1;
                return Ok(ControlFlow::Break(()));
            }
            FoldKind::First => {
                gathered.record = Some(record);
                return Ok(ControlFlow::Break(()));
            }
            FoldKind::Count => gathered.count += 1,
            FoldKind::Sum | FoldKind::Average | FoldKind::Min | FoldKind::Max => {
                let Some(node) = &fold.value else { return Ok(ControlFlow::Continue(())) };
                let found = self.run(node, Some(&frame))?;
                let value = found.scalar("a fold's value")?;
                if value.is_missing() {
                    return Ok(ControlFlow::Continue(()));
                }
                gathered.count += 1;
                let better = |wanted: std::cmp::Ordering| {
                    gathered.value.is_missing() || compare::order(value, &gathered.value) == Some(wanted)
                };
                match fold.kind {
                    FoldKind::Min if better(std::cmp::Ordering::Less) => gathered.value = value.clone(),
                    FoldKind::Max if better(std::cmp::Ordering::Greater) => gathered.value = value.clone(),
                    FoldKind::Sum => gathered.value = arithmetic::add(&gathered.value, value, "sum")?,
                    FoldKind::Average => gathered.value = arithmetic::add(&gathered.value, value, "avg")?,
                    _ => {}
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
