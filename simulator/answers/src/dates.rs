//! Days: ISO dates, dates in words and figures, weekdays, and days told from today.

use diorama_seeds::value::{Date, Instant, Time, Zone};
use jiff::civil;

use super::lexicon::{Lex, Roles};
use super::times;
use super::tokens::{Kind, Marks, Token};
use super::{Day, DayReading, Finder, Nearness, What};
use crate::{word, words};

/// 1 (Monday) to 7.
pub(crate) fn weekday_of(date: Date) -> u8 {
    // 1970-01-01 was a Thursday.
    (i64::from(date.0) + 3).rem_euclid(7) as u8 + 1
}

pub(crate) fn may_start(lex: &Lex) -> bool {
    lex.month > 0 || lex.weekday > 0 || lex.ordinal > 0 || lex.number.is_some() || lex.roles.any(Roles::DAY)
}

/// A date at this token; gives the token after it.
pub(crate) fn recognise(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let token = *found.text.get(at)?;
    match token.kind {
        Kind::Digits => figures(found, at).or_else(|| day_month(found, at, at)),
        Kind::Word => {
            let lex = token.lex();
            // `fri 7.15am`: a time behind it makes up for the capital.
            let timed = found.text.next(at + 1).is_some_and(Token::is_digits);
            if lex.weekday > 0 && (counts(&token) || timed) {
                return weekday(found, at);
            }
            if lex.month > 0 && counts(&token) {
                return month_day(found, at, at);
            }
            if lex.ordinal > 0 {
                return day_month(found, at, at);
            }
            if lex.number.is_some() {
                return day_month(found, at, at);
            }
            relative(found, at)
        }
        Kind::Symbol(_) => None,
    }
}

/// Whether a month or weekday by this word counts: abbreviations, and `may` and `march`, need a capital.
fn counts(token: &Token) -> bool {
    let lex = token.lex();
    let doubtful = lex.short || words!("may march").contains(&token.hash);
    token.has(Marks::CAPITAL) || (!doubtful && token.is_word())
}

fn day(reading: DayReading) -> Day {
    Day { readings: [Some(reading), None], derived: false }
}

fn civil(year: u64, month: u64, day: u64) -> Option<Date> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1000..=2999).contains(&year) {
        return None;
    }
    civil::Date::new(year as i16, month as i8, day as i8).ok().map(Date::from_civil)
}

/// `2026-03-05`, `5/3/2026`, `5.3.2026`, `05-03-26`, each perhaps with a time behind it.
fn figures(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let first = *text.get(at)?;
    let Kind::Symbol(separator @ ('-' | '/' | '.')) = text.get(at + 1)?.kind else { return None };
    let second = *text.get(at + 2).filter(|token| token.is_digits())?;
    if !text.is_glued(at + 1, separator) || !second.has(Marks::GLUED) || !text.is_glued(at + 3, separator) {
        return bare_pair(found, at, separator, &second);
    }
    let third = *text.get(at + 4).filter(|token| token.is_digits() && token.has(Marks::GLUED))?;
    // More of the same goes on: a version, an address, a telephone number.
    if text.is_glued(at + 5, separator)
        && text.get(at + 6).is_some_and(|token| token.is_digits() && token.has(Marks::GLUED))
    {
        return None;
    }
    let readings = if first.len() == 4 && second.len() <= 2 && third.len() <= 2 {
        [civil(first.value, second.value, third.value), None]
    } else if first.len() <= 2 && second.len() <= 2 && matches!(third.len(), 2 | 4) {
        let year = if third.len() == 2 { 2000 + third.value } else { third.value };
        let day_first = civil(year, second.value, first.value);
        let month_first = civil(year, first.value, second.value).filter(|_| separator != '.');
        if day_first.is_some() { [day_first, month_first] } else { [month_first, None] }
    } else {
        return None;
    };
    readings.iter().flatten().next()?;
    let end = at + 5;
    // The instant: `T14:30:00+01:00`.
    if let Some((time, after)) = times::after_date(text, end) {
        let offset = times::offset(text, after);
        let (mut date, mut clock) = (readings[0]?, time);
        let mut last = after;
        if let Some((seconds, after_offset)) = offset {
            last = after_offset;
            let instant = Instant(i64::from(date.0) * 86_400 + i64::from(time.0) - seconds);
            (date, clock) = local(&found.clock.zone, instant);
        }
        let stance = super::stance::of(text, at, last);
        found.push(at, end, What::Date(day(DayReading::Full(date))), Some(stance));
        found.push(
            end,
            last,
            What::Time(super::Clocktime { time: clock, other: None, end: false }),
            Some(stance),
        );
        return Some(last);
    }
    let [a, b] = readings.map(|reading| reading.map(DayReading::Full));
    let (first, end) =
        with_weekday(found, at, end, Day { readings: [a, b.filter(|_| a != b)], derived: false });
    found.push(at, end, What::Date(first), None);
    Some(end)
}

