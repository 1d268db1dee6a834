//! Writes the user's answer where no withheld detail does: consent, a denial with the right value, thanks, or
//! an earlier message.

use diorama_seeds::english::stem;
use diorama_seeds::script::{Goal, Script};

use super::calls::WantedCalls;
use super::compare::{Comparison, Objection};
use super::fit::Correction;
use super::form::Form;
use super::message::{self, Sentence};
use super::phrases::CONSENTS;
use super::recall::{MAX_REPEATED_WORDS, recall};
use super::source::SourceKind;
use super::topic::Topic;
use super::turn::{Act, Kind, Turn};
use super::vocabulary::is_common;
use super::wants::Wants;
use super::wording::wanted_value;
use super::words::{Word, words};

const GO_ON: &str = "Please go ahead.";
const THANKS: &str = "Thank you.";
const CONSENT: &str = "Yes, please.";
const CONFIRMATION: &str = "Yes, that's right.";
const ACCEPTANCE: &str = "All right.";
/// The last words of a user who was asked too many questions.
pub(super) const FAREWELL: &str = "That's enough questions for me. I'll see to it some other way.";
const UNKNOWN: &str = "I'm sorry, I don't know.";

/// The greatest number of words of a value that can follow `No,`.
const MAX_VALUE_WORDS: usize = 3;

/// Returns true if an answer carries no new information: the user had no answer, or said it before.
#[must_use]
pub fn tells_nothing(answer: &str, script: &Script) -> bool {
    answer == UNKNOWN || script.goals.iter().any(|goal| goal.user.contains(answer))
}

/// Returns a denial with the user's wants, and the positions of the details that it tells.
pub(super) fn deny(objection: &Objection, goal: &Goal, wants: &Wants) -> (String, Vec<usize>) {
    let corrections = match objection {
        Objection::Values(corrections) => corrections,
        Objection::OtherAction => return (format!("No, just this: {}", plain_want(goal, wants)), Vec::new()),
        Objection::Doubt => return (plain_want(goal, wants), Vec::new()),
    };
    let mut values: Vec<&str> = Vec::new();
    let mut sentences: Vec<&str> = Vec::new();
    let mut told: Vec<usize> = Vec::new();
    for correction in corrections {
        match correction {
            Correction::Words(words) => values.push(words),
            Correction::Detail(at) => {
                let say = goal.withheld.get(*at).map_or("", |detail| &*detail.say);
                told.push(*at);
                if say.split_whitespace().count() <= MAX_VALUE_WORDS && !say.contains(". ") {
                    values.push(say.trim_end_matches('.'));
                } else {
                    sentences.push(say);
                }
            }
        }
    }
    let mut words = if values.is_empty() { "No.".to_owned() } else { format!("No, {}.", values.join(", ")) };
    for sentence in sentences {
        words.push(' ');
        words.push_str(sentence);
    }
    (words, told)
}

/// Returns the user's request in their own words: a short opening whole, with the last line that changed it.
fn plain_want(goal: &Goal, wants: &Wants) -> String {
    let changed = wants.sources.iter().find(|source| source.kind == SourceKind::Line);
    let is_short = goal.user.split_whitespace().count() <= MAX_REPEATED_WORDS;
    let sentences = if is_short { Vec::new() } else { message::read(&goal.user) };
    let asks = |sentence: &&Sentence| {
        !matches!(sentence.form, Form::Statement | Form::Report | Form::Hint | Form::Closing)
    };
    let requests: Vec<&str> = sentences.iter().filter(asks).map(|sentence| &*sentence.text).collect();
    let want = if requests.is_empty() { goal.user.trim().to_owned() } else { requests.join(" ") };
    match changed {
        Some(changed) => join_sentences(&[&want, &changed.reading.source]),
        None => want,
    }
}

