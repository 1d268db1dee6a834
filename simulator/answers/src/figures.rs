//! Figures: reads digits with separators as numbers, dates, times and timestamps.

use std::sync::LazyLock;

use diorama_seeds::value::{Date, Time};
use regex::Regex;

/// The value of a run of digits and separators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    Number(Numeral),
    /// A date, with a second reading if day and month may be swapped.
    Date(Date, Option<Date>),
    /// Two small numbers with a slash: a date without its year, or a fraction.
    Slash(u32, u32),
    /// A clock time. The flag is true if its hour has two digits.
    Time(Time, bool),
    /// A date and time. The flag is true if an offset from UTC follows.
    Instant(Date, Time, bool),
}

/// A number as digits: `mantissa / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numeral {
    pub(crate) mantissa: i64,
    pub(crate) scale: u8,
    /// The second reading, if one separator is followed by three digits.
    pub(crate) other: Option<(i64, u8)>,
    /// True if the digits have no separators.
    pub(crate) is_plain: bool,
    /// Number of digits.
    pub(crate) digits: u8,
}

impl Numeral {
    pub(crate) fn value(&self) -> f64 {
        value(self.mantissa, self.scale)
    }

    pub(crate) fn other_value(&self) -> Option<f64> {
        self.other.map(|(mantissa, scale)| value(mantissa, scale))
    }

    /// Returns the whole number, if it has one or two digits.
    pub(crate) fn small(&self) -> Option<u32> {
        (self.is_plain && self.digits <= 2).then(|| u32::try_from(self.mantissa).ok()).flatten()
    }
}

fn value(mantissa: i64, scale: u8) -> f64 {
    mantissa as f64 / 10_f64.powi(i32::from(scale))
}

/// A longer run of digits is a code.
const MAX_DIGITS: usize = 15;

#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test compiles it")]
static FIGURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
        (?P<iso>\d{4}-\d\d-\d\d)(?:[T\ ](?P<clock>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?\b
        | (?P<y>\d{4})[/.](?P<ym>\d\d)[/.](?P<yd>\d\d)\b
        | (?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})[./](?P<year>\d{4}|\d{2})\b
        | (?P<time>\d{1,2}:\d\d(?::\d\d)?)
        | (?P<num>\d{1,2}(?:,\d{2})+,\d{3}\b | \d{1,3}(?:[,.'’\u{a0}\u{202f}]\d{3})+(?:[.,]\d{1,2})?\b | \d{1,3}(?:\ \d{3})+(?:[.,]\d{1,2})?\b | \d+(?:[.,]\d+)?)
        )",
    )
    .expect("a constant pattern")
});
#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test compiles it")]
static SLASH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\d{1,2})/(\d{1,2})\b").expect("a constant pattern"));

/// Reads the figure at the start of a text that starts with a digit. Returns it, or none for a code, with its
/// length in bytes.
pub(crate) fn read(text: &str) -> (Option<Figure>, usize) {
    let run = text.bytes().take_while(u8::is_ascii_digit).count();
    let next = text.as_bytes().get(run).copied().unwrap_or(b' ');
    // Most figures have no separators, so the regular expressions are skipped.
    let is_plain = matches!(next, b' ' | b'\n' | b')' | b'?' | b'!' | b';')
        && (next != b' ' || run > 3 || !goes_on(text, run));
    if is_plain || next.is_ascii_alphabetic() {
        return (plain(&text[..run]), run);
    }
    if next == b'/'
        && let Some(found) = SLASH.captures(text)
        && text.as_bytes().get(found[0].len()) != Some(&b'/')
    {
        let part = |at: usize| found.get(at).and_then(|part| part.as_str().parse().ok()).unwrap_or(0);
        return (Some(Figure::Slash(part(1), part(2))), found[0].len());
    }
    let Some(found) = FIGURE.captures(text) else { return (plain(&text[..run]), run) };
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let number = |name: &str| part(name).and_then(|part| part.parse::<i16>().ok()).unwrap_or(0);
    let length = found[0].len();
    let figure = if let Some(date) = part("iso").and_then(Date::parse) {
        match part("clock").and_then(time) {
            Some(time) => Some(Figure::Instant(date, time, part("zone").is_some())),
            None => Some(Figure::Date(date, None)),
        }
    } else if part("y").is_some() {
        civil(number("y"), number("ym"), number("yd")).map(|date| Figure::Date(date, None))
    } else if let Some(year) = part("year") {
        let year = if year.len() == 2 { 2000 + number("year") } else { number("year") };
        let (a, b) = (number("a"), number("b"));
        let (by_day, by_month) = (civil(year, b, a), civil(year, a, b));
        // The month-first order of `5/3/2026` is a second reading. Dates with points are always day-first.
        let other = by_month.filter(|other| part("sep") == Some("/") && Some(*other) != by_day);
        by_day.map(|date| Figure::Date(date, other)).or(other.map(|date| Figure::Date(date, None)))
    } else if let Some(clock) = part("time") {
        time(clock).map(|time| Figure::Time(time, clock.starts_with('0')))
    } else {
        part("num").and_then(numeral).map(Figure::Number)
    };
    match figure {
        Some(figure) => (Some(figure), length),
        None => (plain(&text[..run]), run),
    }
}

/// Returns true if a blank and a group of exactly three digits follow.
fn goes_on(text: &str, run: usize) -> bool {
    let rest = text.get(run + 1..).unwrap_or_default();
    rest.bytes().take_while(u8::is_ascii_digit).count() == 3
}

fn plain(digits: &str) -> Option<Figure> {
    numeral(digits).map(Figure::Number)
}

fn numeral(text: &str) -> Option<Numeral> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let mantissa: i64 = digits.parse().ok()?;
    let numeral = |scale: usize, other: Option<usize>| Numeral {
        mantissa,
        scale: scale as u8,
        other: other.map(|scale| (mantissa, scale as u8)),
        is_plain: digits.len() == text.len(),
        digits: digits.len() as u8,
    };
    let marks: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| matches!(c, '.' | ',')).collect();
    let Some((at, last)) = marks.last().copied() else { return Some(numeral(0, None)) };
    let behind = text.len() - at - 1;
    let grouped = behind == 3 && !text.starts_with('0');
    Some(match marks.as_slice() {
        [_] if grouped && last == ',' => numeral(0, Some(3)),
        [_] if grouped => numeral(3, Some(0)),
        [_] => numeral(behind, None),
        // If all marks are equal, they group thousands. Of two kinds, the last starts the decimals.
        marks if marks.iter().all(|(_, mark)| *mark == last) => numeral(0, None),
        _ => numeral(behind, None),
    })
}

pub(crate) fn civil(year: i16, month: i16, day: i16) -> Option<Date> {
    let date = jiff::civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(Date::from_civil(date))
}

fn time(text: &str) -> Option<Time> {
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0));
    let hour = if hour == 24 { 0 } else { hour };
    (hour < 24 && minute < 60 && second < 60).then_some(Time(hour * 3600 + minute * 60 + second))
}
