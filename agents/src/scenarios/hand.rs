//! Defines the hand of a user: hasty or careful, from the first message to the last.

use diorama_seeds::english::capitalised;
use diorama_seeds::scenario::Scenario;
use diorama_seeds::value::Time;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::speech::{SPEECH, fill};
use crate::draws::{WordingTurn, choose};

/// A way of writing that a user keeps to from the first message to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hand {
    /// Sentences that begin with a capital.
    Careful,
    /// Sentences that begin with a small letter.
    Hasty,
}

/// The share of conversations in which the user writes hastily, of those with wordings for it.
const HASTY: f64 = 0.35;

/// The share of openings with a greeting; `THANKS` is that of openings with thanks at the end.
const GREETS: f64 = 0.22;
const THANKS: f64 = 0.14;

impl Hand {
    /// Draws the hand of the user of scenarios, and the first message in it. It is hasty only if each message
    /// has a wording for it.
    /// The wording whose turn it is opens the conversation, and decides the hand.
    pub(crate) fn draw<'a>(
        scenarios: &[&'a Scenario],
        turn: Option<WordingTurn>,
        rng: &mut ChaCha8Rng,
    ) -> (Self, &'a [String]) {
        let wordings = scenarios
            .first()
            .and_then(|first| first.doc.goals.first())
            .map_or(&[][..], |goal| &goal.user[..]);
        let mut lines = scenarios.iter().flat_map(|scenario| scenario.doc.said_by_user());
        let can = lines.all(|wordings| wordings.iter().any(|words| Self::Hasty.fits(words)));
        let careful = || wordings.iter().filter(|words| Self::Careful.fits(words)).collect::<Vec<_>>();
        let mut fitting: Vec<&'a String> = if can { wordings.iter().collect() } else { careful() };
        if fitting.is_empty() {
            fitting = wordings.iter().collect();
        }
        let opening = turn.unwrap_or_else(|| WordingTurn::draw(rng)).choose(fitting);
        let is_hasty = match opening.map(|words| (Self::Hasty.fits(words), Self::Careful.fits(words))) {
            Some((true, true)) | None => rng.random_bool(HASTY),
            Some((is_hasty, _)) => is_hasty,
        };
        let hand = if is_hasty && can { Self::Hasty } else { Self::Careful };
        (hand, opening.map_or(&[], std::slice::from_ref))
    }

    /// Returns one of several wordings in this hand; none if none fits.
    pub(crate) fn choose<'a>(self, wordings: &'a [String], rng: &mut ChaCha8Rng) -> Option<&'a str> {
        choose(wordings.iter().filter(|words| self.fits(words)), rng).map(String::as_str)
    }

    /// Writes an opening in this hand at a time of day: with a greeting or thanks, or without.
    pub(crate) fn dress(self, opening: String, time: Time, rng: &mut ChaCha8Rng) -> String {
        let lower = opening.to_lowercase();
        let is_greeting = SPEECH.greets.iter().any(|greeting| lower.starts_with(&**greeting));
        // An alarmed user comes to the point.
        let greets = rng.random_bool(GREETS) && !is_greeting && !opening.contains('!');
        let thanks = rng.random_bool(THANKS)
            && !lower.contains("thank")
            && !lower.contains("thx")
            && !opening.contains('!');
        let [morning, afternoon, evening] = &SPEECH.of_day;
        let of_day = match time.0 / 3600 {
            4..12 => morning,
            12..17 => afternoon,
            _ => evening,
        };
        let mut words = String::new();
        if greets {
            let greeting = choose(&SPEECH.greetings, rng).map_or("", String::as_str);
            let greeting = fill(greeting, &[("of_day", of_day)]);
            words = match self {
                Self::Careful => {
                    format!("{}{}", capitalised(&greeting), if rng.random_bool(0.5) { ". " } else { "! " })
                }
                Self::Hasty => format!("{greeting}{}", if rng.random_bool(0.5) { ", " } else { " " }),
            };
        }
        words.push_str(&opening);
        if thanks {
            let ends = opening.ends_with(['.', '?', '!']);
            let [careful, after_stop, after_none] = &SPEECH.thanks;
            let last = match (self, ends) {
                (Self::Careful, _) => careful,
                (Self::Hasty, true) => after_stop,
                (Self::Hasty, false) => after_none,
            };
            if self == Self::Careful && !ends {
                words.push('.');
            }
            words.push_str(choose(last, rng).map_or("", String::as_str));
        }
        words
    }

    /// Returns true if a wording fits this hand, by its first letter.
    /// After a binding at the start, the letter after the first full stop decides, else the full stop itself.
    /// Bindings alone fit both.
    pub(crate) fn fits(self, words: &str) -> bool {
        let hasty = |is: bool| is == (self == Self::Hasty);
        let first =
            |text: &str| text.chars().find(|c| *c == '{' || c.is_alphabetic()).filter(|c| c.is_alphabetic());
        if let Some(letter) = first(words) {
            return hasty(letter.is_lowercase());
        }
        if let Some(letter) = words.split_once(". ").and_then(|(_, rest)| first(rest)) {
            return hasty(letter.is_lowercase());
        }
        let last = words.trim_end();
        last.ends_with(['}', '?']) || hasty(!last.ends_with(['.', '!']))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn careful_users_end_the_request_before_thanks() {
        let dress = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            Hand::Careful.dress("Please cancel BP-1".to_owned(), Time(10 * 3_600), &mut rng)
        };
        let thanks: Vec<String> = (0..200).map(dress).filter(|text| text.contains("hank")).collect();
        assert!(!thanks.is_empty() && thanks.iter().all(|text| text.contains("BP-1. ")), "{thanks:?}");
    }
}
