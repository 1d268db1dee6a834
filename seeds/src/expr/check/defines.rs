//! Owns the expansion of names that resources define. `seat.free` is checked as the expression of the name,
//! with the seat as `item`.
//!
//! The result has the nodes of the whole expression, so evaluation does not know these names.

use crate::expr::ast::Ast;
use crate::expr::check::{Checker, Frame, MAX_DEPTH, Operand, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::node::{ExprType, Node};
use crate::expr::parse::parse;
use crate::model::{Define, ResourceId};
use crate::value::Str;

/// Maximum number of nodes of an expression after expansion. Names that use other names multiply.
const MAX_NODES: usize = 4_000;

impl<'a> Checker<'_, 'a> {
    /// Checks an expression whose tree may become part of others.
    pub(super) fn operand(&mut self, expr: &Ast) -> Result<Operand<'a>, ExprError> {
        let before = std::mem::replace(&mut self.deepest, self.depth);
        let typed = self.check(expr);
        let depth = self.deepest.saturating_sub(self.depth);
        self.deepest = self.deepest.max(before);
        Ok(Operand { typed: typed?, depth })
    }

    /// Returns the operand for a name of the innermost definition.
    pub(super) fn stand_in(
        &mut self,
        operand: Operand<'a>,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let depth = self.depth + operand.depth;
        if depth > MAX_DEPTH {
            return error(
                offset,
                format!("more than {MAX_DEPTH} operators deep; split the expression with `let`"),
            );
        }
        self.deepest = self.deepest.max(depth);
        Ok(TypedNode { offset, ..operand.typed })
    }

    /// Returns true if the innermost definition gives the name a meaning.
    pub(super) fn is_stand_in(&self, name: &str) -> bool {
        self.frames.last().is_some_and(|frame| frame.operand(name).is_some())
    }

    /// Returns the record of a reference. Any other operand stays.
    pub(super) fn follow(&self, operand: Operand<'a>) -> Operand<'a> {
        let Operand { typed, depth } = operand;
        match typed.kind {
            ExprType::Key(id) => {
                let offset = typed.offset;
                let record = TypedNode::new(Node::Get(id, typed.boxed()), ExprType::Record(id), offset);
                Operand { typed: record, depth: depth + 1 }
            }
            _ => Operand { typed, depth },
        }
    }

    /// Returns the definition of a name for records of this type, or for the records of this key type.
    pub(super) fn define(&self, kind: &ExprType, name: &str) -> Option<(ResourceId, &'a Define)> {
        let (ExprType::Record(id) | ExprType::Key(id)) = *kind else { return None };
        let define = self.scope.resource(id)?.defines.iter().find(|define| *define.name == *name)?;
        Some((id, define))
    }

    /// Checks the expression of a definition for a record. `dot` is the offset at which the text names it.
    pub(super) fn write_out(
        &mut self,
        record: Operand<'a>,
        (resource, define): (ResourceId, &'a Define),
        arguments: &[Ast],
        dot: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let name = &define.name;
        if arguments.len() != define.parameters.len() {
            let parameters: Vec<&str> = define.parameters.iter().map(|name| &**name).collect();
            let form = if parameters.is_empty() {
                name.to_string()
            } else {
                format!("{name}({})", parameters.join(", "))
            };
            return error(
                dot,
                format!("found {} arguments of `{name}`; expected `.{form}`", arguments.len()),
            );
        }
        if self.frames.iter().any(|frame| frame.resource == resource && frame.define.name == *name) {
            return error(dot, format!("`{name}` is defined by itself"));
        }
        let offset = record.typed.offset;
        let mut names = vec![(Str::from("item"), record)];
        for (parameter, argument) in define.parameters.iter().zip(arguments) {
            names.push((parameter.clone(), self.operand(argument)?));
        }
        let within = |error: ExprError| ExprError {
            offset: dot,
            message: format!("in `{name}: {}`: {}", define.source, error.message),
        };
        let body = parse(&define.source).map_err(within)?;
        // The expression sees only its own names.
        let hidden = self.scope.hide_names();
        self.frames.push(Frame { resource, define, names });
        let checked = self.check(&body);
        self.frames.pop();
        self.scope.restore_names(hidden);
        let typed = checked.map_err(within)?;
        if has_more_nodes(&typed.node, MAX_NODES) {
            return error(
                dot,
                format!("`{name}` is more than {MAX_NODES} operations long with all names written out"),
            );
        }
        Ok(TypedNode { offset, ..typed })
    }
}

fn has_more_nodes(node: &Node, limit: usize) -> bool {
    let mut seen = 0;
    node.visit(&mut |_| {
        seen += 1;
        seen <= limit
    });
    seen > limit
}
