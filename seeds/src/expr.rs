//! Expressions: a documented subset of CEL, in typed form.
//!
//! Owns the typed form; parsing ([`compile`]), evaluation ([`eval`]) and units ([`units`]) are in this module's
//! children. Evaluation reads records through [`eval::Records`], so that the engine, which has them, and the
//! making of records, which has only some, share one meaning. Nothing here has side effects, and every
//! expression is bounded: it folds over records of one world, never over anything it makes itself.

use std::sync::Arc;

use crate::model::{FieldId, ParameterId, ResourceId};
use crate::schema::Pattern;
use crate::value::{Str, Value};

mod ast;
mod check;
pub mod eval;
#[cfg(test)]
mod fixture;
mod index;
mod lexer;
mod parse;
mod scope;
pub mod units;

pub use check::{ExprError, compile, compile_condition, compile_value};
pub use index::index_of;
pub use scope::Scope;

/// A place for a variable while an expression runs. Slot 0 is `record`, 1 is `item`, 2 is `me`; `let` names and
/// the variables of folds follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u16);

impl Slot {
    /// The record acted on, before the change (after it, in reply expressions).
    pub const RECORD: Self = Self(0);
    /// The record under consideration: a list's item, an effect's record before the change.
    pub const ITEM: Self = Self(1);
    /// The signed-in user's record; null when nobody is signed in.
    pub const ME: Self = Self(2);
    /// The first slot for `let` names and fold variables.
    pub const FIRST_FREE: u16 = 3;
}

/// The type of an expression's result.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprType {
    /// Null alone.
    Null,
    /// True or false.
    Boolean,
    /// Whole number.
    Integer,
    /// Number.
    Number,
    /// Fixed point of this scale.
    Decimal(u8),
    /// Calendar day.
    Date,
    /// Time of day.
    Time,
    /// Instant.
    DateTime,
    /// Seconds: the difference of two instants, or `duration("90m")`.
    Duration,
    /// Text, an enum value too.
    String,
    /// The key of a record of this resource (its value is an integer or a string).
    Key(ResourceId),
    /// A record of this resource, or null.
    Record(ResourceId),
    /// A list.
    List(Box<ExprType>),
    /// An object; members are of any type.
    Object,
    /// Not known before it runs.
    Any,
}

/// A type-checked expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The tree.
    pub node: Node,
    /// Its type.
    pub kind: ExprType,
    /// How many slots an evaluation of it needs.
    pub slots: u16,
    /// The text it came from.
    pub source: Str,
    /// For conditions over [`Slot::ITEM`]: a field and the value it must have, see [`index_of`].
    pub index: Option<(FieldId, Node)>,
}

impl Expr {
    /// The index of a condition over [`Slot::ITEM`], its value as an expression of its own.
    #[must_use]
    pub fn item_index(&self) -> Option<(FieldId, Self)> {
        let (field, node) = self.index.clone()?;
        Some((
            field,
            Self { node, kind: ExprType::Any, slots: self.slots, source: self.source.clone(), index: None },
        ))
    }
}

/// One node of the tree. A missing operand (null, absent) makes arithmetic null and comparisons false, except
/// `==` and `!=`, which compare it like any value.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant.
    Literal(Value),
    /// An argument of the call; absent when not given and without default.
    Argument(ParameterId),
    /// A variable that holds a value or a record.
    Variable(Slot),
    /// The world's clock now.
    Now,
    /// The local date of the clock now.
    Today,
    /// A field of a record; null when the record is.
    Field(Box<Node>, FieldId),
    /// A member of an object value; null when it is not there.
    Member(Box<Node>, Str),
    /// An item of a list, by position from 0; null when it is not there.
    Item(Box<Node>, Box<Node>),
    /// The record with this key, or null: `doctor.get(args.doctor_id)`.
    Get(ResourceId, Box<Node>),
    /// Whether a record has this key: `doctor.exists(args.doctor_id)`.
    Exists(ResourceId, Box<Node>),
    /// A fold over the records of a resource.
    Fold(Box<Fold>),
    /// `!`
    Not(Box<Node>),
    /// Unary `-`.
    Negate(Box<Node>),
    /// Two operands.
    Binary(Operator, Box<Node>, Box<Node>),
    /// `condition ? a : b`
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// Whether the whole text matches the pattern: `s.matches('[A-Z]{3}')`.
    Matches(Box<Node>, Pattern),
    /// The number as another numeric type, so that it fits a field.
    Cast(Box<Node>, Cast),
    /// A built-in function.
    Call(Function, Vec<Node>),
    /// A list made of these.
    List(Vec<Node>),
}

