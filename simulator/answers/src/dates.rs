//! Days: recognises ISO and other numeric dates, days with months, weekdays, and days relative to today. Each
//! day has at most two readings.

use diorama_seeds::value::Date;

use super::figures::{self, Figure};
use super::text::{Kind, Text, Token};
use super::units::Dimension;
use super::{Clock, Clocktime, Day, DayForm, FoundValue, Number, What};

/// Without a year, a day further back than this is read as next year's.
const MAX_DAYS_AGO: i32 = 200;

/// Recognises a day that starts at a token.
pub(crate) fn recognise(text: &Text, at: usize, clock: &Clock) -> Option<FoundValue> {
    let token = text.tokens.get(at)?;
    if let Some(Figure::Instant(date, time, has_offset)) = token.figure() {
        let written = text.word(token).to_uppercase().replace(' ', "T");
        let moved = has_offset.then(|| clock.zone.parse_instant(&written)).flatten();
        let (date, time) =
            moved.map_or((date, time), |instant| (clock.zone.date_of(instant), clock.zone.time_of(instant)));
        let also = Some(What::Time(Clocktime { time, other: None }));
        return Some(FoundValue { also, ..FoundValue::new(at, at + 1, What::Date(exact(date))) });
    }
    if let Some((day, end)) = calendar(text, at, clock) {
        return Some(FoundValue::new(at, end, What::Date(day)));
    }
    // `sat` and `sun` are also words. In lower case they need a preposition or a number.
    let is_led = || matches!(text.word_before(at), "on" | "next" | "last" | "this" | "by" | "until" | "from");
    let is_followed = || text.next(at + 1).is_some_and(|next| matches!(next.kind, Kind::Figure(_)));
    if token.is_word()
        && token.lex.weekday > 0
        && (!token.lex.short || token.capital || is_led() || is_followed())
    {
        return Some(weekday(text, at, token.lex.weekday, clock));
    }
    let ahead =
        |days: i32, end: usize| FoundValue::new(at, end, What::Date(exact(Date(clock.today.0 + days))));
    match text.word(token) {
        "today" | "tonight" => Some(ahead(0, at + 1)),
        "tomorrow" => {
            let after = at.checked_sub(2).is_some_and(|from| {
                text.word(&text.tokens[from]) == "day" && text.word_before(at) == "after"
            });
            Some(ahead(if after { 2 } else { 1 }, at + 1))
        }
        "yesterday" => Some(ahead(-1, at + 1)),
        "the" => {
            if let Some((day, end)) = calendar(text, at + 1, clock) {
                return Some(FoundValue::new(at + 1, end, What::Date(day)));
            }
            let (day, end) = day_of_month(text, at + 1)
                .filter(|(_, end)| *end > at + 2 || text.tokens[at + 1].lex.ordinal > 0)?;
            let free = text.next(end).is_none_or(|next| !next.has_content());
            free.then(|| FoundValue::new(at + 1, end, What::Date(of_month(day, clock.today))))
        }
        _ => None,
    }
}

fn exact(date: Date) -> Day {
    Day { readings: [Some(date), None], form: DayForm::Exact, derived: false }
}

