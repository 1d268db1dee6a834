//! Defines detours: events that any conversation may have, inserted by rule.
//!
//! Each has wordings in the catalog, a tag and a share. The task contains the right reaction: the agent calls
//! again after an outage, signs in again, uses the corrected code, or drops a withdrawn request.

use std::sync::LazyLock;

use diorama_seeds::task::OutageKind;
use diorama_seeds::world::read_words;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::shares::Shares;

/// An event on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    /// A service is busy or unavailable for a moment: the call is made again.
    TransientError,
    /// The token of a sign-in has expired: the user is signed in again.
    ExpiredToken,
    /// The user mistypes a code, hears that nothing is found, and corrects it.
    Misspelt,
    /// The user asks for something and takes it back.
    ChangedMind,
    /// The user says something that needs no call.
    Digression,
    /// The user changes a value in the message that asks.
    Revised,
}

impl Detour {
    /// All detours, in the order of their draws.
    pub const ALL: [Self; 6] = [
        Self::TransientError,
        Self::ExpiredToken,
        Self::Misspelt,
        Self::ChangedMind,
        Self::Digression,
        Self::Revised,
    ];

    /// Returns its tag.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TransientError => "transient_error",
            Self::ExpiredToken => "expired_token",
            Self::Misspelt => "misspelt",
            Self::ChangedMind => "changed_mind",
            Self::Digression => "digression",
            Self::Revised => "revised",
        }
    }

    /// Returns the shares of all detours. Requested shares come first, unchanged; the others divide the rest.
    /// The requested shares add up to at most 1.
    #[must_use]
    pub fn shares(asked: &Shares, is_written_by_rule: bool) -> Vec<(Self, f64)> {
        let share = |detour: Self| asked.get(detour.label()).copied();
        let mut shares: Vec<(Self, f64)> =
            Self::ALL.into_iter().filter_map(|detour| Some((detour, share(detour)?))).collect();
        let left = 1.0 - sum_shares(asked);
        let others: Vec<(Self, f64)> = Self::ALL
            .into_iter()
            .filter(|detour| share(*detour).is_none())
            .map(|detour| (detour, detour.usual_share(is_written_by_rule)))
            .collect();
        let usual: f64 = others.iter().map(|(_, share)| share).sum();
        let scale = if usual > left { (left / usual).max(0.0) } else { 1.0 };
        shares.extend(others.into_iter().map(|(detour, share)| (detour, share * scale)));
        shares
    }

    /// The share of conversations that try the detour, unless another is requested. Not all have room for it.
    #[must_use]
    const fn usual_share(self, is_written_by_rule: bool) -> f64 {
        match self {
            // Scenarios that are written by rule often begin with a code, and others rarely do.
            Self::Misspelt if is_written_by_rule => 0.03,
            Self::TransientError => 0.03,
            Self::ExpiredToken => 0.035,
            Self::ChangedMind => 0.015,
            Self::Misspelt => 0.55,
            Self::Digression => 0.025,
            Self::Revised => 0.12,
        }
    }

    /// Returns the kind of outage of the detour, if it is one.
    pub(crate) fn outage(self, rng: &mut ChaCha8Rng) -> Option<OutageKind> {
        match self {
            Self::TransientError if rng.random_bool(0.5) => Some(OutageKind::TooManyRequests),
            Self::TransientError => Some(OutageKind::Unavailable),
            Self::ExpiredToken => Some(OutageKind::ExpiredToken),
            _ => None,
        }
    }
}

/// Returns the sum of the requested shares of detours; a conversation has at most one.
#[must_use]
pub fn sum_shares(asked: &Shares) -> f64 {
    Detour::ALL.iter().filter_map(|detour| asked.get(detour.label())).sum()
}

/// Draws a detour, or none, by shares of the conversations.
#[must_use]
pub fn draw(shares: &[(Detour, f64)], rng: &mut ChaCha8Rng) -> Option<Detour> {
    let mut left: f64 = rng.random();
    shares.iter().find_map(|(detour, share)| {
        left -= share;
        (left < 0.0).then_some(*detour)
    })
}

