//! Finds the user's words for the values of wanted calls.

use diorama_seeds::english::{fold, stem};
use diorama_seeds::script::Goal;

use super::calls::{WantedCalls, WantedValue, has_name};
use super::fit::Correction;
use super::mentions::Value;
use super::message::Sentence;
use super::recall::is_duration;
use super::source::SourceKind;
use super::topic::{AskedKinds, Topic};
use super::wants::Wants;

/// Returns the user's words for the wanted value that a question asks for: by its name, or as the only
/// number.
pub(super) fn wanted_value(
    question: &Sentence,
    goal: &Goal,
    wants: &Wants,
    calls: &WantedCalls,
) -> Option<String> {
    let asks_length = question.words.windows(2).any(|pair| pair[0].text == "how" && pair[1].text == "long");
    let head = Topic::from_head(&question.words);
    let is_number = |value: &WantedValue| {
        value.mentions().any(|own| matches!(own.value, Value::Number { .. } | Value::Money(_)))
    };
    let mut numbers = calls.values.iter().filter(|value| is_number(value));
    let only_number = numbers.next().filter(|_| numbers.next().is_none());
    let asks_number = AskedKinds::from_clause(&question.words).kinds.number;
    let is_named = |value: &&WantedValue| match &head {
        Some(head) => head.stems.iter().any(|word| value.nouns.contains(&stem(word))),
        None => asks_length && value.mentions().any(is_duration),
    };
    let named = calls.values.iter().find(is_named);
    let value = named.or(only_number.filter(|_| asks_number && head.is_some()))?;
    match find_correction(value, goal, wants)? {
        Correction::Words(words) => Some(words),
        Correction::Detail(_) => None,
    }
}

/// Returns the user's words for a wanted value; none where they do not know it, or keep it secret.
pub(super) fn find_correction(value: &WantedValue, goal: &Goal, wants: &Wants) -> Option<Correction> {
    let said = value.said.clone().or_else(|| value.name.clone().filter(|name| wants.says(name)))?;
    let folded = fold(&said);
    let detail = goal.withheld.iter().position(|detail| has_name(&fold(&detail.say), &folded));
    let of_user = || {
        let earlier = wants.sources.iter().filter(|source| source.kind == SourceKind::Earlier);
        wants.current_sources().chain(earlier).find_map(|source| source.quote(&folded)).map(Correction::Words)
    };
    match detail {
        Some(at) => Some(Correction::Detail(at)),
        None => Some(of_user().unwrap_or(Correction::Words(said))),
    }
}
