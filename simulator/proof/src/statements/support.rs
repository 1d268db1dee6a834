//! Finds unsupported values in a message: numbers, amounts, days, times, units, currencies and names of
//! records.
//!
//! Each must be visible or follow from a visible value.

use std::sync::LazyLock;

use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::Dimension;
use diorama_answers::{Mention, Number, NumberRole, What};
use diorama_engine::Body;
use diorama_seeds::english::has_words;
use diorama_seeds::model::ApiId;
use diorama_seeds::value::{Date, Time};

use regex::Regex;

use super::value::Content;
use super::visible::{Leaf, Visible};
use crate::measures::Measures;

/// Matches the words before an approximate value.
static APPROXIMATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:about|around|approximately|roughly|nearly|almost|just under|just over|bit under|bit over|ca\.?)\s+\S?$",
    )
});
/// Matches a code of capitals and digits: `RO-64257` and `B4`.
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Z]{1,5}(?:-?\d+)(?:-[A-Z\d]+)*\b"));

#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile them")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern")
}

/// The greatest number of numbers that are added and subtracted.
const MAX_NUMBERS: usize = 200;
/// Up to this value a number in words rarely counts: `both of them`, `at once`.
const MAX_POINTER: f64 = 3.0;
/// Identifiers up to this value number options of an earlier message: `option 2`.
const MAX_OPTION: f64 = 20.0;
/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// The greatest relative error of a value after `about`.
const MAX_APPROXIMATION: f64 = 0.02;
/// The greatest relative rounding error of a converted value.
const MAX_CONVERSION_ERROR: f64 = 0.01;

/// A statement that no visible value supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnsupportedStatement {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// The kind of an unsupported statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A currency.
    Currency,
    /// A unit.
    Unit,
    /// A number, an amount, a day or a time.
    Value,
    /// The name of a record.
    Name,
}

/// Returns the statements of a message that no visible value supports.
#[must_use]
pub(crate) fn find_unsupported(message: &Prose, visible: &Visible<'_>) -> Vec<UnsupportedStatement> {
    let mut numbers = Numbers { visible, known: None };
    let mentions = message.mentions().iter();
    let mut found: Vec<UnsupportedStatement> = mentions
        .filter_map(|mention| {
            Some(UnsupportedStatement { kind: numbers.lacks(mention, message)?, span: mention.span() })
        })
        .collect();
    let Some((base, vocabulary)) = visible.world else { return found };
    let codes = CODE.find_iter(message.source()).map(|code| Span { start: code.start(), end: code.end() });
    found.extend(
        codes
            .filter(|span| !is_visible_text(message.words_at(*span), visible))
            .map(|span| UnsupportedStatement { kind: Kind::Name, span }),
    );
    let names = vocabulary.proper_names(message, base).into_iter();
    let names = names.map(|name| find_address(message.source(), name).unwrap_or(name));
    let strange = names.filter(|span| !is_visible_text(message.words_at(*span), visible));
    found.extend(strange.map(|span| UnsupportedStatement { kind: Kind::Name, span }));
    found
}

/// Finds the e-mail address that a name is a part of: `ana.ruiz@example.org` names no person.
fn find_address(text: &str, name: Span) -> Option<Span> {
    let is_border = |char: char| char.is_whitespace() || "<>()\"',;:".contains(char);
    let before = text.get(..name.start)?.char_indices().rev().find(|(_, char)| is_border(*char));
    let start = before.map_or(0, |(at, char)| at + char.len_utf8());
    let after = text.get(name.end..)?;
    let end = name.end + after.find(is_border).unwrap_or(after.len());
    let address = text.get(start..end)?.trim_end_matches(['.', '!', '?']);
    address.contains('@').then_some(Span { start, end: start + address.len() })
}

/// Returns true if a visible text has these words: a reply, a refusal, the system message, a turn, an
/// argument.
fn is_visible_text(words: &str, visible: &Visible<'_>) -> bool {
    let words = words.trim().to_lowercase();
    let has = |text: &str| has_words(&text.to_lowercase(), &words);
    let zone = &visible.clock.zone;
    let mut refused = visible.entries.iter().filter(|entry| !entry.reply.is_success());
    visible.texts().any(has)
        || visible.turns.iter().chain(visible.system).any(|prose| has(prose.source()))
        || refused.any(|entry| has(&entry.reply.to_json(zone)))
}

/// The visible numbers, collected on first use.
struct Numbers<'v, 'a> {
    visible: &'v Visible<'a>,
    known: Option<VisibleNumbers>,
}

/// Visible numbers, and the counts and sums of lists.
struct VisibleNumbers {
    shown: Vec<f64>,
    counted: Vec<f64>,
    said: Vec<f64>,
}

