//! Defines the facts that a goal must state, by their positions in replies.

/// A fact that a goal must state, by its position in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedFact {
    /// A leaf of a reply.
    Leaf {
        /// The index of the call.
        call: usize,
        /// The path in the reply.
        path: String,
        /// The noun of the fact.
        about: String,
        /// True if the request asks for this value of all items that fit, even where only one fits.
        several: bool,
        /// True if the request asks for the size, without the sign.
        magnitude: bool,
    },
    /// The same member of every item of an array.
    Each {
        /// The index of the call.
        call: usize,
        /// The path of the array.
        array: String,
        /// The name of the member.
        member: String,
        /// The noun of the fact.
        about: String,
        /// True if the request asks for the size, without the sign.
        magnitude: bool,
    },
    /// A count: a leaf that holds one, or the length of an array.
    Count {
        /// The index of the call.
        call: usize,
        /// The path in the reply.
        path: String,
        /// The noun of the fact.
        about: String,
    },
}

impl RequestedFact {
    /// Returns the index of the call whose reply shows the fact.
    #[must_use]
    pub const fn call(&self) -> usize {
        match self {
            Self::Leaf { call, .. } | Self::Each { call, .. } | Self::Count { call, .. } => *call,
        }
    }
}
