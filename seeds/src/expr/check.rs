//! Owns the translation of a syntax tree into a typed expression: it resolves names and checks types.

use crate::expr::ast::{Ast, AstKind};
use crate::expr::error::ExprError;
use crate::expr::index::index_of;
use crate::expr::node::{Expr, ExprType, Node, Slot};
use crate::expr::parse::parse;
use crate::expr::scope::Scope;
use crate::expr::scope::kind_of_schema;
use crate::model::{Define, ParameterId, ResourceId};
use crate::schema::{Schema, Type};
use crate::value::{Str, Value};

mod defines;
mod fit;
mod functions;
mod kinds;
mod near;
mod operators;
mod records;

use near::suggest;

/// Maximum depth of a tree, chains of operators included. It bounds the recursion of the evaluator.
const MAX_DEPTH: usize = 64;

/// A checked operand, and the depth of its tree.
#[derive(Clone)]
struct Operand<'a> {
    typed: TypedNode<'a>,
    depth: usize,
}

/// A definition that is being expanded.
struct Frame<'a> {
    resource: ResourceId,
    define: &'a Define,
    /// Operands for `item` and for the parameters.
    names: Vec<(Str, Operand<'a>)>,
}

impl<'a> Frame<'a> {
    fn operand(&self, name: &str) -> Option<&Operand<'a>> {
        self.names.iter().find(|(own, _)| **own == *name).map(|(_, operand)| operand)
    }
}

/// Parses and checks an expression.
///
/// # Errors
/// Returns [`ExprError`] with the position of the problem and a correction.
pub fn compile(source: &str, scope: &mut Scope<'_>) -> Result<Expr, ExprError> {
    with_checker(source, scope, |_, typed| Ok(typed))
}

/// Parses an expression whose names have no types yet.
///
/// # Errors
/// Returns an error if the text is no expression.
pub(crate) fn check_syntax(source: &str) -> Result<(), ExprError> {
    parse(source).map(drop)
}

/// Compiles a condition with [`compile`]. The expression must be boolean.
///
/// # Errors
/// Returns the errors of [`compile`], and an error if the expression has another type.
pub(crate) fn compile_condition(source: &str, scope: &mut Scope<'_>) -> Result<Expr, ExprError> {
    with_checker(source, scope, |checker, typed| {
        checker.expect_boolean(&typed, "a condition")?;
        Ok(typed)
    })
}

/// Compiles a value for a field or parameter with [`compile`]. Types must fit, and a literal must be allowed,
/// as by an enum or a limit. Numbers are cast to the type of the schema.
///
/// # Errors
/// Returns the errors of [`compile`], and an error if the value cannot fit the schema.
pub(crate) fn compile_value(source: &str, scope: &mut Scope<'_>, schema: &Schema) -> Result<Expr, ExprError> {
    with_checker(source, scope, |checker, typed| checker.fit(typed, schema))
}

fn with_checker<'a>(
    source: &str,
    scope: &mut Scope<'a>,
    finish: impl FnOnce(&Checker<'_, 'a>, TypedNode<'a>) -> Result<TypedNode<'a>, ExprError>,
) -> Result<Expr, ExprError> {
    let root = parse(source)?;
    let before = scope.mark();
    let mut checker = Checker { scope, depth: 0, deepest: 0, frames: Vec::new() };
    let checked = checker.check(&root).and_then(|typed| finish(&checker, typed));
    if checked.is_err() {
        // Closes the fold variables that an error left open, so that the next expression does not see them.
        scope.close_to(before);
    }
    let typed = checked?;
    let index = index_of(&typed.node, Slot::ITEM, scope);
    Ok(Expr { node: typed.node, kind: typed.kind, slots: scope.slots(), source: source.into(), index })
}

/// A node with the known properties of its values.
#[derive(Clone)]
struct TypedNode<'a> {
    node: Node,
    kind: ExprType,
    /// Declared schema, if the value comes unchanged from a field or argument. It gives the enum values and
    /// the object members.
    schema: Option<&'a Schema>,
    /// Byte offset in the text.
    offset: usize,
}

struct Checker<'s, 'a> {
    scope: &'s mut Scope<'a>,
    depth: usize,
    /// Maximum depth within the current operand.
    deepest: usize,
    /// The definitions that are being expanded, the innermost last.
    frames: Vec<Frame<'a>>,
}