impl Numbers<'_, '_> {
    fn lacks(&mut self, mention: &Mention, message: &Prose) -> Option<Kind> {
        let visible = self.visible;
        let words = message.words_at(mention.span());
        if words.contains(char::is_alphabetic) && is_visible_text(words, visible) {
            return None;
        }
        if let Some(kind) = self.lacks_measure(mention) {
            return Some(kind);
        }
        if visible.is_said(mention) {
            return None;
        }
        let number = match &mention.what {
            What::Number(number) => Some(number.value),
            What::Money(money) => Some(money.amount.as_f64()),
            _ => None,
        };
        if let Some(value) = number.filter(|_| is_approximate(message, mention)) {
            let near = |leaf: &Leaf<'_>| {
                leaf.target.number().is_some_and(|own| (own - value).abs() <= own.abs() * MAX_APPROXIMATION)
            };
            if visible.leaves.iter().any(near) {
                return None;
            }
        }
        if visible.given_by(&mention.what).any(|leaf| fits_unit(leaf, &mention.what, visible)) {
            return None;
        }
        let known = match &mention.what {
            What::None => true,
            What::Date(day) => {
                day.derived
                    || dates(visible).any(|date| day.means(date, visible.clock.today))
                    || later_dates(visible).any(|date| day.means(date, visible.clock.today))
            }
            What::Time(said) => {
                let is = |time: Time| said.time == time || said.other == Some(time);
                times(visible).any(is)
                    || self.later_times().into_iter().any(is)
                    || self.is_duration(said.time)
            }
            What::Money(money) => {
                let values = [Some(money.amount.as_f64()), money.other.map(|other| other.as_f64())];
                self.follows(values, 2)
            }
            What::Number(number) => return (!self.is_known(number, words)).then_some(Kind::Value),
        };
        (!known).then_some(Kind::Value)
    }

    /// Returns the unit or currency of a mention if it is not visible.
    fn lacks_measure(&self, mention: &Mention) -> Option<Kind> {
        let measures = self.visible.measures?;
        match &mention.what {
            What::Money(money) if !measures.has_currency(money.currency) => Some(Kind::Currency),
            What::Number(Number { unit: Some(unit), .. }) if !measures.has_unit(unit.dimension) => {
                Some(Kind::Unit)
            }
            _ => None,
        }
    }

    fn is_known(&mut self, number: &Number, words: &str) -> bool {
        let weak =
            matches!(number.role, NumberRole::Weak | NumberRole::Identifier) && number.value < MAX_OPTION;
        let in_words = !words.contains(|c: char| c.is_ascii_digit());
        if weak || (in_words && number.unit.is_none() && number.value <= MAX_POINTER) {
            return true;
        }
        let values = [Some(number.value), number.other];
        let known = match number.unit {
            // The unit may convert to that of a visible number.
            Some(unit) => {
                let units: Vec<_> = self
                    .visible
                    .measures
                    .into_iter()
                    .flat_map(|known| known.units_of(unit.dimension))
                    .collect();
                let numbers = self.known();
                let shown = |value: f64| {
                    numbers
                        .shown
                        .iter()
                        .any(|known| (known - value).abs() <= value.abs() * MAX_CONVERSION_ERROR)
                };
                units
                    .into_iter()
                    .filter(|other| *other != unit)
                    .filter_map(|other| unit.convert(number.value, other))
                    .any(shown)
                    || self.is_sum(number.value)
                    || (unit.dimension == Dimension::Duration
                        && is_between_dates(number.value * unit.factor / DAY, self.visible))
            }
            None => self.follows(values, number.decimals) || self.is_of_a_date(number.value),
        };
        let exactly = |unit| self.visible.measures.is_none_or(|known| known.has_exactly(unit));
        known || (number.unit.is_none_or(exactly) && self.stands_in_a_text(number.value, words))
    }

    fn known(&mut self) -> &VisibleNumbers {
        let visible = self.visible;
        self.known.get_or_insert_with(|| {
            let mut shown: Vec<f64> = Vec::new();
            let leading = |text: &str| text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
            for leaf in &visible.leaves {
                let number = match leaf.target.content {
                    Content::Text(text, _) => leading(text),
                    _ => leaf.target.number(),
                };
                shown.extend(number.filter(|number| shown.len() < MAX_NUMBERS && !shown.contains(number)));
            }
            let mut counted: Vec<f64> = Vec::new();
            for entry in visible.entries {
                counted
                    .push(visible.entries.iter().filter(|other| other.call.api == entry.call.api).count()
                        as f64);
                entry.reply.body.parts().for_each(|part| count(part, &mut counted));
            }
            let said =
                visible.turns.iter().flat_map(Prose::numbers).map(|(number, _)| number).take(20).collect();
            VisibleNumbers { shown, counted, said }
        })
    }

    /// Returns true if a number is the year or the day of a visible date, or of one that follows from it.
    fn is_of_a_date(&self, value: f64) -> bool {
        let is =
            |date: Date| f64::from(date.civil().year()) == value || f64::from(date.civil().day()) == value;
        dates(self.visible).any(is) || later_dates(self.visible).any(is)
    }

    fn is_sum(&mut self, value: f64) -> bool {
        self.known().counted.iter().any(|known| (known - value).abs() < 0.005_000_1)
    }

    /// Returns true if a number is visible, a count or a sum, or the sum or difference of two visible
    /// numbers.
    /// A number of the user may also be added, subtracted or multiplied.
    fn follows(&mut self, values: [Option<f64>; 2], decimals: i8) -> bool {
        let step = if decimals < 0 { 0.5 * 10_f64.powi(-i32::from(decimals)) } else { 0.005 };
        let near = |known: f64| {
            values.iter().flatten().any(|said| {
                (known.abs() - said.abs()).abs() <= step + 1e-7
                    || (known.abs() >= 100.0 && (known.abs().round() - said.abs()).abs() < 1e-9)
            })
        };
        let VisibleNumbers { shown, counted, said } = self.known();
        let pairs =
            |a: &f64| shown.iter().any(|b| *a > 1.0 && *b > 1.0 && a != b && (near(a + b) || near(a - b)));
        let with_said = |a: &f64| shown.iter().any(|b| near(a + b) || near(a - b) || near(a * b));
        shown.iter().chain(counted).copied().any(near)
            || shown.iter().any(pairs)
            || said.iter().any(with_said)
    }

    /// Returns true if the digits are part of a visible text: a title, an address, a code, a tool's
    /// description.
    fn stands_in_a_text(&self, value: f64, words: &str) -> bool {
        let visible = self.visible;
        let spelt: String = words.chars().filter(char::is_ascii_digit).collect();
        let digits = if spelt.is_empty() { value.to_string() } else { spelt };
        let has = |text: &str| {
            (words.len() > 2 && text.contains(words))
                || text.split(|c: char| !c.is_ascii_digit()).any(|run| run == digits)
        };
        let described = || {
            let base = visible.world.map(|(base, _)| base)?;
            let apis = (0..base.world().apis.len()).filter_map(|index| base.tool_schema(ApiId(index as u16)));
            apis.into_iter().any(|schema| schema.to_string().contains(&format!(" {digits} "))).then_some(())
        };
        let zone = &visible.clock.zone;
        let mut refused = visible.entries.iter().filter(|entry| !entry.reply.is_success());
        digits != "0"
            && (visible.texts().any(has)
                || visible.turns.iter().chain(visible.system).any(|prose| has(prose.source()))
                || refused.any(|entry| has(&entry.reply.to_json(zone)))
                || described().is_some())
    }

    /// Returns the times a visible number of minutes after or before a visible time: the end of a show.
    fn later_times(&mut self) -> Vec<Time> {
        let visible = self.visible;
        let lengths = self
            .known()
            .shown
            .iter()
            .filter(|length| length.fract() == 0.0 && (5.0..=720.0).contains(*length));
        let lengths: Vec<u32> = lengths.map(|length| *length as u32 * 60).collect();
        let apart = |time: Time| {
            lengths
                .iter()
                .flat_map(move |length| [time.0 + length, time.0 + 86_400 - length])
                .map(|seconds| Time(seconds % 86_400))
        };
        times(visible).flat_map(apart).collect()
    }

    /// Returns true if a time is a visible duration: `2:14` for 134 minutes or seconds.
    fn is_duration(&mut self, time: Time) -> bool {
        let is = |known: &f64| {
            [1.0, 60.0, 3600.0].iter().any(|factor| {
                let seconds = f64::from(time.0);
                *known > 0.0
                    && ((known * factor - seconds).abs() < 0.5
                        || (known * factor * 60.0 - seconds).abs() < 0.5)
            })
        };
        self.known().shown.iter().any(is)
    }
}