fn local(zone: &Zone, instant: Instant) -> (Date, Time) {
    (zone.date_of(instant), zone.time_of(instant))
}

/// `5/3` without a year: a date only after a weekday or `on`; else it is a fraction or a score.
fn bare_pair(found: &mut Finder<'_>, at: usize, separator: char, second: &Token) -> Option<usize> {
    let text = found.text;
    let first = *text.get(at)?;
    let before = text.before(at)?;
    let announced = before.hash == word!("on") || before.lex().weekday > 0;
    if separator != '/' || !announced || !second.has(Marks::GLUED) || first.len() > 2 || second.len() > 2 {
        return None;
    }
    let valid = |month: u64, day: u64| {
        ((1..=12).contains(&month) && (1..=31).contains(&day))
            .then_some(DayReading::MonthDay(month as u8, day as u8))
    };
    let readings = [valid(second.value, first.value), valid(first.value, second.value)];
    readings.iter().flatten().next()?;
    found.push(at, at + 3, What::Date(Day { readings, derived: false }), None);
    Some(at + 3)
}

/// Takes a weekday in front of or behind a date into account: one that the date is not makes it impossible.
fn with_weekday(found: &Finder<'_>, at: usize, end: usize, date: Day) -> (Day, usize) {
    let text = found.text;
    let mut after = end;
    while after < end + 2
        && text.next(after).is_some_and(|token| token.is_symbol(',') || token.is_symbol('('))
    {
        after += 1;
    }
    let named = |token: &Token| if token.is_word() && counts(token) { token.lex().weekday } else { 0 };
    let behind = text.next(after).filter(|_| after > end).map_or(0, named);
    let mut front = at;
    while front > 0
        && front + 2 > at
        && text
            .before(front)
            .is_some_and(|token| token.is_symbol(',') || token.is_symbol('(') || token.hash == word!("the"))
    {
        front -= 1;
    }
    // The recogniser of weekdays starts at the weekday itself.
    let own = text.get(at).map_or(0, named);
    let before = if own > 0 { own } else { text.before(front).map_or(0, named) };
    let weekday = if before > 0 { before } else { behind };
    if weekday == 0 {
        return (date, end);
    }
    let readings = date.readings.map(|reading| {
        reading.and_then(|reading| match reading {
            DayReading::Full(date) => (weekday_of(date) == weekday).then_some(reading),
            // The weekday tells the year: the nearest in which they agree.
            DayReading::MonthDay(month, day) => {
                let today = found.clock.today;
                let year = today.civil().year();
                (year.saturating_sub(1)..=year.saturating_add(1))
                    .filter_map(|year| civil::Date::new(year, month as i8, day as i8).ok())
                    .map(Date::from_civil)
                    .filter(|date| weekday_of(*date) == weekday)
                    .min_by_key(|date| (i64::from(date.0) - i64::from(today.0)).abs())
                    .map(DayReading::Full)
            }
            other => Some(other),
        })
    });
    let end = if before == 0 { after + 1 } else { end };
    if readings.iter().all(Option::is_none) {
        return (day(DayReading::Never), end);
    }
    (Day { readings, derived: false }, end)
}

