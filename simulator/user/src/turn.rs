//! Parses an assistant's message once: each sentence as a speech act with its typed mentions.
//!
//! This module must not know what the user wants.

use diorama_answers::Clock;
use diorama_seeds::english::stem;

use super::calls::WantedCalls;
use super::form::Form;
use super::mentions::Reading;
use super::message::{self, Sentence};
use super::phrases::{AUXILIARIES, OPENERS, POLITE, PREPOSITIONS, PRONOUNS};
use super::tokens::Token;
use super::vocabulary::{Link, REMAINING, is_one_of};
use super::words::Word;

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
        acts.iter_mut().for_each(|act| set_left_alone_aside(&mut act.reading));
        // The assistant may list things after an offer: `Shall I check all: the phone and the tablet?`
        for at in 1..sentences.len() {
            let is_list = sentences[at - 1].text.ends_with(':') && acts[at - 1].kind == Kind::Offers;
            if is_list && sentences[at].form == Form::Fragment {
                (sentences[at].form, acts[at].kind) = (Form::Statement, Kind::Remarks);
            }
        }
        // The assistant asks nothing by its reports beside an offer.
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

    /// Finds the offers that depend on the wanted calls: a question that begins with one of their verbs, as
    /// `Start now?`, and a question for leave after a statement. That statement becomes an announcement.
    pub(super) fn find_offers(&mut self, calls: &WantedCalls, asks_detail: impl Fn(&Sentence, &Act) -> bool) {
        // Lists and requests that the assistant repeats before it asks leave ask nothing themselves.
        let leave = self.parts().collect::<Vec<_>>().into_iter().rposition(|(sentence, act)| {
            act.reading.mentions.is_empty() && sentence.may_ask_leave(|_| false)
        });
        for at in 0..leave.unwrap_or(0) {
            let (sentence, act) = (&self.sentences[at], &self.acts[at]);
            let has_values = !act.reading.mentions.is_empty() && !sentence.is_marked;
            if act.kind == Kind::Asks && has_values && !asks_detail(sentence, act) {
                (self.sentences[at].form, self.acts[at].kind) = (Form::Statement, Kind::Reports);
            }
        }
        for act in self.acts.iter_mut().filter(|act| act.kind == Kind::Reports) {
            // `If you agree, I drop it.`
            let plans = act.reading.tokens.windows(2).any(|pair| {
                matches!(&*pair[0].text, "i" | "we")
                    && calls.is_verb(&pair[1].stem)
                    && !pair[1].text.ends_with("ed")
            });
            if plans {
                act.kind = Kind::Announces;
            }
        }
        for at in 0..self.acts.len() {
            let (sentence, act) = (&self.sentences[at], &self.acts[at]);
            let first = sentence.words.iter().find(|word| !word.is_one_of(&OPENERS));
            let is_verb = |word: &Word| calls.is_verb(&stem(&word.text));
            // `Start now?`, `Book as picked?`
            let begins = first.is_some_and(is_verb)
                || sentence.words.iter().any(|word| word.text.ends_with("ed") && is_verb(word));
            let states = |act: &Act| !matches!(act.kind, Kind::Asks | Kind::Closes | Kind::Declines);
            let follows = at > 0 && self.acts[..at].iter().all(states);
            let asks_leave = || {
                act.reading.mentions.is_empty() && sentence.may_ask_leave(|word| calls.is_effect(&stem(word)))
            };
            let is_offer = match act.kind {
                Kind::Asks | Kind::Confirms => {
                    let is_fragment = sentence.form == Form::Fragment;
                    (is_fragment && (begins || ends_with_order(&act.reading)))
                        || (follows && asks_leave() && !asks_detail(sentence, act))
                }
                _ => false,
            };
            if is_offer {
                (self.sentences[at].form, self.acts[at].kind) = (Form::Offer, Kind::Offers);
            }
            let (sentence, act) = (&self.sentences[at], &self.acts[at]);
            // The assistant offers the statement before a bare question for leave.
            let is_bare = act.kind == Kind::Offers
                && act.reading.mentions.is_empty()
                && !sentence.words.iter().any(is_verb)
                && sentence.may_ask_leave(|word| calls.is_effect(&stem(word)));
            let plan = self.acts[..at].iter_mut().rfind(|before| !leaves_alone(&before.reading));
            if let Some(before) = plan.filter(|_| is_bare)
                && matches!(before.kind, Kind::Reports | Kind::Remarks)
            {
                before.kind = Kind::Announces;
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

/// Returns true if a statement says that something stays as it is: `your home isn't touched`.
pub(super) fn leaves_alone(reading: &Reading) -> bool {
    let plans = reading.tokens.iter().any(|token| matches!(&*token.text, "i" | "we"));
    // `Keep it at the depot` is an order.
    let remains = |token: &Token| is_one_of(&token.stem, &REMAINING) || matches!(&*token.text, "t" | "not");
    !plans && reading.tokens.iter().skip(1).any(remains)
}

/// Sets aside what an action leaves alone: `I'd take out the first and leave Ana in place`.
fn set_left_alone_aside(reading: &mut Reading) {
    let leaves = reading.tokens.windows(2).find(|pair| {
        matches!(&*pair[0].text, "and" | "but" | "while") && matches!(&*pair[1].text, "leave" | "keep")
    });
    let Some(span) = leaves.map(|pair| pair[1].span) else { return };
    let part = reading.part(span);
    let parts: Vec<usize> = reading.mentions.iter().map(|own| reading.part(own.span)).collect();
    for (own, at) in reading.mentions.iter_mut().zip(parts) {
        if at == part && own.span.start > span.end {
            own.link = Link::Aside;
        }
    }
}

/// Returns true if the last clause of a question is an order: `Tacos, on Sunday - put it on the plan?`
fn ends_with_order(reading: &Reading) -> bool {
    let begins = reading.tokens.iter().rposition(|token| token.after_mark);
    let clause = begins.filter(|at| *at > 0).and_then(|at| reading.tokens.get(at..)).unwrap_or_default();
    let is_verb = |token: &Token| {
        let word = &&*token.text;
        !(AUXILIARIES.contains(word) || PRONOUNS.contains(word) || PREPOSITIONS.contains(word))
    };
    matches!(clause, [verb, object, ..] if is_verb(verb)
        && matches!(&*object.text, "it" | "them" | "that" | "this"))
}

fn kind(sentence: &Sentence, reading: &Reading) -> Kind {
    let has_value = !reading.mentions.is_empty();
    match sentence.form {
        Form::Closing => Kind::Closes,
        // `Is that right?`, `OK?`
        _ if sentence.asks_leave() => Kind::Offers,
        Form::Request if announces_by_let(&sentence.words) => Kind::Announces,
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
fn announces_by_let(words: &[Word]) -> bool {
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
