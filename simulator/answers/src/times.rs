//! Times of day: recognises figures with and without am and pm, and spoken forms.

use diorama_seeds::value::Time;

use super::figures::Figure;
use super::spelt::spelt;
use super::text::{Kind, Text, Token};
use super::{Clocktime, FoundValue, What};

/// A time before this hour may mean the afternoon if am and pm are missing.
const FIRST_CLEAR_HOUR: u32 = 7;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Am,
    Pm,
}

/// Recognises a time that starts at a token.
pub(crate) fn recognise(text: &Text, at: usize) -> Option<FoundValue> {
    let token = text.tokens.get(at)?;
    let (time, end) = match token.kind {
        Kind::Figure(Some(figure)) => figured(text, at, figure)?,
        Kind::Word => in_words(text, at)?,
        _ => return None,
    };
    Some(FoundValue::new(at, end, What::Time(time)))
}

const fn exact(hour: u32, minute: u32) -> Option<Clocktime> {
    if hour < 24 && minute < 60 {
        Some(Clocktime { time: Time(hour * 3600 + minute * 60), other: None })
    } else {
        None
    }
}

/// Returns a time on the 12-hour clock. Without `half`, it has two readings.
fn faced(hour: u32, minute: u32, half: Option<Half>) -> Option<Clocktime> {
    let twelve = (1..=12).contains(&hour);
    match half {
        Some(half) if twelve => exact(hour % 12 + if half == Half::Pm { 12 } else { 0 }, minute),
        None if twelve => {
            let other = exact((hour + 12) % 24, minute)?;
            Some(Clocktime { other: Some(other.time), ..exact(hour, minute)? })
        }
        _ => exact(hour, minute),
    }
}

/// Returns am or pm, and the token after it: `am`, `p.m.`, `in the morning`, `at night`.
fn half(text: &Text, at: usize) -> Option<(Half, usize)> {
    let token = text.next(at)?;
    let phrase = |ahead: usize| text.next_word(at + ahead);
    match text.word(token) {
        "am" => Some((Half::Am, at + 1)),
        "pm" => Some((Half::Pm, at + 1)),
        letter @ ("a" | "p")
            if text.next(at + 1).is_some_and(|next| next.is_sign('.') && next.glued) && phrase(2) == "m" =>
        {
            let point = text.next(at + 3).is_some_and(|next| next.is_sign('.') && next.glued);
            Some((if letter == "a" { Half::Am } else { Half::Pm }, at + 3 + usize::from(point)))
        }
        "in" if phrase(1) == "the" => match phrase(2) {
            "morning" => Some((Half::Am, at + 3)),
            "afternoon" | "evening" => Some((Half::Pm, at + 3)),
            _ => None,
        },
        "at" if phrase(1) == "night" => Some((Half::Pm, at + 2)),
        "this" if matches!(phrase(1), "afternoon" | "evening") => Some((Half::Pm, at + 2)),
        _ => None,
    }
}

/// Reads a time from a figure: `14:30`, `2:30 pm`, `2pm`, `14h30`, `2.30 pm`, `at 9`, `9 o'clock`, `10 past
/// two`.
fn figured(text: &Text, at: usize, figure: Figure) -> Option<(Clocktime, usize)> {
    let number = match figure {
        Figure::Time(time, padded) => {
            let (hour, minute, second) = (time.0 / 3600, time.0 / 60 % 60, time.0 % 60);
            if let Some((half, end)) = half(text, at + 1) {
                return Some((faced(hour, minute, Some(half))?, end));
            }
            // `1:30 h` is a duration.
            let measured =
                text.next(at + 1).is_some_and(|next| next.lex.unit.is_some() && next.end - next.start > 1);
            let early = (1..FIRST_CLEAR_HOUR).contains(&hour) && !padded;
            let other = early.then_some(Time(time.0 + 12 * 3600)).filter(|_| second == 0);
            return (!measured).then_some((Clocktime { time, other }, at + 1));
        }
        Figure::Number(number) => number,
        _ => return None,
    };
    let glued = text.tokens[at].glued
        && text.before(at).is_some_and(|before| before.is_word() || before.is_sign('.'));
    if glued {
        return None;
    }
    // `2.30 pm`
    if number.scale == 2 && number.mantissa < 2400 {
        let (hour, minute) = ((number.mantissa / 100) as u32, (number.mantissa % 100) as u32);
        let (half, end) = half(text, at + 1)?;
        return Some((faced(hour, minute, Some(half))?, end));
    }
    let hour = number.small().filter(|hour| *hour < 25)?;
    let padded = text.word(&text.tokens[at]).starts_with('0');
    if let Some((half, end)) = half(text, at + 1) {
        let said = !matches!(text.next_word(at + 1), "in" | "at" | "this") || is_announced(text, at);
        return (said && (1..=12).contains(&hour))
            .then(|| Some((faced(hour, 0, Some(half))?, end)))
            .flatten();
    }
    let next = text.next(at + 1);
    if next.is_some_and(|next| next.glued && text.word(next) == "h") {
        let minute = text.next(at + 2).filter(|next| next.glued).and_then(|next| match next.figure() {
            Some(Figure::Number(minute)) => minute.small(),
            _ => None,
        });
        let clock = is_announced(text, at) || hour >= FIRST_CLEAR_HOUR || padded;
        return match minute {
            Some(minute) if clock => Some((exact(hour, minute)?, at + 3)),
            None if is_announced(text, at) => Some((exact(hour, 0)?, at + 2)),
            _ => None,
        };
    }
    if matches!(text.next_word(at + 1), "o'clock" | "oclock" | "o") || text.next_word(at + 1) == "uhr" {
        let end = at + 2 + usize::from(text.next_word(at + 1) == "o");
        let (half, end) = half(text, end).map_or((None, end), |(half, end)| (Some(half), end));
        return Some((faced(hour, 0, half)?, end));
    }
    if let Some(past) = past(text, hour, at + 1) {
        return Some(past);
    }
    // `9-10 am`: am or pm of the second hour also applies to the first.
    let joins =
        next.is_some_and(|next| matches!(next.kind, Kind::Sign('-' | '–')) || text.word(next) == "to");
    if joins && let Some(Figure::Number(second)) = text.next(at + 2).and_then(|next| next.figure()) {
        let (of_second, _) = half(text, at + 3)?;
        let earlier = second.small()? % 12 < hour % 12;
        let half = if earlier && of_second == Half::Pm { Half::Am } else { of_second };
        return Some((faced(hour, 0, Some(half))?, at + 1));
    }
    bare(text, at, hour, padded)
}

