//! Owns the check of calls on a resource: `r.get(key)`, `r.exists(key)` and folds.

use crate::expr::ast::{Ast, AstKind};
use crate::expr::check::kinds::is_numeric;
use crate::expr::check::near::suggest;
use crate::expr::check::{Checker, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::index::index_of;
use crate::expr::node::{ExprType, Fold, FoldKind, Node};
use crate::model::ResourceId;
use crate::value::{Decimal, Value};

const METHODS: [&str; 10] = ["get", "exists", "any", "all", "count", "sum", "avg", "min", "max", "first"];

impl<'a> Checker<'_, 'a> {
    /// Checks a call on a resource's name.
    pub(super) fn resource_call(
        &mut self,
        resource: ResourceId,
        name: &str,
        method: &str,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let kind = match method {
            "get" | "exists" => return self.by_key(resource, name, method, arguments, offset),
            "any" => FoldKind::Any,
            "all" => FoldKind::All,
            "count" => FoldKind::Count,
            "sum" => FoldKind::Sum,
            "avg" => FoldKind::Average,
            "min" => FoldKind::Min,
            "max" => FoldKind::Max,
            "first" => FoldKind::First,
            other => {
                let message = format!("resources have no `{other}`; {}", suggest(other, METHODS.to_vec()));
                return error(offset, message);
            }
        };
        self.fold(kind, resource, name, method, arguments, offset)
    }

    fn by_key(
        &mut self,
        resource: ResourceId,
        name: &str,
        method: &str,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let [key] = arguments else {
            let hint = if method == "exists" && arguments.len() == 2 {
                "; for a condition write any(x, condition)"
            } else {
                ""
            };
            let found = arguments.len();
            return error(offset, format!("`{name}.{method}` takes one key, found {found} arguments{hint}"));
        };
        let key = self.check(key)?;
        if !self.comparable(&ExprType::Key(resource), &key.kind) || key.kind == ExprType::Number {
            let (wanted, found) = (self.describe(&ExprType::Key(resource)), self.describe(&key.kind));
            let plain = self.describe(&self.plain(&ExprType::Key(resource)));
            return error(key.offset, format!("`{name}.{method}` takes {wanted} ({plain}), found {found}"));
        }
        Ok(if method == "get" {
            TypedNode::new(Node::Get(resource, key.boxed()), ExprType::Record(resource), offset)
        } else {
            TypedNode::new(Node::Exists(resource, key.boxed()), ExprType::Boolean, offset)
        })
    }

    fn fold(
        &mut self,
        kind: FoldKind,
        resource: ResourceId,
        name: &str,
        method: &str,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let has_value = matches!(kind, FoldKind::Sum | FoldKind::Average | FoldKind::Min | FoldKind::Max);
        let (variable, condition, value) = match arguments {
            [variable, condition] if !has_value => (variable, condition, None),
            [variable, condition, value] if has_value => (variable, condition, Some(value)),
            _ => {
                let form = if has_value { "(x, condition, value)" } else { "(x, condition)" };
                let found = arguments.len();
                return error(
                    offset,
                    format!(
                        "expected `{name}.{method}{form}`, found {found} arguments; `true` is a condition that always holds"
                    ),
                );
            }
        };
        let variable_at = variable.offset;
        let AstKind::Name(variable) = &variable.kind else {
            return error(
                variable_at,
                format!(
                    "expected a name for the record under consideration, as in `{name}.{method}(x, ...)`"
                ),
            );
        };
        if let Err(message) = self.scope.check_new_name(variable) {
            return error(variable_at, message);
        }
        let slot = self
            .scope
            .open(variable, resource)
            .map_err(|error| ExprError { offset: variable_at, ..error })?;
        let condition = self.check(condition)?;
        self.expect_boolean(&condition, "a fold's condition")?;
        let value = value.map(|value| self.check(value)).transpose()?;
        self.scope.close();
        let (result, zero) = match &value {
            Some(value) => self.value_fold(kind, method, value)?,
            None => (
                match kind {
                    FoldKind::Count => ExprType::Integer,
                    FoldKind::First => ExprType::Record(resource),
                    _ => ExprType::Boolean,
                },
                Value::Null,
            ),
        };
        let schema = value
            .as_ref()
            .filter(|_| matches!(kind, FoldKind::Min | FoldKind::Max))
            .and_then(|value| value.schema);
        // An index would skip the records that make `all` false.
        let index = if kind == FoldKind::All { None } else { index_of(&condition.node, slot, self.scope) };
        let value = value.map(|value| value.node);
        let fold = Fold { kind, resource, slot, index, condition: condition.node, value, zero };
        Ok(TypedNode { node: Node::Fold(Box::new(fold)), kind: result, schema, offset })
    }

    fn value_fold(
        &self,
        kind: FoldKind,
        method: &str,
        value: &TypedNode<'a>,
    ) -> Result<(ExprType, Value), ExprError> {
        let zero = |kind: &ExprType| match kind {
            ExprType::Number => Value::Number(0.0),
            ExprType::Decimal(scale) => Value::Decimal(Decimal { minor: 0, scale: *scale }),
            _ => Value::Integer(0),
        };
        let refuse = |wanted: &str| {
            error(value.offset, format!("`{method}` takes {wanted}, found {}", self.describe(&value.kind)))
        };
        match kind {
            FoldKind::Sum => match &value.kind {
                found if is_numeric(found) || matches!(found, ExprType::Duration | ExprType::Any) => {
                    Ok((found.clone(), zero(found)))
                }
                _ => refuse("numbers or durations"),
            },
            FoldKind::Average => match &value.kind {
                ExprType::Decimal(scale) => Ok((ExprType::Decimal(*scale), zero(&value.kind))),
                ExprType::Integer | ExprType::Number | ExprType::Any => {
                    Ok((ExprType::Number, zero(&ExprType::Number)))
                }
                _ => refuse("numbers"),
            },
            _ => match &value.kind {
                ExprType::Boolean
                | ExprType::Null
                | ExprType::Record(_)
                | ExprType::List(_)
                | ExprType::Object => refuse("values that have an order"),
                found => Ok((found.clone(), Value::Null)),
            },
        }
    }
}