/// Returns the answer to a message that nothing else answers; `worked` is true after a successful call.
pub(super) fn reply(
    turn: &Turn,
    goal: &Goal,
    (wants, calls): (&Wants, &WantedCalls),
    offers: &Comparison,
    worked: bool,
) -> String {
    if offers.objection.is_some() {
        return plain_want(goal, wants);
    }
    let question = turn.parts().rev().find(|(sentence, act)| match act.kind {
        Kind::Asks | Kind::Confirms => sentence.form != Form::Polite || sentence.is_marked,
        Kind::Offers => true,
        _ => false,
    });
    if question.is_some_and(|(_, act)| act.kind == Kind::Offers) {
        return CONSENT.to_owned();
    }
    if let Some((sentence, act)) = question {
        if act.kind == Kind::Confirms && offers.agrees {
            return CONFIRMATION.to_owned();
        }
        if turn.has(Kind::Offers) {
            let said = recall(sentence, act, wants, false).or_else(|| recall(sentence, act, wants, true));
            return said.unwrap_or_else(|| CONSENT.to_owned());
        }
        let recalled = recall_answers(turn, goal, wants, calls);
        if !recalled.is_empty() {
            return join_sentences(&recalled.iter().map(|text| &**text).collect::<Vec<&str>>());
        }
        // The user repeats the request at `Which one?`, and not at a question about a thing that they did not
        // mention.
        let chooses = sentence.words.iter().any(|word| word.is_one_of(&["which", "whose"]));
        let is_bare = Topic::from_words(&sentence.words).is_empty();
        return match chooses || is_bare || refers(sentence) || names_option(sentence, wants, calls) {
            true => plain_want(goal, wants),
            false => UNKNOWN.to_owned(),
        };
    }
    let reports = turn.has(Kind::Reports);
    if turn.has(Kind::Closes) && !reports && !worked {
        return plain_want(goal, wants);
    }
    if turn.has(Kind::Announces) {
        return GO_ON.to_owned();
    }
    if turn.has(Kind::Declines) {
        return ACCEPTANCE.to_owned();
    }
    (if reports || turn.has(Kind::Closes) { THANKS } else { GO_ON }).to_owned()
}

/// Returns true if a question is about the request: `Who asked for this?`
fn refers(question: &Sentence) -> bool {
    let words = &question.words;
    let content = words.iter().filter(|word| !is_common(&word.text)).count();
    let has = |wanted: &[&str]| words.iter().any(|word| word.is_one_of(wanted));
    content <= 1 && has(&["who", "what", "why"]) && has(&["this", "that", "it"])
}

/// Returns true if a question offers two options, and the user or a wanted call has a word of them.
fn names_option(question: &Sentence, wants: &Wants, calls: &WantedCalls) -> bool {
    let is_known = |word: &Word| !is_common(&word.text) && wants.knows(&stem(&word.text));
    let is_beside = || {
        question
            .words
            .windows(3)
            .any(|three| three[1].text == "or" && (is_known(&three[0]) || is_known(&three[2])))
    };
    let is_of_call = || {
        let has_or = question.words.iter().any(|word| word.text == "or");
        has_or && question.words.iter().any(|word| !is_common(&word.text) && calls.knows(&stem(&word.text)))
    };
    is_beside() || is_of_call()
}

/// Returns the user's sentences that answer the questions of a message, each once.
pub(super) fn recall_answers(turn: &Turn, goal: &Goal, wants: &Wants, calls: &WantedCalls) -> Vec<String> {
    let asks = |(sentence, act): &(&Sentence, &Act)| match act.kind {
        Kind::Asks | Kind::Confirms => sentence.form != Form::Polite || sentence.is_marked,
        _ => false,
    };
    let mut found: Vec<String> = Vec::new();
    for (sentence, act) in turn.parts().filter(asks) {
        let said = recall(sentence, act, wants, false)
            .or_else(|| wanted_value(sentence, goal, wants, calls))
            .or_else(|| recall(sentence, act, wants, true));
        found.extend(said.filter(|text| !found.contains(text)));
    }
    found
}

/// Returns true if a line of the user fits a message: after an action or a result, or if the line may answer
/// its question.
/// A consent fits only a yes-or-no question.
pub(super) fn suits(line: &str, turn: &Turn, worked: bool, agrees: bool) -> bool {
    let any = |wanted: &dyn Fn(Form) -> bool| turn.sentences.iter().any(|one| wanted(one.form));
    let consents = words(line).first().is_some_and(|word| word.is_one_of(&CONSENTS));
    // The user does not confirm a value that they did not say: `Did the letter name a fee?`
    let confirms = any(&|form| form == Form::Check) && (!consents || agrees);
    let offers = any(&|form| matches!(form, Form::Offer | Form::Extra))
        || confirms
        || turn
            .parts()
            .any(|(sentence, act)| sentence.form == Form::Fragment && (!consents || act.kind != Kind::Asks));
    let asks = any(&|form| matches!(form, Form::Question | Form::Request));
    let reports = any(&|form| matches!(form, Form::Report | Form::Closing));
    let checks = any(&|form| form == Form::Check);
    // The user consents to no report.
    let proposes = turn.proposes() || !turn.has(Kind::Reports);
    offers || if consents { worked && !asks && !reports && !checks && proposes } else { worked || asks }
}

/// Joins several answers, each as a sentence of its own.
#[must_use]
pub fn join_sentences(say: &[&str]) -> String {
    let mut text = String::new();
    for part in say {
        if !text.is_empty() {
            if !text.ends_with(['.', '!', '?', ',']) {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}
