//! Defines the reasons why a scenario could not be played.

/// The reason why a scenario could not be played. Its first word is its class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// No records fit its bindings: the first binding without a record.
    #[error("no records make it true: nothing fits `{0}`")]
    NoBindings(String),
    /// A wording names something that does not exist.
    #[error("the words `{words}` cannot be filled in: {why}")]
    Words {
        /// The wording as a template.
        words: String,
        /// The error of the template.
        why: String,
    },
    /// A call that should have succeeded was refused.
    #[error("{api} was refused: {reply}")]
    Refused {
        /// The name of the API.
        api: String,
        /// The reply as text.
        reply: String,
    },
    /// A call that should have been refused succeeded.
    #[error("{0} worked, and should have been refused")]
    Worked(String),
    /// No search shows an API.
    #[error("no search shows {0}: add words under `search`")]
    NotFound(String),
    /// No reply shows a fact.
    #[error("no reply shows the fact `{0}`")]
    NoFact(String),
    /// A user would have to sign in first.
    #[error("{0} needs a signed-in user, and nobody has signed in")]
    NotSignedIn(String),
    /// The replies do not fit the scenario.
    #[error("`{0}` does not hold")]
    Unfit(String),
    /// A scenario has no later wordings.
    #[error("`{0}` has no wordings under `later`")]
    NotLater(String),
    /// `each` names no list, or an empty one.
    #[error("`{0}` is not `name in list`, or the list is empty")]
    Each(String),
    /// The conversation has no room for the requested detour.
    #[error("there is no room for the detour")]
    NoDetour,
    /// The policy's verdict on a call is not the required one.
    #[error("the policy {} {api}", if *forbids { "forbids" } else { "allows" })]
    OtherVerdict {
        /// The name of the API.
        api: String,
        /// True if it forbids the call.
        forbids: bool,
    },
    /// The policy's verdict is the required one, but no record is near a limit.
    #[error("the policy decides clearly")]
    ClearVerdict,
    /// The first page of a list shows all wanted records.
    #[error("the first page of a list shows the records")]
    FirstPage,
    /// `when` or `asks` names something that does not exist.
    #[error("`{0}` names no reply and no field")]
    Unknown(String),
}

impl PlayError {
    /// Returns the agent that could not play it: the query agent chooses scenarios and records, the caller
    /// agent makes the calls.
    #[must_use]
    pub const fn agent(&self) -> &'static str {
        match self {
            Self::NoBindings(_) | Self::NotLater(_) | Self::NoDetour => "query",
            _ => "caller",
        }
    }

    /// Returns the name of its class, for the funnel.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoBindings(_) => "no records make the scenario true",
            Self::Words { .. } => "words that cannot be filled in",
            Self::Refused { .. } => "a planned call was refused",
            Self::Worked(_) => "a call that should be refused worked",
            Self::Unfit(_) => "replies that do not suit the scenario",
            Self::NotFound(_) => "search does not show the API",
            Self::NoFact(_) => "no reply shows a fact",
            Self::NotSignedIn(_) => "nobody has signed in",
            Self::NotLater(_) => "no words for coming later",
            Self::Each(_) => "nothing to make a step for",
            Self::NoDetour => "no room for a detour",
            Self::OtherVerdict { .. } => "records with the other verdict of the policy",
            Self::ClearVerdict => "records with a clear verdict of the policy",
            Self::FirstPage => "records on the first page of a list",
            Self::Unknown(_) => "a name that nothing has",
        }
    }
}
