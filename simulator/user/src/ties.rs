//! Compares two typed mentions, by role and by value.

use diorama_answers::Day;
use diorama_answers::units::Unit;
use diorama_seeds::value::Date;

use super::mentions::{Mention, Reading, Value};
use super::vocabulary::Link;

/// A number from here on may be an amount of money without its currency.
pub(super) const MIN_BARE_AMOUNT: f64 = 20.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchRule {
    /// Both have one role: different values contradict each other.
    Role,
    /// Only equal values are significant.
    Equality,
}

/// Returns true if two names may replace each other, by the prepositions before them.
pub(super) fn may_replace(one: Link, other: Link) -> bool {
    let is_place = |link: Link| matches!(link, Link::Place | Link::To);
    let is_taker = |link: Link| matches!(link, Link::Object | Link::To | Link::For);
    one == other || (is_place(one) && is_place(other)) || (is_taker(one) && is_taker(other))
}

/// Returns the way to compare a mention of the assistant with one of the user, if there is one.
/// `names` are the stems of a withheld detail's names, where the user's mention is in one.
pub(super) fn match_rule(
    mention: &Mention,
    own: &Mention,
    source: &Reading,
    names: Option<&[String]>,
) -> Option<MatchRule> {
    let ends = (mention.link, own.link);
    if own.link == Link::Aside {
        return None;
    }
    match (&mention.value, &own.value) {
        (Value::Day(_), Value::Day(_)) | (Value::Time(_), Value::Time(_)) => {
            (!matches!(ends, (Link::From, Link::Until) | (Link::Until, Link::From)))
                .then_some(MatchRule::Role)
        }
        (Value::Phrase(_), Value::Phrase(_)) => (mention.link == own.link).then_some(MatchRule::Role),
        (Value::Code(one), Value::Code(two)) => is_same_shape(one, two).then_some(MatchRule::Role),
        (Value::Number { unit: one_unit, .. }, Value::Number { value: two, unit: two_unit, .. }) => {
            let of_detail = own.nouns.is_empty()
                && mention.nouns.iter().any(|noun| names.is_some_and(|names| names.contains(noun)));
            match (one_unit, two_unit) {
                (Some(one), Some(two)) => (one.dimension == two.dimension).then_some(MatchRule::Role),
                (None, None) => {
                    let shares = mention.nouns.iter().any(|noun| own.nouns.contains(noun)) || of_detail;
                    let is_bare = mention.nouns.is_empty() || own.nouns.is_empty();
                    (shares || is_bare).then_some(MatchRule::Role)
                }
                (Some(_), None) => (own.nouns.is_empty() && names.is_some()).then_some(MatchRule::Role),
                (None, Some(_)) => (mention.nouns.is_empty() && *two >= 0.0).then_some(MatchRule::Role),
            }
        }
        (Value::Money(_), Value::Money(_)) => {
            let is_bound = matches!(own.link, Link::AtMost | Link::AtLeast);
            Some(if is_price(mention, source) && !is_bound { MatchRule::Equality } else { MatchRule::Role })
        }
        (Value::Money(_), Value::Number { value, unit: None, .. }) => {
            let may_be_money = own.nouns.is_empty() && *value >= MIN_BARE_AMOUNT;
            may_be_money.then_some(if is_price(mention, source) {
                MatchRule::Equality
            } else {
                MatchRule::Role
            })
        }
        (Value::Number { unit: None, .. }, Value::Money(_)) => {
            mention.nouns.is_empty().then_some(MatchRule::Role)
        }
        _ => None,
    }
}

/// Returns true if money is the price of something and not the user's subject: `the 16:10 for $41`.
fn is_price(mention: &Mention, source: &Reading) -> bool {
    let is_known = mention.head.as_ref().is_some_and(|head| source.has(head));
    matches!(mention.link, Link::For | Link::Place) && !is_known
}

/// Converts a value to another unit of its dimension.
fn convert(value: f64, from: Option<Unit>, to: Option<Unit>) -> f64 {
    from.zip(to).and_then(|(from, to)| from.convert(value, to)).unwrap_or(value)
}

/// Returns true if two codes are of one form. A host and a part of its domain are not, because they mean
/// different things.
pub(super) fn is_same_shape(one: &str, other: &str) -> bool {
    let is_part = |one: &str, other: &str| {
        one.strip_suffix(other).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    match (code_kind(one), code_kind(other)) {
        (CodeKind::Other, CodeKind::Other) => shape(one) == shape(other),
        (CodeKind::Host, CodeKind::Host) => one == other || !(is_part(one, other) || is_part(other, one)),
        (one, other) => one == other,
    }
}

/// A kind of code with a form of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeKind {
    /// An e-mail address.
    Mail,
    /// A host or domain.
    Host,
    /// An IPv4 address.
    Ip,
    /// Any other.
    Other,
}

fn code_kind(code: &str) -> CodeKind {
    let has_letter = code.contains(char::is_alphabetic);
    match (code.contains('@'), code.contains('.')) {
        (true, _) => CodeKind::Mail,
        (false, true) if has_letter => CodeKind::Host,
        (false, true) => CodeKind::Ip,
        (false, false) => CodeKind::Other,
    }
}

/// Returns the form of a code: `9` for each digit, and `a` for each letter.
fn shape(code: &str) -> String {
    let form = |character: char| match character {
        '0'..='9' => '9',
        character if character.is_alphabetic() => 'a',
        character => character,
    };
    code.chars().map(form).collect()
}

/// Returns the likeliest date of a day.
pub(super) fn first_date(day: &Day) -> Option<Date> {
    day.readings.iter().flatten().next().copied()
}

/// Returns true if two mentions have the same value, or one keeps the bound that the other sets. Two bounds
/// must be equal.
pub(super) fn is_equal(mention: &Mention, own: &Mention, today: Date) -> bool {
    let within = |order: Option<std::cmp::Ordering>| match own.link {
        Link::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
        Link::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => false,
    };
    let is_bound = mention.link == own.link;
    compare(mention, own, today, |order| !is_bound && within(order))
}

/// Returns true if two mentions have the same value.
pub(super) fn has_same_value(mention: &Mention, own: &Mention, today: Date) -> bool {
    compare(mention, own, today, |_| false)
}

fn compare(
    mention: &Mention,
    own: &Mention,
    today: Date,
    within: impl Fn(Option<std::cmp::Ordering>) -> bool,
) -> bool {
    match (&mention.value, &own.value) {
        (Value::Day(one), Value::Day(two)) => {
            one.meets(two, today) || within(first_date(one).zip(first_date(two)).map(|(a, b)| a.cmp(&b)))
        }
        (Value::Time(one), Value::Time(two)) => one.meets(two) || within(Some(one.time.cmp(&two.time))),
        (Value::Code(one), Value::Code(two)) => one == two,
        (Value::Name(one), Value::Name(two)) => one == two,
        (Value::Phrase(one), Value::Phrase(two)) => one.iter().any(|word| two.contains(word)),
        (one, two) => {
            let numbers = |value: &Value| match value {
                Value::Number { value, other, unit } => Some((*value, *other, *unit)),
                Value::Money(value) => Some((*value, None, None)),
                _ => None,
            };
            let Some(((one, one_other, one_unit), (two, two_other, two_unit))) =
                numbers(one).zip(numbers(two))
            else {
                return false;
            };
            let one = convert(one, one_unit, two_unit);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * a.abs().max(1.0);
            near(one, two)
                || one_other.is_some_and(|one| near(one, two))
                || two_other.is_some_and(|two| near(one, two))
                || within(one.partial_cmp(&two))
        }
    }
}
