//! Owns the check of function calls: their arguments, and the type of their result.

use crate::expr::ast::{Ast, AstKind};
use crate::expr::check::kinds::is_numeric;
use crate::expr::check::near::suggest;
use crate::expr::check::{Checker, TypedNode, error};
use crate::expr::error::ExprError;
use crate::expr::functions::{self, Call, Form, Function, Kind};
use crate::expr::node::{ExprType, Node};
use crate::expr::scope::RESERVED;
use crate::expr::units;
use crate::schema::{Pattern, Type};
use crate::value::Value;

impl<'a> Checker<'_, 'a> {
    /// Checks `target.name(arguments)`: a call on a resource, or a function with the target as its first
    /// argument.
    pub(super) fn method(
        &mut self,
        target: &Ast,
        name: &str,
        arguments: &[Ast],
    ) -> Result<TypedNode<'a>, ExprError> {
        if let AstKind::Name(resource) = &target.kind
            && self.scope.variable(resource).is_none()
            && !self.is_stand_in(resource)
        {
            if let Some(id) = self.scope.resource_named(resource) {
                return self.resource_call(id, resource, name, arguments, target.offset);
            }
            if RESERVED.contains(&resource.as_str()) {
                return self.name(resource, target.offset);
            }
            let mut known = self.scope.all_names();
            known.extend(self.scope.resources.iter().map(|resource| &*resource.name));
            let message = format!("unknown name `{resource}`; {}", suggest(resource, known));
            return error(target.offset, message);
        }
        let target = self.operand(target)?;
        let start = target.typed.offset;
        if let Some(found) = self.define(&target.typed.kind, name) {
            // In `ticket.seat_id.free_at(..)`, the definition belongs to the referenced record.
            return self.write_out(self.follow(target), found, arguments, start);
        }
        self.function(name, Some(target.typed), arguments, start)
    }

    pub(super) fn function(
        &mut self,
        name: &str,
        target: Option<TypedNode<'a>>,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let found = arguments.len() + usize::from(target.is_some());
        let named = functions::named(name);
        let takes = |function: &&Function| (function.counts().0..=function.counts().1).contains(&found);
        let Some(function) = named.clone().find(takes) else {
            let counts = named.map(Function::counts).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            let expected = match counts {
                None if name == "has" => {
                    return error(offset, "found `has`; write `given(args.x)`, or compare with null");
                }
                None => {
                    let known = functions::names().collect();
                    return error(offset, format!("unknown function `{name}`; {}", suggest(name, known)));
                }
                Some((1, 1)) => "one argument".to_owned(),
                Some((least, greatest)) if least == greatest => format!("{least} arguments"),
                Some((least, greatest)) if greatest > 9 => format!("at least {least}"),
                Some((least, greatest)) => format!("{least} to {greatest} arguments"),
            };
            return error(offset, format!("`{name}` takes {expected}, found {found}"));
        };
        let mut checked = Vec::with_capacity(found);
        checked.extend(target);
        for argument in arguments {
            checked.push(self.check(argument)?);
        }
        self.apply(function, name, checked, offset)
    }

    fn apply(
        &self,
        function: &'static Function,
        name: &str,
        mut arguments: Vec<TypedNode<'a>>,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let literal = arguments.first().and_then(TypedNode::literal_string);
        match (function.form, literal) {
            (Form::Min | Form::Max | Form::Coalesce, _) => {
                return self.alternatives(function, name, arguments, offset);
            }
            (Form::Read | Form::Duration, Some(text)) => return self.read(function, text, offset),
            (Form::Duration, None) => return error(offset, DURATION),
            (Form::Given, _) if !matches!(arguments[..], [TypedNode { node: Node::Argument(_), .. }]) => {
                return error(
                    offset,
                    "expected `given(args.x)`: it tells whether the caller gave an argument",
                );
            }
            _ => {}
        }
        for (index, argument) in arguments.iter_mut().enumerate() {
            let kinds = function.kinds(index);
            match kinds {
                [Kind::Date, ..] => self.read_literal(argument, &ExprType::Date)?,
                [Kind::Time, ..] => self.read_literal(argument, &ExprType::Time)?,
                _ => {}
            }
            self.want(argument, name, function, kinds)?;
        }
        match (function.form, &arguments[..]) {
            (Form::Matches, _) => return self.matches(arguments, offset),
            (Form::Convert, _) => self.units(&arguments)?,
            (Form::Round, [_, TypedNode { node: Node::Literal(Value::Integer(places)), offset, .. }])
                if !(0..=9).contains(places) =>
            {
                return error(*offset, format!("found {places} places; expected 0 to 9"));
            }
            (Form::MinutesBetween, [a, b]) if !self.comparable(&a.kind, &b.kind) => {
                let message = "`minutes_between` takes two instants or two times of day, found one of each";
                return error(b.offset, message);
            }
            _ => {}
        }
        let kind = match function.gives {
            Kind::Same => arguments.first().map_or(ExprType::Any, |argument| argument.kind.clone()),
            gives => expr_type(gives),
        };
        let nodes = arguments.into_iter().map(|argument| argument.node).collect();
        Ok(TypedNode::new(Node::Call(function, nodes), kind, offset))
    }

    /// Evaluates a function of a literal at compile time.
    fn read(
        &self,
        function: &'static Function,
        text: &str,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let value = Value::string(text);
        let call = Call { name: function.name, zone: self.scope.zone, values: &[&value] };
        let example = match (function.gives, (function.run)(&call)) {
            (gives, Ok(value)) if !value.is_missing() => {
                return Ok(TypedNode::new(Node::Literal(value), expr_type(gives), offset));
            }
            (Kind::Duration, _) => return error(offset, DURATION),
            (Kind::Date, _) => "date('2026-03-02')",
            (Kind::Time, _) => "time('09:00')",
            _ => "datetime('2026-03-02T09:00')",
        };
        error(offset, format!("found '{text}'; expected a literal as in {example}"))
    }

    fn matches(&self, mut arguments: Vec<TypedNode<'a>>, offset: usize) -> Result<TypedNode<'a>, ExprError> {
        let (Some(pattern), Some(text)) = (arguments.pop(), arguments.pop()) else {
            return error(offset, "expected `text.matches('pattern')`");
        };
        let Some(source) = pattern.literal_string() else {
            let message = "the pattern must be a literal, so that it is checked with the world";
            return error(pattern.offset, message);
        };
        match Pattern::new(source) {
            Ok(pattern) => {
                Ok(TypedNode::new(Node::Matches(text.boxed(), pattern), ExprType::Boolean, offset))
            }
            Err(message) => {
                let last = message.lines().next_back().unwrap_or_default();
                error(pattern.offset, format!("the pattern does not compile: {last}"))
            }
        }
    }

    /// Checks that an argument has one of these types, or is null or of unknown type.
    fn want(
        &self,
        argument: &TypedNode<'a>,
        name: &str,
        function: &Function,
        kinds: &[Kind],
    ) -> Result<(), ExprError> {
        let found = &argument.kind;
        let plain = self.plain(found);
        let fits = |kind: &Kind| match kind {
            Kind::Any => true,
            Kind::List => matches!(found, ExprType::List(_)),
            Kind::Single => !matches!(found, ExprType::Record(_) | ExprType::List(_) | ExprType::Object),
            Kind::Number => is_numeric(&plain),
            kind => expr_type(*kind) == plain,
        };
        if matches!(found, ExprType::Any | ExprType::Null) || kinds.iter().any(fits) {
            return Ok(());
        }
        let is_test = function.gives == Kind::Boolean && matches!(found, ExprType::List(_));
        let expected = kinds.iter().map(|kind| kind.described()).collect::<Vec<_>>().join(" or ");
        let hint = if is_test { "; write `item in list`" } else { "" };
        let message = format!("`{name}` takes {expected}, found {}{hint}", self.describe(found));
        error(argument.offset, message)
    }

    fn alternatives(
        &self,
        function: &'static Function,
        name: &str,
        mut arguments: Vec<TypedNode<'a>>,
        offset: usize,
    ) -> Result<TypedNode<'a>, ExprError> {
        let dated = arguments
            .iter()
            .map(|argument| argument.kind.clone())
            .find(|kind| matches!(kind, ExprType::Date | ExprType::Time | ExprType::DateTime));
        let mut kind = ExprType::Null;
        for argument in &mut arguments {
            if let Some(dated) = &dated {
                self.read_literal(argument, dated)?;
            }
            kind = self.unify(&kind, argument, &format!("`{name}`"))?;
        }
        let unordered =
            matches!(kind, ExprType::Boolean | ExprType::Record(_) | ExprType::List(_) | ExprType::Object);
        if unordered && function.form != Form::Coalesce {
            return error(
                offset,
                format!("`{name}` takes values that have an order, found {}", self.describe(&kind)),
            );
        }
        let schema = match &arguments[..] {
            [first, second] => Self::shared_schema(first, second),
            _ => None,
        };
        let nodes = arguments.into_iter().map(|argument| self.cast(argument, &kind)).collect();
        Ok(TypedNode { node: Node::Call(function, nodes), kind, schema, offset })
    }

    fn units(&self, arguments: &[TypedNode<'a>]) -> Result<(), ExprError> {
        let [_, from, to] = arguments else { return Ok(()) };
        // The suggestions are units that measure the same quantity as the other side, if that is known.
        let same = [from, to].iter().find_map(|side| units::quantity(side.literal_string()?));
        let known = |unit: &str, offset| match units::quantity(unit) {
            Some(_) => Ok(()),
            None => {
                let symbols = same
                    .map_or_else(|| units::all_symbols().collect(), |same| units::symbols(same).collect());
                error(offset, format!("unknown unit `{unit}`; {}", suggest(unit, symbols)))
            }
        };
        for side in [from, to] {
            if let Some(unit) = side.literal_string() {
                known(unit, side.offset)?;
            } else if let Some(Type::Enum(values)) = side.schema.map(|schema| &schema.kind) {
                for unit in values.iter() {
                    known(unit, side.offset)?;
                }
            }
        }
        if let (Some(source), Some(target)) = (from.literal_string(), to.literal_string())
            && let (Some(source), Some(found)) = (units::quantity(source), units::quantity(target))
            && source != found
        {
            let expected: Vec<&str> = units::symbols(source).collect();
            return error(
                to.offset,
                format!("`{target}` measures something else; expected one of {}", expected.join(", ")),
            );
        }
        Ok(())
    }
}

const DURATION: &str = "expected a literal such as duration('1h30m') or duration('2d'); for a number of units write minutes(n), \
                        hours(n) or days(n)";

const fn expr_type(kind: Kind) -> ExprType {
    match kind {
        Kind::Boolean => ExprType::Boolean,
        Kind::Integer => ExprType::Integer,
        Kind::Number => ExprType::Number,
        Kind::String => ExprType::String,
        Kind::Date => ExprType::Date,
        Kind::Time => ExprType::Time,
        Kind::DateTime => ExprType::DateTime,
        Kind::Duration => ExprType::Duration,
        Kind::List | Kind::Single | Kind::Any | Kind::Same => ExprType::Any,
    }
}
