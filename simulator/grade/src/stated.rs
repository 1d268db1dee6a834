//! What an assistant states: every number, amount, day and time, every unit and currency, and every name of a record
//! must stand in something visible, or follow from it.

use diorama_seeds::model::ApiId;
use diorama_seeds::value::{Date, Instant, Time, Value};
use serde_json::Value as Json;
use std::sync::Arc;

use super::measures::Measures;
use super::vocabulary::Vocabulary;
use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::Unit;
use diorama_answers::{Clock, Mention, Number, NumberRole, What};
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Base, Body, Origin};

/// What is visible to an assistant when it speaks.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The world.
    pub base: &'a Base,
    /// The names of its records.
    pub vocabulary: &'a Vocabulary,
    /// The clock it reads by.
    pub clock: &'a Clock,
    /// The present moment.
    pub now: Instant,
    /// The system message.
    pub system: &'a Prose,
    /// The user's turns so far.
    pub turns: &'a [Prose],
    /// The calls so far.
    pub entries: &'a [Arc<LogEntry>],
    /// What their replies show.
    pub replies: &'a Replies<'a>,
    /// The units and currencies that are visible.
    pub measures: &'a Measures,
}

/// The leaves of replies, which are looked through again and again.
#[derive(Debug)]
pub struct Replies<'a> {
    /// Of those that say something of the world.
    of_world: Vec<(&'a Value, &'a Origin)>,
    /// Of searches for tools.
    of_tools: Vec<(&'a Value, &'a Origin)>,
}

impl<'a> Replies<'a> {
    /// Of these calls.
    #[must_use]
    pub fn of(entries: &'a [Arc<LogEntry>]) -> Self {
        let mut replies = Self { of_world: Vec::new(), of_tools: Vec::new() };
        for entry in entries {
            let searches = entry.call.api == TOOL_SEARCHER;
            let leaves = if searches { &mut replies.of_tools } else { &mut replies.of_world };
            leaves.extend(entry.reply.body.values());
        }
        replies
    }

    /// All leaves.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a Value, &'a Origin)> {
        self.of_world.iter().chain(&self.of_tools).copied()
    }
}

/// Something that is stated and nowhere given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfounded {
    /// What kind of thing it is.
    pub what: Kind,
    /// Where it stands.
    pub span: Span,
}

/// What is nowhere given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A currency.
    Currency,
    /// A unit.
    Unit,
    /// A number, an amount, a day or a time.
    Value,
    /// The name of a record.
    Name,
}

/// Everything in an assistant's words that nothing visible gives.
#[must_use]
pub fn unfounded(prose: &Prose, seen: &Shown<'_>) -> Vec<Unfounded> {
    let judged = prose.mentions().iter().filter_map(|mention| {
        let span = mention.span();
        Some(Unfounded { what: lacks(mention, prose, seen)?, span })
    });
    judged.chain(strange_names(prose, seen)).collect()
}

/// So many numbers of replies are added and subtracted.
const MOST_NUMBERS: usize = 200;
/// So many are pointed at in words.
pub(super) const FEW: f64 = 3.0;

/// Whether a text of a reply has these words as they stand, in words of their own.
fn is_spelt_so(words: &str, seen: &Shown<'_>) -> bool {
    let words = words.trim();
    let has = |text: &str| {
        // Most texts don't have them at all, which is quickly known.
        text.contains(words)
            && text.match_indices(words).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + words.len()..]);
                !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
            })
    };
    words.chars().any(char::is_alphabetic) && leaves(seen).any(|(value, _)| value.as_str().is_some_and(has))
}

