//! Owns the rules on which types combine.

use crate::expr::check::{Checker, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::functions::Form;
use crate::expr::node::{ExprType, Node};
use crate::expr::operator::Cast;
use crate::schema::{KeyKind, Schema, Type};
use crate::value::{Date, Str, Time, Value};

pub(super) fn is_numeric(kind: &ExprType) -> bool {
    matches!(kind, ExprType::Integer | ExprType::Number | ExprType::Decimal(_))
}

/// Returns the type of a sum or difference of numbers, to which both sides are promoted before comparison.
pub(super) fn promoted(a: &ExprType, b: &ExprType) -> Option<ExprType> {
    use ExprType::{Decimal, Integer, Number};
    Some(match (a, b) {
        (Integer, Integer) => Integer,
        (Decimal(a), Decimal(b)) => Decimal(*a.max(b)),
        (Decimal(scale), Integer) | (Integer, Decimal(scale)) => Decimal(*scale),
        (Number, other) | (other, Number) if is_numeric(other) => Number,
        _ => return None,
    })
}

impl<'a> Checker<'_, 'a> {
    /// Returns a type in words: `the key of dentist`.
    pub(super) fn describe(&self, kind: &ExprType) -> String {
        let name = |id: &crate::model::ResourceId| {
            self.scope.resource(*id).map_or_else(|| "?".to_owned(), |resource| format!("`{}`", resource.name))
        };
        match kind {
            ExprType::Null => "null".to_owned(),
            ExprType::Boolean => "a boolean".to_owned(),
            ExprType::Integer => "an integer".to_owned(),
            ExprType::Number => "a number".to_owned(),
            ExprType::Decimal(_) => "a decimal".to_owned(),
            ExprType::Date => "a date".to_owned(),
            ExprType::Time => "a time".to_owned(),
            ExprType::DateTime => "a date-time".to_owned(),
            ExprType::Duration => "a duration".to_owned(),
            ExprType::String => "a string".to_owned(),
            ExprType::Key(id) => format!("the key of {}", name(id)),
            ExprType::Record(id) => format!("a record of {}", name(id)),
            ExprType::List(item) => match **item {
                ExprType::Any | ExprType::Null => "a list".to_owned(),
                _ => format!("a list in which each item is {}", self.describe(item)),
            },
            ExprType::Object => "an object".to_owned(),
            ExprType::Any => "a value of unknown type".to_owned(),
        }
    }

    /// Returns the plain type of a key's values. Other types stay as they are.
    pub(super) fn plain(&self, kind: &ExprType) -> ExprType {
        match kind {
            ExprType::Key(resource) => match self.scope.key_kind(*resource) {
                Some(KeyKind::Integer) => ExprType::Integer,
                Some(KeyKind::String) => ExprType::String,
                None => ExprType::Any,
            },
            other => other.clone(),
        }
    }

    pub(super) fn expect_boolean(&self, typed: &TypedNode<'a>, role: &str) -> Result<(), ExprError> {
        match &typed.kind {
            ExprType::Boolean | ExprType::Any => Ok(()),
            other => error(
                typed.offset,
                format!(
                    "{role} must be a boolean, found {}; compare it with something",
                    self.describe(other)
                ),
            ),
        }
    }

    /// Returns the common type of both branches, all list items or all alternatives.
    pub(super) fn unify(
        &self,
        kind: &ExprType,
        next: &TypedNode<'a>,
        role: &str,
    ) -> Result<ExprType, ExprError> {
        match (kind, &next.kind) {
            (a, b) if a == b => Ok(a.clone()),
            (ExprType::Null, other) | (other, ExprType::Null) => Ok(other.clone()),
            (ExprType::Any, other) | (other, ExprType::Any) if !matches!(other, ExprType::Record(_)) => {
                Ok(ExprType::Any)
            }
            (ExprType::List(a), ExprType::List(b)) if **a == ExprType::Any || **b == ExprType::Any => {
                Ok(ExprType::List(if **a == ExprType::Any { b.clone() } else { a.clone() }))
            }
            (a, b) => {
                let (plain_a, plain_b) = (self.plain(a), self.plain(b));
                if let Some(kind) = promoted(&plain_a, &plain_b) {
                    return Ok(kind);
                }
                if plain_a == plain_b {
                    return Ok(plain_a);
                }
                error(
                    next.offset,
                    format!(
                        "{role} needs values of one type, found {} and {}; convert one, for example with string()",
                        self.describe(a),
                        self.describe(b)
                    ),
                )
            }
        }
    }

    /// Returns the node as a value of the common numeric type.
    pub(super) fn cast(&self, typed: TypedNode<'a>, kind: &ExprType) -> Node {
        let cast = match kind {
            ExprType::Number if typed.kind != ExprType::Number => Cast::Number,
            ExprType::Decimal(scale) if typed.kind != *kind => Cast::Decimal(*scale),
            _ => return typed.node,
        };
        if !is_numeric(&self.plain(&typed.kind)) {
            return typed.node;
        }
        match (&typed.node, cast) {
            (Node::Literal(value), Cast::Number) => match value.as_f64().and_then(Value::number) {
                Some(value) => Node::Literal(value),
                None => Node::Cast(Box::new(typed.node), cast),
            },
            _ => Node::Cast(Box::new(typed.node), cast),
        }
    }

    /// Checks that two values can be equal. It turns literals of dates and times into values of these types.
    /// A literal compared with an enum must be one of its values.
    pub(super) fn match_up(
        &self,
        a: &mut TypedNode<'a>,
        b: &mut TypedNode<'a>,
        operator: &str,
    ) -> Result<(), ExprError> {
        self.read_literal(a, &b.kind)?;
        self.read_literal(b, &a.kind)?;
        self.check_enum(a, b)?;
        self.check_enum(b, a)?;
        if self.comparable(&a.kind, &b.kind) {
            return Ok(());
        }
        let hint = match (&a.kind, &b.kind) {
            (ExprType::DateTime, ExprType::Date) | (ExprType::Date, ExprType::DateTime) => {
                "; take the day of the instant with date(x)"
            }
            (ExprType::DateTime, ExprType::Time) | (ExprType::Time, ExprType::DateTime) => {
                "; take the time of the instant with time(x)"
            }
            (ExprType::Record(_), _) | (_, ExprType::Record(_)) => {
                "; compare the record's key or another field"
            }
            (ExprType::Duration, _) | (_, ExprType::Duration) => {
                "; make a duration with minutes(n), hours(n) or duration('90m'), or count with minutes_between(a, b)"
            }
            (ExprType::String, other) | (other, ExprType::String) if is_numeric(other) => {
                "; leave the quotes out, or convert with string(x) or number(x)"
            }
            _ => "",
        };
        error(
            b.offset,
            format!("`{operator}` compares {} with {}{hint}", self.describe(&a.kind), self.describe(&b.kind)),
        )
    }

    pub(super) fn comparable(&self, a: &ExprType, b: &ExprType) -> bool {
        match (a, b) {
            (ExprType::Null | ExprType::Any, _) | (_, ExprType::Null | ExprType::Any) => true,
            (ExprType::Record(_), _) | (_, ExprType::Record(_)) => false,
            (ExprType::Key(a), ExprType::Key(b)) => a == b,
            (ExprType::List(a), ExprType::List(b)) => self.comparable(a, b),
            _ => {
                let (a, b) = (self.plain(a), self.plain(b));
                a == b || a == ExprType::Any || b == ExprType::Any || (is_numeric(&a) && is_numeric(&b))
            }
        }
    }

    /// Turns a string literal into a date, time or date-time if one is wanted.
    pub(super) fn read_literal(&self, typed: &mut TypedNode<'a>, wanted: &ExprType) -> Result<(), ExprError> {
        let Some(text) = typed.literal_string() else { return Ok(()) };
        let (value, expected) = match wanted {
            ExprType::Date => (Date::parse(text).map(Value::Date), "a date as '2026-03-02'"),
            ExprType::Time => (Time::parse(text).map(Value::Time), "a time as '09:00'"),
            ExprType::DateTime => (
                self.scope.zone.parse_instant(text).map(Value::DateTime),
                "a date-time as '2026-03-02T09:00'",
            ),
            _ => return Ok(()),
        };
        match value {
            Some(value) => {
                typed.node = Node::Literal(value);
                typed.kind = wanted.clone();
                Ok(())
            }
            None => error(typed.offset, format!("found '{text}'; expected {expected}")),
        }
    }

    /// Checks that a literal, or each literal of a list, is a value of the enum beside it.
    fn check_enum(&self, literal: &TypedNode<'a>, declared: &TypedNode<'a>) -> Result<(), ExprError> {
        match declared.schema.map(|schema| &schema.kind) {
            Some(Type::Enum(values)) => self.check_enum_literals(&literal.node, values, literal.offset),
            _ => Ok(()),
        }
    }

    pub(super) fn check_enum_literals(
        &self,
        node: &Node,
        values: &[Str],
        offset: usize,
    ) -> Result<(), ExprError> {
        match node {
            Node::Literal(Value::String(text)) if !values.contains(text) => error(
                offset,
                format!("'{text}' is not a value of the enum; expected one of {}", values.join(", ")),
            ),
            Node::Literal(Value::List(items)) => items.iter().try_for_each(|item| match item {
                Value::String(text) if !values.contains(text) => error(
                    offset,
                    format!("'{text}' is not a value of the enum; expected one of {}", values.join(", ")),
                ),
                _ => Ok(()),
            }),
            Node::Conditional(_, a, b) => {
                self.check_enum_literals(a, values, offset)?;
                self.check_enum_literals(b, values, offset)
            }
            Node::Call(function, nodes) if function.form == Form::Coalesce => {
                nodes.iter().try_for_each(|node| self.check_enum_literals(node, values, offset))
            }
            Node::List(nodes) => {
                nodes.iter().try_for_each(|node| self.check_enum_literals(node, values, offset))
            }
            _ => Ok(()),
        }
    }

    /// Returns the schema that several alternatives share. Alternatives that are literals or null do not
    /// count.
    pub(super) fn shared_schema(a: &TypedNode<'a>, b: &TypedNode<'a>) -> Option<&'a Schema> {
        let constant = |typed: &TypedNode<'a>| matches!(typed.node, Node::Literal(_));
        match (a.schema, b.schema) {
            (Some(x), Some(y)) if std::ptr::eq(x, y) => Some(x),
            (Some(x), None) if constant(b) => Some(x),
            (None, Some(y)) if constant(a) => Some(y),
            _ => None,
        }
    }
}
