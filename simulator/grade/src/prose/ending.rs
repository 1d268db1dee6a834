//! How a message ends its goal: it refuses, asks, offers, or says that something was done.

use std::sync::Arc;

use diorama_answers::prose::{Prose, Span};
use diorama_answers::text::Text;
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Api, World};

use super::cues::{
    CHOICE, CLAIM, CONDITION, COURTESY, DENIAL, FAILURE, INABILITY, NOT_DONE, OBJECTION, OFFER, REQUEST,
};

/// Returns true if a question offers to do something or asks for leave: `Shall I book it?`
fn is_offer(question: &str) -> bool {
    let question = lowered(question);
    OFFER.is_match(&question) && !CHOICE.is_match(&question)
}

fn lowered(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// A message, read for how it ends.
pub struct Ending {
    sentences: Vec<Sentence>,
}

struct Sentence {
    text: String,
    asks: bool,
}

impl Ending {
    /// Reads a message.
    pub(crate) fn read(message: &Prose) -> Self {
        Self::of(message.sentences().map(|span| (message.words_at(span), message.is_question(span))))
    }

    /// Reads a message by its sentences alone, without a clock for its days.
    #[must_use]
    pub fn of_text(message: &str) -> Self {
        let text = Text::read(message);
        let words = |(span, asks): (Span, bool)| Some((message.get(span.start..span.end)?, asks));
        Self::of(text.sentence_spans().filter_map(words))
    }

    /// Of sentences, and whether each is a question.
    pub(crate) fn of<'t>(sentences: impl Iterator<Item = (&'t str, bool)>) -> Self {
        Self { sentences: sentences.map(|(text, asks)| Sentence { text: lowered(text), asks }).collect() }
    }

    /// Returns true if it says that something cannot be done, and of nothing that it was.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.is_unable() && !self.is_claim()
    }

    /// Returns true if it says that something was done.
    #[must_use]
    pub fn is_claim(&self) -> bool {
        self.claims(&[])
    }

    /// Its sentences that are no questions, in lower case.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &str> {
        self.sentences.iter().filter(|sentence| !sentence.asks).map(|sentence| &*sentence.text)
    }

    /// Returns true if it says that something cannot be done.
    #[must_use]
    pub fn is_unable(&self) -> bool {
        self.statements().any(|text| INABILITY.is_match(text))
    }

    /// Returns true if it denies something or names something in the way.
    pub(crate) fn objects(&self) -> bool {
        self.statements().any(|text| INABILITY.is_match(text) || OBJECTION.is_match(text))
    }

    /// Returns true if it asks the user for something that is needed; an offer is a need where nothing else is said.
    #[must_use]
    pub fn asks(&self) -> bool {
        let needs =
            |one: &Sentence| if one.asks { !is_offer(&one.text) } else { REQUEST.is_match(&one.text) };
        self.sentences.iter().any(|one| needs(one) && !COURTESY.is_match(&one.text))
            || (self.offers() && self.statements().next().is_none())
    }

    /// Returns true if it offers to do something or asks for leave.
    fn offers(&self) -> bool {
        let mut asking = self.sentences.iter().filter(|sentence| sentence.asks);
        asking.any(|sentence| OFFER.is_match(&sentence.text) && !COURTESY.is_match(&sentence.text))
    }

    /// Returns true if a statement claims that something was done, by one of these words or by any for it.
    pub(crate) fn claims(&self, verbs: &[String]) -> bool {
        let words_claim =
            |text: &str| CLAIM.is_match(text) || done_words(text).any(|word| verbs.contains(&word));
        let mut statements = self.statements();
        statements.any(|text| {
            !INABILITY.is_match(text) && !CONDITION.is_match(text) && !is_denial(text) && words_claim(text)
        })
    }

    /// Why a message does not tell that the writes of its goal were made, where it denies or only offers them.
    pub(crate) fn denied_write(&self, own: &[Arc<LogEntry>], world: &World) -> Option<String> {
        let writes = |entry: &&Arc<LogEntry>| {
            entry.reply.is_success() && entry.api.is_some_and(|id| world.api(id).writes())
        };
        let apis = own.iter().filter(writes).filter_map(|entry| Some(world.api(entry.api?)));
        let verbs: Vec<String> = apis.flat_map(verbs_of).collect();
        if verbs.is_empty() {
            return None;
        }
        if let Some(denial) = self.statements().find(|text| denies(text, &verbs)) {
            return Some(format!("the answer denies what was done: {denial}"));
        }
        let claimed = self.claims(&verbs);
        // `20:00 was not possible, so it starts at 17:00.`
        let goes_on = |text: &str| [" so ", " but ", " instead"].iter().any(|joint| text.contains(joint));
        let fails = |text: &str| FAILURE.is_match(text) && !goes_on(text);
        if !claimed && self.statements().any(fails) {
            return Some("the answer says that it could not be done".to_owned());
        }
        (self.offers() && !claimed).then(|| "the answer only offers what was done".to_owned())
    }
}

