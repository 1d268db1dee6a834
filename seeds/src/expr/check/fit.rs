//! Owns the check that a value fits a field or parameter.

use std::collections::HashSet;

use crate::expr::check::kinds::is_numeric;
use crate::expr::check::{Checker, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::node::{ExprType, Node};
use crate::schema::{Schema, Type};
use crate::value::Value;

impl<'a> Checker<'_, 'a> {
    /// Returns the value as a value of the schema, with its numbers cast.
    pub(super) fn fit(&self, mut typed: TypedNode<'a>, schema: &Schema) -> Result<TypedNode<'a>, ExprError> {
        if typed.kind == ExprType::Null {
            return if schema.nullable {
                Ok(typed)
            } else {
                error(typed.offset, format!("found null; expected {}", schema.expected()))
            };
        }
        let target = super::kind_of_schema(schema);
        self.read_literal(&mut typed, &target)?;
        let fits = match (&schema.kind, &typed.kind) {
            (Type::Any, found) => !matches!(found, ExprType::Record(_)),
            (Type::Integer, found) => self.plain(found) == ExprType::Integer,
            (Type::Number | Type::Decimal { .. }, found) => is_numeric(found),
            (Type::String | Type::Enum(_), found) => self.plain(found) == ExprType::String,
            (Type::Reference { resource, .. }, ExprType::Key(found)) => resource == found,
            (Type::Reference { resource, .. }, found) => self.plain(&ExprType::Key(*resource)) == *found,
            (Type::List(_), ExprType::List(found)) => {
                matches!(&target, ExprType::List(item) if self.comparable(item, found))
            }
            (_, found) => *found == target,
        };
        if !fits {
            let hint = match (&schema.kind, &typed.kind) {
                (_, ExprType::Record(id)) => {
                    let key = self
                        .scope
                        .resource(*id)
                        .map_or("key", |resource| &*resource.field(resource.key).name);
                    format!("; name a field of the record, such as `.{key}`")
                }
                (Type::Integer, found) if is_numeric(found) => {
                    "; make it whole with round(x) or floor(x)".to_owned()
                }
                (Type::Integer, ExprType::Duration) => {
                    "; count with minutes_between(a, b) or days_between(a, b)".to_owned()
                }
                (Type::String, _) => "; make it text with string(x)".to_owned(),
                (Type::Date, ExprType::DateTime) => "; take the day of the instant with date(x)".to_owned(),
                (Type::Time, ExprType::DateTime) => "; take the time of the instant with time(x)".to_owned(),
                (_, ExprType::Any) => "; convert it, for example with number(x) or string(x)".to_owned(),
                _ => String::new(),
            };
            let message =
                format!("found {}; expected {}{hint}", self.describe(&typed.kind), schema.expected());
            return error(typed.offset, message);
        }
        if let Type::Enum(values) = &schema.kind {
            self.check_enum_literals(&typed.node, values, typed.offset)?;
            if let Some(Type::Enum(sources)) = typed.schema.map(|schema| &schema.kind)
                && let known = values.iter().collect::<HashSet<_>>()
                && let Some(stray) = sources.iter().find(|value| !known.contains(value))
            {
                let expected = values.join(", ");
                return error(
                    typed.offset,
                    format!("the value can be '{stray}'; expected one of {expected}"),
                );
            }
        }
        let offset = typed.offset;
        let node = self.cast(typed, &target);
        if let Node::Literal(value) = &node
            && !matches!(value, Value::List(_))
            && !schema.allows(value)
        {
            let found = value.to_text(self.scope.zone);
            return error(offset, format!("found {found}; expected {}", schema.expected()));
        }
        Ok(TypedNode::new(node, target, offset))
    }
}