/// Returns true if a value is stated as approximate.
fn is_approximate(message: &Prose, mention: &Mention) -> bool {
    let before = message.source().get(..mention.start).unwrap_or_default();
    APPROXIMATE.is_match(before)
}

/// Returns true if a visible value may be given in the unit of a mention.
/// A value without a declared unit has the one in its member's name or description, else any visible unit.
fn fits_unit(leaf: &Leaf<'_>, what: &What, visible: &Visible<'_>) -> bool {
    let What::Number(Number { unit: Some(unit), value, .. }) = what else { return true };
    if leaf.target.unit.is_some() {
        return true;
    }
    let described = leaf.field.zip(visible.world).map_or("", |((resource, field), (base, _))| {
        &*base.world().resource(resource).field(field).description
    });
    let named = [leaf.member, described].map(Measures::from_name);
    let mut own = named.iter().flat_map(|named| named.units_of(unit.dimension)).peekable();
    if own.peek().is_none() {
        return leaf.is_free && visible.measures.is_none_or(|known| known.has_exactly(*unit));
    }
    let number = leaf.target.number();
    let near = |(said, known): (f64, f64)| (said - known).abs() <= known.abs() * MAX_CONVERSION_ERROR;
    own.any(|own| own == *unit || unit.convert(*value, own).zip(number).is_some_and(near))
}

