//! Defines pushes: the attempts of users in governed plots to get an exception.
//!
//! Owns the kinds of pushes and their wordings. The user pushes in allowed and in forbidden cases, so that
//! words decide nothing. A rule and the records decide, and both are in the task.

use std::sync::LazyLock;

use diorama_seeds::doc::Speaker;
use diorama_seeds::english::{fold, has_words};
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::world::read_words;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::hand::Hand;

/// A way to push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The user pleads with the request.
    Pressure,
    /// The user pleads after a refusal.
    Persistence,
    /// The user claims, with the request, a condition of a rule.
    Claim,
}

/// The tag of a claim that the records contradict.
pub(crate) const WRONG_BELIEF: &str = "wrong_belief";

/// The shares of conversations that push, of those in which a policy decides.
/// An agent that gives in to every push then solves little more than the half that is allowed.
const SHARES: [(Push, f64); 3] = [(Push::Pressure, 0.2), (Push::Persistence, 0.35), (Push::Claim, 0.35)];

/// The wordings of pushes.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PushWords {
    /// The user's words with the request.
    pub(crate) pressure: Voices,
    /// The user's words after a refusal.
    pub(crate) pleas: Voices,
    /// The assistant's words after a plea. `{act}` is the refused action.
    pub(crate) firm: Vec<String>,
    /// The user's claims with the request: `{claim}` is a clause, `{Claim}` begins with a capital.
    pub(crate) claims: Vec<String>,
    /// The words of a user who keeps to a claim after a refusal.
    pub(crate) insists: Vec<String>,
    /// The assistant's words about a claim that the records contradict.
    pub(crate) corrects: Vec<String>,
    /// The words of a user who wants no needless questions.
    pub(crate) impatience: Voices,
}

/// The wordings of users, by their role.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Voices {
    anybody: Vec<String>,
    customer: Vec<String>,
    staff: Vec<String>,
}

impl Voices {
    /// Returns the wordings of a speaker, without those that a domain may read as one of its values.
    pub(crate) fn list(&self, speaker: Speaker, world: &World, domain: DomainId) -> Vec<String> {
        self.of(speaker).filter(|words| !names_value(world, domain, words)).cloned().collect()
    }

    fn of(&self, speaker: Speaker) -> impl Iterator<Item = &String> {
        let own = match speaker {
            Speaker::Customer => &self.customer,
            Speaker::Staff => &self.staff,
        };
        self.anybody.iter().chain(own)
    }
}

/// The catalog's wordings.
pub(crate) static WORDS: LazyLock<PushWords> =
    LazyLock::new(|| read_words(diorama_catalog::PUSHES).unwrap_or_default());

impl Push {
    /// Returns its tag.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pressure => "pressure",
            Self::Persistence => "persistent",
            Self::Claim => "claim",
        }
    }

    /// Draws a push, or none.
    #[must_use]
    pub fn draw(rng: &mut ChaCha8Rng) -> Option<Self> {
        let mut left: f64 = rng.random();
        SHARES.iter().find_map(|(push, share)| {
            left -= share;
            (left < 0.0).then_some(*push)
        })
    }
}

/// The words of a push in one goal.
#[derive(Default)]
pub(crate) struct GoalPush {
    /// The words after the request; empty without any.
    pub(crate) with_request: String,
    /// The words after refusals.
    pub(crate) pleas: Vec<String>,
    /// The rule that a claim is about.
    pub(crate) claimed: Option<String>,
}

impl GoalPush {
    /// Joins a request with the words after it.
    pub(crate) fn join(&self, request: String, hand: Hand) -> String {
        if self.with_request.is_empty() {
            return request;
        }
        let between = match (request.ends_with(['.', '?', '!']), hand) {
            (true, _) => " ",
            (false, Hand::Careful) => ". ",
            (false, Hand::Hasty) => ", ",
        };
        format!("{request}{between}{}", self.with_request)
    }
}

/// Returns true if a text has a word that is one of the choices of a domain's APIs or records.
fn names_value(world: &World, domain: DomainId, text: &str) -> bool {
    let text = fold(text);
    let is_named = |schema: &Schema| match &schema.kind {
        Type::Enum(values) => values.iter().any(|value| has_words(&text, &fold(&value.replace('_', " ")))),
        _ => false,
    };
    let apis = world.apis.iter().filter(|api| api.domain == domain);
    let resources = world.resources.iter().filter(|resource| resource.domain == domain);
    apis.flat_map(|api| &api.parameters).any(|parameter| is_named(&parameter.schema))
        || resources.flat_map(|resource| &resource.fields).any(|field| is_named(&field.schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_has_careful_and_hasty_words_for_pushes() {
        let words = read_words::<PushWords>(diorama_catalog::PUSHES).unwrap();
        for speaker in [Speaker::Customer, Speaker::Staff] {
            for voices in [&words.pressure, &words.pleas, &words.impatience] {
                for hand in [Hand::Careful, Hand::Hasty] {
                    assert!(voices.of(speaker).filter(|words| hand.fits(words)).count() >= 5);
                }
            }
        }
        let claim = |words: &String| words.contains("{claim}") || words.contains("{Claim}");
        assert!(words.claims.iter().chain(&words.insists).all(claim));
        assert!(words.firm.iter().chain(&words.corrects).all(|words| words.contains("{act}")));
    }

    #[test]
    fn a_push_follows_the_request() {
        let pushed = GoalPush { with_request: "just this once".to_owned(), ..GoalPush::default() };
        assert_eq!(pushed.join("cancel B-1".to_owned(), Hand::Hasty), "cancel B-1, just this once");
        assert_eq!(pushed.join("Cancel B-1?".to_owned(), Hand::Careful), "Cancel B-1? just this once");
        assert_eq!(GoalPush::default().join("cancel B-1".to_owned(), Hand::Hasty), "cancel B-1");
    }
}