/// Returns true if `at` or `@` precedes.
fn is_announced(text: &Text, at: usize) -> bool {
    text.word_before(at) == "at" || text.before(at).is_some_and(|before| before.is_sign('@'))
}

/// Reads `at 9`, unless a word follows that it could count.
fn bare(text: &Text, at: usize, hour: u32, padded: bool) -> Option<(Clocktime, usize)> {
    let counts = |token: &Token| match token.kind {
        Kind::Word => {
            (token.has_content()
                && token.lex.weekday == 0
                && token.lex.month == 0
                && text.word(token) != "tomorrow")
                || text.word(token) == "of"
        }
        Kind::Sign(sign) => matches!(sign, '%' | '€' | '$' | '£' | '°' | '/' | '-'),
        Kind::Figure(_) => true,
    };
    let free = is_announced(text, at) && !text.next(at + 1).is_some_and(counts);
    let time = if padded { exact(hour, 0) } else { faced(hour, 0, None) };
    free.then_some((time?, at + 1))
}

/// Reads `.. past two` and `.. to nine`, with an optional `minutes`. `at` is the token after the number of
/// minutes.
fn past(text: &Text, minute: u32, at: usize) -> Option<(Clocktime, usize)> {
    let named = matches!(text.next_word(at), "minutes" | "minute");
    let at = at + usize::from(named);
    let direction = text.next_word(at);
    let (hour, is_word) = hour(text.next(at + 1)?)?;
    let fits = (1..60).contains(&minute);
    let (hour, minute) = match direction {
        "past" | "after" if fits && (direction == "past" || named || matches!(minute, 15 | 30)) => {
            (hour, minute)
        }
        "to" | "before" if fits && minute < 31 && (named || (is_word && minute.is_multiple_of(5))) => {
            (if hour == 1 { 12 } else { hour - 1 }, 60 - minute)
        }
        _ => return None,
    };
    let (half, end) = half(text, at + 2).map_or((None, at + 2), |(half, end)| (Some(half), end));
    Some((faced(hour, minute, half)?, end))
}

/// Returns an hour from 1 to 12, with true if it is a word.
fn hour(token: &Token) -> Option<(u32, bool)> {
    let hour = match token.figure() {
        Some(Figure::Number(number)) => (number.small()?, false),
        _ => (u32::from(token.lex.number.filter(|_| token.is_word())?), true),
    };
    (1..=12).contains(&hour.0).then_some(hour)
}

/// Reads a time in words: `noon`, `midnight`, `half past two`, `quarter to nine`, `at nine`, `nine o'clock`,
/// `two thirty pm`.
fn in_words(text: &Text, at: usize) -> Option<(Clocktime, usize)> {
    let token = text.tokens.get(at)?;
    match text.word(token) {
        "noon" | "midday" => return Some((exact(12, 0)?, at + 1)),
        "midnight" => return Some((exact(0, 0)?, at + 1)),
        "half" if text.next_word(at + 1) == "past" => return past(text, 30, at + 1),
        // `half two` is the British form of 2:30.
        "half" if text.next(at + 1).and_then(hour).is_some_and(|(_, is_word)| is_word) => {
            let (hour, _) = hour(text.next(at + 1)?)?;
            let (half, end) = half(text, at + 2).map_or((None, at + 2), |(half, end)| (Some(half), end));
            return Some((faced(hour, 30, half)?, end));
        }
        "quarter" => return past(text, 15, at + 1),
        _ => {}
    }
    token
        .lex
        .number
        .filter(|_| !matches!(text.word(token), "once" | "twice" | "both" | "single" | "pair" | "couple"))?;
    let (value, end) = spelt(text, at)?;
    let value = value as u32;
    if matches!(text.next_word(end), "o'clock" | "oclock") {
        let (half, end) = half(text, end + 1).map_or((None, end + 1), |(half, end)| (Some(half), end));
        return Some((faced(value, 0, half)?, end));
    }
    if let Some(past) = past(text, value, end) {
        return Some(past);
    }
    if !(1..=12).contains(&value) {
        return None;
    }
    // `seven forty-five`
    let minutes = spelt(text, end).filter(|(minute, _)| (10.0..60.0).contains(minute));
    if let Some((minute, after)) = minutes.filter(|_| text.next(end).is_some()) {
        let of_day = half(text, after);
        let said = is_announced(text, at) || of_day.is_some();
        let (half, after) = of_day.map_or((None, after), |(half, end)| (Some(half), end));
        return said.then(|| Some((faced(value, minute as u32, half)?, after))).flatten();
    }
    if let Some((half, after)) = half(text, end) {
        let said =
            !matches!(text.next_word(end), "in" | "at" | "this") || is_announced(text, at) || value > 1;
        return said.then(|| Some((faced(value, 0, Some(half))?, after))).flatten();
    }
    if end == at + 1 { bare(text, at, value, false) } else { None }
}
