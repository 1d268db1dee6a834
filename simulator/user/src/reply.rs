//! Answers to what no withheld detail answers: consent to an offer, what was said before, or not knowing.
//!
//! It must not see the withheld details.

use super::message::{self, Form, Sentence, Word};
use super::phrases::CONSENTS;
use super::topic::Topic;

/// To a statement that asks nothing.
pub(super) const GO_ON: &str = "Please go ahead.";
/// To a report of what was done.
pub(super) const THANKS: &str = "Thank you.";
const CONSENT: &str = "Yes, please.";
const CONFIRMATION: &str = "Yes, that's right.";
const REFUSAL: &str = "No, thank you.";
const UNKNOWN: &str = "I'm sorry, I don't know.";
/// Before what was said already.
const REPEATED: &str = "As I said: ";

/// From this cosine on, a question is about what a sentence of the user says.
const MIN_NEARNESS: f32 = 0.4;

/// Returns true if an answer tells nothing new: the user did not understand the question, or has no answer to it.
#[must_use]
pub fn tells_nothing(answer: &str) -> bool {
    answer == UNKNOWN || answer.starts_with(REPEATED)
}

/// The answer to the questions of a message; nothing where it asks none.
pub(super) fn to_question(sentences: &[Sentence], said: &[&str]) -> Option<String> {
    let last = |wanted: &dyn Fn(&Sentence) -> bool| sentences.iter().rev().find(|one| wanted(one));
    // Consent is given to an offer, and to nothing else.
    if last(&|one| one.form == Form::Offer || (one.form.asks() && one.asks_leave())).is_some() {
        return Some(CONSENT.to_owned());
    }
    if last(&|one| one.form == Form::Extra).is_some() {
        return Some(REFUSAL.to_owned());
    }
    let question = last(&|one| one.form.asks() && (one.form != Form::Polite || one.is_marked))?;
    if matches!(question.form, Form::Check | Form::Fragment)
        && let Some(confirms) = confirms(question, said)
        && confirms
    {
        return Some(CONFIRMATION.to_owned());
    }
    Some(repeated(question, said).unwrap_or_else(|| UNKNOWN.to_owned()))
}

/// Returns true if a line of the user's own suits a message: after something was done or found, or where the assistant
/// asks what the line may answer. A consent suits only what can be answered by yes.
pub(super) fn suits(line: &str, sentences: &[Sentence], worked: bool) -> bool {
    let any = |wanted: &dyn Fn(Form) -> bool| sentences.iter().any(|one| wanted(one.form));
    let consents = message::words(line).first().is_some_and(|word| word.is_one_of(&CONSENTS));
    let offers = any(&|form| matches!(form, Form::Offer | Form::Extra | Form::Check | Form::Fragment));
    let asks = any(&|form| matches!(form, Form::Question | Form::Request));
    let reports = any(&|form| matches!(form, Form::Report | Form::Closing));
    offers || if consents { worked && !asks && !reports } else { worked || asks }
}

/// Returns true if the user's words have all numbers and names that a question has; nothing where it has none.
fn confirms(question: &Sentence, said: &[&str]) -> Option<bool> {
    let words = || question.words.iter().enumerate();
    let is_value = |(at, word): &(usize, &Word)| {
        word.text.chars().any(|character| character.is_ascii_digit()) || (word.capital && *at > 0)
    };
    let said: Vec<Word> = said.iter().flat_map(|text| message::words(text)).collect();
    words()
        .any(|one| is_value(&one))
        .then(|| words().filter(is_value).all(|(_, word)| said.iter().any(|known| known.text == word.text)))
}

/// The sentence of the user that a question is about: the nearest of those that are near, name what it asks for, or
/// share half of its words.
fn repeated(question: &Sentence, said: &[&str]) -> Option<String> {
    let topic = Topic::of(&question.words);
    let head = Topic::of_head(&question.words);
    let sentences = said.iter().flat_map(|text| text.split_inclusive(['.', '!', '?', '\n']));
    let is_about = |known: &Topic| {
        let shared = topic.stems.iter().filter(|stem| known.stems.contains(stem)).count();
        topic.nearness(known) >= MIN_NEARNESS
            || head.as_ref().is_some_and(|head| head.is_within(&known.stems))
            || (shared > 0 && 2 * shared >= topic.stems.len())
    };
    let (nearest, _) = sentences
        .map(|text| (text.trim(), Topic::of(&message::words(text))))
        .filter(|(_, known)| is_about(known))
        .max_by(|(_, one), (_, other)| topic.nearness(one).total_cmp(&topic.nearness(other)))?;
    Some(format!("{REPEATED}{nearest}"))
}
