//! Reads a withheld detail for comparison with questions: its names, its example questions, and its kind of
//! answer.

use diorama_seeds::script::WithheldDetail;

use super::form::Form;
use super::message;
use super::phrases::PREPOSITIONS;
use super::topic::{AskedKinds, Kinds, Topic};
use super::vocabulary::{CONVERSES, SECRETS};
use super::words::{Word, words};

/// The greatest number of words of a name; longer texts are descriptions.
const MAX_NAME_WORDS: usize = 4;

/// A withheld detail, read.
#[derive(Debug)]
pub(super) struct Detail {
    /// Its names: short texts that are no questions.
    pub(super) names: Vec<Topic>,
    /// All texts about it, by sentence and clause.
    pub(super) texts: Vec<Topic>,
    /// Its names and descriptions, and the targets of its example questions.
    pub(super) targets: Vec<Topic>,
    /// The kinds of answer that these texts ask for.
    pub(super) asked: Kinds,
    /// The user's words for it.
    pub(super) answer: Topic,
    /// The kinds of answer that the user's words contain.
    pub(super) answer_kinds: Kinds,
    /// True if it proves the user's identity.
    pub(super) is_secret: bool,
    /// True if its answer is an address or a long number.
    pub(super) is_address: bool,
}

impl Detail {
    pub(super) fn read(withheld: &WithheldDetail) -> Self {
        let answer = words(&withheld.say);
        let mut detail = Self {
            names: Vec::new(),
            texts: Vec::new(),
            targets: Vec::new(),
            asked: Kinds::default(),
            answer_kinds: Kinds::from_answer(&answer),
            answer: Topic::from_words(&answer),
            is_secret: false,
            is_address: withheld.say.split_whitespace().any(is_address),
        };
        let texts = std::iter::once(&withheld.about).chain(&withheld.words).chain(&withheld.questions);
        for text in texts {
            detail.add(text);
        }
        let names = detail.names.iter().chain(&detail.targets).flat_map(|name| &name.stems);
        detail.is_secret = names.into_iter().any(|stem| SECRETS.contains(&&**stem));
        detail
    }

    fn add(&mut self, text: &str) {
        let all = words(text);
        if all.len() <= MAX_NAME_WORDS && !text.contains('?') {
            push(&mut self.names, Topic::from_words(&all));
        }
        for sentence in message::read(text) {
            let is_question = sentence.is_marked || sentence.form == Form::Request;
            // The author of an example question may greet first, which says nothing about the detail.
            if !is_question && text.contains('?') {
                continue;
            }
            let whole = std::iter::once(0..sentence.words.len());
            for range in whole.chain(sentence.clauses.iter().cloned()) {
                let clause: &[Word] = sentence.words.get(range).unwrap_or_default();
                let topic = Topic::from_words(clause);
                self.asked = self.asked.union(AskedKinds::from_clause(clause).kinds);
                let target = match is_question {
                    true => Topic::from_head(clause).unwrap_or_else(|| topic.clone()),
                    false => Topic::from_words(subject(clause)),
                };
                push(&mut self.targets, target);
                push(&mut self.texts, topic);
            }
        }
    }

    /// Returns the greatest cosine of its texts with a topic.
    pub(super) fn nearness(&self, topic: &Topic) -> f32 {
        nearest(&self.texts, topic)
    }

    /// Returns the greatest cosine of its names and question targets with a topic.
    pub(super) fn target_nearness(&self, topic: &Topic) -> f32 {
        nearest(&self.targets, topic)
    }

    /// Returns true if a topic has all words of a name.
    pub(super) fn is_named(&self, topic: &Topic) -> bool {
        self.names.iter().any(|name| name.is_within(&topic.stems))
    }

    /// Returns true if a question asks for the other end of this detail: its sender, not its recipient.
    pub(super) fn is_converse(&self, head: &Topic) -> bool {
        let has = |topic: &Topic, word: &str| topic.stems.iter().any(|stem| stem == word);
        let is_target = |word: &str| self.targets.iter().any(|target| has(target, word));
        let is_other = |one: &str, other: &str| has(head, one) && is_target(other) && !is_target(one);
        CONVERSES.iter().any(|(one, other)| is_other(one, other) || is_other(other, one))
    }

    /// Returns true if a topic shares a word with its names or question targets.
    pub(super) fn shares_target(&self, topic: &Topic) -> bool {
        self.targets.iter().any(|target| target.meets(&topic.stems))
    }
}

/// Returns a description up to its first preposition: `[Amount] for the whole recipe`. A short one stays
/// whole.
fn subject(words: &[Word]) -> &[Word] {
    if words.len() <= MAX_NAME_WORDS {
        return words;
    }
    let ends = |word: &Word| word.is_one_of(&PREPOSITIONS) && word.text != "of";
    let end = words.iter().position(ends).unwrap_or(words.len());
    words.get(..end).unwrap_or_default()
}

/// Returns true if a word is an e-mail address, or has five digits.
fn is_address(word: &str) -> bool {
    word.contains('@') || word.chars().filter(char::is_ascii_digit).count() >= 5
}

fn push(topics: &mut Vec<Topic>, topic: Topic) {
    if !topic.is_empty() && !topics.contains(&topic) {
        topics.push(topic);
    }
}

fn nearest(topics: &[Topic], topic: &Topic) -> f32 {
    topics.iter().map(|known| known.nearness(topic)).fold(0.0, f32::max)
}