/// A numeric type that a number is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// A number.
    Number,
    /// A decimal of this scale, rounded with halves away from zero.
    Decimal(u8),
}

/// A fold: `appointment.any(a, condition)`, `order.sum(o, condition, o.total)`.
#[derive(Clone, Debug)]
pub struct Fold {
    /// What is computed.
    pub kind: FoldKind,
    /// Over which records.
    pub resource: ResourceId,
    /// The variable.
    pub slot: Slot,
    /// From the condition's conjuncts: `variable.field == expression without the variable`, so that an index
    /// can find the candidates. The condition still holds the conjunct.
    pub index: Option<(FieldId, Node)>,
    /// Which records count.
    pub condition: Node,
    /// The value summed, averaged or compared; for `any`, `all`, `first` and `count` unused.
    pub value: Option<Node>,
    /// For `sum`: what it is of no records, a zero of the value's type.
    pub zero: Value,
}

/// What a fold computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// Whether the condition holds for one.
    Any,
    /// Whether it holds for all.
    All,
    /// For how many it holds.
    Count,
    /// Sum of the value; 0 of none.
    Sum,
    /// Mean of the value; null of none.
    Average,
    /// Least value; null of none.
    Min,
    /// Greatest value; null of none.
    Max,
    /// The record with the least key for which it holds, or null.
    First,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    In,
}

impl Operator {
    /// How it is written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::In => "in",
        }
    }
}

/// Built-in functions. The list with signatures is in `docs/world-format.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `size(x)`: characters of a string, items of a list.
    Size,
    /// `lower(s)`
    Lower,
    /// `upper(s)`
    Upper,
    /// `contains(s, part)`, also `s.contains(part)`.
    Contains,
    /// `starts_with(s, part)`, also `s.startsWith(part)`.
    StartsWith,
    /// `ends_with(s, part)`, also `s.endsWith(part)`.
    EndsWith,
    /// `string(x)`: its text.
    String,
    /// `concat(a, b, ...)`: texts joined.
    Concat,
    /// `integer(x)`: towards zero.
    Integer,
    /// `number(x)`
    Number,
    /// `round(x, places)`: halves away from zero.
    Round,
    /// `floor(x)`
    Floor,
    /// `ceil(x)`
    Ceil,
    /// `abs(x)`
    Abs,
    /// `min(a, b, ...)`
    Min,
    /// `max(a, b, ...)`
    Max,
    /// `sqrt(x)`
    Sqrt,
    /// `date(x)`: the local day of an instant, or of a literal `'2026-03-02'`.
    Date,
    /// `time(x)`: the local time of an instant, or of a literal `'09:00'`.
    Time,
    /// `datetime(date, time)`, or of a literal.
    DateTime,
    /// `duration('90m')`: a literal of `d`, `h`, `m`, `s` parts.
    Duration,
    /// `days(n)`: a duration of n days, to be added to dates and instants.
    Days,
    /// `hours(n)`
    Hours,
    /// `minutes(n)`
    Minutes,
    /// `days_between(a, b)`: whole days from date a to date b.
    DaysBetween,
    /// `minutes_between(a, b)`: minutes from instant a to instant b.
    MinutesBetween,
    /// `weekday(d)`: 1 (Monday) to 7.
    Weekday,
    /// `year(d)`
    Year,
    /// `month(d)`
    Month,
    /// `day(d)`
    Day,
    /// `convert(x, 'from', 'to')`: unit conversion; see the list of units in the format's documentation.
    Convert,
    /// `distance_km(lat1, lon1, lat2, lon2)`: great-circle distance in kilometres (haversine, R = 6371.0088).
    DistanceKm,
    /// `coalesce(a, b, ...)`: the first that is not missing.
    Coalesce,
    /// `given(args.x)`: whether the caller gave it.
    Given,
}

/// A compiled expression, shared between the copies of a model.
pub type SharedExpr = Arc<Expr>;