/// `5 March 2026`, `the 5th of March`, `5-Mar-2026`, `the fifth of March`, `5–8 March`, `the 5th`.
fn day_month(found: &mut Finder<'_>, at: usize, start: usize) -> Option<usize> {
    let text = found.text;
    let (number, mut next, ordinal) = day_number(found, at)?;
    if text.is_word(next, word!("of")) || text.is_word(next, word!("de")) {
        next += 1;
    }
    // `5. März`
    if text.is_glued(next, '.') && text.next(next + 1).is_some_and(|token| token.lex().month > 0) {
        next += 1;
    }
    if text.is_glued(next, '-')
        && text.get(next + 1).is_some_and(|token| token.is_word() && token.has(Marks::GLUED))
    {
        next += 1;
    }
    // `5–8 March`, `5 and 8 March`: the first day borrows the month of the second.
    let joined = text.next(next).is_some_and(|token| {
        matches!(token.kind, Kind::Symbol('-' | '–' | ',')) || words!("to and or").contains(&token.hash)
    });
    if joined && (1..=31).contains(&number) {
        let bare = text.get(at).is_some_and(Token::is_digits);
        if let Some((second, after, _)) = day_number(found, next + 1).filter(|_| bare)
            && text.get(next + 1).is_some_and(Token::is_digits)
            && second > number
            && let Some(month) = text.next(after).filter(|token| token.lex().month > 0 && counts(token))
        {
            let reading = dated(found, u64::from(month.lex().month), number, after + 1).0?;
            found.push(start, next, What::Date(day(reading)), None);
            return Some(next);
        }
    }
    let month = text.next(next).filter(|token| token.is_word() && token.lex().month > 0 && counts(token));
    let Some(month) = month else {
        return day_of_month(found, at, next, number, ordinal);
    };
    let month = u64::from(month.lex().month);
    next += 1;
    if text.is_glued(next, '.')
        && text.get(next).is_none_or(|token| token.sentence == text.tokens[at].sentence)
    {
        next += usize::from(text.next(next + 1).is_some_and(|token| token.is_digits() && token.len() == 4));
    }
    let (reading, end) = dated(found, month, number, next);
    let (date, end) = with_weekday(found, start, end, day(reading?));
    found.push(start, end, What::Date(date), None);
    Some(end)
}

/// Day, month and the year that may follow.
fn dated(found: &Finder<'_>, month: u64, number: u64, mut next: usize) -> (Option<DayReading>, usize) {
    let text = found.text;
    let before = next;
    if text
        .next(next)
        .is_some_and(|token| token.is_symbol(',') || token.is_symbol('-') || token.hash == word!("de"))
    {
        next += 1;
    }
    let year = text.next(next).filter(|token| {
        token.is_digits()
            && token.len() == 4
            && (1900..=2199).contains(&token.value)
            && !text.is_glued(next + 1, ':')
    });
    match year {
        Some(year) => (civil(year.value, month, number).map(DayReading::Full), next + 1),
        None if (1..=31).contains(&number) => (Some(DayReading::MonthDay(month as u8, number as u8)), before),
        None => (None, before),
    }
}

/// `5`, `5th`, `fifth`, `twenty-fifth`: the day, the token after it, whether it is an ordinal.
fn day_number(found: &Finder<'_>, at: usize) -> Option<(u64, usize, bool)> {
    let text = found.text;
    let token = text.get(at)?;
    if token.is_digits() {
        if token.len() > 2 {
            return None;
        }
        let suffix = text
            .get(at + 1)
            .is_some_and(|next| next.has(Marks::GLUED) && words!("st nd rd th").contains(&next.hash));
        return Some((token.value, at + 1 + usize::from(suffix), suffix));
    }
    let lex = token.lex();
    if lex.ordinal > 0 {
        return Some((u64::from(lex.ordinal), at + 1, true));
    }
    let tens = u64::from(lex.number.filter(|number| matches!(number, 20 | 30))?);
    let next = if text.is_glued(at + 1, '-') { at + 2 } else { at + 1 };
    let ones = text.next(next).filter(|token| token.is_word())?.lex().ordinal;
    (1..=9).contains(&ones).then_some((tens + u64::from(ones), next + 1, true))
}

/// `the 5th`, when nothing that could be ordered follows.
fn day_of_month(found: &mut Finder<'_>, at: usize, next: usize, number: u64, ordinal: bool) -> Option<usize> {
    let text = found.text;
    let digits = text.get(at)?.is_digits();
    let the = text.before(at).is_some_and(|token| token.hash == word!("the") || token.lex().weekday > 0);
    let noun = text.next(next).is_some_and(|token| token.has_content() && token.lex().weekday == 0);
    if !digits || !ordinal || !the || noun || !(1..=31).contains(&number) {
        return None;
    }
    let (date, _) = with_weekday(found, at, next, day(DayReading::DayOfMonth(number as u8)));
    found.push(at, next, What::Date(date), None);
    Some(next)
}