/// What of a mention nothing visible gives.
fn lacks(mention: &Mention, prose: &Prose, seen: &Shown<'_>) -> Option<Kind> {
    // What a reply spells so is given, whatever it would be measured in.
    if is_spelt_so(prose.words_at(mention.span()), seen) {
        return None;
    }
    let known = match &mention.what {
        What::Money(_) if said_by_user(mention, prose, seen) => true,
        What::Money(money) => {
            if !seen.measures.has_currency(money.currency) {
                return Some(Kind::Currency);
            }
            is_number(money.amount.as_f64(), money.other.map(|other| other.as_f64()), 2, seen)
        }
        What::Number(number) => return lacks_number(number, mention, prose, seen),
        What::Date(day) => {
            day.derived
                || dates(seen).any(|date| day.means(date, seen.clock.today))
                || days_after(seen).any(|date| day.means(date, seen.clock.today))
                || said_by_user(mention, prose, seen)
        }
        What::Time(time) => {
            times(seen).any(|known| known == time.time || time.other == Some(known))
                || times_after(seen).any(|known| known == time.time || time.other == Some(known))
                || is_duration(time.time, seen)
                || said_by_user(mention, prose, seen)
        }
        What::None => true,
    };
    (!known).then_some(Kind::Value)
}

fn lacks_number(number: &Number, mention: &Mention, prose: &Prose, seen: &Shown<'_>) -> Option<Kind> {
    // `one`, `a day`: seldom meant as a number. `option 2`, `1.`: names a place in the list that was told.
    if matches!(number.role, NumberRole::Weak | NumberRole::Identifier) && number.value < 20.0 {
        return None;
    }
    // `at once`, `both of them`, `the two`: a few in words is how people point, not how they count.
    let in_words = !prose.words_at(mention.span()).contains(|c: char| c.is_ascii_digit());
    if in_words && number.unit.is_none() && number.value <= FEW {
        return None;
    }
    if said_by_user(mention, prose, seen) {
        return None;
    }
    let known = match number.unit {
        Some(unit) => {
            if !seen.measures.has_unit(unit.dimension) {
                return Some(Kind::Unit);
            }
            is_measured(number.value, unit, seen) || is_converted(number.value, unit, seen)
        }
        None => {
            is_number(number.value, number.other, number.decimals, seen)
                || dates(seen).any(|date| f64::from(date.civil().year()) == number.value)
        }
    };
    (!known && !stands_in_a_text(prose.words_at(mention.span()), seen)).then_some(Kind::Value)
}

/// The user said the same thing before.
fn said_by_user(mention: &Mention, prose: &Prose, seen: &Shown<'_>) -> bool {
    let said = |turn: &Prose| {
        turn.mentions().iter().any(|other| match (&other.what, &mention.what) {
            (What::Number(a), What::Number(b)) => {
                (a.value - b.value).abs() < 1e-9
                    && (b.unit.is_none()
                        || a.unit == b.unit
                        || b.unit.is_some_and(|unit| seen.measures.has_unit(unit.dimension)))
            }
            (What::Date(a), What::Date(b)) => a.meets(b, seen.clock.today),
            (What::Money(a), What::Money(b)) => a.amount == b.amount && a.currency == b.currency,
            (What::Time(a), What::Time(b)) => a.meets(b),
            _ => false,
        })
    };
    let words = prose.words_at(mention.span());
    seen.turns.iter().any(|turn| said(turn) || turn.find_digits(words).is_some())
}

/// The replies that say something of the world.
fn replies<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = &'a Body> {
    let of_world = seen.entries.iter().filter(|entry| entry.call.api != TOOL_SEARCHER);
    of_world.map(|entry| &entry.reply.body)
}

/// Their values.
fn leaves<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = (&'a Value, &'a Origin)> {
    seen.replies.of_world.iter().copied()
}

/// The arguments that were sent.
fn sent<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = &'a Json> {
    seen.entries.iter().flat_map(|entry| entry.call.arguments.values())
}

