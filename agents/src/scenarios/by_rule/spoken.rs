//! Loads the wordings of scenarios that are written by rule.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diorama_seeds::english::{plural, singular, split_identifier};
use diorama_seeds::schema::Type;
use diorama_seeds::world::read_words;
use serde::Deserialize;

use crate::scenarios::speech::fill;

/// Wordings of careful writers, and of hasty ones.
pub(crate) type Hands = [Vec<String>; 2];

/// All wordings; `words.yaml` says where each is used.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleWordings {
    reasons: Reasons,
    pub(crate) asks: Hands,
    pub(crate) further: Hands,
    pub(crate) frames: Hands,
    pub(crate) remove: Hands,
    pub(crate) later: Hands,
    pub(crate) correct: Hands,
    pub(crate) rename: Hands,
    pub(crate) first_of: Hands,
    pub(crate) first_of_end: Vec<String>,
    pub(crate) of_state: Hands,
    pub(crate) of_kind: Hands,
    pub(crate) of_kind_end: Vec<String>,
    pub(crate) in_all: Hands,
    pub(crate) in_all_end: Vec<String>,
    pub(crate) change_to: Hands,
    pub(crate) now: Hands,
    pub(crate) then: Hands,
    pub(crate) with_new: Hands,
    pub(crate) ask: Details,
    pub(crate) ask_also: DetailParts,
    pub(crate) tell: Answers,
    pub(crate) confirm: Vec<String>,
    pub(crate) confirm_payment: Vec<String>,
    pub(crate) agree: Vec<String>,
    pub(crate) done: Vec<String>,
    pub(crate) made: Vec<String>,
    participles: BTreeMap<String, String>,
    pub(crate) payments: Vec<String>,
    #[serde(rename = "final")]
    pub(crate) undone: Vec<String>,
    made_words: Vec<String>,
    changed_words: Vec<String>,
    moment_words: Vec<String>,
    events: Vec<String>,
    states: Vec<String>,
    state_endings: Vec<String>,
    state_words: Vec<String>,
    numbered: Vec<String>,
    names: Vec<String>,
    speech: Vec<String>,
    pub(crate) messages: Vec<String>,
    figures: Vec<String>,
    keys: Vec<String>,
    orders: Vec<OrderWords>,
}

/// The assistant's questions for details that were left out.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Details {
    pub(crate) which: Vec<String>,
    pub(crate) called: Vec<String>,
    pub(crate) says: Vec<String>,
    pub(crate) value: Vec<String>,
    pub(crate) several: Vec<String>,
}

/// Parts of one question, each for one detail.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DetailParts {
    pub(crate) which: String,
    pub(crate) called: String,
    pub(crate) says: String,
    pub(crate) value: String,
}

/// The user's answers to questions for one detail.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answers {
    pub(crate) which: Vec<String>,
    pub(crate) called: Vec<String>,
    pub(crate) says: Vec<String>,
    pub(crate) value: Vec<String>,
}

/// The words for the first and the last in the order of some fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderWords {
    of: Vec<String>,
    least: String,
    most: String,
}

/// Reasons for a question, by the kind of the requested value.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    moment: Hands,
    state: Hands,
    amount: Hands,
    text: Hands,
}

/// The wordings of `words.yaml`.
pub(crate) static SPOKEN: LazyLock<RuleWordings> =
    LazyLock::new(|| read_words(include_str!("words.yaml")).unwrap_or_default());

impl RuleWordings {
    /// Returns reasons to ask for a value of a type.
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

    /// Returns true if a label names a state.
    pub(crate) fn is_state(&self, label: &str) -> bool {
        self.states.iter().any(|state| ends_with_words(label, state))
    }

    /// Returns true if a state can describe a noun: `open`, `delivered`.
    pub(crate) fn is_adjective(&self, state: &str) -> bool {
        let state = split_identifier(state).join(" ");
        let ends = |end: &String| !state.contains(' ') && state.ends_with(end.as_str());
        self.state_words.contains(&state) || self.state_endings.iter().any(ends)
    }

    /// Returns true if people know the number of a labelled record: an order, an invoice.
    pub(crate) fn is_numbered(&self, label: &str) -> bool {
        self.numbered.iter().any(|noun| ends_with_words(label, noun))
    }

    /// Returns true if a label names the name of something.
    pub(crate) fn is_name(&self, label: &str) -> bool {
        self.names.iter().any(|name| name == label)
    }

    /// Returns true if a label names a text that people write.
    pub(crate) fn is_speech(&self, label: &str) -> bool {
        self.speech.iter().any(|name| name == label)
    }