/// `March 5, 2026`, `Mar 5th`, `March 5–8`, `March the fifth`.
fn month_day(found: &mut Finder<'_>, at: usize, start: usize) -> Option<usize> {
    let text = found.text;
    let month = text.get(at)?.lex().month;
    let mut next = at + 1;
    if text.get(at)?.lex().short && text.is_glued(next, '.') {
        next += 1;
    }
    if text.is_word(next, word!("the")) {
        next += 1;
    }
    text.next(next)?;
    let (number, end, ordinal) = day_number(found, next)?;
    // `March 14:30` and `May 10 people` are not days.
    if text.is_glued(end, ':')
        || (!ordinal
            && text.is_glued(end, '.')
            && text.next(end + 1).is_some_and(|t| t.is_digits() && t.has(Marks::GLUED)))
    {
        return None;
    }
    let (reading, after) = dated(found, u64::from(month), number, end);
    let (date, after) = with_weekday(found, start, after, day(reading?));
    found.push(start, after, What::Date(date), None);
    // `March 5–8`, `March 5 and 8`: the second day borrows the month.
    let joined = text.next(after).is_some_and(|token| matches!(token.kind, Kind::Symbol('-' | '–')));
    if joined
        && let Some((second, last, _)) = day_number(found, after + 1)
        && text.get(after + 1).is_some_and(Token::is_digits)
        && second > number
        && let (Some(reading), last) = dated(found, u64::from(month), second, last)
    {
        found.push(after + 1, last, What::Date(day(reading)), None);
        return Some(last);
    }
    Some(after)
}

/// A weekday; the date it stands before is told with it.
fn weekday(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    let number = token.lex().weekday;
    let mut next = at + 1;
    if token.lex().short && text.is_glued(next, '.') {
        next += 1;
    }
    let mut ahead = next;
    while ahead < next + 2
        && text
            .next(ahead)
            .is_some_and(|token| token.is_symbol(',') || token.is_symbol('(') || token.hash == word!("the"))
    {
        ahead += 1;
    }
    // A date right behind it: the recognisers of dates check the weekday themselves.
    if let Some(follows) = text.next(ahead) {
        let dated = if follows.is_digits() {
            figures(found, ahead).or_else(|| day_month(found, ahead, at))
        } else if follows.lex().month > 0 && counts(follows) {
            month_day(found, ahead, at)
        } else if follows.lex().ordinal > 0 {
            day_month(found, ahead, at)
        } else {
            None
        };
        if dated.is_some() {
            return dated;
        }
    }
    let near = match text.before(at).map(|token| token.hash) {
        Some(hash) if hash == word!("next") || hash == word!("following") || hash == word!("coming") => {
            Nearness::Next
        }
        Some(hash) if hash == word!("last") || hash == word!("past") => Nearness::Last,
        _ => Nearness::Any,
    };
    found.push(at, next, What::Date(day(DayReading::Weekday(number, near))), None);
    Some(next)
}

/// `today`, `tomorrow`, `the day after tomorrow`, `in 3 days`, `a week from today`, `two days ago`.
fn relative(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    let today = found.clock.today;
    let plain = if words!("today tonight").contains(&token.hash) {
        Some(0)
    } else if token.hash == word!("tomorrow") {
        Some(1)
    } else if token.hash == word!("yesterday") {
        Some(-1)
    } else {
        None
    };
    if let Some(days) = plain {
        let before = |back: usize, hash: u64| {
            at >= back && text.get(at - back).is_some_and(|token| token.hash == hash)
        };
        let days = match days {
            1 if before(1, word!("after")) && before(2, word!("day")) => 2,
            -1 if before(1, word!("before")) && before(2, word!("day")) => -2,
            other => other,
        };
        // `today is ...` tells the date of the clock, not of the fact.
        let telling = days == 0 && (text.is_word(at + 1, word!("is")) || before(1, word!("of")));
        // `tomorrow, 3 March`: the date that follows must agree, and is told by itself.
        let stance = telling.then_some(super::Stance::Echoed);
        found.push(at, at + 1, What::Date(day(DayReading::Full(Date(today.0.saturating_add(days))))), stance);
        return Some(at + 1);
    }
    None
}

/// `in 3 days`, `3 days ago`, `a week from today`: called by the recogniser of numbers, which has the number.
pub(crate) fn shifted(found: &mut Finder<'_>, start: usize, end: usize, value: f64, days_each: f64) {
    let text = found.text;
    let days = value * days_each;
    if days.fract() != 0.0 || days.abs() > 800.0 {
        return;
    }
    let days = days as i32;
    let after = |hash: u64| text.is_word(end, hash);
    let from = (after(word!("from")) || after(word!("after")))
        && (text.is_word(end + 1, word!("now")) || text.is_word(end + 1, word!("today")));
    let shift = if after(word!("ago")) || after(word!("earlier")) {
        -days
    } else if from || text.before(start).is_some_and(|token| token.hash == word!("in")) {
        days
    } else {
        return;
    };
    let date = Day {
        readings: [Some(DayReading::Full(Date(found.clock.today.0.saturating_add(shift)))), None],
        derived: true,
    };
    found.push(start, end, What::Date(date), None);
}
