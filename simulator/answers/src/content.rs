//! Text content: reduces a short text to its meaningful words, numbers and denials, without their order.

use crate::lexicon::Role;
use crate::text::{Kind, Text};

/// A text may have at most this many times the words of the expected one.
const MAX_LENGTH_RATIO: usize = 2;

/// The content of a short text, such as a note or a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextContent {
    /// Hashes of the stems of its words with meaning, sorted.
    stems: Vec<u64>,
    /// Its figures and number words in folded form, sorted.
    numbers: Vec<String>,
    /// Number of denying words.
    denials: usize,
    /// Number of words and figures.
    words: usize,
}

impl TextContent {
    /// Reads a text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = Text::of_value(&text.replace('_', " "));
        let mut content = Self::default();
        for token in &text.tokens {
            let word = text.word(token);
            match token.kind {
                Kind::Sign(_) => continue,
                Kind::Figure(_) => content.numbers.push(word.to_owned()),
                Kind::Word if token.is(Role::Negator) => content.denials += 1,
                Kind::Word => match token.lex.number {
                    Some(number) => content.numbers.push(number.to_string()),
                    None if token.has_content() => content.stems.push(token.stem),
                    None => {}
                },
            }
            content.words += 1;
        }
        content.stems.sort_unstable();
        content.numbers.sort_unstable();
        content
    }

    /// Returns true if another text contains this one. It must have each meaningful word, each number, and as
    /// many denials, in at most twice as many words. Order and function words such as `the` or `please` do
    /// not count.
    #[must_use]
    pub fn is_said_by(&self, other: &Self) -> bool {
        self.denials == other.denials
            && other.words <= MAX_LENGTH_RATIO * self.words
            && is_part(&self.stems, &other.stems)
            && is_part(&self.numbers, &other.numbers)
    }

    /// Returns true if two texts differ only in order and function words. Example: `in review` and `under
    /// review`.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        !(self.stems.is_empty() && self.numbers.is_empty())
            && (&self.stems, &self.numbers, self.denials) == (&other.stems, &other.numbers, other.denials)
    }
}

/// Returns true if a sorted list contains each item of another one, as often as it occurs there.
fn is_part<T: Ord>(part: &[T], whole: &[T]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_said_in_other_words_and_not_in_other_content() {
        let check = |expected: &str, given: &str, says: bool| {
            assert_eq!(
                TextContent::read(expected).is_said_by(&TextContent::read(given)),
                says,
                "{expected} / {given}"
            );
        };
        check("allergic to nuts", "Guest is allergic to nuts.", true);
        check("please ring the bell twice", "The bell: ring it twice, please", true);
        check("owners visit today", "owners visit tomorrow", false);
        check("ring after 10", "ring before 10", false);
        check("leave it with the neighbour at number 12", "Leave with neighbour, number 12", true);
        check("two bags of flour", "2 bags of flour", true);
        // The other text adds a denial, removes one, or has another number of them.
        check("ring the bell", "Do not ring the bell", false);
        check("do not ring the bell", "Ring the bell", false);
        check("don't ring, but knock", "don't ring, and don't knock", false);
        // The other text has another number, another name, or less content.
        check("leave it at number 12", "leave it at number 21", false);
        check("ask for Rosa", "ask for Rita", false);
        check("leave it with the neighbour at number 12", "leave it at number 12", false);
        // A text that is far longer than the note does not count as the note.
        check(
            "ring twice",
            "ring twice, I said, and then the flat on the left, ask for my brother or come again",
            false,
        );
    }

    #[test]
    fn a_choice_is_named_in_other_function_words() {
        let same = |one: &str, other: &str| TextContent::read(one).is_same(&TextContent::read(other));
        assert!(same("in_review", "under review"));
        assert!(same("to_let", "for let"));
        assert!(!same("in_review", "reviewed and accepted"));
        assert!(!same("accepted", "not accepted"));
        assert!(!same("on", "off"), "nothing but function words is compared as it stands");
    }
}
