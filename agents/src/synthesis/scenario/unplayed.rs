//! Why a scenario could not be played.

/// Why a scenario could not be played. The first word is its class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayed {
    /// No records take its places.
    #[error("no records make it true")]
    NoBindings,
    /// Words that name what is not there.
    #[error("the words `{words}` cannot be filled in: {why}")]
    Words {
        /// The template.
        words: String,
        /// What is wrong.
        why: String,
    },
    /// A call that should have worked was refused.
    #[error("{api} was refused: {reply}")]
    Refused {
        /// The API.
        api: String,
        /// What it said.
        reply: String,
    },
    /// A call that should have been refused worked.
    #[error("{0} worked, and should have been refused")]
    Worked(String),
    /// No search shows an API.
    #[error("no search shows {0}: add words under `search`")]
    NotFound(String),
    /// A fact that no reply shows.
    #[error("no reply shows the fact `{0}`")]
    NoFact(String),
    /// A user would have to sign in first.
    #[error("{0} needs a signed-in user, and nobody has signed in")]
    NotSignedIn(String),
    /// A scenario has no words for coming after another.
    #[error("`{0}` has no wordings under `later`")]
    NotLater(String),
    /// A step signs in again, and does something else besides.
    #[error("`{0}` signs in again, and asks for something else in the same breath")]
    SignsInAgain(String),
    /// What a step is made for is no list, or empty.
    #[error("`{0}` is not `name in list`, or the list is empty")]
    Each(String),
    /// What `when` or `asks` names is not there.
    #[error("`{0}` names no reply and no field")]
    Unknown(String),
}

impl Unplayed {
    /// A name for its class, for the funnel.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoBindings => "no records make the scenario true",
            Self::Words { .. } => "words that cannot be filled in",
            Self::Refused { .. } => "a planned call was refused",
            Self::Worked(_) => "a call that should be refused worked",
            Self::NotFound(_) => "search does not show the API",
            Self::NoFact(_) => "no reply shows a fact",
            Self::NotSignedIn(_) => "nobody has signed in",
            Self::NotLater(_) => "no words for coming later",
            Self::SignsInAgain(_) => "a second sign-in that cannot be left out",
            Self::Each(_) => "nothing to make a step for",
            Self::Unknown(_) => "a name that nothing has",
        }
    }
}
