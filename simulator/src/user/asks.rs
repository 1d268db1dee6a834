//! Questions and requests in an assistant's message, matched with withheld details by meaning.

use std::collections::HashSet;

use diorama_seeds::script::WithheldDetail;
use diorama_seeds::task::Outcome;

use diorama_answers::lexicon::Role;
use diorama_answers::text::{Text, Token};
use diorama_engine::embed::{dot, embedded};
use diorama_grade::prose::{Ending, is_offer, is_request};

/// From this cosine on, a question may mean a detail that it does not name; and so much nearer than the others the
/// detail must be. Both were set on one half of `questions.json`; `tests` measures the other half.
const NEAR: f32 = 0.2;
const APART: f32 = 0.1;

/// The kind of question that a message asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// None.
    None,
    /// A question whether there is anything else.
    Courtesy,
    /// A question whether to go on.
    Consent,
    /// A question for something that the user may know.
    Open,
}

/// An assistant's message, read.
pub(super) struct Message {
    text: Text,
    source: String,
    /// The sentences that ask for something.
    asking: Vec<u32>,
    /// The sentences that may ask for something that they name.
    urging: Vec<u32>,
    pub(super) question: Question,
}

/// Words that ask, and that a detail may be known by.
const ASKING: [&str; 5] = ["when", "who", "whom", "where", "whose"];

impl Message {
    pub(super) fn read(message: &str) -> Self {
        let text = Text::read(message);
        let said = |sentence: &u32| sentence_of(&text, message, *sentence).unwrap_or_default();
        let sentences = (0..).zip(&text.questions);
        let asks = sentences.filter(|(sentence, asks)| **asks || is_request(said(sentence)));
        let mut asking: Vec<u32> = asks.map(|(sentence, _)| sentence).collect();
        let courteous = |sentence: &u32| is_courtesy(&text, *sentence);
        let question = if asking.is_empty() {
            Question::None
        } else if asking.iter().all(courteous) {
            Question::Courtesy
        } else if asking.iter().any(|sentence| is_offer(said(sentence))) {
            Question::Consent
        } else {
            Question::Open
        };
        asking.retain(|sentence| !is_courtesy(&text, *sentence));
        let mut urging: Vec<u32> = urged(&text).filter(|sentence| !asking.contains(sentence)).collect();
        urging.dedup();
        Self { asking, urging, question, source: message.to_owned(), text }
    }

    /// The details that the message asks for, by position.
    pub(super) fn asked(&self, withheld: &[WithheldDetail]) -> Vec<usize> {
        let mut asked = Vec::new();
        for (sentence, urges) in
            self.asking.iter().map(|asks| (asks, false)).chain(self.urging.iter().map(|urges| (urges, true)))
        {
            let stems = self.stems(*sentence);
            let before = asked.len();
            asked.extend((0..withheld.len()).filter(|at| {
                (withheld[*at].any && !urges)
                    || names(&withheld[*at]).any(|name| is_named(name, &stems, withheld, *at))
            }));
            if asked.len() == before && !urges && self.question != Question::Consent {
                asked.extend(self.meant(*sentence, withheld));
            }
        }
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// How the message ends a goal: declined, or done where something was done.
    pub(super) fn ends(&self, worked: bool) -> Option<Outcome> {
        let sentences = (0..).zip(&self.text.questions);
        let ending = Ending::of(sentences.filter_map(|(number, asks)| Some((self.sentence(number)?, *asks))));
        if ending.is_refusal() {
            return Some(Outcome::Refused);
        }
        (worked || ending.is_claim()).then_some(Outcome::Done)
    }

    fn stems(&self, sentence: u32) -> HashSet<u64> {
        let tokens = self.text.tokens.iter().filter(|token| token.sentence == sentence);
        tokens
            .filter(|token| token.has_content() || ASKING.contains(&self.text.word(token)))
            .map(|token| token.stem)
            .collect()
    }

    /// The detail that a question means without naming it: the nearest, where no other is about as near.
    fn meant(&self, sentence: u32, withheld: &[WithheldDetail]) -> Option<usize> {
        let model = embedded().ok()?;
        let vector = model.vector(self.sentence(sentence)?);
        let near = |text: &str| dot(&vector, &model.vector(text));
        let nearest = |held: &WithheldDetail| {
            names(held).map(|name| near(&name.replace(['_', '-'], " "))).fold(f32::MIN, f32::max)
        };
        let mut by_nearness: Vec<(usize, f32)> =
            withheld.iter().enumerate().map(|(at, held)| (at, nearest(held))).collect();
        by_nearness.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let (at, best) = *by_nearness.first()?;
        let next = by_nearness.get(1).map_or(f32::MIN, |(_, next)| *next);
        (best >= NEAR && best - next >= APART).then_some(at)
    }

    fn sentence(&self, number: u32) -> Option<&str> {
        sentence_of(&self.text, &self.source, number)
    }
}

fn sentence_of<'a>(text: &Text, source: &'a str, number: u32) -> Option<&'a str> {
    let mut tokens = text.tokens.iter().filter(|token| token.sentence == number);
    let first = tokens.next()?;
    let end = tokens.next_back().unwrap_or(first).end;
    source.get(first.start as usize..end as usize)
}

/// Sentences that ask without a question mark: `I just need your PIN`, `Your card number, please`.
fn urged(text: &Text) -> impl Iterator<Item = u32> {
    const URGING: [&str; 12] = [
        "please", "need", "require", "provide", "share", "give", "tell", "send", "enter", "specify",
        "missing", "lack",
    ];
    text.tokens.iter().filter(|token| URGING.contains(&text.word(token))).map(|token| token.sentence)
}

fn names(held: &WithheldDetail) -> impl Iterator<Item = &str> {
    std::iter::once(&*held.about).chain(held.words.iter().map(|word| &**word))
}

/// Returns true if all words of a name are asked for. A single word that other details are known by too is not
/// enough.
fn is_named(name: &str, asked: &HashSet<u64>, withheld: &[WithheldDetail], at: usize) -> bool {
    let words = name_stems(name);
    if words.is_empty() || !words.iter().all(|word| asked.contains(word)) {
        return false;
    }
    let [only] = words.as_slice() else { return true };
    let others = withheld.iter().enumerate().filter(|(other, _)| *other != at);
    // `number` asks for a number where nothing else is a number; `card number` and `phone number` must be told apart.
    !others.flat_map(|(_, held)| names(held)).any(|other| {
        let other = name_stems(other);
        other.len() > 1 && other.contains(only) && other.iter().all(|word| asked.contains(word))
    })
}

fn name_stems(name: &str) -> Vec<u64> {
    let spaced = name.replace(['_', '-'], " ");
    let text = Text::of_value(&spaced);
    let tells = |token: &&Token| {
        token.has_content() || ASKING.contains(&text.word(token)) || token.is(Role::Identifier)
    };
    text.tokens.iter().filter(|token| token.is_word()).filter(tells).map(|token| token.stem).collect()
}

/// `Is there anything else I can do for you?`
fn is_courtesy(text: &Text, sentence: u32) -> bool {
    let mut tokens = text.tokens.iter().filter(|token| token.sentence == sentence);
    tokens.any(|token| matches!(text.word(token), "else" | "anything" | "further" | "otherwise"))
}
