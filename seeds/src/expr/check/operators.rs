//! Owns the check of operators: `==`, `+`, `&&`, `c ? a : b`, `a[i]`.

use crate::expr::ast::Ast;
use crate::expr::check::kinds::{is_numeric, promoted};
use crate::expr::check::{Checker, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::node::{ExprType, Node};
use crate::expr::operator::Operator;
use crate::schema::Type;
use crate::value::Value;

impl<'a> Checker<'_, 'a> {
    pub(super) fn not(&mut self, operand: &Ast, offset: usize) -> Result<TypedNode<'a>, ExprError> {
        let operand = self.check(operand)?;
        self.expect_boolean(&operand, "the operand of `!`")?;
        Ok(TypedNode::new(Node::Not(operand.boxed()), ExprType::Boolean, offset))
    }

    pub(super) fn negate(&mut self, operand: &Ast, offset: usize) -> Result<TypedNode<'a>, ExprError> {
        let operand = self.check(operand)?;
        match operand.kind.clone() {
            kind if is_numeric(&kind) || matches!(kind, ExprType::Duration | ExprType::Any) => {
                Ok(TypedNode::new(Node::Negate(operand.boxed()), kind, offset))
            }
            kind => error(
                operand.offset,
                format!("`-` takes a number or duration, found {}", self.describe(&kind)),
            ),
        }
    }

    pub(super) fn conditional(
        &mut self,
        condition: &Ast,
        yes: &Ast,
        no: &Ast,
    ) -> Result<TypedNode<'a>, ExprError> {
        let condition = self.check(condition)?;
        self.expect_boolean(&condition, "what stands before `?`")?;
        let (mut yes, mut no) = (self.check(yes)?, self.check(no)?);
        self.read_literal(&mut yes, &no.kind)?;
        self.read_literal(&mut no, &yes.kind)?;
        let kind = self.unify(&yes.kind, &no, "`? :`")?;
        let schema = Self::shared_schema(&yes, &no);
        let offset = condition.offset;
        let node = Node::Conditional(
            condition.boxed(),
            Box::new(self.cast(yes, &kind)),
            Box::new(self.cast(no, &kind)),
        );
        Ok(TypedNode { node, kind, schema, offset })
    }

    pub(super) fn item(
        &mut self,
        list: &Ast,
        position: &Ast,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let (list, position) = (self.check(list)?, self.check(position)?);
        if let (ExprType::Object | ExprType::Any, Some(name)) = (&list.kind, position.literal_string()) {
            let name = name.to_owned();
            return self.member(list, &name, offset);
        }
        if !matches!(position.kind, ExprType::Integer | ExprType::Any) {
            let found = self.describe(&position.kind);
            return error(
                position.offset,
                format!("a position in a list is an integer from 0, found {found}"),
            );
        }
        let (kind, schema) = match (&list.kind, list.schema.map(|schema| &schema.kind)) {
            (ExprType::List(item), Some(Type::List(schema))) => ((**item).clone(), Some(&**schema)),
            (ExprType::List(item), _) => ((**item).clone(), None),
            (ExprType::Any, _) => (ExprType::Any, None),
            (other, _) => {
                return error(
                    offset,
                    format!("found `[` after {}; only lists have items", self.describe(other)),
                );
            }
        };
        let offset = list.offset;
        Ok(TypedNode { node: Node::Item(list.boxed(), position.boxed()), kind, schema, offset })
    }

    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &Ast,
        right: &Ast,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let sign = operator.sign();
        let (mut left, mut right) = (self.check(left)?, self.check(right)?);
        let kind = match operator {
            Operator::Or | Operator::And => {
                self.expect_boolean(&left, &format!("the left side of `{sign}`"))?;
                self.expect_boolean(&right, &format!("the right side of `{sign}`"))?;
                ExprType::Boolean
            }
            Operator::Equal | Operator::NotEqual => {
                let is_null = |typed: &TypedNode<'_>| typed.kind == ExprType::Null;
                // A record can only be compared with null, which tests whether it exists.
                if !(is_null(&left) || is_null(&right)) {
                    self.match_up(&mut left, &mut right, sign)?;
                }
                ExprType::Boolean
            }
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                self.match_up(&mut left, &mut right, sign)?;
                for side in [&left, &right] {
                    if matches!(
                        side.kind,
                        ExprType::Null | ExprType::Boolean | ExprType::List(_) | ExprType::Object
                    ) {
                        let found = self.describe(&side.kind);
                        return error(
                            side.offset,
                            format!("`{sign}` orders numbers, texts and times, found {found}"),
                        );
                    }
                }
                ExprType::Boolean
            }
            Operator::In => {
                self.membership(&mut left, &mut right)?;
                ExprType::Boolean
            }
            _ => self.arithmetic(operator, sign, &left, &right, offset)?,
        };
        // Messages about the tree of an operator point at its left end.
        let start = left.offset;
        Ok(TypedNode::new(Node::Binary(operator, left.boxed(), right.boxed()), kind, start))
    }

    fn membership(&self, item: &mut TypedNode<'a>, list: &mut TypedNode<'a>) -> Result<(), ExprError> {
        let ExprType::List(kind) = &list.kind else {
            return match &list.kind {
                ExprType::Any => Ok(()),
                ExprType::String => {
                    error(list.offset, "the right side of `in` must be a list; write s.contains(part)")
                }
                other => error(
                    list.offset,
                    format!("the right side of `in` must be a list, found {}", self.describe(other)),
                ),
            };
        };
        let kind = (**kind).clone();
        self.read_literal(item, &kind)?;
        // The type of the sought value decides how literals of dates in a list are parsed.
        if let Node::Literal(Value::List(values)) = &list.node
            && kind == ExprType::String
            && matches!(item.kind, ExprType::Date | ExprType::Time | ExprType::DateTime)
        {
            let mut read = Vec::with_capacity(values.len());
            for value in values.iter() {
                let mut literal = TypedNode::new(Node::Literal(value.clone()), ExprType::String, list.offset);
                self.read_literal(&mut literal, &item.kind)?;
                if let Node::Literal(value) = literal.node {
                    read.push(value);
                }
            }
            list.node = Node::Literal(Value::List(read.into()));
            list.kind = ExprType::List(Box::new(item.kind.clone()));
            return Ok(());
        }
        if let Some(Type::Enum(values)) = item.schema.map(|schema| &schema.kind) {
            self.check_enum_literals(&list.node, values, list.offset)?;
        }
        if let Some(Type::List(schema)) = list.schema.map(|schema| &schema.kind)
            && let Type::Enum(values) = &schema.kind
        {
            self.check_enum_literals(&item.node, values, item.offset)?;
        }
        if self.comparable(&item.kind, &kind) {
            return Ok(());
        }
        let message = format!(
            "`in` looks for {} in a list of which each item is {}",
            self.describe(&item.kind),
            self.describe(&kind)
        );
        error(item.offset, message)
    }

    fn arithmetic(
        &self,
        operator: Operator,
        sign: &str,
        left: &TypedNode<'a>,
        right: &TypedNode<'a>,
        offset: usize,
    ) -> Result<ExprType, ExprError> {
        use ExprType::{Any, Date, DateTime, Decimal, Duration, Integer, Number, String, Time};
        let numeric = |kind: &ExprType| is_numeric(kind) || *kind == Any;
        let kind = match (operator, &left.kind, &right.kind) {
            (Operator::Add, String, String) => Some(String),
            (Operator::Add | Operator::Subtract, Duration, Duration) => Some(Duration),
            (Operator::Add | Operator::Subtract, moment @ (Date | Time | DateTime), Duration)
            | (Operator::Add, Duration, moment @ (Date | Time | DateTime)) => Some(moment.clone()),
            (Operator::Subtract, Date, Date)
            | (Operator::Subtract, Time, Time)
            | (Operator::Subtract, DateTime, DateTime) => Some(Duration),
            (Operator::Multiply, Duration, Integer) | (Operator::Multiply, Integer, Duration) => {
                Some(Duration)
            }
            (Operator::Divide, Duration, Duration) => Some(Number),
            (Operator::Remainder, Integer | Any, Integer | Any) => Some(Integer),
            (Operator::Divide, Decimal(scale), other) if numeric(other) => Some(Decimal(*scale)),
            (Operator::Divide, Any, other) if numeric(other) => Some(Any),
            (Operator::Divide, a, b) if numeric(a) && numeric(b) => Some(Number),
            (Operator::Add | Operator::Subtract | Operator::Multiply, a, b) if numeric(a) && numeric(b) => {
                Some(promoted(a, b).unwrap_or(Any))
            }
            (Operator::Add, Any, String) | (Operator::Add, String, Any) => Some(Any),
            _ => None,
        };
        if let Some(kind) = kind {
            return Ok(kind);
        }
        let hint = match (operator, &left.kind, &right.kind) {
            (Operator::Add, String, _) | (Operator::Add, _, String) => "; join texts with concat(a, b)",
            (Operator::Add | Operator::Subtract, Date | DateTime | Time, a) if is_numeric(a) => {
                "; say of what: days(n), hours(n) or minutes(n)"
            }
            (Operator::Subtract, Date, DateTime) | (Operator::Subtract, DateTime, Date) => {
                "; take the day of the instant with date(x)"
            }
            (Operator::Remainder, ..) => "; it takes integers",
            (_, ExprType::Key(_), _) | (_, _, ExprType::Key(_)) => "; keys are not numbers to calculate with",
            (_, ExprType::Record(_), _) | (_, _, ExprType::Record(_)) => "; name a field of the record",
            _ => "",
        };
        let (left, right) = (self.describe(&left.kind), self.describe(&right.kind));
        error(offset, format!("`{sign}` does not take {left} and {right}{hint}"))
    }
}
