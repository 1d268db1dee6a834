//! The typed form of expressions.

use super::functions::Function;
use super::operator::{Cast, Operator};
use crate::model::ids::{FieldId, ParameterId, ResourceId};
use crate::schema::Pattern;
use crate::value::{Str, Value};

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
    /// For conditions over [`Slot::ITEM`]: a field and the value it must have, see `index_of`.
    pub index: Option<(FieldId, Node)>,
}

impl Expr {
    /// The index of a condition over [`Slot::ITEM`], its value as an expression of its own.
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
    /// True when a record has this key: `doctor.exists(args.doctor_id)`.
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
    /// True when the whole text matches the pattern: `s.matches('[A-Z]{3}')`.
    Matches(Box<Node>, Pattern),
    /// The number as another numeric type, so that it fits a field.
    Cast(Box<Node>, Cast),
    /// A built-in function.
    Call(&'static Function, Vec<Node>),
    /// A list made of these.
    List(Vec<Node>),
}

impl Node {
    /// The operation on the operands, for messages.
    pub(super) const fn operation(&self) -> &'static str {
        match self {
            Self::Binary(operator, ..) => operator.sign(),
            Self::Call(function, _) => function.name,
            _ => "the expression",
        }
    }

    /// Visits the node and what is below it; goes on below a node while `see` says so. Expressions were parsed with a bound on
    /// their depth, which bounds this recursion.
    pub fn visit<'n>(&'n self, see: &mut impl FnMut(&'n Self) -> bool) {
        if !see(self) {
            return;
        }
        match self {
            Self::Literal(_) | Self::Argument(_) | Self::Variable(_) | Self::Now | Self::Today => {}
            Self::Field(inner, _)
            | Self::Member(inner, _)
            | Self::Get(_, inner)
            | Self::Exists(_, inner)
            | Self::Not(inner)
            | Self::Negate(inner)
            | Self::Matches(inner, _)
            | Self::Cast(inner, _) => inner.visit(see),
            Self::Item(left, right) | Self::Binary(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            Self::Conditional(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|node| node.visit(see));
            }
            Self::Call(_, nodes) | Self::List(nodes) => nodes.iter().for_each(|node| node.visit(see)),
            Self::Fold(fold) => {
                fold.condition.visit(see);
                fold.value.iter().for_each(|node| node.visit(see));
            }
        }
    }
}

/// A fold: `appointment.any(a, condition)`, `order.sum(o, condition, o.total)`.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The computation.
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

/// The computation of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// True when the condition holds for one.
    Any,
    /// True when it holds for all.
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