/// Adds the number of items, the numbers of items that share a value, and the sum and mean of each member.
fn count(part: &Body, counted: &mut Vec<f64>) {
    let Body::List(items) = part else { return };
    counted.push(items.len() as f64);
    let Some(Body::Object(members)) = items.first() else { return };
    for (name, _) in members {
        let values: Vec<_> = items.iter().take(100).filter_map(|item| item.member(name)?.value()).collect();
        let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
        if !numbers.is_empty() {
            let sum: f64 = numbers.iter().sum();
            counted.extend([sum, sum / items.len() as f64]);
        }
        let shared = |value| values.iter().filter(|other| *other == value).count() as f64;
        counted.extend(values.iter().map(shared).filter(|count| *count > 1.0));
    }
}

/// Returns the visible days: of values, and today.
fn dates<'v>(visible: &'v Visible<'_>) -> impl Iterator<Item = Date> + 'v {
    let shown = visible.leaves.iter().filter_map(|leaf| match leaf.target.content {
        Content::Date(date) | Content::Instant(date, _) => Some(date),
        Content::Text(text, _) => Date::parse(text.get(..10)?),
        _ => None,
    });
    std::iter::once(visible.clock.today).chain(shown)
}

/// Returns the days after a visible one by a length that a user, an argument or a reply gives.
fn later_dates<'v>(visible: &'v Visible<'_>) -> impl Iterator<Item = Date> + 'v {
    const LENGTHS: [(&str, f64); 4] = [("night", 1.0), ("day", 1.0), ("week", 7.0), ("month", 30.0)];
    let length = |name: &str| LENGTHS.into_iter().find(|(unit, _)| name.contains(unit)).map(|(_, days)| days);
    let said = visible.turns.iter().flat_map(move |turn| {
        turn.numbers().filter_map(move |(number, span)| {
            let behind = turn.source().get(span.start..)?.split_whitespace().take(3).collect::<String>();
            Some(number * length(&behind.to_lowercase())?)
        })
    });
    let shown = visible
        .leaves
        .iter()
        .filter_map(move |leaf| Some(leaf.target.number()? * length(&leaf.member.to_lowercase())?));
    let ahead = said.chain(shown).filter(|number| number.fract() == 0.0 && (1.0..=60.0).contains(number));
    let ahead: Vec<i32> = ahead.map(|number| number as i32).collect();
    dates(visible)
        .flat_map(move |day| ahead.clone().into_iter().map(move |ahead| Date(day.0.saturating_add(ahead))))
}

/// Returns true if this number of days lies between two visible days.
fn is_between_dates(days: f64, visible: &Visible<'_>) -> bool {
    let mut known: Vec<i32> = dates(visible).map(|date| date.0).collect();
    known.sort_unstable();
    known.dedup();
    known.len() <= MAX_NUMBERS
        && known.iter().any(|one| known.iter().any(|other| days > 0.0 && f64::from(other - one) == days))
}

/// Returns the visible times: of values, and now.
fn times<'v>(visible: &'v Visible<'_>) -> impl Iterator<Item = Time> + 'v {
    let shown = visible.leaves.iter().filter_map(|leaf| match leaf.target.content {
        Content::Time(time) | Content::Instant(_, time) => Some(time),
        Content::Text(text, _) => Time::parse(text),
        _ => None,
    });
    std::iter::once(visible.clock.zone.time_of(visible.now)).chain(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_inside_an_email_address_is_no_name() {
        let check = |text: &str, name: &str, address: Option<&str>| {
            let start = text.find(name).unwrap();
            let found = find_address(text, Span { start, end: start + name.len() });
            assert_eq!(found.map(|span| &text[span.start..span.end]), address, "{text}");
        };
        check("Sent to (nhung.ly75@mail.example).", "ly75", Some("nhung.ly75@mail.example"));
        check("It is ana@ruiz.example.", "ruiz", Some("ana@ruiz.example"));
        check("Ana Ruiz has ana@mail.example", "Ruiz", None);
    }
}