/// The wordings of detours. `{right}` and `{wrong}` stand for values.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DetourWords {
    /// The assistant, before it calls again.
    pub(crate) again: Vec<String>,
    /// The assistant, before it signs the user in again.
    pub(crate) expired: Vec<String>,
    pub(crate) misspelt: Exchange,
    pub(crate) changed_mind: Exchange,
    /// The user's messages that correct an earlier value.
    pub(crate) revised: Vec<String>,
    /// Digressions that may end a conversation.
    pub(crate) remarks: Vec<Exchange>,
    /// Digressions after which the user goes on.
    pub(crate) interruptions: Vec<Exchange>,
}

/// A message of the user, and the assistant's answer. After a misspelt code the assistant speaks first.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) user: Vec<String>,
    pub(crate) assistant: Vec<String>,
}

/// An exchange is identified by the first of its user's wordings.
impl AsRef<str> for Exchange {
    fn as_ref(&self) -> &str {
        self.user.first().map_or("", String::as_str)
    }
}

/// The catalog's wordings.
pub(crate) static WORDS: LazyLock<DetourWords> =
    LazyLock::new(|| read_words(diorama_catalog::DETOURS).unwrap_or_default());

/// Exchanges two neighbouring digits of a code; none if no two differ, or the text is no code.
pub(crate) fn mistype(code: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let mut letters: Vec<char> = code.chars().collect();
    let is_code =
        letters.len() >= 4 && letters.iter().all(|letter| letter.is_ascii_alphanumeric() || *letter == '-');
    let places: Vec<usize> = (1..letters.len())
        .filter(|at| {
            let pair = [letters[at - 1], letters[*at]];
            pair.iter().all(char::is_ascii_digit) && pair[0] != pair[1]
        })
        .collect();
    let at = *places.choose(rng).filter(|_| is_code)?;
    letters.swap(at - 1, at);
    Some(letters.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::hand::Hand;
    use super::*;

    #[test]
    fn a_code_is_mistyped_by_two_digits() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let check = |code: &str, rng: &mut ChaCha8Rng| mistype(code, rng);
        assert_eq!(check("APT-12", &mut rng).as_deref(), Some("APT-21"));
        assert_eq!(check("APT-11", &mut rng), None);
        assert_eq!(check("room 12 34", &mut rng), None);
    }

    #[test]
    fn detours_are_drawn_by_share_and_have_careful_and_hasty_words() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let shares = Detour::ALL.map(|detour| (detour, detour.usual_share(false)));
        let drawn: Vec<Detour> = (0..10_000).filter_map(|_| draw(&shares, &mut rng)).collect();
        for (detour, share) in shares {
            let count = drawn.iter().filter(|other| **other == detour).count() as f64;
            assert!((count / 10_000.0 - share).abs() < 0.01, "{}", detour.label());
        }
        let words = &*WORDS;
        let users = [&words.misspelt.user, &words.changed_mind.user, &words.revised];
        for wordings in users
            .into_iter()
            .chain(words.remarks.iter().chain(&words.interruptions).map(|exchange| &exchange.user))
        {
            for hand in [Hand::Careful, Hand::Hasty] {
                assert!(hand.choose(wordings, &mut rng).is_some(), "{wordings:?}");
            }
        }
        let answers = [&words.misspelt.assistant, &words.changed_mind.assistant];
        let answers = answers
            .into_iter()
            .chain(words.remarks.iter().chain(&words.interruptions).map(|exchange| &exchange.assistant));
        assert!(answers.chain([&words.again, &words.expired]).all(|wordings| wordings.len() >= 2));
        assert!(words.remarks.len() >= 12 && words.interruptions.len() >= 12);
    }

    #[test]
    fn a_requested_share_leaves_a_share_for_every_other_detour() {
        let asked = |shares: &[(&str, f64)]| -> Shares {
            shares.iter().map(|(label, share)| ((*label).to_owned(), *share)).collect()
        };
        let usual = Detour::shares(&Shares::new(), false);
        assert_eq!(usual, Detour::ALL.map(|detour| (detour, detour.usual_share(false))));
        let most = Detour::shares(&asked(&[("misspelt", 0.9), ("policy", 0.5)]), false);
        assert_eq!(most[0], (Detour::Misspelt, 0.9));
        assert!((most.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(most.iter().all(|(_, share)| *share > 0.0));
        assert!(sum_shares(&asked(&[("digression", 0.7), ("misspelt", 0.6), ("policy", 0.5)])) > 1.0);
    }
}
