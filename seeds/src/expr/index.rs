//! Owns the choice of the index that narrows a condition.

use crate::expr::node::{ExprType, FoldKind, Node, Slot};
use crate::expr::operator::Operator;
use crate::expr::scope::{Scope, kind_of_schema};
use crate::model::FieldId;
use crate::schema::{KeyKind, Type};
use crate::value::Value;

/// Returns a field of the slot's record and the value that it must equal, from the conjuncts of a condition.
/// An index can then find the candidates. The caller must still test the condition on each.
///
/// Only equalities between values of one kind count, because an index finds `1` but not `1.0`. If the value
/// is null or absent, the caller must scan all records. SchemaKind several equalities it takes the most selective:
/// the key, then unique fields, references, and the rest.
pub fn index_of(condition: &Node, slot: Slot, scope: &Scope<'_>) -> Option<(FieldId, Node)> {
    let mut best = None;
    visit_conjuncts(condition, &mut |left, right| {
        for (side, other) in [(left, right), (right, left)] {
            let Some((rank, field)) = candidate(side, other, slot, scope) else { continue };
            if best.as_ref().is_none_or(|(least, _, _)| rank < *least) {
                best = Some((rank, field, other.clone()));
            }
        }
    });
    best.map(|(_, field, node)| (field, node))
}

fn visit_conjuncts<'n>(node: &'n Node, visit: &mut impl FnMut(&'n Node, &'n Node)) {
    match node {
        Node::Binary(Operator::And, left, right) => {
            visit_conjuncts(left, visit);
            visit_conjuncts(right, visit);
        }
        Node::Binary(Operator::Equal, left, right) => visit(left, right),
        _ => {}
    }
}

fn candidate(side: &Node, other: &Node, slot: Slot, scope: &Scope<'_>) -> Option<(u8, FieldId)> {
    let Node::Field(record, field) = side else { return None };
    if !matches!(**record, Node::Variable(found) if found == slot) {
        return None;
    }
    let ExprType::Record(resource) = scope.slot_kind(slot)? else { return None };
    let class = class_of(&scope.field_kind(resource, *field), scope)?;
    if class_of(&kind_of(other, scope)?, scope)? != class || mentions(other, slot) {
        return None;
    }
    let resource = scope.resource(resource)?;
    let declared = resource.fields.get(field.index())?;
    let rank = match &declared.schema.kind {
        _ if resource.key == *field => 0,
        _ if declared.unique => 1,
        Type::Reference { .. } => 2,
        Type::Boolean => 6,
        Type::Enum(_) => 5,
        Type::DateTime | Type::Date | Type::Time => 3,
        _ => 4,
    };
    Some((rank, *field))
}

/// Returns the type of a node that is cheap and cannot fail. Other nodes are not worth an index.
fn kind_of(node: &Node, scope: &Scope<'_>) -> Option<ExprType> {
    match node {
        Node::Literal(value) => match value {
            Value::Bool(_) => Some(ExprType::Boolean),
            Value::Integer(_) => Some(ExprType::Integer),
            Value::Number(_) => Some(ExprType::Number),
            Value::Decimal(decimal) => Some(ExprType::Decimal(decimal.scale)),
            Value::Date(_) => Some(ExprType::Date),
            Value::Time(_) => Some(ExprType::Time),
            Value::DateTime(_) => Some(ExprType::DateTime),
            Value::String(_) => Some(ExprType::String),
            _ => None,
        },
        Node::Argument(id) => Some(kind_of_schema(&scope.parameters.get(id.index())?.schema)),
        Node::Variable(slot) => scope.slot_kind(*slot),
        Node::Now => Some(ExprType::DateTime),
        Node::Today => Some(ExprType::Date),
        Node::Field(record, field) => match kind_of(record, scope)? {
            ExprType::Record(resource) => Some(scope.field_kind(resource, *field)),
            _ => None,
        },
        // A single search for one record is cheaper than a test of every record.
        Node::Fold(fold) if fold.kind == FoldKind::First => Some(ExprType::Record(fold.resource)),
        Node::Get(resource, key) => kind_of(key, scope).map(|_| ExprType::Record(*resource)),
        Node::Call(function, arguments) if function.name == "date" => {
            match kind_of(arguments.first()?, scope)? {
                ExprType::DateTime | ExprType::Date => Some(ExprType::Date),
                _ => None,
            }
        }
        _ => None,
    }
}

#[derive(PartialEq)]
enum Class {
    Boolean,
    Integer,
    Number,
    Decimal,
    Date,
    Time,
    DateTime,
    String,
}

fn class_of(kind: &ExprType, scope: &Scope<'_>) -> Option<Class> {
    Some(match kind {
        ExprType::Boolean => Class::Boolean,
        ExprType::Integer => Class::Integer,
        ExprType::Number => Class::Number,
        ExprType::Decimal(_) => Class::Decimal,
        ExprType::Date => Class::Date,
        ExprType::Time => Class::Time,
        ExprType::DateTime => Class::DateTime,
        ExprType::String => Class::String,
        ExprType::Key(resource) => match scope.key_kind(*resource)? {
            KeyKind::Integer => Class::Integer,
            KeyKind::String => Class::String,
        },
        _ => return None,
    })
}

/// Returns true if a node reads a slot.
pub(super) fn mentions(node: &Node, slot: Slot) -> bool {
    let mut found = false;
    node.visit(&mut |node| {
        found |= matches!(node, Node::Variable(other) if *other == slot);
        !found
    });
    found
}