/// Numbers that a reply shows, an argument sends, or a list counts; their sums and differences.
fn is_number(value: f64, other: Option<f64>, decimals: i8, seen: &Shown<'_>) -> bool {
    // People round: what is said to two decimals is what is shown to more, and `2.1 million` hides digits. What was spent
    // is told without the sign that a list of bookings gives it.
    let step = if decimals < 0 { 0.5 * 10_f64.powi(-i32::from(decimals)) } else { 0.005 };
    let near = |known: f64| {
        let close = |said: f64| {
            (known.abs() - said.abs()).abs() <= step + 0.000_000_1
                || (known.abs() >= 100.0 && (known.abs().round() - said.abs()).abs() < 1e-9)
        };
        close(value) || other.is_some_and(close)
    };
    let shown = || leaves(seen).filter_map(|(value, _)| number_of(value));
    if shown().any(near) {
        return true;
    }
    if sent(seen).filter_map(Json::as_f64).any(near) {
        return true;
    }
    if value.fract() == 0.0 && value < 1_000.0 && counts(seen).any(|count| near(count as f64)) {
        return true;
    }
    let reach = if decimals < 0 { step } else { 0.5 };
    follows(shown(), seen, ([Some(value), other], reach + 0.1), near)
}

/// A number with a unit, as a reply shows it or an argument sends it: what is counted has no unit, but for sums.
fn is_measured(value: f64, unit: Unit, seen: &Shown<'_>) -> bool {
    let near = |known: f64| (known - value).abs() <= 0.005_000_1;
    let world = seen.base.world();
    // Its field has such a unit, or the name of its member, or its value spells one.
    let fits = |path: &str, value: &Value, origin: &Origin| {
        let declared = match origin {
            Origin::Field { resource, field, .. } => {
                world.resource(*resource).field(*field).schema.unit.as_deref().and_then(Unit::named)
            }
            _ => None,
        };
        let member = path.rsplit('.').next().unwrap_or(path);
        declared.is_some_and(|declared| declared.dimension == unit.dimension)
            || Measures::of_name(member).has_unit(unit.dimension)
            || value.as_str().is_some()
    };
    let mut shown = replies(seen).flat_map(Body::leaves);
    shown.any(|(path, value, origin)| number_of(value).is_some_and(near) && fits(&path, value, origin))
        || sent(seen).filter_map(Json::as_f64).any(near)
        || seen.entries.iter().flat_map(|entry| sums(&entry.reply.body)).any(near)
}

/// The number that a value is, or spells: `"12"` and `"4.5 km"` too.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => {
            let digits: &str = text.split(' ').next().unwrap_or_default();
            digits.parse().ok()
        }
        other => other.as_f64(),
    }
}

/// How many items lists have, how many of them share a value, and how many calls were made of an API.
fn counts(seen: &Shown<'_>) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    for entry in seen.entries {
        for part in entry.reply.body.parts() {
            if let Body::List(items) = part {
                found.push(items.len());
                found.extend(shared(items));
            }
        }
        let same = seen.entries.iter().filter(|other| other.call.api == entry.call.api);
        found.push(same.count());
    }
    found.into_iter()
}

/// For each value of the items' members that repeats, how many items have it.
fn shared(items: &[Body]) -> Vec<usize> {
    let mut seen: Vec<(&str, &Value, usize)> = Vec::new();
    for item in items.iter().take(100) {
        let Body::Object(members) = item else { continue };
        for (name, member) in members {
            let Body::Leaf(value @ (Value::String(_) | Value::Bool(_)), _) = member else { continue };
            let known = seen.iter().position(|(known, other, _)| *known == &**name && *other == value);
            if let Some((.., count)) = known.and_then(|at| seen.get_mut(at)) {
                *count += 1;
            } else if seen.len() < 400 {
                seen.push((name, value, 1));
            }
        }
    }
    seen.into_iter().map(|(.., count)| count).collect()
}

