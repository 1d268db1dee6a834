//! Parses an assistant's message once: each sentence as a speech act with its typed mentions.
//!
//! It must not know what the user wants.

use diorama_answers::Clock;
use diorama_seeds::english::stem;

use super::mentions::Reading;
use super::message::{self, Form, Sentence, Word};
use super::phrases::{OPENERS, POLITE};

/// The purpose of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It asks for something that the user may know.
    Asks,
    /// It asks for permission to act.
    Offers,
    /// It has the user confirm a value: `You mean Tuesday?`
    Confirms,
    /// It announces an action of the assistant.
    Announces,
    /// It states a fact or a finished action.
    Reports,
    /// It says that an action is impossible.
    Declines,
    /// It asks if there is anything else.
    Closes,
    /// A greeting, an exclamation.
    Remarks,
}

#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) kind: Kind,
    pub(super) reading: Reading,
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) sentences: Vec<Sentence>,
    /// One act for each sentence.
    pub(super) acts: Vec<Act>,
}

/// Returns true if a message of the assistant asks for permission to act: `Shall I put you in the queue?`.
/// It returns false for `Could you check the number?`.
#[must_use]
pub fn asks_leave(message: &str, clock: &Clock) -> bool {
    Turn::read(message, clock).has(Kind::Offers)
}

impl Turn {
    /// Parses a message by a clock.
    pub(super) fn read(message: &str, clock: &Clock) -> Self {
        let mut sentences = message::read(message);
        let mut acts = sentences
            .iter()
            .map(|sentence| {
                let reading = Reading::read(&sentence.text, clock);
                Act { kind: kind(sentence, &reading), reading }
            })
            .collect::<Vec<Act>>();
        // A list may follow an offer: `Shall I check all three: the phone, the tablet and the router?`
        for at in 1..sentences.len() {
            let is_list = sentences[at - 1].text.ends_with(':') && acts[at - 1].kind == Kind::Offers;
            if is_list && sentences[at].form == Form::Fragment {
                (sentences[at].form, acts[at].kind) = (Form::Statement, Kind::Remarks);
            }
        }
        // Reports beside an offer belong to it, and ask nothing.
        if acts.iter().any(|act| act.kind == Kind::Offers) {
            let reports = sentences.iter_mut().zip(&acts).filter(|(_, act)| act.kind == Kind::Reports);
            reports.for_each(|(sentence, _)| sentence.form = Form::Statement);
        }
        Self { sentences, acts }
    }

    /// Returns its questions, each as a message of its own.
    pub(super) fn questions(&self) -> Vec<Self> {
        let parts = self.parts().filter(|(sentence, act)| sentence.is_marked && act.kind == Kind::Asks);
        let alone = |(sentence, act): (&Sentence, &Act)| Self {
            sentences: vec![sentence.clone()],
            acts: vec![act.clone()],
        };
        parts.map(alone).collect()
    }

    /// Turns a question that begins with one of these verbs into an offer: `Start now?`
    pub(super) fn offer(&mut self, is_verb: impl Fn(&str) -> bool) {
        for (sentence, act) in self.sentences.iter_mut().zip(&mut self.acts) {
            let first = sentence.words.iter().find(|word| !word.is_one_of(&OPENERS));
            if sentence.form == Form::Fragment && first.is_some_and(|word| is_verb(&stem(&word.text))) {
                (sentence.form, act.kind) = (Form::Offer, Kind::Offers);
            }
        }
    }

    /// Returns true if a sentence has this purpose.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.acts.iter().any(|act| act.kind == kind)
    }

    /// Returns true if a sentence may offer something.
    pub(super) fn proposes(&self) -> bool {
        [Kind::Offers, Kind::Confirms, Kind::Announces].into_iter().any(|kind| self.has(kind))
    }

    pub(super) fn parts(&self) -> impl DoubleEndedIterator<Item = (&Sentence, &Act)> {
        self.sentences.iter().zip(&self.acts)
    }
}

fn kind(sentence: &Sentence, reading: &Reading) -> Kind {
    let has_value = !reading.mentions.is_empty();
    match sentence.form {
        Form::Closing => Kind::Closes,
        // `Is that right?`, `OK?`
        _ if sentence.asks_leave() => Kind::Offers,
        Form::Request if lets(&sentence.words) => Kind::Announces,
        // `Your visit moves to Friday.`
        Form::Request if has_value && !sentence.is_marked && begins_with_your(&sentence.words) => {
            Kind::Reports
        }
        Form::Offer | Form::Extra => Kind::Offers,
        Form::Check => Kind::Confirms,
        // `Friday at eight?`
        Form::Fragment if has_value && sentence.is_marked => Kind::Confirms,
        Form::Question | Form::Request | Form::Fragment => Kind::Asks,
        Form::Polite
            if !declines(&sentence.words)
                && !announces(&sentence.words)
                && (!has_value || sentence.words.iter().any(|word| word.is_one_of(&POLITE))) =>
        {
            Kind::Asks
        }
        Form::Polite | Form::Hint | Form::Report | Form::Statement => {
            if declines(&sentence.words) {
                Kind::Declines
            } else if announces(&sentence.words) {
                Kind::Announces
            } else if sentence.form == Form::Report || has_value || states(&sentence.words) {
                Kind::Reports
            } else {
                Kind::Remarks
            }
        }
    }
}

/// Returns true for a refusal: `I can't`, `it isn't possible`, `I'm not able to`.
fn declines(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| &*word.text);
    (0..words.len()).any(|at| match text(at) {
        "can" | "could" | "may" => matches!(text(at + 1), "t" | "not"),
        "couldn" | "cannot" | "unable" | "impossible" => true,
        "not" | "t" => matches!(text(at + 1), "possible" | "able" | "allowed"),
        _ => false,
    })
}

/// Returns true for an announcement such as `Let me look`, and not for `let me know`.
fn lets(words: &[Word]) -> bool {
    let begins = words.iter().position(|word| !word.is_one_of(&OPENERS)).unwrap_or(0);
    let text = |at: usize| words.get(begins + at).map_or("", |word| &*word.text);
    text(0) == "let" && matches!(text(1), "me" | "us") && text(2) != "know"
}

fn begins_with_your(words: &[Word]) -> bool {
    words.iter().find(|word| !word.is_one_of(&OPENERS)).is_some_and(|word| word.text == "your")
}

/// Returns true for an announcement: `I'll`, `let me`, `I'm going to`, `I would`.
fn announces(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| &*word.text);
    (0..words.len()).any(|at| match text(at) {
        "i" | "we" => match text(at + 1) {
            "ll" | "will" | "d" | "would" | "shall" | "could" => true,
            "m" | "am" | "re" | "are" => text(at + 2).ends_with("ing"),
            _ => false,
        },
        "let" => matches!(text(at + 1), "me" | "us"),
        "moment" | "second" | "minute" => matches!(text(at.saturating_sub(1)), "one" | "a"),
        _ => false,
    })
}

/// Returns true if a statement has a predicate.
fn states(words: &[Word]) -> bool {
    words.len() > 3
        && words.iter().any(|word| {
            word.is_one_of(&["is", "are", "was", "were", "has", "have", "s", "re", "comes", "costs", "makes"])
        })
}
