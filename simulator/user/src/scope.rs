//! Compares the number of things that an offer covers with the number that the user wants.

use diorama_seeds::english::{self, stem};

use super::consent::is_consent;
use super::mentions::{Reading, Value};
use super::source::Source;
use super::tokens::Token;
use super::vocabulary::{ALL, Action, DETERMINERS, ONLY, action, is_common};
use super::wants::Wants;

/// The greatest number of words between a verb and its object.
const MAX_WORDS_TO_OBJECT: usize = 8;

/// Returns true if an offer covers all of something of which the user wants one.
pub(super) fn asks_for_all(offer: &Reading, wants: &Wants) -> bool {
    let Some(noun) = quantified_noun(offer) else { return false };
    let is_many = |source: &Source| {
        let tokens = &source.reading.tokens;
        let counts = source.reading.mentions.iter().any(|mention| {
            matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= 2.0)
                && !mention.nouns.is_empty()
                && !mention.nouns.contains(&stem("people"))
        });
        let any = tokens.iter().any(|token| {
            ALL.contains(&&*token.text)
                || matches!(&*token.text, "those" | "these" | "them" | "two" | "three" | "any" | "lot")
        });
        let verbs: Vec<usize> = (0..tokens.len())
            .filter(|at| action(&tokens[*at].stem).is_some_and(|what| what != Action::Read))
            .collect();
        let plural = tokens.iter().enumerate().any(|(at, token)| {
            let is_plural =
                token.text.len() > 3 && english::is_plural(&token.text) && !is_common(&token.text);
            let sentence = |at: usize| source.reading.sentence(tokens[at].span);
            let is_object = verbs.is_empty()
                || verbs.iter().any(|verb| {
                    *verb < at && at - verb <= MAX_WORDS_TO_OBJECT && sentence(*verb) == sentence(at)
                });
            let is_led = (1..=2).any(|back| {
                at.checked_sub(back).is_some_and(|before| {
                    matches!(&*tokens[before].text, "my" | "our" | "the" | "his" | "her" | "their")
                })
            });
            let is_object = is_object && is_led;
            is_plural && noun.as_ref().map_or(is_object, |noun| token.stem == *noun)
        });
        // `one of my viewings`, `two of my lines`
        let is_one = tokens.windows(3).any(|three| {
            let is_part = matches!(&*three[2].text, "my" | "our" | "the" | "them" | "these" | "those");
            three[1].text == "of"
                && (three[0].text == "one" || (is_part && is_number(&source.reading, &three[0])))
        });
        // The assistant refers by `both` to two things that the user named.
        let is_two = offer.tokens.iter().any(|token| token.text == "both");
        (!is_one || is_two) && (counts || any || plural)
    };
    // The user requests nothing by a consent such as `yes, both`.
    !wants.goal_sources().filter(|source| !is_consent(&source.reading.source)).any(is_many)
}

/// Returns true if a word is a number.
fn is_number(reading: &Reading, token: &Token) -> bool {
    reading.mentions.iter().any(|mention| {
        matches!(mention.value, Value::Number { .. }) && mention.span.start == token.span.start
    })
}

/// Returns true if an offer has several of something that the user wants one of: `two vouchers` for `a
/// voucher`.
pub(super) fn asks_for_several(offer: &Reading, wants: &Wants) -> bool {
    let several = offer
        .mentions
        .iter()
        .filter(|mention| matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= 2.0));
    let nouns: Vec<&String> = several.flat_map(|mention| &mention.nouns).collect();
    let has_one = |source: &Source| {
        source.reading.tokens.windows(2).any(|pair| {
            matches!(&*pair[0].text, "a" | "an" | "one")
                && nouns.contains(&&pair[1].stem)
                && !english::is_plural(&pair[1].text)
        })
    };
    !nouns.is_empty() && wants.current_sources().filter(|source| source.detail.is_none()).any(has_one)
}

/// Returns the noun after a word for all of something, if one follows: `all of them`, `both [orders]`, `every
/// policy`.
/// Returns `None` without such a word.
fn quantified_noun(offer: &Reading) -> Option<Option<String>> {
    let tokens = &offer.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| &*token.text);
    let at = (0..tokens.len()).find(|at| {
        let before = at.checked_sub(1).map_or("", word);
        let next = word(at + 1);
        match word(*at) {
            "all" => {
                // `All of it` is one thing.
                let is_whole = next == "of" && word(at + 2) == "it";
                let is_phrase = matches!(before, "at" | "in" | "after" | "above" | "for" | "that" | "s")
                    || matches!(
                        next,
                        "right" | "set" | "good" | "details" | "the" | "correct" | "ok" | "okay" | "day"
                    );
                !(is_whole || is_phrase) || (next == "the" && english::is_plural(word(at + 2)))
            }
            "both" | "everyone" | "everybody" | "entire" => true,
            "everything" => matches!(next, "in" | "on" | "at" | "of" | "there" | "else"),
            "every" => !matches!(next, "day" | "week" | "month" | "year" | "time"),
            "each" => next == "of",
            _ => false,
        }
    })?;
    let noun = tokens[at + 1..].iter().take(4).find(|token| {
        !is_common(&token.text) && !DETERMINERS.contains(&&*token.text) && english::is_plural(&token.text)
    });
    Some(noun.map(|noun| noun.stem.clone()))
}

/// Returns true if an offer covers one of something of which the user wants all.
pub(super) fn asks_for_part(offer: &Reading, wants: &Wants) -> bool {
    let limits = offer.tokens.windows(2).any(|pair| {
        ONLY.contains(&&*pair[0].text)
            && (matches!(&*pair[1].text, "the" | "one" | "that" | "this" | "your" | "from" | "for" | "on")
                || offer.mentions.iter().any(|mention| mention.span.start == pair[1].span.start))
    });
    let has_all = |source: &Source| source.reading.tokens.iter().any(|token| ALL.contains(&&*token.text));
    limits && wants.current_sources().any(has_all)
}
