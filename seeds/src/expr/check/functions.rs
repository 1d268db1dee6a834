//! Built-in functions: names, arguments, results.

use crate::expr::ast::{Ast, AstKind};
use crate::expr::check::kinds::is_numeric;
use crate::expr::check::near::suggest;
use crate::expr::check::{Checker, Typed, error};
use crate::expr::{ExprError, ExprType, Function, Node, units};
use crate::schema::{Pattern, Type};
use crate::value::{Date, Time, Value};

/// Name, function, least and greatest number of arguments.
pub(super) const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("size", Function::Size, 1, 1),
    ("lower", Function::Lower, 1, 1),
    ("upper", Function::Upper, 1, 1),
    ("contains", Function::Contains, 2, 2),
    ("startsWith", Function::StartsWith, 2, 2),
    ("starts_with", Function::StartsWith, 2, 2),
    ("endsWith", Function::EndsWith, 2, 2),
    ("ends_with", Function::EndsWith, 2, 2),
    ("string", Function::String, 1, 1),
    ("concat", Function::Concat, 1, MANY),
    ("integer", Function::Integer, 1, 1),
    ("number", Function::Number, 1, 1),
    ("round", Function::Round, 1, 2),
    ("floor", Function::Floor, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("min", Function::Min, 1, MANY),
    ("max", Function::Max, 1, MANY),
    ("sqrt", Function::Sqrt, 1, 1),
    ("date", Function::Date, 1, 1),
    ("time", Function::Time, 1, 1),
    ("datetime", Function::DateTime, 1, 2),
    ("duration", Function::Duration, 1, 1),
    ("days", Function::Days, 1, 1),
    ("hours", Function::Hours, 1, 1),
    ("minutes", Function::Minutes, 1, 1),
    ("days_between", Function::DaysBetween, 2, 2),
    ("minutes_between", Function::MinutesBetween, 2, 2),
    ("weekday", Function::Weekday, 1, 1),
    ("year", Function::Year, 1, 1),
    ("month", Function::Month, 1, 1),
    ("day", Function::Day, 1, 1),
    ("convert", Function::Convert, 3, 3),
    ("distance_km", Function::DistanceKm, 4, 4),
    ("coalesce", Function::Coalesce, 1, MANY),
    ("given", Function::Given, 1, 1),
];

const MANY: usize = 64;

