//! Parses an assistant's message into sentences and clauses, with the form in which each asks.
//!
//! This module must not know the user's withheld details.

use std::ops::Range;

use diorama_seeds::english::stem;

use super::form::{Form, asks_leave, form};
use super::parts::{Part, clauses, sentences, strip_item_mark};
use super::phrases::{AUXILIARIES, CONFIRMING, LEAVE, OPENERS, PRONOUNS, QUESTION_WORDS};
use super::vocabulary::{is_common, is_one_of};
use super::words::{Word, words};

/// The greatest number of words of a question without a verb that asks for permission: `Alright with you?`
const MAX_LEAVE_WORDS: usize = 6;
/// The greatest number of bytes of a message that are read.
const MAX_BYTES: usize = 20_000;

/// A sentence of a message.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) form: Form,
    /// The sentence as it is written.
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// Its clauses as ranges of words; more than one ends with the whole sentence.
    pub(super) clauses: Vec<Range<usize>>,
    /// True if it ends with a question mark.
    pub(super) is_marked: bool,
}

/// Parses a message.
pub(super) fn read(message: &str) -> Vec<Sentence> {
    let end = message.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_BYTES).last().unwrap_or(0);
    let message = if message.len() > MAX_BYTES { message.get(..end).unwrap_or_default() } else { message };
    let parts = sentences(message);
    let is_short = parts.len() <= 2;
    let mut found: Vec<Sentence> = Vec::new();
    // The items of a list ask if the line before it does.
    let mut list_asks = false;
    for part in parts {
        let part = Part { text: if part.is_item { strip_item_mark(part.text) } else { part.text }, ..part };
        let words = words(part.text);
        if words.is_empty() {
            continue;
        }
        let form = if list_asks && !part.is_marked { Form::Request } else { form(&words, &part, is_short) };
        if !part.is_item {
            list_asks = part.opens_list && matches!(form, Form::Question | Form::Request | Form::Polite);
        }
        let clauses = if form.may_ask() { clauses(&words) } else { Vec::new() };
        let text = part.text.trim().to_owned();
        found.push(Sentence { form, text, clauses, is_marked: part.is_marked, words });
    }
    found
}

/// Returns true if a word carries no content of its own, or means leave: `agreed`, `confirm`.
fn means_leave(word: &Word) -> bool {
    is_common(&word.text) || is_one_of(&stem(&word.text), &LEAVE) || is_one_of(&stem(&word.text), &CONFIRMING)
}

impl Sentence {
    /// Returns true if it is a yes-or-no question about a thing by its name: `Does Ana eat fish?`
    pub(super) fn asks_fact(&self) -> bool {
        let mut lead = self.words.iter().skip_while(|word| word.is_one_of(&OPENERS));
        lead.next().is_some_and(|word| word.is_one_of(&AUXILIARIES))
            && lead.next().is_some_and(|word| !is_common(&word.text))
    }

    /// Returns true if it may ask for permission to do what the statement before it plans: it says nothing of
    /// its own. `Would that suit you?`, `Really off?` A word for the effect, by its stem, may stand in it.
    pub(super) fn may_ask_leave(&self, is_effect: impl Fn(&str) -> bool) -> bool {
        let words = &self.words;
        let begins = words.iter().position(|word| !word.is_one_of(&OPENERS)).unwrap_or(words.len());
        let lead = &words[begins..];
        let has = |wanted: &[&str]| words.iter().any(|word| word.is_one_of(wanted));
        let content: Vec<&Word> = lead.iter().filter(|word| !means_leave(word)).collect();
        if !self.is_marked {
            // `Please confirm.`, `Tell me if I may.`
            return content.is_empty() && has(&["if", "whether", "confirm"]);
        }
        if has(&["or", "any"]) || words[0].text == "your" {
            return false;
        }
        // `Is that what you'd like?`
        let asks_else = has(&QUESTION_WORDS)
            && !(content.is_empty() && has(&["what", "how"]) && words[0].is_one_of(&AUXILIARIES));
        let refers = has(&["this", "that", "it", "everything", "all", "your"]);
        let inverts = lead.first().is_some_and(|first| first.is_one_of(&AUXILIARIES));
        let is_pronoun = lead.get(1).is_some_and(|next| next.is_one_of(&PRONOUNS));
        !asks_else
            && match content.len() {
                0 => true,
                1 if inverts => is_pronoun && refers,
                _ => {
                    !inverts
                        && lead.len() <= MAX_LEAVE_WORDS
                        && content.iter().all(|word| is_effect(&word.text))
                }
            }
    }

    /// Returns true if it only asks for permission, by a question: `Is that right?`
    pub(super) fn asks_leave(&self) -> bool {
        self.is_marked && asks_leave(&self.words)
    }
}