/// A sum of all, a sum or difference of two, or a product with what the user said.
fn follows(
    shown: impl Iterator<Item = f64>,
    seen: &Shown<'_>,
    (targets, reach): ([Option<f64>; 2], f64),
    near: impl Fn(f64) -> bool,
) -> bool {
    let mut few: Vec<f64> = Vec::new();
    for number in shown {
        if few.len() < MOST_NUMBERS && !few.contains(&number) {
            few.push(number);
        }
    }
    for entry in seen.entries {
        if sums(&entry.reply.body).into_iter().any(&near) {
            return true;
        }
    }
    let said: Vec<f64> =
        seen.turns.iter().flat_map(Prose::numbers).map(|(number, _)| number).take(20).collect();
    // Of what is shown, the two that make up what is said: the second is looked up.
    let mut ordered: Vec<f64> = few.iter().copied().filter(|number| *number > 1.0).collect();
    ordered.sort_unstable_by(f64::total_cmp);
    let shown_near = |wanted: f64| {
        let from = ordered.partition_point(|number| *number < wanted - reach);
        ordered.iter().skip(from).copied().take_while(move |number| *number <= wanted + reach)
    };
    let makes_up = |said: f64| {
        ordered.iter().any(|a| {
            shown_near(said - a).any(|b| b != *a && near(a + b))
                || shown_near(a - said).any(|b| b != *a && near(a - b))
        })
    };
    let pairs = targets.into_iter().flatten().any(|said| makes_up(said.abs()));
    pairs || said.iter().any(|a| few.iter().any(|b| near(a + b) || near((a - b).abs()) || near(a * b)))
}

/// For each member of the items of each list, the sum over the items.
fn sums(body: &Body) -> Vec<f64> {
    let mut found = Vec::new();
    let mut stack = vec![body];
    while let Some(body) = stack.pop() {
        match body {
            Body::List(items) => {
                let Some(Body::Object(members)) = items.first() else { continue };
                for (name, _) in members {
                    let values = items.iter().filter_map(|item| item.member(name)?.value()?.as_f64());
                    let sum: f64 = values.sum();
                    found.extend([sum, sum / items.len() as f64]);
                }
                stack.extend(items);
            }
            Body::Object(members) => stack.extend(members.iter().map(|(_, member)| member)),
            Body::Leaf(..) => {}
        }
    }
    found
}

/// A number in another unit of a visible one: an hour and a half of 90 minutes.
fn is_converted(value: f64, said: Unit, seen: &Shown<'_>) -> bool {
    let shown: Vec<f64> = leaves(seen).filter_map(|(value, _)| number_of(value)).collect();
    seen.measures.units_of(said.dimension).any(|unit| {
        said.convert(value, unit).is_some_and(|converted| {
            shown.iter().any(|known| (known - converted).abs() <= converted.abs() * 0.01)
        })
    })
}

/// Part of a longer text that is visible: a title with a number in it, an address, a code.
fn stands_in_a_text(words: &str, seen: &Shown<'_>) -> bool {
    let digits: String = words.chars().filter(char::is_ascii_digit).collect();
    let has = |text: &str| {
        text.contains(words.trim())
            || (!digits.is_empty() && text.split(|c: char| !c.is_ascii_digit()).any(|run| run == digits))
    };
    let shown = leaves(seen).any(|(value, _)| value.as_str().is_some_and(has));
    let by_refusal = seen.entries.iter().filter(|entry| !entry.reply.is_success());
    let zone = &seen.clock.zone;
    let apis = (0..seen.base.world().apis.len()).map(|index| ApiId(index as u16));
    let described = apis.filter_map(|api| seen.base.tool_schema(api));
    shown
        || has(seen.system.source())
        || seen.turns.iter().any(|turn| has(turn.source()))
        || by_refusal.clone().any(|entry| has(&entry.reply.to_json(zone)))
        || described
            .into_iter()
            .any(|schema| schema.to_string().contains(&format!(" {digits} ")) && !digits.is_empty())
}

/// The days that are visible: in replies, and today.
fn dates<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = Date> + 'a {
    let zone = &seen.clock.zone;
    let shown = leaves(seen).filter_map(move |(value, _)| match value {
        Value::Date(date) => Some(*date),
        Value::DateTime(instant) => Some(zone.date_of(*instant)),
        Value::String(text) => Date::parse(text.get(..10)?),
        _ => None,
    });
    let sent = sent(seen).filter_map(|json| Date::parse(json.as_str()?.get(..10)?));
    std::iter::once(seen.clock.today).chain(shown).chain(sent)
}

