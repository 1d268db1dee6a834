//! What an assistant states: every number, amount, day and time, every unit and currency, and every name of a record
//! must stand in something visible, or follow from it.

use diorama_seeds::value::{Date, Time, Value};
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::engine::{Body, Origin};
use diorama_simulator::grade::extract::prose::{Prose, Span};
use diorama_simulator::grade::extract::units::Unit;
use diorama_simulator::grade::extract::{Mention, Number, NumberRole, What};

use super::{Measures, Seen, text};
use crate::reason::Reason;

/// Names everything in an assistant's words that nothing visible gives.
pub(crate) fn check(stage: usize, said: &str, seen: &Seen<'_>, faults: &mut Vec<Reason>) {
    let prose = Prose::read(said, &seen.clock);
    for mention in prose.mentions() {
        let span = Span { start: mention.start, end: mention.end };
        let words = || prose.words_at(span).to_owned();
        match &mention.what {
            What::Money(money) => {
                if !seen.measures.has_currency(money.currency) {
                    faults.push(Reason::CurrencyFromNowhere { stage, words: words() });
                } else if !is_number(money.amount.as_f64(), money.other.map(|other| other.as_f64()), seen) {
                    faults.push(Reason::StatedFromNowhere { stage, words: words() });
                }
            }
            What::Number(number) => check_number(stage, number, mention, &prose, seen, faults),
            What::Date(day) => {
                if !day.derived
                    && !dates(seen).any(|date| day.means(date, seen.clock.today))
                    && !said_by_user(mention, &prose, seen)
                {
                    faults.push(Reason::StatedFromNowhere { stage, words: words() });
                }
            }
            What::Time(time) => {
                let told = times(seen).any(|known| known == time.time || time.other == Some(known));
                if !told && !is_duration(time.time, seen) && !said_by_user(mention, &prose, seen) {
                    faults.push(Reason::StatedFromNowhere { stage, words: words() });
                }
            }
            What::None => {}
        }
    }
    strange_names(stage, &prose, seen, faults);
}

fn check_number(
    stage: usize,
    number: &Number,
    mention: &Mention,
    prose: &Prose,
    seen: &Seen<'_>,
    faults: &mut Vec<Reason>,
) {
    // `one`, `a day`: seldom meant as a number. `option 2`, `1.`: names a place in the list that was told.
    if matches!(number.role, NumberRole::Weak | NumberRole::Identifier) && number.value < 20.0 {
        return;
    }
    let span = Span { start: mention.start, end: mention.end };
    let words = prose.words_at(span).to_owned();
    if said_by_user(mention, prose, seen) {
        return;
    }
    let known = match number.unit {
        Some(unit) => {
            if !seen.measures.has_unit(unit.dimension) {
                faults.push(Reason::UnitFromNowhere { stage, words });
                return;
            }
            is_measured(number.value, unit, seen) || is_converted(number.value, unit, seen)
        }
        None => is_number(number.value, number.other, seen),
    };
    if !known && !stands_in_a_text(&words, seen) {
        faults.push(Reason::StatedFromNowhere { stage, words });
    }
}

/// The user said the same thing before.
fn said_by_user(mention: &Mention, prose: &Prose, seen: &Seen<'_>) -> bool {
    let said = |turn: &Prose| {
        turn.mentions().iter().any(|other| match (&other.what, &mention.what) {
            (What::Number(a), What::Number(b)) => {
                (a.value - b.value).abs() < 1e-9
                    && (b.unit.is_none()
                        || a.unit == b.unit
                        || b.unit.is_some_and(|unit| seen.measures.has_unit(unit.dimension)))
            }
            (What::Date(a), What::Date(b)) => (-14..=370)
                .map(|ahead| Date(seen.clock.today.0 + ahead))
                .any(|day| a.means(day, seen.clock.today) && b.means(day, seen.clock.today)),
            (What::Time(a), What::Time(b)) => {
                a.time == b.time || a.other == Some(b.time) || b.other == Some(a.time)
            }
            _ => false,
        })
    };
    let words = prose.words_at(Span { start: mention.start, end: mention.end });
    seen.turns.iter().any(|turn| said(turn) || turn.find_digits(words).is_some())
}

/// The replies that say something of the world.
fn replies<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = &'a Body> {
    let of_world = seen.entries.iter().filter(|entry| entry.call.api != TOOL_SEARCHER);
    of_world.map(|entry| &entry.reply.body)
}

/// Their values.
fn leaves<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = (&'a Value, &'a Origin)> {
    replies(seen).flat_map(Body::values)
}

/// Numbers that a reply shows, an argument sends, or a list counts; their sums and differences.
fn is_number(value: f64, other: Option<f64>, seen: &Seen<'_>) -> bool {
    // People round: what is said to two decimals is what is shown to more.
    let near = |known: f64| {
        let close = |said: f64| {
            (known - said).abs() <= 0.005_000_1
                || (known.abs() >= 100.0 && (known.round() - said).abs() < 1e-9)
        };
        close(value) || other.is_some_and(close)
    };
    let shown: Vec<f64> = leaves(seen).filter_map(|(value, _)| number_of(value)).collect();
    if shown.iter().any(|known| near(*known)) {
        return true;
    }
    let sent = seen.entries.iter().flat_map(|entry| entry.call.arguments.values());
    if sent.filter_map(serde_json::Value::as_f64).any(near) {
        return true;
    }
    if value.fract() == 0.0 && value < 1_000.0 && counts(seen).any(|count| near(count as f64)) {
        return true;
    }
    follows(&shown, seen, near)
}

