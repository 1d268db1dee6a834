//! Owns the errors of requests and of settings, with the tokens that a failed request has spent.

use std::fmt;
use std::time::Duration;

use crate::chat::{JsonMode, RequestOrigin, Usage};
use crate::recording::RecordingError;

/// The reason for which a request has no reply. No message holds a key.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The server refuses the request, and would refuse it again.
    #[error("the server at {url} answered {status} ({said}), expected a chat completion; {advice}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// URL of the request.
        url: String,
        /// The server's message, shortened.
        said: String,
        /// Advice to the user.
        advice: &'static str,
    },
    /// The server refuses a request in a JSON mode in which it has never answered.
    #[error(
        "the server at {url} answered {status} ({said}) to a request with --json-mode {mode}, expected a chat completion; {}",
        mode.advice()
    )]
    JsonModeRefused {
        /// HTTP status.
        status: u16,
        /// URL of the request.
        url: String,
        /// The server's message, shortened.
        said: String,
        /// JSON mode of the request.
        mode: JsonMode,
    },
    /// The server is overloaded or failing (408, 409, 429, 5xx).
    #[error("the server answered {status} ({said}); {advice}")]
    Failing {
        /// HTTP status.
        status: u16,
        /// The server's message, shortened.
        said: String,
        /// Advice to the user.
        advice: &'static str,
        /// Wait that the server asks for.
        retry_after: Option<Duration>,
    },
    /// The client cannot connect to the server. The request was not sent.
    #[error("no connection to {url} ({cause}); check that the server runs and that the base URL is right")]
    Unreachable {
        /// URL of the request.
        url: String,
        /// Cause, as the operating system reports it.
        cause: String,
    },
    /// The reply did not arrive whole, or is no chat completion. Its tokens may have been spent.
    #[error("{found}")]
    LostReply {
        /// Description of the found and the expected reply, with advice to the user.
        found: String,
        /// Usage, if the server reports it nevertheless.
        usage: Option<Usage>,
    },
    /// All attempts have failed.
    #[error("given up after {attempts} attempt{}; the last: {last}", if *attempts == 1 { "" } else { "s" })]
    GaveUp {
        /// Number of attempts, the first included.
        attempts: u32,
        /// Error of the last attempt.
        last: Box<ChatError>,
    },
    /// The budget has no room for the request.
    #[error(transparent)]
    Exhausted(#[from] BudgetExhausted),
    /// A replay lacks the reply.
    #[error(
        "the recording has no reply for {origin} with these messages and settings; replay with the model and settings of the recording, or without --replay"
    )]
    NotRecorded {
        /// Origin of the request.
        origin: RequestOrigin,
    },
    /// The recording cannot be read or written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A scripted model has no more replies.
    #[error("the script has {replies} replies, and {origin} asks for one more; add it to the script")]
    Unscripted {
        /// Replies of the script.
        replies: usize,
        /// Origin of the request.
        origin: RequestOrigin,
    },
}

impl ChatError {
    /// Makes the error of a reply that is no chat completion.
    pub(crate) fn unreadable(found: impl fmt::Display) -> Self {
        let advice = "check that the base URL is that of a chat model";
        Self::LostReply {
            found: format!("the reply is {found}, expected a chat completion; {advice}"),
            usage: None,
        }
    }

    /// Returns true if another attempt may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::JsonModeRefused { status: 500, .. }
                | Self::Failing { .. }
                | Self::Unreachable { .. }
                | Self::LostReply { .. }
        )
    }

    /// Returns true if the server calls the request wrong (400).
    pub(crate) const fn is_bad_request(&self) -> bool {
        matches!(self, Self::Refused { status: 400, .. } | Self::JsonModeRefused { status: 400, .. })
    }

    /// Returns the tokens that the failed request has spent, or none if they are unknown.
    pub(crate) fn usage(&self) -> Option<Usage> {
        match self {
            Self::LostReply { usage, .. } => *usage,
            _ => Some(Usage::default()),
        }
    }
}

/// The budget has no room for a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BudgetExhausted {
    /// The tokens are used up.
    #[error(
        "the budget of {max} tokens has {left} left, and the next call may take {needed}; raise it and resume"
    )]
    Tokens {
        /// Tokens of the budget.
        max: u64,
        /// Tokens that are left.
        left: u64,
        /// Upper bound of the tokens of the request.
        needed: u64,
    },
    /// The money is used up.
    #[error(
        "the budget of {max} has {left:.6} left, and the next call may cost {needed:.6}; raise it and resume"
    )]
    Cost {
        /// Money of the budget.
        max: f64,
        /// Money that is left.
        left: f64,
        /// Upper bound of the cost of the request.
        needed: f64,
    },
}

/// Settings that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The base URL cannot be called.
    #[error("the base URL is {found}; expected a server such as http://127.0.0.1:8000/v1")]
    BaseUrl {
        /// Description of the problem with the URL.
        found: String,
    },
    /// The key does not fit into a header.
    #[error(
        "the key holds characters that no header can carry; expected printable ASCII, as the provider shows it"
    )]
    Key,
    /// The HTTP client cannot be made, for example because the machine has no certificates.
    #[error("no HTTP client ({cause}); check the machine's certificates")]
    Client {
        /// Cause, as the HTTP client reports it.
        cause: String,
    },
    /// A price or limit is negative or not finite.
    #[error("{what} is {found}; expected a finite number of 0 or more")]
    Number {
        /// Name of the setting.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// A limit on cost lacks prices.
    #[error("a bound on cost needs prices; give those of a million input and output tokens")]
    NoPrices,
}
