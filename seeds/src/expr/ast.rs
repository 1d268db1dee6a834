//! Owns the syntax tree of an expression. Its names are not resolved, and its types are unknown.

use crate::expr::operator::Operator;
use crate::value::Value;

/// A node, and the byte offset to which messages about it point. It is the sign of an operator, member access
/// or index, and the start of all other nodes.
#[derive(Debug)]
pub(super) struct Ast {
    pub(super) kind: AstKind,
    pub(super) offset: usize,
}

#[derive(Debug)]
pub(super) enum AstKind {
    Literal(Value),
    Name(String),
    /// `operand.name`
    Member(Box<Ast>, String),
    /// `name(arguments)`
    Call(String, Vec<Ast>),
    /// `target.name(arguments)`
    Method(Box<Ast>, String, Vec<Ast>),
    /// `list[position]`
    Item(Box<Ast>, Box<Ast>),
    List(Vec<Ast>),
    Not(Box<Ast>),
    Negate(Box<Ast>),
    Binary(Operator, Box<Ast>, Box<Ast>),
    /// `condition ? yes : no`
    Conditional(Box<Ast>, Box<Ast>, Box<Ast>),
}
