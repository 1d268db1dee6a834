//! Operators, and the numeric types that they cast to.

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

/// A numeric type that a number is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// A number.
    Number,
    /// A decimal of this scale, rounded with halves away from zero.
    Decimal(u8),
}