/// The days that lie as many days after a visible one as a user or a reply says: a departure, three nights on.
fn days_after<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = Date> + 'a {
    const LENGTHS: [(&str, f64); 4] = [("night", 1.0), ("day", 1.0), ("week", 7.0), ("month", 30.0)];
    let length = |name: &str| LENGTHS.into_iter().find(|(unit, _)| name.contains(unit)).map(|(_, days)| days);
    let said = seen.turns.iter().flat_map(move |turn| {
        turn.numbers().filter_map(move |(number, span)| {
            let behind = turn.source().get(span.start..)?.split_whitespace().take(3).collect::<String>();
            Some(number * length(&behind.to_lowercase())?)
        })
    });
    let shown = replies(seen).flat_map(Body::leaves);
    let shown = shown.filter_map(move |(path, value, _)| Some(value.as_f64()? * length(&path)?));
    let sent = seen.entries.iter().flat_map(|entry| &entry.call.arguments);
    let sent = sent.filter_map(move |(name, json)| Some(json.as_f64()? * length(name)?));
    let mut ahead: Vec<i32> = said
        .chain(shown)
        .chain(sent)
        .filter(|number| number.fract() == 0.0 && (1.0..=60.0).contains(number))
        .map(|number| number as i32)
        .collect();
    ahead.sort_unstable();
    ahead.dedup();
    let days: Vec<Date> = dates(seen).collect();
    ahead
        .into_iter()
        .flat_map(move |ahead| days.clone().into_iter().map(move |day| Date(day.0.saturating_add(ahead))))
}

fn times<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = Time> + 'a {
    let zone = &seen.clock.zone;
    let shown = leaves(seen).filter_map(move |(value, _)| match value {
        Value::Time(time) => Some(*time),
        Value::DateTime(instant) => Some(zone.time_of(*instant)),
        Value::String(text) => Time::parse(text),
        _ => None,
    });
    let sent = sent(seen).filter_map(move |json| {
        let text = json.as_str()?;
        Time::parse(text).or_else(|| zone.parse_instant(text).map(|instant| zone.time_of(instant)))
    });
    std::iter::once(zone.time_of(seen.now)).chain(shown).chain(sent)
}

/// The times that lie as many minutes after a visible one as a reply shows: the end of a show.
fn times_after<'a>(seen: &'a Shown<'_>) -> impl Iterator<Item = Time> + 'a {
    let minutes = leaves(seen).filter_map(|(value, _)| value.as_f64());
    let lengths = minutes.filter(|length| length.fract() == 0.0 && (5.0..=720.0).contains(length));
    let mut lengths: Vec<u32> = lengths.map(|length| length as u32 * 60).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let after =
        move |time: Time| lengths.clone().into_iter().map(move |length| Time((time.0 + length) % 86_400));
    times(seen).flat_map(after)
}

/// `2:14` for a running time of 134 minutes or seconds.
fn is_duration(time: Time, seen: &Shown<'_>) -> bool {
    let seconds = f64::from(time.0);
    leaves(seen).filter_map(|(value, _)| value.as_f64()).any(|known| {
        known > 0.0
            && [1.0, 60.0, 3600.0].iter().any(|factor| {
                (known * factor - seconds).abs() < 0.5 || (known * factor * 60.0 - seconds).abs() < 0.5
            })
    })
}

/// Names of records that no reply has shown, no user has said and no argument has sent.
fn strange_names<'a>(prose: &'a Prose, seen: &'a Shown<'_>) -> impl Iterator<Item = Unfounded> + 'a {
    let known = move |words: &str| {
        leaves(seen).any(|(value, _)| value.as_str().is_some_and(|text| contains(text, words)))
            || seen.turns.iter().any(|turn| !turn.find(words).is_empty() || contains(turn.source(), words))
            || !seen.system.find(words).is_empty()
            || seen
                .entries
                .iter()
                .filter(|entry| !entry.reply.is_success())
                .any(|entry| contains(&entry.reply.to_json(&seen.clock.zone), words))
    };
    let names = seen.vocabulary.proper_names(prose, seen.base).into_iter().map(|(span, _)| span);
    names.filter(move |span| !known(prose.words_at(*span))).map(|span| Unfounded { what: Kind::Name, span })
}

fn contains(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(&words.to_lowercase())
}
