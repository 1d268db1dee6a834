//! Times of day: figures with and without am and pm, and the ways people say them.

use diorama_seeds::value::Time;

use super::lexicon::{Lex, Roles};
use super::tokens::{Kind, Marks, Text, Token};
use super::units::{Dimension, HOUR};
use super::{Clocktime, Finder, What};
use crate::{word, words};

pub(crate) fn may_start(lex: &Lex) -> bool {
    lex.number.is_some() || lex.roles.any(Roles::CLOCK)
}

/// Half of the day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Am,
    Pm,
}

/// A time at this token; gives the token after it.
pub(crate) fn recognise(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    let (time, end) = match token.kind {
        Kind::Digits => figures(text, at, true)?,
        Kind::Word => words(text, at)?,
        Kind::Symbol(_) => return None,
    };
    // `9–10:30` and `from 9 to 10`: the second is an end.
    let ends = at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|before| {
        matches!(before.kind, Kind::Symbol('-' | '–' | '—' | '→'))
            || words!("to until till").contains(&before.hash)
    }) && at.checked_sub(2).is_some_and(|before| {
        found
            .mentions
            .last()
            .is_some_and(|last| matches!(last.what, What::Time(_)) && last.tokens.1 == before + 1)
    });
    found.push(at, end, What::Time(Clocktime { end: ends, ..time }), None);
    Some(end)
}

fn clock(hour: u64, minute: u64, second: u64) -> Option<Time> {
    (hour < 24 && minute < 60 && second < 60).then(|| Time((hour * 3600 + minute * 60 + second) as u32))
}

fn exact(time: Time) -> Clocktime {
    Clocktime { time, other: None, end: false }
}

/// A time on the 12-hour face whose half of the day is said, or not.
fn faced(hour: u64, minute: u64, half: Option<Half>) -> Option<Clocktime> {
    match half {
        Some(half) if (1..=12).contains(&hour) => {
            let hour = hour % 12 + if half == Half::Pm { 12 } else { 0 };
            clock(hour, minute, 0).map(exact)
        }
        Some(_) => clock(hour, minute, 0).map(exact),
        None if (1..=11).contains(&hour) => {
            Some(Clocktime { time: clock(hour, minute, 0)?, other: clock(hour + 12, minute, 0), end: false })
        }
        // Twelve is noon; at night people say midnight.
        None => clock(hour % 24, minute, 0).map(exact),
    }
}

/// `am`, `p.m.`, `in the afternoon`, `at night`.
fn half_after(text: &Text, at: usize) -> Option<(Half, usize)> {
    let token = text.next(at)?;
    for (letter, whole, half) in [(word!("a"), word!("am"), Half::Am), (word!("p"), word!("pm"), Half::Pm)] {
        if token.is_word() && token.hash == whole {
            return Some((half, at + 1));
        }
        if token.is_word()
            && token.hash == letter
            && text.is_glued(at + 1, '.')
            && text.is_word(at + 2, word!("m"))
        {
            let end = at + 3;
            return Some((half, end + usize::from(text.is_glued(end, '.'))));
        }
    }
    let part = |hash: u64| {
        if hash == word!("morning") {
            Some(Half::Am)
        } else if hash == word!("afternoon") || hash == word!("evening") || hash == word!("night") {
            Some(Half::Pm)
        } else {
            None
        }
    };
    let next = |ahead: usize| text.next(at + ahead).map_or(0, |token| token.hash);
    if token.hash == word!("in") && next(1) == word!("the") {
        return part(next(2)).map(|half| (half, at + 3));
    }
    if words!("at this tomorrow").contains(&token.hash) {
        return part(next(1)).map(|half| (half, at + 2));
    }
    if token.hash == word!("tonight") {
        return Some((Half::Pm, at));
    }
    None
}

fn two_digits(token: Option<&Token>) -> Option<u64> {
    token
        .filter(|token| token.is_digits() && token.has(Marks::GLUED) && token.len() == 2)
        .map(|token| token.value)
}

