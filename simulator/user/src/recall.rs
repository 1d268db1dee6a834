//! Recalls the user's sentence that answers a question: by the kind of value asked for, or by its words.
//!
//! This module must not see the withheld details.

use diorama_answers::units::Dimension;
use diorama_seeds::english::stem;

use super::mentions::{Mention, Reading, Value};
use super::message::{self, Sentence};
use super::source::{Source, SourceKind};
use super::topic::{AskedKinds, Topic};
use super::turn::Act;
use super::vocabulary::{CONTRASTS, Link, is_common};
use super::wants::Wants;
use super::words::Word;

/// From this cosine on, a question concerns a sentence of the user.
const MIN_NEARNESS: f32 = 0.4;
/// The weight of a value of the kind asked for; the cosine of words has weight 1.
const KIND_WEIGHT: f32 = 0.6;
/// The weight of a thing that is asked for by its name.
const HEAD_WEIGHT: f32 = 0.5;
/// The greatest number of words of a text that is repeated whole.
pub(super) const MAX_REPEATED_WORDS: usize = 30;
/// The years that numbers of four digits can be.
const YEARS: std::ops::Range<f64> = 1800.0..2101.0;

/// Returns the user's sentence that answers a question, as they said it: of the open goal, or of earlier ones.
pub(super) fn recall(question: &Sentence, act: &Act, wants: &Wants, is_earlier: bool) -> Option<String> {
    let topic = Topic::from_words(&question.words);
    let head = Topic::from_head(&question.words);
    let mut best: Option<(f32, String)> = None;
    let counts = |source: &&Source| {
        source.detail.is_none()
            && source.kind != SourceKind::NextLine
            && (source.kind == SourceKind::Earlier) == is_earlier
    };
    // The user cannot tell of a thing that they never mentioned.
    let is_unknown = |word: &Word| !is_common(&word.text) && !wants.knows(&stem(&word.text));
    let is_strange = head.as_ref().and_then(|head| head.stems.last()).is_some_and(|last| !wants.knows(last))
        || (question.asks_fact() && question.words.iter().any(is_unknown));
    for source in wants.sources.iter().filter(counts) {
        for sentence in message::read(&source.reading.source) {
            let known = Topic::from_words(&sentence.words);
            let reading = wants.read(&sentence.text);
            let shared = topic.stems.iter().filter(|stem| known.stems.contains(stem)).count();
            let nearness = topic.nearness(&known);
            let has_kind = has_kind(question, &reading);
            // The user gives no time by `in time`.
            let asked = AskedKinds::from_clause(&question.words).strict;
            let is_unfit = (asked.day || asked.clock) && !has_kind;
            let names_head = !is_unfit && head.as_ref().is_some_and(|head| head.is_within(&known.stems));
            let repeats = (is_earlier || !is_strange)
                && act.reading.mentions.iter().any(|mention| {
                    reading.mentions.iter().any(|own| own.words.eq_ignore_ascii_case(&mention.words))
                });
            let is_near = nearness >= MIN_NEARNESS || (shared > 0 && 2 * shared >= topic.stems.len());
            let is_about = names_head || has_kind || repeats || (is_near && !(is_earlier && is_strange));
            let flag = |is: bool, weight: f32| if is { weight } else { 0.0 };
            let score = nearness + flag(has_kind, KIND_WEIGHT) + flag(names_head, HEAD_WEIGHT);
            if is_about && best.as_ref().is_none_or(|(known, _)| score > *known) {
                let whole = source.reading.source.split_whitespace().count() <= MAX_REPEATED_WORDS;
                best = Some((
                    score,
                    if whole { source.reading.source.trim() } else { &sentence.text }.to_owned(),
                ));
            }
        }
    }
    best.map(|(_, text)| text)
}

/// Returns true if a text has a value of the kind that a question asks for.
fn has_kind(question: &Sentence, reading: &Reading) -> bool {
    let words = &question.words;
    let asked = AskedKinds::from_clause(words);
    let has = |wanted: &[&str]| words.iter().any(|word| word.is_one_of(wanted));
    let any =
        |fits: &dyn Fn(&Mention) -> bool| reading.mentions.iter().filter(|own| !own.is_denied).any(fits);
    if has(&["year"]) {
        return any(
            &|own| matches!(own.value, Value::Number { value, unit: None, .. } if YEARS.contains(&value)),
        );
    }
    let is_choice = CONTRASTS.iter().any(|set| {
        let asked = words.iter().any(|word| set.contains(&&*word.text));
        asked && set.iter().any(|choice| reading.has(&stem(choice)))
    });
    if is_choice {
        return true;
    }
    let is_name = |own: &Mention| matches!(own.value, Value::Name(_));
    let is_place = |own: &Mention| is_name(own) && matches!(own.link, Link::Place | Link::From | Link::To);
    (asked.strict.day && any(&|own| matches!(own.value, Value::Day(_))))
        || (asked.strict.clock && any(&|own| matches!(own.value, Value::Time(_))))
        || (asked.strict.person && any(&|own| is_name(own) && !matches!(own.link, Link::Place | Link::From)))
        || (asked.strict.number && has(&["many"]) && any(&|own| counts_asked_noun(own, words)))
        || (has(&["long"]) && any(&is_duration))
        || (has(&["address"])
            && any(
                &|own| matches!(&own.value, Value::Name(words) if words[0].starts_with(|first: char| first.is_ascii_digit())),
            ))
        || (has(&["much", "amount", "sum", "price", "value", "worth"])
            && any(&|own| matches!(own.value, Value::Money(_)) || is_amount(own)))
        || (has(&["where", "whereabouts"]) && any(&is_place))
}

/// Returns true if a value is a duration.
pub(super) fn is_duration(own: &Mention) -> bool {
    let is_time = |noun: &String| matches!(&**noun, "night" | "day" | "week" | "month" | "hour" | "minut");
    match &own.value {
        Value::Number { unit: Some(unit), .. } => unit.dimension == Dimension::Duration,
        Value::Number { .. } => own.nouns.iter().any(is_time),
        _ => false,
    }
}

/// Returns true if a number counts a noun of the question, or has no noun.
fn counts_asked_noun(own: &Mention, words: &[Word]) -> bool {
    let Value::Number { .. } = own.value else { return false };
    let stems: Vec<String> = words.iter().map(|word| stem(&word.text)).collect();
    own.nouns.is_empty() || own.nouns.iter().any(|noun| stems.contains(noun))
}

fn is_amount(own: &Mention) -> bool {
    matches!(own.value, Value::Number { unit: None, .. }) && own.nouns.is_empty()
}
