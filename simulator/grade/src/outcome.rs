//! How an answer ends, read from its words: refused, asking the user, or neither. An outcome given beside the answer wins
//! over what is read here; why it refuses is `refusal`'s to read.

mod cues;

use self::cues::{Cue, PHRASES};
use diorama_answers::lexicon::Roles;
use diorama_answers::tokens::{Kind, Text, Token};
use diorama_answers::{word, words};

/// What an answer's words say about its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// It says that something could not be done or is not so, or gives a reason for that.
    pub refuses: bool,
    /// It asks the user for something that is needed.
    pub asks: bool,
    /// It asks whether to go on, which is a need only when nothing else is said.
    pub offers: bool,
    /// It asks for leave, and of nothing else: `Shall I go ahead?`, `Is that correct?`
    pub asks_leave: bool,
    /// It says that something was carried out.
    pub done: bool,
    /// There is no word in it.
    pub silent: bool,
}

/// Reads how an answer ends.
pub fn read(text: &Text) -> Ending {
    let (phrases, index) = &*PHRASES;
    let mut ending = Ending { silent: text.tokens.iter().all(|token| token.hash == 0), ..Ending::default() };
    let last_question = text.tokens.iter().rev().find(|token| text.asks(token)).map(|token| token.sentence);
    for (at, token) in text.tokens.iter().enumerate() {
        let Some(candidates) = index.get(&token.hash) else { continue };
        for phrase in candidates.iter().filter_map(|position| phrases.get(usize::from(*position))) {
            if !spells(text, at, &phrase.words) {
                continue;
            }
            let asked = text.asks(token);
            match phrase.cue {
                Cue::Refusal if !asked && !softened(text, at, token) => ending.refuses = true,
                Cue::Done if !asked && !is_denied(text, at + phrase.words.len()) => ending.done = true,
                Cue::Offer if asked => {
                    ending.offers = true;
                    ending.asks_leave |= names_nothing(text, token.sentence);
                }
                Cue::Ask => {
                    let request = phrase.words.len() > 1
                        && !asked
                        && !courtesy(text, at, token)
                        && is_request(&phrase.words);
                    let question =
                        asked && last_question == Some(token.sentence) && !offered(text, token.sentence);
                    ending.asks |= request || question;
                }
                _ => {}
            }
        }
    }
    ending
}

impl Ending {
    /// Whether the text refuses, and says of nothing that it was carried out.
    pub const fn is_refusal(&self) -> bool {
        self.refuses && !self.done
    }

    /// Whether the text asks the user for something.
    pub const fn is_question(&self) -> bool {
        self.asks || (self.offers && !self.done)
    }
}

fn spells(text: &Text, at: usize, words: &[u64]) -> bool {
    let Some(first) = text.get(at) else { return false };
    let mut place = at;
    for word in words {
        while place > at && text.get(place).is_some_and(|token| token.is_symbol('-')) {
            place += 1;
        }
        let fits =
            text.get(place).is_some_and(|token| token.hash == *word && token.sentence == first.sentence);
        if !fits {
            return false;
        }
        place += 1;
    }
    true
}

/// `I have no way`, `it has not been`: nothing was carried out.
fn is_denied(text: &Text, next: usize) -> bool {
    text.get(next).is_some_and(|next| next.is(Roles::NEGATOR) || next.is(Roles::ZERO))
}

/// `sorry for the wait`, `I couldn't agree more`, `please don't hesitate`: no refusal.
fn softened(text: &Text, at: usize, token: &Token) -> bool {
    let next = |ahead: usize| {
        text.get(at + ahead).filter(|next| next.sentence == token.sentence).map_or(0, |next| next.hash)
    };
    let sorry = words!("sorry apologies apologize apologise").contains(&token.hash);
    sorry && next(1) == word!("for")
}

/// `Let me know if you need anything else`: no need.
fn courtesy(text: &Text, at: usize, token: &Token) -> bool {
    let near = text.tokens[at..].iter().take(8).take_while(|next| next.sentence == token.sentence);
    let before =
        text.tokens[..at].iter().rev().take(4).take_while(|before| before.sentence == token.sentence);
    near.chain(before).any(|next| words!("if else anything questions").contains(&next.hash))
}

/// Requests outside questions: `please provide`, `I need the`, `tell me`.
fn is_request(words: &[u64]) -> bool {
    let first = words.first().copied().unwrap_or(0);
    words!("please i ill tell let need could can clarify provide").contains(&first)
}

/// Whether a question has no words but those that ask for leave.
fn names_nothing(text: &Text, sentence: u32) -> bool {
    let leave = words!("go ahead proceed correct right confirm want like fine okay continue happy");
    let mut words = text.tokens.iter().filter(|token| token.sentence == sentence);
    words.all(|token| !token.has_content() && !token.is_digits() || leave.contains(&token.hash))
}

/// Whether the question of a sentence is an offer.
fn offered(text: &Text, sentence: u32) -> bool {
    let (phrases, index) = &*PHRASES;
    text.tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.sentence == sentence && !matches!(token.kind, Kind::Symbol(_)))
        .any(|(at, token)| {
            index
                .get(&token.hash)
                .into_iter()
                .flatten()
                .filter_map(|position| phrases.get(usize::from(*position)))
                .any(|phrase| phrase.cue == Cue::Offer && spells(text, at, &phrase.words))
        })
        && !text.tokens.iter().any(|token| {
            token.sentence == sentence
                && token.is(Roles::ASKING)
                && token.hash != word!("what")
                && token.hash != word!("how")
        })
}