/// `14:30`, `2:30 pm`, `2pm`, `14h30`, `2.30 pm`, `at 9`, `9 o'clock`, `10 past two`.
fn figures(text: &Text, at: usize, first: bool) -> Option<(Clocktime, usize)> {
    let token = text.get(at)?;
    if token.len() > 2 {
        return military(text, at);
    }
    let hour = token.value;
    let glued_before = |symbol: char| {
        token.has(Marks::GLUED) && at > 0 && text.get(at - 1).is_some_and(|t| t.is_symbol(symbol))
    };
    if glued_before('.') || glued_before(',') || glued_before(':') {
        return None;
    }
    let padded = is_padded(token);
    if text.is_glued(at + 1, ':')
        && let Some(minute) = two_digits(text.get(at + 2))
    {
        return with_colon(text, at, minute);
    }
    if let Some((half, end)) = half_after(text, at + 1) {
        let pointed = text.get(at + 1).is_some_and(|token| words!("in at this").contains(&token.hash));
        if (1..=12).contains(&hour) && (!pointed || announced(text, at)) {
            return Some((faced(hour, 0, Some(half))?, end));
        }
    }
    if text.is_glued(at + 1, '.')
        && let Some(minute) = two_digits(text.get(at + 2))
        && minute < 60
    {
        return with_point(text, at, minute);
    }
    let next = text.next(at + 1);
    if next.is_some_and(|token| token.has(Marks::GLUED) && token.hash == word!("h")) {
        return with_h(text, at);
    }
    if next.is_some_and(|token| words!("oclock uhr").contains(&token.hash)) {
        return spoken(text, hour, 0, at + 2);
    }
    past(text, hour, at + 1).or_else(|| {
        // `9–10 am`, `9-10:30`: the first borrows the half of the second.
        let dash = next
            .is_some_and(|token| matches!(token.kind, Kind::Symbol('-' | '–')) || token.hash == word!("to"));
        if dash && first && text.get(at + 2).is_some_and(|token| token.is_digits() && token.len() <= 2) {
            let (second, end) = figures(text, at + 2, false)?;
            let half = text.get(end - 1).filter(|last| last.is_word() || last.is_symbol('.'));
            if half.is_some() && second.other.is_none() && (1..=12).contains(&hour) {
                let pm = second.time.0 >= 12 * 3600;
                let late = pm && hour % 12 * 3600 <= u64::from(second.time.0) - 12 * 3600;
                let half = if late { Half::Pm } else { Half::Am };
                return Some((faced(hour, 0, Some(half))?, at + 1));
            }
        }
        bare(text, at, hour, padded)
    })
}

/// `9:00`, `14:30:05`, `2:30 pm`: the hour stands at `at`.
fn with_colon(text: &Text, at: usize, minute: u64) -> Option<(Clocktime, usize)> {
    let token = text.get(at)?;
    let (hour, padded) = (token.value, is_padded(token));
    let mut end = at + 3;
    let mut second = 0;
    if text.is_glued(end, ':')
        && let Some(value) = two_digits(text.get(end + 1))
    {
        second = value;
        end += 2;
    }
    if text.is_glued(end, ':') && two_digits(text.get(end + 1)).is_some() {
        return None;
    }
    // `1:30 h` is a duration.
    if text.next(end).is_some_and(|token| token.lex().unit == Some(HOUR))
        && text.next(end).is_some_and(|t| t.len() > 1)
    {
        return None;
    }
    if let Some((half, end)) = half_after(text, end) {
        return Some((faced(hour, minute, Some(half))?, end));
    }
    let time = clock(if hour == 24 { 0 } else { hour }, minute, second)?;
    // People write 2:30 for the afternoon; they hardly write 9:00 for the evening.
    let other = ((1..=6).contains(&hour) && !padded).then(|| clock(hour + 12, minute, second)).flatten();
    Some((Clocktime { time, other, end: false }, end))
}

