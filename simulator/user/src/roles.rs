//! Compares mentions with the values of wanted calls: by value, by label, and by the role that both have.

use diorama_seeds::value::Date;

use super::calls::{WantedCalls, WantedValue};
use super::mentions::{Mention, Reading, Value};
use super::ties::{MIN_BARE_AMOUNT, is_equal, is_same_shape};
use super::vocabulary::Link;

/// Returns true if a text neither denies a mention nor sets it aside.
pub(super) fn is_asserted(mention: &Mention) -> bool {
    !mention.is_denied && mention.link != Link::Aside
}

/// Returns true if a mention is a value of a wanted call.
pub(super) fn is_wanted(mention: &Mention, calls: &WantedCalls, today: Date) -> bool {
    calls
        .values
        .iter()
        .flat_map(WantedValue::mentions)
        .any(|own| own.value.is_alike(&mention.value) && is_equal(mention, own, today))
}

/// Returns true if a mention has the role of a wanted value. A bare number has it if only one is wanted.
pub(super) fn shares_role(
    mention: &Mention,
    own: &Mention,
    value: &WantedValue,
    is_only_number: bool,
) -> bool {
    let is_bare = |mention: &Mention| {
        matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= MIN_BARE_AMOUNT)
            && mention.nouns.is_empty()
            && is_only_number
            && mention.link != Link::Aside
    };
    let is_named =
        || shares_noun(mention, own) || mention.nouns.iter().any(|noun| value.nouns.contains(noun));
    match (&mention.value, &own.value) {
        (Value::Code(one), Value::Code(two)) => is_same_shape(one, two),
        (Value::Day(_), Value::Day(_)) | (Value::Time(_), Value::Time(_)) => true,
        (Value::Money(_), Value::Money(_)) => !matches!(mention.link, Link::For | Link::Place | Link::From),
        (Value::Number { unit: Some(one), .. }, Value::Number { unit: Some(two), .. }) => {
            one.dimension == two.dimension && mention.link != Link::From
        }
        (Value::Number { unit: None, .. }, Value::Number { .. }) => is_named() || is_bare(mention),
        // The API may lack a unit that the assistant states.
        (Value::Number { unit: Some(_), value, .. }, Value::Number { unit: None, value: wanted, .. }) => {
            is_only_number && mention.link == Link::Object && value.min(*wanted) >= MIN_BARE_AMOUNT
        }
        (Value::Number { unit: None, .. }, Value::Money(_)) => is_bare(mention),
        _ => false,
    }
}

/// Returns true if two numbers count one noun, or have one label.
pub(super) fn shares_noun(one: &Mention, other: &Mention) -> bool {
    one.nouns.iter().any(|noun| other.nouns.contains(noun))
}

/// Returns the stem of the noun of which a sentence says that it is a value: `the [amount] is 650`.
pub(super) fn subject<'a>(reading: &'a Reading, mention: &Mention) -> Option<&'a str> {
    let mut before = reading.tokens.iter().rev().skip_while(|token| token.span.end > mention.span.start);
    before.next().filter(|token| matches!(&*token.text, "is" | "are" | "was"))?;
    before.next().filter(|token| token.has_content()).map(|token| &*token.stem)
}

/// Returns the stem of the word before a number without a unit: `[leaf] 3`.
pub(super) fn label<'a>(reading: &'a Reading, mention: &Mention) -> Option<&'a str> {
    let mut before = reading.tokens.iter().rev().skip_while(|token| token.span.end > mention.span.start);
    let is_number = matches!(mention.value, Value::Number { unit: None, .. });
    before.next().filter(|token| is_number && token.has_content()).map(|token| &*token.stem)
}

/// Returns true if a word is a name of a wanted value, or stands in it: `leaf`, for `leaf 3`.
pub(super) fn is_label(label: &str, value: &WantedValue) -> bool {
    value.nouns.iter().any(|noun| noun == label) || value.reading.has(label)
}

/// Returns true if the word before a number is a name of another wanted value: `quality 3`, for `leaf 3`.
pub(super) fn is_labelled_otherwise(
    reading: &Reading,
    mention: &Mention,
    value: &WantedValue,
    calls: &WantedCalls,
) -> bool {
    let labels = || label(reading, mention).into_iter().chain(mention.nouns.iter().map(|noun| &**noun));
    !labels().any(|label| is_label(label, value))
        && labels().any(|label| calls.values.iter().any(|other| is_label(label, other)))
}
