//! Owns the check that a final answer is complete and fits the schema of its goal.

use serde_json::Map;

use crate::ending::{Finish, Kind, NamedFact, asks, expects};
use crate::task::{Checks, Outcome, RefusalClass};
use crate::value::Zone;

/// The reason for which a final answer is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FinishError {
    /// A required member is missing.
    #[error("{member}: found nothing, expected {expected}")]
    Missing {
        /// Path of the member.
        member: String,
        /// A description of the expected value.
        expected: &'static str,
    },
    /// A member does not belong to this outcome.
    #[error("{member}: expected nothing, as only {} takes it", if *.member == "facts" { "the outcome done" } else { "a refusal" })]
    Unexpected {
        /// Name of the member.
        member: &'static str,
    },
    /// The goal does not ask for this fact.
    #[error("facts: found `{found}`, expected {expected}")]
    Unknown {
        /// Name of the fact.
        found: String,
        /// The allowed names.
        expected: String,
    },
    /// No message or reply names this item.
    #[error(
        "facts.{name}: found the item `{found}`, which no message and no reply names; expected its own name or id"
    )]
    Item {
        /// Name of the fact.
        name: String,
        /// The item's name, cut to 60 characters.
        found: String,
    },
    /// The fact has another kind.
    #[error("facts.{name}: found {found}, expected {expected}")]
    Kind {
        /// Name of the fact.
        name: String,
        /// The found value, cut to 60 characters.
        found: String,
        /// A description of the expected value.
        expected: &'static str,
    },
}

/// Returns the item names in facts with several items, each with the name of its fact.
pub fn items<'a>(
    end: &'a Finish,
    checks: &Checks,
    goal: usize,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    let asks = asks(checks, goal);
    let maps = end.facts.iter().filter(move |(name, _)| {
        asks.iter().any(|fact| fact.name == **name && matches!(fact.ask.kind, Kind::Map(_)))
    });
    maps.flat_map(|(name, given)| {
        let items = given.as_object().into_iter().flat_map(Map::keys);
        items.map(move |item| (name, item))
    })
}

impl FinishError {
    /// Returns the wrong member of the final answer: `reason`, `about` or `facts`.
    pub fn member(&self) -> &str {
        match self {
            Self::Missing { member, .. } => member.split('.').next().unwrap_or_default(),
            Self::Unexpected { member } => member,
            Self::Unknown { .. } | Self::Kind { .. } | Self::Item { .. } => "facts",
        }
    }
}

/// Checks that a final answer is complete and fits the schema of its goal.
///
/// # Errors
/// Returns the first member that is missing, unexpected, or of another kind.
pub fn check(end: &Finish, checks: &Checks, goal: usize, zone: &Zone) -> Result<(), FinishError> {
    let asks = asks(checks, goal);
    let done = end.outcome == Outcome::Done;
    let about = end.about.as_deref().is_some_and(|about| !about.trim().is_empty());
    let needs_about = end.reason.is_some_and(RefusalClass::needs_subject);
    match end.outcome {
        Outcome::Refused if end.reason.is_none() => {
            return Err(FinishError::Missing {
                member: "reason".to_owned(),
                expected: "not_found, forbidden, conflict, invalid or no_tool, as the outcome is refused",
            });
        }
        Outcome::Refused if needs_about && !about => {
            return Err(FinishError::Missing {
                member: "about".to_owned(),
                expected: "what the refusal is about: an id, a name, or the name of a value",
            });
        }
        Outcome::Refused => {}
        _ if end.reason.is_some() => return Err(FinishError::Unexpected { member: "reason" }),
        _ if about => return Err(FinishError::Unexpected { member: "about" }),
        _ => {}
    }
    if !done && end.facts.values().any(|given| !given.is_null()) {
        return Err(FinishError::Unexpected { member: "facts" });
    }
    let given = |fact: &&NamedFact| end.facts.get(&fact.name).is_some_and(|given| !given.is_null());
    if let Some(missing) = asks.iter().find(|fact| done && !given(fact)) {
        let expected = "its value, as the outcome is done";
        return Err(FinishError::Missing { member: format!("facts.{}", missing.name), expected });
    }
    for (name, given) in end.facts.iter().filter(|(_, given)| !given.is_null()) {
        let Some(NamedFact { ask, .. }) = asks.iter().find(|known| known.name == *name) else {
            let names: Vec<String> = asks.iter().map(|known| format!("`{}`", known.name)).collect();
            let expected = match names.as_slice() {
                [] => "no facts: the request asks for none".to_owned(),
                names => format!("one of {}", names.join(", ")),
            };
            return Err(FinishError::Unknown { found: name.chars().take(60).collect(), expected });
        };
        if let Some(expected) = expects(&ask.kind, given, zone) {
            let found = given.to_string().chars().take(60).collect();
            return Err(FinishError::Kind { name: name.clone(), found, expected });
        }
    }
    Ok(())
}