/// `9.30`, where it is no number: with am or pm, or where a time is announced.
fn with_point(text: &Text, at: usize, minute: u64) -> Option<(Clocktime, usize)> {
    let token = text.get(at)?;
    let (hour, padded) = (token.value, is_padded(token));
    if let Some((half, end)) = half_after(text, at + 3).filter(|_| (1..=12).contains(&hour)) {
        let named =
            text.get(at + 3).is_some_and(|token| !token.is(Roles::FUNCTION) || token.hash == word!("am"));
        if named {
            return Some((faced(hour, minute, Some(half))?, end));
        }
    }
    let said = text.next(at + 3).is_some_and(|token| words!("h uhr oclock").contains(&token.hash));
    let measured = text.next(at + 3).is_some_and(|token| {
        token.lex().unit.is_some()
            || token.lex().currency.is_some()
            || matches!(token.kind, Kind::Symbol('€' | '%' | '$' | '£'))
    });
    if said || (announced(text, at) && hour < 24 && !measured) {
        let time = clock(hour, minute, 0)?;
        let other = ((1..=6).contains(&hour) && !padded).then(|| clock(hour + 12, minute, 0)).flatten();
        return Some((Clocktime { time, other, end: false }, at + 3 + usize::from(said)));
    }
    None
}

/// `14h`, `1h30`.
fn with_h(text: &Text, at: usize) -> Option<(Clocktime, usize)> {
    let token = text.get(at)?;
    let (hour, padded) = (token.value, is_padded(token));
    if let Some(minute) = two_digits(text.get(at + 2)) {
        // `1h30` after a preposition of time is a time; elsewhere small ones are durations.
        if announced(text, at) || hour >= 7 || padded {
            return Some((exact(clock(hour, minute, 0)?), at + 3));
        }
        return None;
    }
    if announced(text, at) && hour < 24 {
        return Some((exact(clock(hour, 0, 0)?), at + 2));
    }
    None
}

/// `09`: an hour as clocks show it.
fn is_padded(hour: &Token) -> bool {
    hour.len() == 2 && hour.value < 10
}

/// `1430 hours`, `0900h`.
fn military(text: &Text, at: usize) -> Option<(Clocktime, usize)> {
    let token = text.get(at).filter(|token| token.len() == 4)?;
    let next = text.next(at + 1)?;
    let said =
        words!("hours hrs").contains(&next.hash) || (next.hash == word!("h") && next.has(Marks::GLUED));
    said.then(|| clock(token.value / 100, token.value % 100, 0).map(|time| (exact(time), at + 2))).flatten()
}

/// Whether a preposition of time stands before.
fn announced(text: &Text, at: usize) -> bool {
    text.before(at).is_some_and(|token| token.hash == word!("at") || token.is_symbol('@'))
}

/// `at 9`, with nothing behind it that it could count.
fn bare(text: &Text, at: usize, hour: u64, padded: bool) -> Option<(Clocktime, usize)> {
    if !announced(text, at) || hour > 23 {
        return None;
    }
    let free = text.next(at + 1).is_none_or(|token| match token.kind {
        Kind::Word => {
            !token.has(Marks::GLUED)
                && (token.is(Roles::FUNCTION)
                    || token.lex().weekday > 0
                    || token.lex().month > 0
                    || words!("sharp tomorrow").contains(&token.hash))
                && token.hash != word!("of")
                // `at two and a quarter percent`
                && !(token.hash == word!("and") && text.is_word(at + 2, word!("a")))
                && token.lex().unit.is_none()
        }
        Kind::Symbol(symbol) => match symbol {
            '.' | ',' | ':' | '-' | '–' | '/' => {
                !text.get(at + 2).is_some_and(|next| next.has(Marks::GLUED) && next.is_digits())
            }
            '%' | '€' | '$' | '£' | '°' => false,
            _ => true,
        },
        Kind::Digits => false,
    });
    if !free {
        return None;
    }
    let time = if padded { clock(hour, 0, 0).map(exact)? } else { faced(hour, 0, None)? };
    Some((time, at + 1))
}

