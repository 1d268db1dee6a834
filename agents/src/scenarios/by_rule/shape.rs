//! Defines the shapes of goals that are written by rule, and their shares.

/// A shape of goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A change of records.
    Write,
    /// A question about one record.
    Read,
    /// A question about a list: which records, how many, or the first in some order.
    List,
    /// A question for a figure that the world computes.
    Compute,
    /// A question, and then a change of the same record.
    Branch,
    /// A question that is repeated about another record, because the wrong one was named.
    Correction,
    /// A request that leaves out required values, for which the assistant asks.
    AskBack,
    /// A change that the world's rules refuse.
    Refusal,
    /// A question about something that does not exist.
    Missing,
}

impl Shape {
    pub(crate) const ALL: [Self; 9] = [
        Self::Write,
        Self::Read,
        Self::List,
        Self::Compute,
        Self::Branch,
        Self::Correction,
        Self::AskBack,
        Self::Refusal,
        Self::Missing,
    ];

    /// Returns its share of the scenarios of a world with all shapes.
    pub(crate) const fn share(self) -> f64 {
        match self {
            Self::Write => 0.3,
            Self::Read => 0.15,
            Self::List => 0.12,
            Self::Compute | Self::Refusal => 0.08,
            Self::Branch | Self::AskBack => 0.1,
            Self::Correction => 0.06,
            Self::Missing => 0.03,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::List => "list",
            Self::Compute => "compute",
            Self::Branch => "branch",
            Self::Correction => "correction",
            Self::AskBack => "ask_back",
            Self::Refusal => "refusal",
            Self::Missing => "missing",
        }
    }
}
