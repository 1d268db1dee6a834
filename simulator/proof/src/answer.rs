//! The facts that a goal is asked to state, by their places in replies.

/// A fact that a goal must state, by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A leaf of a reply.
    Leaf {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// In words.
        about: String,
        /// True if the request asks for this value of all items that fit, even where only one fits.
        several: bool,
        /// True if it asks how much, whatever the sign.
        magnitude: bool,
    },
    /// The same member of every item of an array.
    Each {
        /// The call.
        call: usize,
        /// The array's place.
        array: String,
        /// The member.
        member: String,
        /// In words.
        about: String,
        /// True if it asks how much, whatever the sign.
        magnitude: bool,
    },
    /// How many: a leaf that holds a count, or the length of an array.
    Count {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// In words.
        about: String,
    },
}

impl Asked {
    /// The call whose reply has it.
    #[must_use]
    pub const fn call(&self) -> usize {
        match self {
            Self::Leaf { call, .. } | Self::Each { call, .. } | Self::Count { call, .. } => *call,
        }
    }
}
