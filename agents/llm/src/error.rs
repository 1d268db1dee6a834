//! What can go wrong with a request, what it may have cost, and whether asking again can help.

use std::time::Duration;

use crate::cassette::CassetteError;
use crate::chat::{Format, Place, Usage};
use crate::ledger::Exhausted;

/// Why a request has no reply. No message holds a key.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The server refuses the request and would refuse it again.
    #[error("the server at {url} answered {status} ({said}), expected a chat completion; {advice}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Where it was sent.
        url: String,
        /// The server's own words, in short.
        said: String,
        /// What to do.
        advice: &'static str,
    },
    /// The server refuses the way in which JSON was asked for; the next request asks in a poorer one.
    #[error(
        "the server answered {status} ({said}) to response format {format}; the next poorer one is tried"
    )]
    FormatRefused {
        /// The HTTP status.
        status: u16,
        /// The server's own words, in short.
        said: String,
        /// How JSON was asked for.
        format: Format,
    },
    /// The server has too much to do (429, 503).
    #[error("the server answered {status} ({said}): too many requests; ask for fewer at once")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// The server's own words, in short.
        said: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// The server failed (408, 409, other 5xx).
    #[error("the server answered {status} ({said}); see the server's log")]
    Failing {
        /// The HTTP status.
        status: u16,
        /// The server's own words, in short.
        said: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// No connection to the server; nothing was sent.
    #[error("no connection to {url} ({cause}); check that the server runs and that the base URL is right")]
    Unreachable {
        /// Where to.
        url: String,
        /// What happened.
        cause: String,
    },
    /// The connection ended before the whole reply had arrived.
    #[error("the connection ended before the whole reply had arrived ({cause}); see the server's log")]
    Broken {
        /// What happened.
        cause: String,
    },
    /// No whole reply within the time allowed.
    #[error("no whole reply within {} s; allow more time, or ask for fewer tokens", after.as_secs_f64())]
    Late {
        /// The time allowed.
        after: Duration,
    },
    /// The body of a reply is no chat completion.
    #[error(
        "the reply is {found}, expected a chat completion; check that the base URL is that of a chat model"
    )]
    Unreadable {
        /// What was found, in short.
        found: String,
    },
    /// The reply has no choice.
    #[error("the reply has no choices, expected one")]
    Empty {
        /// What was counted nevertheless.
        usage: Option<Usage>,
    },
    /// Asking again has not helped.
    #[error("given up after {attempts} attempts; the last: {last}")]
    GaveUp {
        /// How often it was asked.
        attempts: u32,
        /// Why the last attempt failed.
        last: Box<ChatError>,
    },
    /// The budget has no room for the request; the run ends in order.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// A replay lacks the reply.
    #[error(
        "the cassette has no reply for {place} ({hint}); replay with the settings of the recording, or allow calls"
    )]
    NotRecorded {
        /// For what it was asked.
        place: Place,
        /// What the cassette does have.
        hint: &'static str,
    },
    /// The cassette cannot be read or written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// A scripted model has nothing more to say.
    #[error("the script has {replies} replies, and {place} asks for one more; add it to the script")]
    Unscripted {
        /// How many there are.
        replies: usize,
        /// For what it was asked.
        place: Place,
    },
}

/// Whether asking again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It cannot.
    Never,
    /// At once, because the next request is another one.
    AtOnce,
    /// Later, and not before the server says so.
    Later(Option<Duration>),
}

/// What a request without a reply has cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Nothing: it was not sent, or refused.
    Nothing,
    /// What the server reported.
    Known(Usage),
    /// The model may have answered, but nothing of it arrived.
    Unknown,
}

impl ChatError {
    /// Says whether asking again can help.
    pub fn again(&self) -> Again {
        match self {
            Self::FormatRefused { .. } => Again::AtOnce,
            Self::Busy { wait, .. } | Self::Failing { wait, .. } => Again::Later(*wait),
            Self::Unreachable { .. }
            | Self::Broken { .. }
            | Self::Late { .. }
            | Self::Unreadable { .. }
            | Self::Empty { .. } => Again::Later(None),
            Self::Refused { .. }
            | Self::GaveUp { .. }
            | Self::Exhausted(_)
            | Self::NotRecorded { .. }
            | Self::Cassette(_)
            | Self::Unscripted { .. } => Again::Never,
        }
    }

    /// Says what one failed request has cost.
    pub fn spent(&self) -> Spent {
        match self {
            Self::Broken { .. } | Self::Late { .. } | Self::Unreadable { .. } => Spent::Unknown,
            Self::Empty { usage } => usage.map_or(Spent::Unknown, Spent::Known),
            Self::Refused { .. }
            | Self::FormatRefused { .. }
            | Self::Busy { .. }
            | Self::Failing { .. }
            | Self::Unreachable { .. }
            | Self::GaveUp { .. }
            | Self::Exhausted(_)
            | Self::NotRecorded { .. }
            | Self::Cassette(_)
            | Self::Unscripted { .. } => Spent::Nothing,
        }
    }
}