/// A number with a unit, as a reply shows it or an argument sends it: what is counted has no unit, but for sums.
fn is_measured(value: f64, unit: Unit, seen: &Seen<'_>) -> bool {
    let near = |known: f64| (known - value).abs() <= 0.005_000_1;
    let world = seen.premises.base.world();
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
    let shown: Vec<f64> = replies(seen)
        .flat_map(Body::leaves)
        .filter(|(path, value, origin)| fits(path, value, origin))
        .filter_map(|(_, value, _)| number_of(value))
        .collect();
    let sent = seen.entries.iter().flat_map(|entry| entry.call.arguments.values());
    shown.iter().any(|known| near(*known))
        || sent.filter_map(serde_json::Value::as_f64).any(near)
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
fn counts(seen: &Seen<'_>) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    for entry in &seen.entries {
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
fn follows(shown: &[f64], seen: &Seen<'_>, near: impl Fn(f64) -> bool) -> bool {
    let mut few: Vec<f64> = Vec::new();
    for number in shown {
        if few.len() < 40 && !few.contains(number) {
            few.push(*number);
        }
    }
    for entry in &seen.entries {
        if sums(&entry.reply.body).into_iter().any(&near) {
            return true;
        }
    }
    let said: Vec<f64> =
        seen.turns.iter().flat_map(text::numbers).map(|(number, _)| number).take(20).collect();
    let pairs = few.iter().enumerate().any(|(at, a)| {
        few.iter().skip(at + 1).any(|b| *a > 1.0 && *b > 1.0 && (near(a + b) || near((a - b).abs())))
    });
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
                    found.push(values.sum());
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
fn is_converted(value: f64, said: Unit, seen: &Seen<'_>) -> bool {
    let shown: Vec<f64> = leaves(seen).filter_map(|(value, _)| number_of(value)).collect();
    seen.measures.units_of(said.dimension).any(|unit| {
        said.convert(value, unit).is_some_and(|converted| {
            shown.iter().any(|known| (known - converted).abs() <= converted.abs() * 0.01)
        })
    })
}

/// Part of a longer text that is visible: a title with a number in it, an address, a code.
fn stands_in_a_text(words: &str, seen: &Seen<'_>) -> bool {
    let digits: String = words.chars().filter(char::is_ascii_digit).collect();
    let has = |text: &str| {
        text.contains(words.trim())
            || (!digits.is_empty() && text.split(|c: char| !c.is_ascii_digit()).any(|run| run == digits))
    };
    let shown = leaves(seen).any(|(value, _)| value.as_str().is_some_and(has));
    let by_refusal = seen.entries.iter().filter(|entry| !entry.reply.is_success());
    let zone = &seen.clock.zone;
    let described = seen.premises.apis().filter_map(|api| seen.premises.base.tool_schema(api));
    shown
        || has(seen.system.source())
        || seen.turns.iter().any(|turn| has(turn.source()))
        || by_refusal.clone().any(|entry| has(&entry.reply.to_json(zone)))
        || described
            .into_iter()
            .any(|schema| schema.to_string().contains(&format!(" {digits} ")) && !digits.is_empty())
}

/// The days that are visible: in replies, and today.
fn dates<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = Date> + 'a {
    let zone = &seen.clock.zone;
    let shown = leaves(seen).filter_map(move |(value, _)| match value {
        Value::Date(date) => Some(*date),
        Value::DateTime(instant) => Some(zone.date_of(*instant)),
        Value::String(text) => Date::parse(text.get(..10)?),
        _ => None,
    });
    let sent = seen.entries.iter().flat_map(|entry| entry.call.arguments.values());
    let sent = sent.filter_map(|json| Date::parse(json.as_str()?.get(..10)?));
    std::iter::once(seen.clock.today).chain(shown).chain(sent)
}

fn times<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = Time> + 'a {
    let zone = &seen.clock.zone;
    let shown = leaves(seen).filter_map(move |(value, _)| match value {
        Value::Time(time) => Some(*time),
        Value::DateTime(instant) => Some(zone.time_of(*instant)),
        Value::String(text) => Time::parse(text),
        _ => None,
    });
    let sent = seen.entries.iter().flat_map(|entry| entry.call.arguments.values());
    let sent = sent.filter_map(move |json| {
        let text = json.as_str()?;
        Time::parse(text).or_else(|| zone.parse_instant(text).map(|instant| zone.time_of(instant)))
    });
    std::iter::once(zone.time_of(seen.now)).chain(shown).chain(sent)
}

/// `2:14` for a running time of 134 minutes or seconds.
fn is_duration(time: Time, seen: &Seen<'_>) -> bool {
    let seconds = f64::from(time.0);
    leaves(seen).filter_map(|(value, _)| value.as_f64()).any(|known| {
        known > 0.0
            && [1.0, 60.0, 3600.0].iter().any(|factor| {
                (known * factor - seconds).abs() < 0.5 || (known * factor * 60.0 - seconds).abs() < 0.5
            })
    })
}

/// Names of records that no reply has shown, no user has said and no argument has sent.
fn strange_names(stage: usize, prose: &Prose, seen: &Seen<'_>, faults: &mut Vec<Reason>) {
    let known = |words: &str| {
        leaves(seen).any(|(value, _)| value.as_str().is_some_and(|text| contains(text, words)))
            || seen.turns.iter().any(|turn| !turn.find(words).is_empty() || contains(turn.source(), words))
            || !seen.system.find(words).is_empty()
            || seen
                .entries
                .iter()
                .filter(|entry| !entry.reply.is_success())
                .any(|entry| contains(&entry.reply.to_json(&seen.clock.zone), words))
    };
    for (span, _) in seen.premises.vocabulary.proper_names(prose, seen.premises.base) {
        let words = prose.words_at(span);
        if !known(words) {
            faults.push(Reason::NameFromNowhere { stage, words: words.to_owned() });
        }
    }
}

fn contains(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(&words.to_lowercase())
}