/// Returns true if a statement denies a write: by a phrase for it, or by a word for what the call does, denied.
fn denies(text: &str, verbs: &[String]) -> bool {
    /// Verbs of looking, whose denial is no denial of a write.
    const LOOKING: [&str; 6] = ["find", "see", "touch", "change", "have", "know"];
    let not_done = NOT_DONE.captures(text).and_then(|found| found.get(1));
    if DENIAL.is_match(text) || not_done.is_some_and(|verb| !LOOKING.contains(&&*verb_stem(verb.as_str()))) {
        return true;
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let denial = matches!(*word, "not" | "never")
            || (word.ends_with("n't") && !matches!(*word, "can't" | "won't" | "don't"));
        let modal =
            at > 0 && matches!(words[at - 1], "can" | "could" | "may" | "must" | "do" | "will" | "would");
        let next = words
            .iter()
            .skip(at + 1)
            .take(4)
            .take_while(|word| !matches!(**word, "but" | "and" | "because" | "until" | "any"));
        denial && !modal && next.into_iter().any(|word| verbs.contains(&verb_stem(word)))
    })
}

/// The words for what a call does: the verb of its API's name and of its description.
pub(super) fn verbs_of(api: &Api) -> Vec<String> {
    let name = english::split_identifier(&api.name).into_iter().next();
    let verb = english::words(&api.description).next();
    name.into_iter().chain(verb).map(|word| verb_stem(&word)).filter(|word| word.len() > 1).collect()
}

/// The stems of the words of a statement that are said to be done: not those that only can or could be.
fn done_words(text: &str) -> impl Iterator<Item = String> {
    let mut possible = false;
    text.split(|c: char| !c.is_alphanumeric()).filter_map(move |word| {
        let before = std::mem::replace(
            &mut possible,
            matches!(word, "be" | "can" | "could" | "to" | "already" | "been"),
        );
        (!before).then(|| verb_stem(word))
    })
}

/// Returns true if a statement has a word that denies.
pub(super) fn is_denial(text: &str) -> bool {
    let denies = |word: &str| {
        matches!(
            word,
            "no" | "not" | "none" | "nobody" | "never" | "neither" | "unknown" | "missing" | "nothing"
        ) || word.ends_with("n't")
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').any(denies)
}

/// The stem of a word, `paid` and `pays` alike.
pub(super) fn verb_stem(word: &str) -> String {
    const IRREGULAR: [(&str, &str); 14] = [
        ("paid", "pay"),
        ("sent", "send"),
        ("made", "make"),
        ("lent", "lend"),
        ("took", "take"),
        ("taken", "take"),
        ("gave", "give"),
        ("given", "give"),
        ("bought", "buy"),
        ("sold", "sell"),
        ("frozen", "freeze"),
        ("written", "write"),
        ("begun", "begin"),
        ("kept", "keep"),
    ];
    let word = IRREGULAR.iter().find(|(form, _)| *form == word).map_or(word, |(_, base)| base);
    let mut stem = english::stem(word);
    // `cancell` and `cancel`.
    let bytes = stem.as_bytes();
    if bytes.len() > 4 && bytes.last() == bytes.get(bytes.len() - 2) && stem.is_ascii() {
        stem.pop();
    }
    stem
}