/// Reads a day with its month or in digits. Returns it with the token after it.
fn calendar(text: &Text, at: usize, clock: &Clock) -> Option<(Day, usize)> {
    let token = text.tokens.get(at)?;
    if let Some(figure) = token.figure() {
        match figure {
            Figure::Date(date, other) => {
                return Some((
                    Day { readings: [Some(date), other], form: DayForm::Exact, derived: false },
                    at + 1,
                ));
            }
            Figure::Slash(a, b) => {
                let padded = text.word(token).len() == 5 && (a > 12) != (b > 12);
                let announced =
                    matches!(text.word_before(at), "on" | "by" | "until" | "since" | "from" | "due");
                let weekday =
                    text.tokens[..at].iter().rev().find(|before| !matches!(before.kind, Kind::Sign(_)));
                let dated = padded || announced || weekday.is_some_and(|before| before.lex.weekday > 0);
                let day = |day: u32, month: u32| nearest(month as i16, day as i16, clock.today);
                let readings = [day(a, b), day(b, a)];
                let first = readings[0].or(readings[1]).filter(|_| dated)?;
                let other = readings[1].filter(|other| *other != first);
                return Some((
                    Day { readings: [Some(first), other], form: DayForm::MonthDay, derived: false },
                    at + 1,
                ));
            }
            _ => {}
        }
    }
    if token.is_word() && token.lex.month > 0 {
        // `March 5th, 2026`
        let from =
            at + 1 + usize::from(token.lex.short && text.next(at + 1).is_some_and(|next| next.is_sign('.')));
        let from = from + usize::from(text.next_word(from) == "the");
        let (day, end) = day_of_month(text, from)?;
        // `May 5 km`
        let measured = text
            .next(end)
            .is_some_and(|next| next.lex.unit.is_some() || matches!(next.kind, Kind::Sign('%' | '€' | '$')));
        return (!measured || token.capital).then(|| dated(text, token, day, end, clock)).flatten();
    }
    // `5 March 2026`, `the 5th of March`
    let (day, end) = day_of_month(text, at)?;
    let end = end
        + usize::from(text.next_word(end) == "of" || text.next(end).is_some_and(|next| next.is_sign('.')));
    // `may` and `march` are verbs in lower case.
    let verb = |month: &&Token| !month.capital && matches!(text.word(month), "may" | "march");
    let month = text.next(end).filter(|month| month.is_word() && month.lex.month > 0 && !verb(month))?;
    let end = end
        + 1
        + usize::from(
            month.lex.short
                && text.next(end + 1).is_some_and(|next| next.is_sign('.') && next.glued)
                && year(text, end + 2).is_some(),
        );
    dated(text, month, day, end, clock)
}

/// Reads a day of a month, with its year if one follows.
fn dated(text: &Text, month: &Token, day: i16, end: usize, clock: &Clock) -> Option<(Day, usize)> {
    let comma = usize::from(text.next(end).is_some_and(|next| next.is_sign(',')));
    let month = i16::from(month.lex.month);
    if let Some(year) = year(text, end + comma) {
        return Some((exact(figures::civil(year, month, day)?), end + comma + 1));
    }
    let date = nearest(month, day, clock.today)?;
    Some((Day { readings: [Some(date), None], form: DayForm::MonthDay, derived: false }, end))
}

/// Reads a year in digits.
fn year(text: &Text, at: usize) -> Option<i16> {
    match text.next(at)?.figure()? {
        Figure::Number(number)
            if number.is_plain && number.digits == 4 && (1900..2101).contains(&number.mantissa) =>
        {
            i16::try_from(number.mantissa).ok()
        }
        _ => None,
    }
}

/// Reads a number from 1 to 31, or an ordinal in digits or words. Returns it with the token after it.
fn day_of_month(text: &Text, at: usize) -> Option<(i16, usize)> {
    let token = text.tokens.get(at)?;
    if token.is_word() {
        let tens = match (text.word(token), token.lex.number) {
            (_, Some(tens @ (20 | 30))) => i16::from(tens),
            _ if token.lex.ordinal > 0 => return Some((i16::from(token.lex.ordinal), at + 1)),
            ("thirtieth", _) => return Some((30, at + 1)),
            _ => return None,
        };
        // `twenty-second`
        let from = at + 1 + usize::from(text.next(at + 1).is_some_and(|next| next.is_sign('-')));
        let ones = text.next(from).map_or(0, |next| next.lex.ordinal);
        return (1..10).contains(&ones).then(|| (tens + i16::from(ones), from + 1));
    }
    let Some(Figure::Number(number)) = token.figure() else { return None };
    let glued = token.glued
        && text.before(at).is_some_and(|before| !matches!(before.kind, Kind::Sign('(' | ',' | '-' | '–')));
    let day = number.small().filter(|day| (1..=31).contains(day) && !glued)? as i16;
    let ordinal = text
        .next(at + 1)
        .is_some_and(|next| next.glued && matches!(text.word(next), "st" | "nd" | "rd" | "th"));
    Some((day, at + 1 + usize::from(ordinal)))
}

