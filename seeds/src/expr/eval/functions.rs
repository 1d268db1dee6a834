//! Owns the calls of built-in functions: their arguments, and the functions that evaluate only some of them.

use super::{Env, EvalResult, Frame, compare};
use crate::expr::error::EvalError;
use crate::expr::functions::{Call, Form, Function, Kind};
use crate::expr::node::Node;
use crate::value::Value;

impl<'e> Env<'e> {
    pub(super) fn call<'v>(
        &'v self,
        function: &'static Function,
        arguments: &'v [Node],
        frame: Option<&'v Frame<'v>>,
    ) -> Result<EvalResult<'v>, EvalError> {
        match function.form {
            Form::Given => {
                let given = match arguments.first() {
                    Some(Node::Argument(id)) => {
                        self.arguments.get(id.index()).is_some_and(|value| !matches!(value, Value::Absent))
                    }
                    _ => false,
                };
                Ok(EvalResult::Own(Value::Bool(given)))
            }
            Form::Coalesce => {
                for argument in arguments {
                    let out = self.run(argument, frame)?;
                    if out.value().is_none_or(|value| !value.is_missing()) {
                        return Ok(out);
                    }
                }
                Ok(EvalResult::NULL)
            }
            Form::Concat => {
                let mut text = String::new();
                for argument in arguments {
                    let out = self.run(argument, frame)?;
                    let value = out.scalar("concat")?;
                    if !value.is_missing() {
                        self.budget.take_bytes_of(value)?;
                        self.checked(value, "concat")?;
                        text.push_str(&value.to_text(self.zone));
                    }
                }
                Ok(EvalResult::Own(Value::string(&text)))
            }
            Form::Min | Form::Max => self.extreme(function.form == Form::Min, arguments, frame),
            _ => self.apply(function, arguments, frame),
        }
    }

    /// Evaluates all arguments, at most four, then the function. A null argument gives null, or false for a
    /// condition.
    fn apply<'v>(
        &'v self,
        function: &'static Function,
        arguments: &'v [Node],
        frame: Option<&'v Frame<'v>>,
    ) -> Result<EvalResult<'v>, EvalError> {
        let mut outs = [EvalResult::NULL, EvalResult::NULL, EvalResult::NULL, EvalResult::NULL];
        let arguments = arguments.get(..outs.len()).unwrap_or(arguments);
        let (first, rest) = arguments.split_at(arguments.len().min(2));
        let missing =
            |outs: &[EvalResult<'_>]| outs.iter().any(|out| out.value().is_none_or(Value::is_missing));
        for (out, node) in outs.iter_mut().zip(first) {
            *out = self.run(node, frame)?;
        }
        if missing(&outs[..first.len()]) {
            let condition = function.gives == Kind::Boolean;
            return Ok(if condition { EvalResult::Own(Value::Bool(false)) } else { EvalResult::NULL });
        }
        // The result is about as long as the argument.
        for out in &outs[..first.len()] {
            self.budget.take_bytes_of(out.scalar(function.name)?)?;
        }
        for (out, node) in outs[first.len()..].iter_mut().zip(rest) {
            *out = self.run(node, frame)?;
        }
        if missing(&outs[first.len()..arguments.len()]) {
            return Ok(EvalResult::NULL);
        }
        let values = outs.each_ref().map(|out| out.value().unwrap_or(&Value::Null));
        let values = &values[..arguments.len()];
        (function.run)(&Call { name: function.name, zone: self.zone, values }).map(EvalResult::Own)
    }

    fn extreme<'v>(
        &'v self,
        least: bool,
        arguments: &'v [Node],
        frame: Option<&'v Frame<'v>>,
    ) -> Result<EvalResult<'v>, EvalError> {
        let mut best: Option<EvalResult<'v>> = None;
        for argument in arguments {
            let out = self.run(argument, frame)?;
            if out.scalar("min")?.is_missing() {
                return Ok(EvalResult::NULL);
            }
            let better = match (&best, out.value()) {
                (Some(best), Some(value)) => {
                    let order = best.value().and_then(|best| compare::order(value, best));
                    order.is_some_and(|order| if least { order.is_lt() } else { order.is_gt() })
                }
                _ => true,
            };
            if better {
                best = Some(out);
            }
        }
        Ok(best.unwrap_or(EvalResult::NULL))
    }
}
