//! Computes the topic of a clause: its content words, the kinds of answer that it asks for, and its vector.
//!
//! This module must not know which details there are.

use super::phrases::{ASKED_BY, AUXILIARIES, FILLERS, IMPERATIVES, KINDS_OF, NEEDS, PREPOSITIONS, PRONOUNS};
use super::words::Word;
use diorama_engine::embed::embedded;
use diorama_engine::search::words::stem;

/// The greatest number of words of a question's target: `how many [air filters] did you`.
const MAX_HEAD_WORDS: usize = 3;

/// The content words of a text, with their vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Topic {
    /// The stems of its words.
    pub(super) stems: Vec<String>,
    /// The embedding; empty without content words.
    pub(super) vector: Vec<f32>,
}

/// Kinds of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) day: bool,
    pub(super) clock: bool,
    pub(super) person: bool,
    pub(super) number: bool,
}

/// The kinds of answer that a clause asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedKinds {
    pub(super) kinds: Kinds,
    /// The kinds that an answer must have: `when` asks for a day or a time.
    pub(super) strict: Kinds,
    /// True if it asks for a reason.
    pub(super) reason: bool,
}

impl Topic {
    /// Returns the topic of words; an empty one is near nothing.
    pub(super) fn from_words(words: &[Word]) -> Self {
        let content = content_words(words);
        if content.is_empty() {
            return Self::default();
        }
        let vector = embedded().map_or_else(|_| Vec::new(), |model| model.vector(&content.join(" ")));
        Self { stems: content.iter().map(|word| stem(word)).collect(), vector }
    }

    /// Returns the stems of a topic, without its vector.
    pub(super) fn stems_of(words: &[Word]) -> Vec<String> {
        content_words(words).into_iter().map(stem).collect()
    }

    /// Returns the topic of a question's target: `which [course] shall I take`.
    pub(super) fn from_head(words: &[Word]) -> Option<Self> {
        let begins = words.iter().enumerate().position(|(at, word)| {
            let counts = word.text == "how"
                && words.get(at + 1).is_some_and(|next| matches!(&*next.text, "many" | "much"));
            counts || word.is_one_of(&["which", "what", "whats", "wich"])
        })?;
        let mut head: Vec<Word> = Vec::new();
        let mut follows_of = false;
        for word in words.get(begins + 1..)? {
            let skipped = ["your", "the", "s", "is", "are", "was", "of"];
            let ends = word.is_one_of(&AUXILIARIES)
                || word.is_one_of(&PRONOUNS)
                || word.is_one_of(&NEEDS)
                || word.is_one_of(&IMPERATIVES[..4])
                || word.is_one_of(&PREPOSITIONS)
                || word.is_one_of(&["your", "the", "suit", "suits"]);
            // `the name of the course` goes on.
            let goes_on = word.text == "of" || (follows_of && word.is_one_of(&["the", "your"]));
            if ends && !goes_on && (!head.is_empty() || !word.is_one_of(&skipped)) {
                break;
            }
            follows_of = word.text == "of";
            let counts = matches!(&*word.text, "many" | "much");
            if !ends && !counts && !word.is_one_of(&KINDS_OF) && !word.is_one_of(&FILLERS) {
                head.push(word.clone());
            }
            if head.len() == MAX_HEAD_WORDS {
                break;
            }
        }
        let topic = Self::from_words(&head);
        (!topic.stems.is_empty()).then_some(topic)
    }

    /// Returns the cosine with another topic; 0 where one of them is empty.
    pub(super) fn nearness(&self, other: &Self) -> f32 {
        diorama_engine::embed::dot(&self.vector, &other.vector)
    }

    /// Returns true without content words.
    pub(super) const fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }

    /// Returns true if all its words are among these.
    pub(super) fn is_within(&self, stems: &[String]) -> bool {
        !self.stems.is_empty() && self.stems.iter().all(|stem| stems.contains(stem))
    }

    /// Returns true if one of its words is among these.
    pub(super) fn meets(&self, stems: &[String]) -> bool {
        self.stems.iter().any(|stem| stems.contains(stem))
    }
}

