//! Owns the typed form of expressions.

use super::functions::Function;
use super::operator::{Cast, Operator};
use crate::model::ids::{FieldId, ParameterId, ResourceId};
use crate::schema::Pattern;
use crate::value::{Str, Value};

/// Slot of a variable during an evaluation. Slot 0 is `record`, 1 is `item`, 2 is `me`. `let` names and fold
/// variables follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u16);

impl Slot {
    /// The record of the call before the change. In reply expressions it is the record after the change.
    pub const RECORD: Self = Self(0);
    /// The record under test: an item of a list, or an effect's record before the change.
    pub const ITEM: Self = Self(1);
    /// The record of the signed-in user, or null without one.
    pub const ME: Self = Self(2);
    /// The first slot for `let` names and fold variables.
    pub const FIRST_FREE: u16 = 3;
}

/// The type of an expression's result.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprType {
    /// Only null.
    Null,
    /// True or false.
    Boolean,
    /// Whole number.
    Integer,
    /// Number.
    Number,
    /// Fixed-point number of this scale.
    Decimal(u8),
    /// Date without a time.
    Date,
    /// Time of day.
    Time,
    /// Instant.
    DateTime,
    /// Duration in seconds: the difference of two timestamps, or `duration("90m")`.
    Duration,
    /// String or enum value.
    String,
    /// Key of a record of this resource. Its value is an integer or a string.
    Key(ResourceId),
    /// Record of this resource, or null.
    Record(ResourceId),
    /// A list.
    List(Box<ExprType>),
    /// Object whose members may have any type.
    Object,
    /// Type that is unknown before the evaluation.
    Any,
}

/// A type-checked expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Root of the tree.
    pub node: Node,
    /// Type of the result.
    pub kind: ExprType,
    /// Number of slots that an evaluation needs.
    pub slots: u16,
    /// Source text of the expression.
    pub source: Str,
    /// For a condition over [`Slot::ITEM`]: a field and the value that it must have. See `index_of`.
    pub index: Option<(FieldId, Node)>,
}

impl Expr {
    /// Returns the index of a condition over [`Slot::ITEM`], with its value as a separate expression.
    pub fn item_index(&self) -> Option<(FieldId, Self)> {
        let (field, node) = self.index.clone()?;
        Some((
            field,
            Self { node, kind: ExprType::Any, slots: self.slots, source: self.source.clone(), index: None },
        ))
    }
}

/// One node of the tree. A missing operand (null or absent) makes arithmetic null and comparisons false. `==`
/// and `!=` compare it like any value.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant.
    Literal(Value),
    /// An argument of the call. It is absent if it was not given and has no default.
    Argument(ParameterId),
    /// A variable that holds a value or a record.
    Variable(Slot),
    /// The world's current time.
    Now,
    /// The local date of the current time.
    Today,
    /// A field of a record, or null if the record is null.
    Field(Box<Node>, FieldId),
    /// A member of an object value, or null if it is missing.
    Member(Box<Node>, Str),
    /// An item of a list, by position from 0, or null if it is missing.
    Item(Box<Node>, Box<Node>),
    /// The record with this key, or null: `doctor.get(args.doctor_id)`.
    Get(ResourceId, Box<Node>),
    /// True if a record has this key: `doctor.exists(args.doctor_id)`.
    Exists(ResourceId, Box<Node>),
    /// A fold over the records of a resource.
    Fold(Box<Fold>),
    /// `!`
    Not(Box<Node>),
    /// Unary `-`.
    Negate(Box<Node>),
    /// A binary operator with its operands.
    Binary(Operator, Box<Node>, Box<Node>),
    /// `condition ? a : b`
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// True if the whole text matches the pattern: `s.matches('[A-Z]{3}')`.
    Matches(Box<Node>, Pattern),
    /// A number that is converted to another numeric type, so that it fits a field.
    Cast(Box<Node>, Cast),
    /// A call of a built-in function.
    Call(&'static Function, Vec<Node>),
    /// A list with these items.
    List(Vec<Node>),
}

impl Node {
    /// Returns the name of the operation, for messages.
    pub(super) const fn operation(&self) -> &'static str {
        match self {
            Self::Binary(operator, ..) => operator.sign(),
            Self::Call(function, _) => function.name,
            _ => "the expression",
        }
    }

    /// Returns true if the value depends on the present time.
    #[must_use]
    pub fn reads_clock(&self) -> bool {
        let mut reads = false;
        self.visit(&mut |node| {
            reads |= matches!(node, Self::Now | Self::Today);
            !reads
        });
        reads
    }

    /// Visits the node and its descendants. It enters a node's children if `see` returns true. The parser
    /// bounds the depth of expressions, and so this recursion.
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
    /// Resource of the records.
    pub resource: ResourceId,
    /// Slot of the variable.
    pub slot: Slot,
    /// An equality from the conjuncts of the condition: a field of the variable, and a value without the
    /// variable. An index can then find the candidates. The condition keeps the conjunct.
    pub index: Option<(FieldId, Node)>,
    /// Condition on the records.
    pub condition: Node,
    /// The value to sum, average or compare. `any`, `all`, `first` and `count` do not use it.
    pub value: Option<Node>,
    /// The result of `sum` without records: a zero of the value's type.
    pub zero: Value,
}

/// The computation of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// True if the condition holds for at least one record.
    Any,
    /// True if it holds for all records.
    All,
    /// Number of records for which it holds.
    Count,
    /// Sum of the value, or 0 without records.
    Sum,
    /// Mean of the value, or null without records.
    Average,
    /// Minimum of the value, or null without records.
    Min,
    /// Maximum of the value, or null without records.
    Max,
    /// The record with the lowest key for which it holds, or null.
    First,
}