impl<'a> Checker<'_, 'a> {
    /// `target.name(arguments)`: a call on a resource, or a function with the target as its first argument.
    pub(super) fn method(
        &mut self,
        target: &Ast,
        name: &str,
        arguments: &[Ast],
    ) -> Result<Typed<'a>, ExprError> {
        if let AstKind::Name(resource) = &target.kind
            && self.scope.variable(resource).is_none()
        {
            if let Some(id) = self.scope.resource_named(resource) {
                return self.resource_call(id, resource, name, arguments, target.offset);
            }
            if super::super::scope::RESERVED.contains(&resource.as_str()) {
                return self.name(resource, target.offset);
            }
            let mut known = self.scope.all_names();
            known.extend(self.scope.resources.iter().map(|resource| &*resource.name));
            let message = format!("unknown name `{resource}`; {}", suggest(resource, known));
            return error(target.offset, message);
        }
        let target = self.check(target)?;
        let start = target.offset;
        self.function(name, Some(target), arguments, start)
    }

    pub(super) fn function(
        &mut self,
        name: &str,
        target: Option<Typed<'a>>,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<Typed<'a>, ExprError> {
        let found = arguments.len() + usize::from(target.is_some());
        if name == "matches" {
            return self.matches(target, arguments, offset);
        }
        let Some((_, function, least, greatest)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            if name == "has" {
                return error(offset, "found `has`; write `given(args.x)`, or compare with null");
            }
            let mut known: Vec<&str> = FUNCTIONS.iter().map(|(known, ..)| *known).collect();
            known.push("matches");
            return error(offset, format!("unknown function `{name}`; {}", suggest(name, known)));
        };
        if !(*least..=*greatest).contains(&found) {
            let expected = match (least, greatest) {
                (1, 1) => "one argument".to_owned(),
                (least, greatest) if least == greatest => format!("{least} arguments"),
                (least, &MANY) => format!("at least {least}"),
                (least, greatest) => format!("{least} to {greatest} arguments"),
            };
            return error(offset, format!("`{name}` takes {expected}, found {found}"));
        }
        let mut checked = Vec::with_capacity(found);
        checked.extend(target);
        for argument in arguments {
            checked.push(self.check(argument)?);
        }
        self.apply(*function, name, checked, offset)
    }

    fn matches(
        &mut self,
        target: Option<Typed<'a>>,
        arguments: &[Ast],
        offset: usize,
    ) -> Result<Typed<'a>, ExprError> {
        let (text, pattern) = match (target, arguments) {
            (Some(text), [pattern]) => (text, pattern),
            (None, [text, pattern]) => (self.check(text)?, pattern),
            _ => return error(offset, "expected `text.matches('pattern')`"),
        };
        self.want(&text, "matches", &[ExprType::String])?;
        let pattern = self.check(pattern)?;
        let Some(source) = pattern.literal_string() else {
            return error(
                pattern.offset,
                "the pattern must be a literal, so that it is checked with the world",
            );
        };
        match Pattern::new(source) {
            Ok(pattern) => Ok(Typed::new(Node::Matches(text.boxed(), pattern), ExprType::Boolean, offset)),
            Err(message) => {
                let last = message.lines().next_back().unwrap_or_default();
                error(pattern.offset, format!("the pattern does not compile: {last}"))
            }
        }
    }

    /// Checks that an argument is of one of these types (or not known, or null).
    fn want(&self, argument: &Typed<'a>, name: &str, kinds: &[ExprType]) -> Result<(), ExprError> {
        let found = &argument.kind;
        if matches!(found, ExprType::Any | ExprType::Null) || kinds.contains(&self.plain(found)) {
            return Ok(());
        }
        if kinds.contains(&ExprType::Number) && is_numeric(found) {
            return Ok(());
        }
        let expected: Vec<String> = kinds.iter().map(|kind| self.describe(kind)).collect();
        let message = format!("`{name}` takes {}, found {}", expected.join(" or "), self.describe(found));
        error(argument.offset, message)
    }

    fn want_all(&self, arguments: &[Typed<'a>], name: &str, kinds: &[ExprType]) -> Result<(), ExprError> {
        arguments.iter().try_for_each(|argument| self.want(argument, name, kinds))
    }

    fn apply(
        &self,
        function: Function,
        name: &str,
        mut arguments: Vec<Typed<'a>>,
        offset: usize,
    ) -> Result<Typed<'a>, ExprError> {
        let kind = match function {
            Function::Round => return self.round(arguments, offset),
            Function::Min | Function::Max | Function::Coalesce => {
                return self.alternatives(function, name, arguments, offset);
            }
            Function::Date | Function::Time => return self.date_or_time(function, name, arguments, offset),
            Function::DateTime => return self.date_time(arguments, offset),
            Function::Duration => {
                let literal = arguments.first().and_then(Typed::literal_string);
                let Some(seconds) = literal.and_then(parse_duration) else {
                    return error(
                        offset,
                        "expected a literal such as duration('1h30m') or duration('2d'); for a number of units write minutes(n), hours(n) or days(n)",
                    );
                };
                let seconds = Node::Literal(Value::Integer(seconds));
                return Ok(Typed::new(seconds, ExprType::Duration, offset));
            }
            Function::Given => {
                if !matches!(arguments.first(), Some(Typed { node: Node::Argument(_), .. })) {
                    return error(
                        offset,
                        "expected `given(args.x)`: it tells whether the caller gave an argument",
                    );
                }
                ExprType::Boolean
            }
            Function::Size
            | Function::Lower
            | Function::Upper
            | Function::Contains
            | Function::StartsWith
            | Function::EndsWith
            | Function::String
            | Function::Concat => self.of_texts(function, name, &arguments, offset)?,
            Function::Integer
            | Function::Number
            | Function::Floor
            | Function::Ceil
            | Function::Abs
            | Function::Sqrt
            | Function::Convert
            | Function::DistanceKm => self.of_numbers(function, name, &arguments)?,
            Function::Days
            | Function::Hours
            | Function::Minutes
            | Function::DaysBetween
            | Function::MinutesBetween
            | Function::Weekday
            | Function::Year
            | Function::Month
            | Function::Day => self.of_moments(function, name, &mut arguments)?,
        };
        let nodes = arguments.into_iter().map(|argument| argument.node).collect();
        Ok(Typed::new(Node::Call(function, nodes), kind, offset))
    }

    /// What a function of texts gives.
    fn of_texts(
        &self,
        function: Function,
        name: &str,
        arguments: &[Typed<'a>],
        offset: usize,
    ) -> Result<ExprType, ExprError> {
        use ExprType::{List, Object, Record, String};
        let is_list = matches!(arguments.first().map(|argument| &argument.kind), Some(List(_)));
        match function {
            Function::Size => {
                if !is_list {
                    self.want_all(arguments, name, &[String])?;
                }
                Ok(ExprType::Integer)
            }
            Function::Contains | Function::StartsWith | Function::EndsWith => {
                if is_list {
                    let message = format!("`{name}` takes texts, found a list; write `item in list`");
                    return error(offset, message);
                }
                self.want_all(arguments, name, &[String])?;
                Ok(ExprType::Boolean)
            }
            Function::String | Function::Concat => {
                let many = |argument: &&Typed<'a>| matches!(argument.kind, Record(_) | List(_) | Object);
                if let Some(argument) = arguments.iter().find(many) {
                    let found = self.describe(&argument.kind);
                    return error(argument.offset, format!("`{name}` takes single values, found {found}"));
                }
                Ok(String)
            }
            _ => {
                self.want_all(arguments, name, &[String])?;
                Ok(String)
            }
        }
    }

    /// What a function of numbers gives.
    fn of_numbers(
        &self,
        function: Function,
        name: &str,
        arguments: &[Typed<'a>],
    ) -> Result<ExprType, ExprError> {
        use ExprType::{Any, Duration, Integer, Number, String};
        match function {
            Function::Convert => self.units(arguments)?,
            Function::Integer | Function::Number => self.want_all(arguments, name, &[Number, String])?,
            Function::Abs => self.want_all(arguments, name, &[Number, Duration])?,
            _ => self.want_all(arguments, name, &[Number])?,
        }
        Ok(match function {
            Function::Integer | Function::Floor | Function::Ceil => Integer,
            Function::Abs => arguments.first().map_or(Any, |argument| argument.kind.clone()),
            _ => Number,
        })
    }

    /// What a function of dates and times gives.
    fn of_moments(
        &self,
        function: Function,
        name: &str,
        arguments: &mut [Typed<'a>],
    ) -> Result<ExprType, ExprError> {
        use ExprType::{Date, DateTime, Duration, Integer, Time};
        match function {
            Function::Days | Function::Hours | Function::Minutes => {
                self.want_all(arguments, name, &[Integer])?;
                Ok(Duration)
            }
            Function::MinutesBetween => {
                self.want_all(arguments, name, &[DateTime, Time])?;
                if let [a, b] = &*arguments
                    && !self.comparable(&a.kind, &b.kind)
                {
                    return error(
                        b.offset,
                        "`minutes_between` takes two instants or two times of day, found one of each",
                    );
                }
                Ok(Integer)
            }
            _ => {
                for argument in &mut *arguments {
                    self.read_literal(argument, &Date)?;
                }
                self.want_all(arguments, name, &[Date, DateTime])?;
                Ok(Integer)
            }
        }
    }

    fn round(&self, arguments: Vec<Typed<'a>>, offset: usize) -> Result<Typed<'a>, ExprError> {
        let kind = match &arguments[..] {
            [number] => {
                self.want(number, "round", &[ExprType::Number])?;
                ExprType::Integer
            }
            [number, places] => {
                self.want(number, "round", &[ExprType::Number])?;
                self.want(places, "round", &[ExprType::Integer])?;
                if let Node::Literal(Value::Integer(places_given)) = &places.node
                    && !(0..=9).contains(places_given)
                {
                    return error(places.offset, format!("found {places_given} places; expected 0 to 9"));
                }
                number.kind.clone()
            }
            _ => return error(offset, "expected `round(x)` or `round(x, places)`"),
        };
        let nodes = arguments.into_iter().map(|argument| argument.node).collect();
        Ok(Typed::new(Node::Call(Function::Round, nodes), kind, offset))
    }

    fn alternatives(
        &self,
        function: Function,
        name: &str,
        mut arguments: Vec<Typed<'a>>,
        offset: usize,
    ) -> Result<Typed<'a>, ExprError> {
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
        if unordered && function != Function::Coalesce {
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
        Ok(Typed { node: Node::Call(function, nodes), kind, schema, offset })
    }

    fn date_or_time(
        &self,
        function: Function,
        name: &str,
        arguments: Vec<Typed<'a>>,
        offset: usize,
    ) -> Result<Typed<'a>, ExprError> {
        let kind = if function == Function::Date { ExprType::Date } else { ExprType::Time };
        if let Some(text) = arguments.first().and_then(Typed::literal_string) {
            let value = match function {
                Function::Date => Date::parse(text).map(Value::Date),
                _ => Time::parse(text).map(Value::Time),
            };
            let expected = if function == Function::Date { "date('2026-03-02')" } else { "time('09:00')" };
            return match value {
                Some(value) => Ok(Typed::new(Node::Literal(value), kind, offset)),
                None => error(offset, format!("found '{text}'; expected a literal as in {expected}")),
            };
        }
        self.want_all(&arguments, name, &[ExprType::DateTime, kind.clone(), ExprType::String])?;
        let nodes = arguments.into_iter().map(|argument| argument.node).collect();
        Ok(Typed::new(Node::Call(function, nodes), kind, offset))
    }

    fn date_time(&self, mut arguments: Vec<Typed<'a>>, offset: usize) -> Result<Typed<'a>, ExprError> {
        match &mut arguments[..] {
            [text] => {
                if let Some(literal) = text.literal_string() {
                    let Some(instant) = self.scope.zone.parse_instant(literal) else {
                        let message = format!(
                            "found '{literal}'; expected a literal as in datetime('2026-03-02T09:00')"
                        );
                        return error(offset, message);
                    };
                    return Ok(Typed::new(
                        Node::Literal(Value::DateTime(instant)),
                        ExprType::DateTime,
                        offset,
                    ));
                }
                self.want(text, "datetime", &[ExprType::String, ExprType::DateTime])?;
            }
            [date, time] => {
                self.read_literal(date, &ExprType::Date)?;
                self.read_literal(time, &ExprType::Time)?;
                self.want(date, "datetime", &[ExprType::Date])?;
                self.want(time, "datetime", &[ExprType::Time])?;
            }
            _ => return error(offset, "expected `datetime(date, time)`"),
        }
        let nodes = arguments.into_iter().map(|argument| argument.node).collect();
        Ok(Typed::new(Node::Call(Function::DateTime, nodes), ExprType::DateTime, offset))
    }

    fn units(&self, arguments: &[Typed<'a>]) -> Result<(), ExprError> {
        let [value, from, to] = arguments else { return Ok(()) };
        self.want(value, "convert", &[ExprType::Number])?;
        self.want(from, "convert", &[ExprType::String])?;
        self.want(to, "convert", &[ExprType::String])?;
        // A unit is looked for among those that measure the same as the other side, when that is known.
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

/// Seconds of `1h30m`, `90m`, `2d`, `45s`; `None` when the text is something else.
fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest.is_empty() {
        return None;
    }
    let mut seconds: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|each: char| !each.is_ascii_digit())?;
        let count: i64 = rest.get(..digits)?.parse().ok()?;
        let unit = match rest.as_bytes().get(digits)? {
            b'd' => 86_400,
            b'h' => 3_600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(count.checked_mul(unit)?)?;
        rest = rest.get(digits + 1..)?;
    }
    Some(if negative { -seconds } else { seconds })
}