/// Returns the content words; question words become the nouns that they stand for.
fn content_words(words: &[Word]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let asked = ASKED_BY.iter().find(|(phrase, _)| {
            let here = words.get(at..at + phrase.len()).unwrap_or_default();
            here.len() == phrase.len() && here.iter().zip(*phrase).all(|(word, part)| word.text == *part)
        });
        if let Some((phrase, meaning)) = asked {
            found.extend_from_slice(meaning);
            at += phrase.len();
            continue;
        }
        if !word.is_one_of(&FILLERS) {
            found.push(&word.text);
        }
        at += 1;
    }
    found
}

impl Kinds {
    /// Returns the kinds that are in both.
    pub(super) const fn intersection(self, other: Self) -> Self {
        Self {
            day: self.day && other.day,
            clock: self.clock && other.clock,
            person: self.person && other.person,
            number: self.number && other.number,
        }
    }

    /// Returns the kinds that are in one of them.
    pub(super) const fn union(self, other: Self) -> Self {
        Self {
            day: self.day || other.day,
            clock: self.clock || other.clock,
            person: self.person || other.person,
            number: self.number || other.number,
        }
    }

    /// Returns true if any kind is set.
    pub(super) const fn has_any(self) -> bool {
        self.day || self.clock || self.person || self.number
    }

    /// Returns the kinds of answer that a user's words contain.
    pub(super) fn from_answer(words: &[Word]) -> Self {
        let mut kinds = Self::default();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).map_or("", |next| &*next.text);
            let digits = word.text.chars().all(|character| character.is_ascii_digit());
            let is_clock = digits
                && word.text.len() <= 2
                && (matches!(next, "am" | "pm" | "o")
                    || (next.len() == 2 && next.chars().all(|character| character.is_ascii_digit())));
            kinds.clock |= is_clock || word.is_one_of(&CLOCK_WORDS);
            kinds.day |= word.text.ends_with("day") || word.is_one_of(&DAY_WORDS);
            kinds.day |= digits && matches!(next, "st" | "nd" | "rd" | "th");
            kinds.number |= digits || word.is_one_of(&NUMBER_WORDS);
            let is_name = word.capital && !word.is_one_of(&DAY_WORDS) && !word.text.ends_with("day");
            let stands_alone = words.len() == 1 || words.get(1).is_some_and(|second| second.capital);
            kinds.person |= is_name && word.text != "i" && (at > 0 || stands_alone);
        }
        kinds
    }
}

const CLOCK_WORDS: [&str; 7] = ["noon", "midnight", "morning", "afternoon", "evening", "clock", "half"];
const DAY_WORDS: [&str; 20] = [
    "today",
    "tomorrow",
    "tonight",
    "yesterday",
    "week",
    "month",
    "year",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "weekend",
];
const NUMBER_WORDS: [&str; 15] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "half", "dozen", "none",
    "alone", "quarter",
];

impl AskedKinds {
    /// Returns the kinds of answer that a clause asks for.
    pub(super) fn from_clause(words: &[Word]) -> Self {
        let mut asked = Self::default();
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", |before| &*before.text);
            let next = words.get(at + 1).map_or("", |next| &*next.text);
            match &*word.text {
                "when" => (asked.kinds.day, asked.kinds.clock) = (true, true),
                "day" | "days" | "date" | "dates" | "deadline" => asked.kinds.day = true,
                // `an hour` and `per hour` are rates.
                "hour" if matches!(before, "an" | "per" | "a") => asked.kinds.number = true,
                "time" | "times" | "hour" | "clock" => asked.kinds.clock = true,
                "who" | "whos" | "whom" | "whose" => {
                    (asked.kinds.person, asked.strict.person) = (true, true);
                }
                "name" | "names" | "where" | "city" | "country" | "town" => asked.kinds.person = true,
                "amount" | "sum" | "price" | "percent" | "minutes" | "hours" | "kilometres" => {
                    asked.kinds.number = true;
                }
                "cent" if before == "per" => asked.kinds.number = true,
                "how" if MEASURE_WORDS.contains(&next) => {
                    asked.kinds.number = true;
                    asked.strict.number |= matches!(next, "many" | "much" | "heavy" | "far");
                }
                "why" => asked.reason = true,
                _ => {}
            }
        }
        let is_open = ["when", "what", "which", "at", "on", "whats", "from"];
        if words.iter().any(|word| word.is_one_of(&is_open)) {
            (asked.strict.day, asked.strict.clock) = (asked.kinds.day, asked.kinds.clock);
        }
        asked
    }
}

const MEASURE_WORDS: [&str; 10] =
    ["many", "much", "heavy", "loud", "far", "long", "big", "high", "bright", "warm"];