    /// Returns true if a number of this label needs no unit: it counts or measures the labelled noun.
    pub(crate) fn is_figure(&self, label: &str) -> bool {
        let counts = label.ends_with(" count") || label.starts_with("number of ");
        counts || self.figures.iter().any(|figure| ends_with_words(label, figure))
    }

    /// Returns true if a label names a key, which users only say for a record.
    pub(crate) fn is_key(&self, label: &str) -> bool {
        let last = label.rsplit(' ').next().unwrap_or_default().to_lowercase();
        self.keys.contains(&last)
    }

    /// Returns true if the label of a timestamp names a creation: `created at`, and `date` of a payment.
    pub(crate) fn is_made(&self, label: &str, thing: &str) -> bool {
        let said = label.split(' ').map(str::to_lowercase);
        let telling: Vec<String> = said.filter(|word| !self.moment_words.contains(word)).collect();
        match telling.as_slice() {
            [] => self.events.iter().any(|event| ends_with_words(thing, event)),
            [word] => self.made_words.iter().any(|stem| word.starts_with(stem.as_str())),
            _ => false,
        }
    }

    /// Returns true if the label of a timestamp names the last change.
    pub(crate) fn is_changed(&self, label: &str) -> bool {
        label.split(' ').any(|word| self.changed_words.iter().any(|stem| word.starts_with(stem.as_str())))
    }

    /// Returns the predicate of the first or the last in the order of a field: `is the cheapest`, `has the
    /// most parts`.
    /// If several names end the label, the longest decides.
    pub(crate) fn order(&self, label: &str, greatest: bool) -> Option<String> {
        let names = self.orders.iter().flat_map(|order| order.of.iter().map(move |of| (of, order)));
        let known = names.filter(|(of, _)| ends_with_words(label, of)).max_by_key(|(of, _)| of.len());
        if let Some((_, order)) = known {
            return Some(if greatest { &order.most } else { &order.least }.clone());
        }
        let counted = label.strip_suffix(" count").or(label.strip_prefix("number of "))?;
        Some(format!("has the {} {}", if greatest { "most" } else { "fewest" }, plural(&singular(counted))))
    }

    /// Returns the past tense of a clause that begins with its verb: `delete the item` becomes `deleted the
    /// item`.
    pub(crate) fn did(&self, clause: &str) -> String {
        let (verb, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let did = self.participles.get(verb).cloned().unwrap_or_else(|| participle(verb));
        format!("{did} {rest}").trim_end().replace(" my ", " your ")
    }
}

/// Returns true if the last words of a label are these.
fn ends_with_words(label: &str, words: &str) -> bool {
    label.strip_suffix(words).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// Returns the participle of a regular verb: `added`, `closed`, `copied`, `planned`.
fn participle(verb: &str) -> String {
    const VOWELS: &str = "aeiou";
    let letters: Vec<char> = verb.chars().collect();
    let is_vowel = |letter: &char| VOWELS.contains(*letter);
    match letters.as_slice() {
        [.., 'e'] => format!("{verb}d"),
        [stem @ .., before, 'y'] if !is_vowel(before) => {
            format!("{}{before}ied", stem.iter().collect::<String>())
        }
        // A short verb doubles the last consonant after a short vowel.
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

/// Returns all wordings, careful ones first, with values filled in.
pub(crate) fn both_hands(hands: &Hands, values: &[(&str, &str)]) -> Vec<String> {
    hands.iter().flatten().map(|words| fill(words, values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_file_classifies_field_names() {
        let spoken = read_words::<RuleWordings>(include_str!("words.yaml")).unwrap();
        assert!(spoken.further.iter().all(|hand| hand.len() > 2) && spoken.confirm.len() > 2);
        assert!(spoken.is_made("create time", "job") && spoken.is_made("date", "payment"));
        assert!(!spoken.is_made("date", "person") && !spoken.is_made("last updated", "job"));
        assert!(!spoken.is_made("scheduled start time", "job"));
        assert!(spoken.is_adjective("IN_PROGRESS") && spoken.is_adjective("closed"));
        assert!(!spoken.is_adjective("success") && !spoken.is_adjective("SIMPLE"));
        assert!(spoken.is_numbered("purchase order") && !spoken.is_numbered("border"));
        assert!(spoken.is_state("order status") && !spoken.is_state("real estate"));
        assert_eq!(spoken.order("unit price", false).as_deref(), Some("is the cheapest"));
        assert_eq!(spoken.order("total price", false).as_deref(), Some("is the smallest"));
        assert_eq!(spoken.order("asset count", true).as_deref(), Some("has the most assets"));
        assert_eq!(spoken.order("limit reset date", true), None);
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