/// The half of the day may follow.
fn spoken(text: &Text, hour: u64, minute: u64, end: usize) -> Option<(Clocktime, usize)> {
    match half_after(text, end) {
        Some((half, end)) => Some((faced(hour, minute, Some(half))?, end)),
        None => Some((faced(hour, minute, None)?, end)),
    }
}

fn hour_word(token: &Token) -> Option<u64> {
    if token.is_digits() && token.len() <= 2 {
        return Some(token.value).filter(|hour| (1..=12).contains(hour));
    }
    token.lex().number.map(u64::from).filter(|hour| (1..=12).contains(hour) && token.is_word())
}

/// `.. past two`, `.. to nine`, perhaps with `minutes` in between; `at` is the token after the minutes.
fn past(text: &Text, minute: u64, at: usize) -> Option<(Clocktime, usize)> {
    let mut at = at;
    let named = text.is_word(at, word!("minutes")) || text.is_word(at, word!("minute"));
    at += usize::from(named);
    let direction = text.next(at)?.hash;
    let hour = hour_word(text.next(at + 1)?)?;
    // `10 to 12` is a range.
    let exact_quarter = minute == 15 || minute == 30 || named;
    if !(1..60).contains(&minute) {
        return None;
    }
    if direction == word!("past") || (direction == word!("after") && exact_quarter) {
        return spoken(text, hour, minute, at + 2);
    }
    let words = text.get(at + 1).is_some_and(Token::is_word);
    if (direction == word!("to") || direction == word!("before"))
        && (named || (words && minute.is_multiple_of(5)))
        && minute < 31
    {
        return spoken(text, if hour == 1 { 12 } else { hour - 1 }, 60 - minute, at + 2);
    }
    None
}

/// `noon`, `midnight`, `half past two`, `quarter to nine`, `at nine`, `nine o'clock`, `two thirty`.
fn words(text: &Text, at: usize) -> Option<(Clocktime, usize)> {
    let token = text.get(at)?;
    if words!("noon midday").contains(&token.hash) {
        return clock(12, 0, 0).map(|time| (exact(time), at + 1));
    }
    if token.hash == word!("midnight") {
        return clock(0, 0, 0).map(|time| (exact(time), at + 1));
    }
    if token.hash == word!("half") {
        if text.is_word(at + 1, word!("past")) {
            return past(text, 30, at + 1);
        }
        // `half two`, as the British say it; `half a day` names no hour.
        let hour = text.next(at + 1).filter(|token| token.is_word()).and_then(hour_word)?;
        return spoken(text, hour, 30, at + 2);
    }
    if token.hash == word!("quarter") {
        let direction = text.next(at + 1)?.hash;
        let hour = hour_word(text.next(at + 2)?)?;
        return if direction == word!("past") || direction == word!("after") {
            spoken(text, hour, 15, at + 3)
        } else if direction == word!("to") || direction == word!("before") {
            spoken(text, if hour == 1 { 12 } else { hour - 1 }, 45, at + 3)
        } else {
            None
        };
    }
    let mut number = u64::from(token.lex().number?);
    let mut next = at + 1;
    // `twenty-five past`, and `two thirty`.
    let joined = next + usize::from(text.is_glued(next, '-'));
    let second =
        text.next(joined).filter(|token| token.is_word()).and_then(|token| token.lex().number).map(u64::from);
    if let Some(second) = second {
        if matches!(number, 20 | 30 | 40 | 50) && (1..=9).contains(&second) {
            number += second;
            next = joined + 1;
        } else if (1..=12).contains(&number) && (10..60).contains(&second) {
            let mut minute = second;
            let mut end = joined + 1;
            let third = end + usize::from(text.is_glued(end, '-'));
            let ones = text.next(third).filter(|token| token.is_word()).and_then(|token| token.lex().number);
            if let Some(ones) = ones.filter(|ones| (1..=9).contains(ones) && second % 10 == 0 && second >= 20)
            {
                minute += u64::from(ones);
                end = third + 1;
            }
            let half = half_after(text, end);
            if announced(text, at) || half.is_some() {
                return spoken(text, number, minute, end);
            }
            return None;
        } else {
            return None;
        }
    }
    if text.is_word(next, word!("oclock")) {
        return spoken(text, number, 0, next + 1);
    }
    if let Some(past) = past(text, number, next) {
        return Some(past);
    }
    if (1..=12).contains(&number) {
        if let Some((half, end)) = half_after(text, next) {
            let meridiem = text.get(next).is_some_and(|token| words!("am pm a p").contains(&token.hash));
            let part = text.get(next).is_some_and(|token| words!("in at").contains(&token.hash));
            if meridiem || announced(text, at) || (part && number != 1) {
                return Some((faced(number, 0, Some(half))?, end));
            }
        }
        if announced(text, at) && next == at + 1 {
            return bare(text, at, number, false);
        }
    }
    None
}