fn error<T>(offset: usize, message: impl Into<String>) -> Result<T, ExprError> {
    Err(ExprError { offset, message: message.into() })
}

impl<'a> TypedNode<'a> {
    fn new(node: Node, kind: ExprType, offset: usize) -> Self {
        Self { node, kind, schema: None, offset }
    }

    fn of_schema(node: Node, schema: &'a Schema, offset: usize) -> Self {
        Self { node, kind: kind_of_schema(schema), schema: Some(schema), offset }
    }

    fn literal_string(&self) -> Option<&str> {
        match &self.node {
            Node::Literal(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn boxed(self) -> Box<Node> {
        Box::new(self.node)
    }
}

impl<'a> Checker<'_, 'a> {
    fn check(&mut self, expr: &Ast) -> Result<TypedNode<'a>, ExprError> {
        let offset = expr.offset;
        if self.depth >= MAX_DEPTH {
            return error(
                offset,
                format!("more than {MAX_DEPTH} operators deep; split the expression with `let`"),
            );
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let checked = match &expr.kind {
            AstKind::Literal(value) => Ok(literal(value, offset)),
            AstKind::Name(name) => self.name(name, offset),
            AstKind::Member(operand, name) => self.select(operand, name, offset),
            AstKind::Call(name, arguments) => self.function(name, None, arguments, offset),
            AstKind::Method(target, name, arguments) => self.method(target, name, arguments),
            AstKind::Item(list, position) => self.item(list, position, offset),
            AstKind::List(elements) => self.list(elements, offset),
            AstKind::Not(operand) => self.not(operand, offset),
            AstKind::Negate(operand) => self.negate(operand, offset),
            AstKind::Binary(operator, left, right) => self.binary(*operator, left, right, offset),
            AstKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no),
        };
        self.depth -= 1;
        checked
    }

    fn name(&mut self, name: &str, offset: usize) -> Result<TypedNode<'a>, ExprError> {
        if let Some(operand) = self.frames.last().and_then(|frame| frame.operand(name)).cloned() {
            return self.stand_in(operand, offset);
        }
        if !self.frames.is_empty() && ["args", "record", "item", "me"].contains(&name) {
            return error(offset, format!("`{name}` has no meaning in a definition; the record is `item`"));
        }
        if let Some((slot, kind)) = self.scope.variable(name) {
            return Ok(TypedNode::new(Node::Variable(slot), kind, offset));
        }
        match name {
            "now" => return Ok(TypedNode::new(Node::Now, ExprType::DateTime, offset)),
            "today" => return Ok(TypedNode::new(Node::Today, ExprType::Date, offset)),
            "args" => return error(offset, "found `args` alone; expected `args.` and a parameter's name"),
            "record" | "item" | "me" => {
                return error(offset, format!("`{name}` has no meaning here; {}", self.names_here()));
            }
            _ => {}
        }
        if self.scope.resource_named(name).is_some() {
            let message = format!(
                "`{name}` is a resource; expected `{name}.get(key)`, `{name}.exists(key)` or a fold such as \
                 `{name}.any(x, condition)`"
            );
            return error(offset, message);
        }
        if self.scope.parameters.iter().any(|parameter| &*parameter.name == name) {
            return error(offset, format!("`{name}` is a parameter; write `args.{name}`"));
        }
        error(offset, format!("unknown name `{name}`; {}", suggest(name, self.scope.all_names())))
    }

    fn names_here(&self) -> String {
        format!("known here: {}", self.scope.all_names().join(", "))
    }

