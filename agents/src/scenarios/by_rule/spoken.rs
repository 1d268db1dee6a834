//! The words of scenarios that are written by rule, as data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diorama_seeds::schema::Type;
use diorama_seeds::world::read_words;
use serde::Deserialize;

use crate::scenarios::speech::fill;

/// Wordings of careful writers, and of hasty ones.
pub(crate) type Hands = [Vec<String>; 2];

/// The words; `words.yaml` says what each stands for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spoken {
    reasons: Reasons,
    pub(crate) further: Hands,
    pub(crate) first_of: Hands,
    pub(crate) first_of_end: Vec<String>,
    pub(crate) of_state: Hands,
    pub(crate) of_kind: Hands,
    pub(crate) of_kind_end: Vec<String>,
    pub(crate) in_all: Hands,
    pub(crate) in_all_end: Vec<String>,
    pub(crate) count: Hands,
    pub(crate) change_to: Hands,
    pub(crate) now: Hands,
    pub(crate) then: Hands,
    pub(crate) confirm: Vec<String>,
    pub(crate) confirm_payment: Vec<String>,
    pub(crate) agree: Vec<String>,
    pub(crate) done: Vec<String>,
    pub(crate) made: Vec<String>,
    participles: BTreeMap<String, String>,
    pub(crate) payments: Vec<String>,
    #[serde(rename = "final")]
    pub(crate) undone: Vec<String>,
    pub(crate) made_words: Vec<String>,
}

/// Reasons to ask, by what is asked for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    moment: Hands,
    state: Hands,
    amount: Hands,
    text: Hands,
}

/// The words.
pub(crate) static SPOKEN: LazyLock<Spoken> =
    LazyLock::new(|| read_words(include_str!("words.yaml")).unwrap_or_default());

impl Spoken {
    /// Why somebody asks for a value of a type.
    pub(crate) const fn reasons(&self, kind: &Type) -> &Hands {
        match kind {
            Type::Date | Type::DateTime | Type::Time => &self.reasons.moment,
            Type::Enum(_) | Type::Boolean => &self.reasons.state,
            Type::Integer | Type::Number | Type::Decimal { .. } => &self.reasons.amount,
            _ => &self.reasons.text,
        }
    }

    /// Returns true if a question begins with a reason.
    pub(crate) fn is_reasoned(&self, question: &str) -> bool {
        let all = [&self.reasons.moment, &self.reasons.state, &self.reasons.amount, &self.reasons.text];
        all.into_iter().flatten().flatten().any(|reason| question.starts_with(reason))
    }

    /// What was done, of a clause that begins with its verb: `delete the item` is `deleted the item`.
    pub(crate) fn did(&self, clause: &str) -> String {
        let (verb, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let did = self.participles.get(verb).cloned().unwrap_or_else(|| participle(verb));
        format!("{did} {rest}").trim_end().replace(" my ", " your ")
    }
}

/// The participle of a verb that follows the rule: `added`, `closed`, `copied`, `planned`.
fn participle(verb: &str) -> String {
    const VOWELS: &str = "aeiou";
    let letters: Vec<char> = verb.chars().collect();
    let is_vowel = |letter: &char| VOWELS.contains(*letter);
    match letters.as_slice() {
        [.., 'e'] => format!("{verb}d"),
        [stem @ .., before, 'y'] if !is_vowel(before) => {
            format!("{}{before}ied", stem.iter().collect::<String>())
        }
        // A short vowel before the last consonant of a short verb doubles it.
        [first @ .., vowel, last]
            if is_vowel(vowel)
                && !is_vowel(last)
                && !['w', 'x', 'y'].contains(last)
                && first.last().is_some_and(|before| !is_vowel(before))
                && !first.iter().any(is_vowel) =>
        {
            format!("{verb}{last}ed")
        }
        _ => format!("{verb}ed"),
    }
}

/// All wordings, careful ones first, with words filled in.
pub(crate) fn both_hands(hands: &Hands, values: &[(&str, &str)]) -> Vec<String> {
    hands.iter().flatten().map(|words| fill(words, values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_read() {
        let spoken = read_words::<Spoken>(include_str!("words.yaml")).unwrap();
        assert!(spoken.further.iter().all(|hand| hand.len() > 2) && spoken.confirm.len() > 2);
        let check = |clause: &str, expect: &str| assert_eq!(spoken.did(clause), expect);
        check("delete the item", "deleted the item");
        check("add a room to my house", "added a room to your house");
        check("copy the file", "copied the file");
        check("pin the post", "pinned the post");
        check("publish the draft", "published the draft");
        check("send a message", "sent a message");
        check("enable the manager", "enabled the manager");
        check("play", "played");
    }
}
