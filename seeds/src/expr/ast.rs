//! The syntax tree of an expression, as its text has it: names are not resolved, types not known.

use crate::expr::operator::Operator;
use crate::value::Value;

/// A node, and the byte of the text that messages about it point at: of an operator, a member access or an index its sign,
/// of everything else its start.
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