/// Returns a day of this year, or of the next year if it is long past.
fn nearest(month: i16, day: i16, today: Date) -> Option<Date> {
    let year = today.civil().year();
    let own = figures::civil(year, month, day).filter(|date| date.0 > today.0 - MAX_DAYS_AGO);
    own.or_else(|| figures::civil(year + 1, month, day))
}

/// Returns the next and the last occurrence of a day of the month.
fn of_month(day: i16, today: Date) -> Day {
    let is = |date: &Date| i16::from(date.civil().day()) == day;
    let coming = (0..35).map(|ahead| Date(today.0 + ahead)).find(is);
    let last = (1..35).map(|ago| Date(today.0 - ago)).find(is);
    Day { readings: [coming, last], form: DayForm::DayOfMonth, derived: false }
}

/// Reads a weekday, with its date if one follows.
fn weekday(text: &Text, at: usize, weekday: u8, clock: &Clock) -> FoundValue {
    let today = clock.today;
    let mut from = at + 1;
    while text.next(from).is_some_and(|next| {
        matches!(next.kind, Kind::Sign(',' | '(' | '.')) || matches!(text.word(next), "the" | "of")
    }) && from < at + 4
    {
        from += 1;
    }
    let of = |date: &Date| date.civil().weekday().to_monday_one_offset() as u8 == weekday;
    let same_line = text.next(from).is_some();
    let dated = calendar(text, from, clock).or_else(|| {
        day_of_month(text, from)
            .filter(|(_, end)| *end > from + 1)
            .map(|(day, end)| (of_month(day, today), end))
    });
    if let Some((mut day, end)) = dated.filter(|_| same_line) {
        // Readings that fall on another weekday are dropped.
        let fitting: Vec<Date> = day.readings.into_iter().flatten().filter(of).collect();
        day.readings = [fitting.first().copied(), fitting.get(1).copied()];
        return FoundValue::new(at, end, What::Date(day));
    }
    let own = today.civil().weekday().to_monday_one_offset();
    let ahead = (i32::from(weekday) - i32::from(own)).rem_euclid(7);
    let coming = Date(today.0 + if ahead == 0 { 7 } else { ahead });
    let later_this_week = i32::from(own) < i32::from(weekday);
    let (form, readings) = match text.word_before(at) {
        "next" if later_this_week => (DayForm::Exact, [Some(coming), Some(Date(coming.0 + 7))]),
        "next" => (DayForm::Exact, [Some(coming), None]),
        "last" => (DayForm::Exact, [Some(Date(coming.0 - if ahead == 0 { 14 } else { 7 })), None]),
        _ if ahead == 0 => (DayForm::Weekday, [Some(today), Some(coming)]),
        _ => (DayForm::Weekday, [Some(coming), None]),
    };
    FoundValue::new(at, at + 1, What::Date(Day { readings, form, derived: false }))
}

/// Returns the day that a number of days or weeks leads to. Examples: `in 3 days`, `two weeks ago`.
pub(crate) fn derived(text: &Text, start: usize, end: usize, number: &Number, clock: &Clock) -> Option<Day> {
    let unit = number.unit.filter(|unit| {
        unit.dimension == Dimension::Duration && (86_400.0..700_000.0).contains(&unit.factor)
    })?;
    let days = (number.value * unit.factor / 86_400.0) as i32;
    let ahead = match (text.word_before(start), text.next_word(end)) {
        ("in", _) | (_, "later") => days,
        (_, "ago") => -days,
        _ => return None,
    };
    let date = Date(clock.today.0.checked_add(ahead)?);
    (days.abs() < 1000).then_some(Day { derived: true, ..exact(date) })
}