/// A time right behind an ISO date: `T14:30:00`, or after a blank.
pub(crate) fn after_date(text: &Text, at: usize) -> Option<(Time, usize)> {
    let mut at = at;
    let t = text.next(at)?;
    if t.is_word() && t.hash == word!("t") && t.has(Marks::GLUED) {
        at += 1;
    } else if t.has(Marks::GLUED) {
        return None;
    }
    let token = text.next(at).filter(|token| token.is_digits() && token.len() == 2)?;
    let minute = if text.is_glued(at + 1, ':') { two_digits(text.get(at + 2))? } else { return None };
    let mut end = at + 3;
    let mut second = 0;
    if text.is_glued(end, ':')
        && let Some(value) = two_digits(text.get(end + 1))
    {
        second = value;
        end += 2;
        if text.is_glued(end, '.')
            && text.get(end + 1).is_some_and(|token| token.is_digits() && token.has(Marks::GLUED))
        {
            end += 2;
        }
    }
    // `2026-03-05 02:30 pm` is read by the recogniser of times.
    if half_after(text, end).is_some() {
        return None;
    }
    clock(token.value, minute, second).map(|time| (time, end))
}

/// The offset of an instant, in seconds: `Z`, `+01:00`, `-0330`, ` UTC`.
pub(crate) fn offset(text: &Text, at: usize) -> Option<(i64, usize)> {
    let token = text.next(at)?;
    if token.is_word()
        && ((token.hash == word!("z") && token.has(Marks::GLUED)) || words!("utc gmt").contains(&token.hash))
    {
        return Some((0, at + 1));
    }
    let sign = if text.is_glued(at, '+') {
        1
    } else if text.is_glued(at, '-') {
        -1
    } else {
        return None;
    };
    let hours = text.get(at + 1).filter(|token| token.is_digits() && token.has(Marks::GLUED))?;
    if hours.len() == 4 {
        return Some((sign * (hours.value / 100 * 3600 + hours.value % 100 * 60) as i64, at + 2));
    }
    if hours.len() != 2 {
        return None;
    }
    let minutes = text.is_glued(at + 2, ':').then(|| two_digits(text.get(at + 3))).flatten();
    let end = if minutes.is_some() { at + 4 } else { at + 2 };
    Some((sign * (hours.value * 3600 + minutes.unwrap_or(0) * 60) as i64, end))
}

/// Whether a unit measures time in whole days.
pub(crate) fn days_of(unit: super::units::Unit) -> Option<f64> {
    (unit.dimension == Dimension::Duration && unit.factor >= 86_400.0 && unit.factor < 700_000.0)
        .then_some(unit.factor / 86_400.0)
}