    fn select(&mut self, operand: &Ast, member: &str, dot: usize) -> Result<TypedNode<'a>, ExprError> {
        if let AstKind::Name(name) = &operand.kind
            && name == "args"
        {
            return self.argument(member, operand.offset);
        }
        if let AstKind::Name(name) = &operand.kind
            && self.scope.variable(name).is_none()
            && self.scope.resource_named(name).is_some()
        {
            let message =
                format!("`{name}` is a resource, not a record; expected `{name}.get(key).{member}`");
            return error(operand.offset, message);
        }
        let inner = self.operand(operand)?;
        if let Some(found) = self.define(&inner.typed.kind, member) {
            return self.write_out(self.follow(inner), found, &[], dot);
        }
        self.member(self.follow(inner).typed, member, dot)
    }

    fn argument(&self, name: &str, offset: usize) -> Result<TypedNode<'a>, ExprError> {
        if !self.frames.is_empty() {
            return error(offset, "`args` has no meaning in a definition; give it a parameter");
        }
        let parameters = self.scope.parameters;
        let Some(position) = parameters.iter().position(|parameter| &*parameter.name == name) else {
            let known = parameters.iter().map(|parameter| &*parameter.name).collect();
            return error(offset, format!("the API has no parameter `{name}`; {}", suggest(name, known)));
        };
        let node = Node::Argument(ParameterId(position as u16));
        Ok(TypedNode::of_schema(node, &parameters[position].schema, offset))
    }

    fn member(&self, inner: TypedNode<'a>, name: &str, dot: usize) -> Result<TypedNode<'a>, ExprError> {
        let offset = inner.offset;
        match &inner.kind {
            ExprType::Record(id) => {
                let Some(resource) = self.scope.resource(*id) else { return error(dot, "unknown resource") };
                let Some(field) = resource.field_named(name) else {
                    let mut known: Vec<&str> = resource.fields.iter().map(|field| &*field.name).collect();
                    known.extend(resource.defines.iter().map(|define| &*define.name));
                    let message =
                        format!("`{}` has no field `{name}`; {}", resource.name, suggest(name, known));
                    return error(dot, message);
                };
                let kind = self.scope.field_kind(*id, field);
                let schema = self.scope.field_schema(*id, field);
                Ok(TypedNode { node: Node::Field(inner.boxed(), field), kind, schema, offset })
            }
            ExprType::Object => {
                let declared = inner.schema.and_then(|schema| match &schema.kind {
                    Type::Object(fields) => Some(fields),
                    _ => None,
                });
                let Some(fields) = declared else {
                    return Ok(TypedNode::new(
                        Node::Member(inner.boxed(), name.into()),
                        ExprType::Any,
                        offset,
                    ));
                };
                match fields.iter().find(|field| &*field.name == name) {
                    Some(field) => Ok(TypedNode::of_schema(
                        Node::Member(inner.boxed(), name.into()),
                        &field.schema,
                        offset,
                    )),
                    None => {
                        let known = fields.iter().map(|field| &*field.name).collect();
                        error(dot, format!("the object has no member `{name}`; {}", suggest(name, known)))
                    }
                }
            }
            ExprType::Any => {
                Ok(TypedNode::new(Node::Member(inner.boxed(), name.into()), ExprType::Any, offset))
            }
            other => error(
                dot,
                format!(
                    "found `.{name}` after {}; only records and objects have members",
                    self.describe(other)
                ),
            ),
        }
    }

    fn list(&mut self, elements: &[Ast], offset: usize) -> Result<TypedNode<'a>, ExprError> {
        let mut items = Vec::with_capacity(elements.len());
        let mut kind = ExprType::Null;
        for element in elements {
            let item = self.check(element)?;
            kind = self.unify(&kind, &item, "a list")?;
            items.push(item);
        }
        if matches!(kind, ExprType::Record(_)) {
            return error(offset, "a list cannot hold records; list their keys");
        }
        let nodes: Vec<Node> = items.into_iter().map(|item| self.cast(item, &kind)).collect();
        let literals: Option<Vec<Value>> = nodes
            .iter()
            .map(|node| match node {
                Node::Literal(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let item_kind = if nodes.is_empty() { ExprType::Any } else { kind };
        // A list of literals is one value, so that its evaluation allocates nothing.
        let node = match literals {
            Some(values) => Node::Literal(Value::List(values.into())),
            None => Node::List(nodes),
        };
        Ok(TypedNode::new(node, ExprType::List(Box::new(item_kind)), offset))
    }
}

fn literal<'a>(value: &Value, offset: usize) -> TypedNode<'a> {
    let kind = match value {
        Value::Null => ExprType::Null,
        Value::Bool(_) => ExprType::Boolean,
        Value::Integer(_) => ExprType::Integer,
        Value::Number(_) => ExprType::Number,
        _ => ExprType::String,
    };
    TypedNode::new(Node::Literal(value.clone()), kind, offset)
}

#[cfg(test)]
mod tests;
