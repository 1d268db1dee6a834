//! Owns the compilation of an API's expressions in its scope. It reports an invalid expression and uses a
//! placeholder.

use super::api::Builder;
use crate::expr::{self, Expr, ExprType, Node};
use crate::schema::Schema;
use crate::value::{Str, Value};
use diorama_format::path::Path;

impl Builder<'_> {
    /// Compiles an expression of any type.
    pub(super) fn expression(&mut self, source: &str, path: &Path<'_>) -> Expr {
        let result = expr::compile(source, &mut self.scope);
        self.or_placeholder(result, source, path)
    }

    /// Compiles a boolean expression.
    pub(super) fn condition(&mut self, source: &str, path: &Path<'_>) -> Expr {
        let result = expr::compile_condition(source, &mut self.scope);
        self.or_placeholder(result, source, path)
    }

    /// Compiles an expression for a field's new value.
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
            // The placeholder never runs, because a world with findings is not returned.
            plain(Node::Literal(Value::Null), ExprType::Any, source)
        })
    }
}

/// Makes an expression that has no text in the document.
pub(super) fn plain(node: Node, kind: ExprType, source: &str) -> Expr {
    Expr { node, kind, slots: expr::Slot::FIRST_FREE, source: Str::from(source), index: None }
}
