//! Reads the verbs of an offer with their effects, and the words for the thing that the offer concerns.
//!
//! This module must not know what the user said.

use diorama_seeds::english::stem;

use super::calls::WantedCalls;
use super::mentions::{Reading, Value};
use super::phrases::OPENERS;
use super::tokens::Token;
use super::turn::Act;
use super::vocabulary::{ALL, Action, DETERMINERS, GENERIC, REMOVAL_PHRASES, action, is_common};

/// The greatest number of words in a phrase such as `sign you up`.
const MAX_WORDS_TO_UP: usize = 4;
/// The greatest number of words between a verb and its particle: `take [the lamp] off`.
const MAX_WORDS_TO_PARTICLE: usize = 6;

/// Returns the verb of an offer: `shall I [block] it`.
pub(super) fn verb(act: &Act) -> Option<&Token> {
    let tokens = &act.reading.tokens;
    let is_adverb =
        |token: &&Token| is_common(&token.text) || matches!(&*token.text, "ready" | "now" | "then");
    match subject_position(tokens) {
        Some(at) => tokens.get(at + 1..)?.iter().find(|token| !is_adverb(token)),
        // The offer may lack a subject: `Start it now?`
        None => tokens
            .iter()
            .find(|token| !OPENERS.contains(&&*token.text) && !matches!(&*token.text, "ready" | "to"))
            .filter(|token| !is_adverb(token)),
    }
}

/// Returns the verbs of an offer: its own, and the participles after `be` and `like`: `would be [moved]`.
pub(super) fn verbs(act: &Act) -> impl Iterator<Item = &Token> {
    let tokens = &act.reading.tokens;
    let begins = tokens.iter().position(|token| matches!(&*token.text, "be" | "like" | "want" | "wants"));
    let behind = begins.and_then(|at| tokens.get(at + 1..)).unwrap_or_default();
    let participle = behind.iter().find(|token| token.text.len() > 4 && token.text.ends_with("ed"));
    verb(act).into_iter().chain(participle)
}

/// Returns true if the object of a verb is a wanted call: `enter the pick`.
pub(super) fn makes_wanted(act: &Act, verb: &Token, calls: &WantedCalls) -> bool {
    let mut behind = act.reading.tokens.iter().filter(|token| token.span.start > verb.span.start);
    action(&verb.stem) == Some(Action::Add)
        && behind.find(|token| token.has_content()).is_some_and(|object| calls.is_verb(&object.stem))
}

/// Returns the words after the subject of an offer: `shall I [book it]`, `do you want me [to book it]`.
pub(super) fn predicate(offer: &Reading) -> Option<&[Token]> {
    let begins = subject_position(&offer.tokens)?;
    offer.tokens.get(begins + 1..)
}

/// Returns the position of the subject of an offer: of `I`, or of `me` before `to`.
fn subject_position(tokens: &[Token]) -> Option<usize> {
    tokens.windows(2).position(|pair| {
        matches!(&*pair[0].text, "i" | "we") || (pair[0].text == "me" && pair[1].text == "to")
    })
}

/// Words after which a verb's form is a noun: `the order`, `a standing order`.
const BEFORE_NOUNS: [&str; 17] = [
    "the", "a", "an", "my", "your", "this", "that", "one", "standing", "in", "no", "of", "at", "her", "his",
    "new", "direct",
];

/// Returns the effects of the verbs of a text. A word after an article is a noun: `your order`.
pub(super) fn actions(reading: &Reading) -> Vec<Action> {
    let tokens = reading.tokens.iter().enumerate();
    let is_verb = |(at, token): &(usize, &Token)| {
        let before = at.checked_sub(1).map_or("", |before| &*reading.tokens[before].text);
        let next = reading.tokens.get(at + 1).map_or("", |next| &*next.text);
        let is_noun = BEFORE_NOUNS.contains(&before) || token.text.ends_with("ings");
        let is_past = token.text.ends_with("ed") && matches!(before, "have" | "has" | "had" | "ve" | "been");
        let is_gerund = token.text.ends_with("ing") && before != "m" && before != "re";
        let is_thing = matches!(&*token.text, "order" | "book") && matches!(next, "for" | "of") && *at > 2;
        !(is_noun || is_past || is_gerund || is_thing)
    };
    let signs_up =
        reading.tokens.iter().position(|token| token.text == "sign").is_some_and(|at| {
            reading.tokens[at..].iter().take(MAX_WORDS_TO_UP).any(|token| token.text == "up")
        });
    let found = tokens.filter(is_verb).filter_map(|(_, token)| action(&token.stem));
    found.chain(signs_up.then_some(Action::Add)).collect()
}

/// Returns true for phrases of removal: `take it off the list`, `I no longer need it`.
pub(super) fn asks_removal(reading: &Reading) -> bool {
    REMOVAL_PHRASES.iter().any(|(first, second)| {
        let first = stem(first);
        let behind = reading.tokens.iter().skip_while(|token| token.stem != first).skip(1);
        behind.take(MAX_WORDS_TO_PARTICLE).any(|token| token.text == *second)
    })
}

/// Returns the stem of the new kind in an offer: `log it as [rowing]`.
pub(super) fn find_new_kind(act: &Act) -> Option<String> {
    let tokens = &act.reading.tokens;
    let at = tokens.iter().position(|token| token.text == "as")?;
    tokens.get(at + 1).filter(|token| token.has_content()).map(|token| token.stem.clone())
}

/// Returns the stems of the object of an offer: the words after its verb. Empty for a pronoun.
pub(super) fn object(act: &Act) -> Vec<String> {
    let Some(predicate) = predicate(&act.reading) else { return Vec::new() };
    let rest = predicate.iter().skip_while(|token| {
        let is_adverb = GENERIC.contains(&&*token.text) && action(&token.stem).is_none();
        is_adverb || matches!(&*token.text, "to" | "also" | "just")
    });
    let behind = rest.skip(1).skip_while(|token| matches!(&*token.text, "you" | "up" | "out"));
    let words = behind.skip_while(|token| DETERMINERS.contains(&&*token.text)).take_while(|token| {
        token.has_content()
            && !token.after_mark
            && !ALL.contains(&&*token.text)
            && !matches!(&*token.text, "down" | "off" | "back" | "over")
    });
    words
        .filter(|token| !is_mentioned(token, &act.reading) && !GENERIC.contains(&&*token.text))
        .map(|token| token.stem.clone())
        .collect()
}

/// Returns the stems of the content words of a sentence, without verbs and typed mentions.
pub(super) fn content(act: &Act) -> Vec<&str> {
    act.reading
        .tokens
        .iter()
        .filter(|token| is_specific(token) && !is_mentioned(token, &act.reading))
        .map(|token| &*token.stem)
        .collect()
}

/// Returns true if a word has content, and is neither a listed verb nor a word that any offer may have.
pub(super) fn is_specific(token: &Token) -> bool {
    token.has_content() && !GENERIC.contains(&&*token.text) && action(&token.stem).is_none()
}

/// Returns true if a word belongs to a typed mention other than a phrase in small letters.
fn is_mentioned(token: &Token, reading: &Reading) -> bool {
    reading.mentions.iter().any(|mention| {
        !matches!(mention.value, Value::Phrase(_))
            && mention.span.start <= token.span.start
            && token.span.end <= mention.span.end
    })
}
