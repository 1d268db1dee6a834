//! The expressions of an API, compiled in its scope. One that is wrong is reported, and a placeholder takes its place.

use super::api::Builder;
use crate::expr::{self, Expr, ExprType, Node};
use crate::schema::Schema;
use crate::value::{Str, Value};
use diorama_format::path::Path;

impl Builder<'_> {
    /// An expression of any type.
    pub(super) fn expression(&mut self, source: &str, path: &Path<'_>) -> Expr {
        let result = expr::compile(source, &mut self.scope);
        self.or_placeholder(result, source, path)
    }

    /// A boolean expression.
    pub(super) fn condition(&mut self, source: &str, path: &Path<'_>) -> Expr {
        let result = expr::compile_condition(source, &mut self.scope);
        self.or_placeholder(result, source, path)
    }

    /// An expression for a field's new value.
    pub(super) fn value(&mut self, source: &str, schema: &Schema, path: &Path<'_>) -> Expr {
        let result = expr::compile_value(source, &mut self.scope, schema);
        self.or_placeholder(result, source, path)
    }

    fn or_placeholder(
        &mut self,
        result: Result<Expr, expr::ExprError>,
        source: &str,
        path: &Path<'_>,
    ) -> Expr {
        result.unwrap_or_else(|error| {
            self.findings.expression(path, &error);
            // Never runs: a world with findings is not handed out.
            plain(Node::Literal(Value::Null), ExprType::Any, source)
        })
    }
}

/// An expression made here, not from a text of the document.
pub(super) fn plain(node: Node, kind: ExprType, source: &str) -> Expr {
    Expr { node, kind, slots: expr::Slot::FIRST_FREE, source: Str::from(source), index: None }
}
