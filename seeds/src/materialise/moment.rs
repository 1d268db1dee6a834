//! Owns dates and times: bounds relative to the clock, and draws between them.

use crate::draw::Draw;
use crate::value::{Date, Instant, Time, Value, Zone};

/// A bound of a date or date-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeLimit {
    /// Seconds after the clock, or before it if negative.
    Offset(i64),
    /// A date.
    Day(Date),
    /// A timestamp.
    At(Instant),
}

/// A span of time, with restrictions on weekdays and times of day.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) from: TimeLimit,
    pub(super) to: TimeLimit,
    /// Allowed weekdays, 1 (Monday) to 7. An empty list allows all.
    pub(super) weekdays: Vec<i8>,
    /// Allowed times of day, from the first until before the second.
    pub(super) hours: Option<(Time, Time)>,
    /// Grid of the times of day, in seconds from the first hour.
    pub(super) step: u32,
}

impl Span {
    /// Makes a span of times of day.
    pub(super) const fn in_day(from: Time, to: Time, step: u32) -> Self {
        Self {
            from: TimeLimit::Offset(0),
            to: TimeLimit::Offset(0),
            weekdays: Vec::new(),
            hours: Some((from, to)),
            step,
        }
    }
}

/// The current time and the time zone of the world.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    pub(super) now: Instant,
    pub(super) zone: &'a Zone,
}

const DAY: i64 = 86_400;
/// Days by which a span without a valid timestamp grows at most: a week has each weekday.
const MAX_EXTRA_DAYS: i64 = 7;

impl TimeLimit {
    /// Parses `+1d`, `-30d`, `+2w`, `+6h`, `-90m`, `-2y`, `now`, `today`, a date or a date-time.
    pub(super) fn parse(text: &str, zone: &Zone) -> Option<Self> {
        match text.trim() {
            "now" | "today" | "0" => Some(Self::Offset(0)),
            text => seconds(text)
                .map(Self::Offset)
                .or_else(|| Date::parse(text).map(Self::Day))
                .or_else(|| zone.parse_instant(text).map(Self::At)),
        }
    }

    /// Returns the date of the bound.
    pub(super) fn day(self, clock: Clock<'_>) -> Date {
        match self {
            // Whole days are counted on the calendar, so that the change to summer time does not shift them.
            Self::Offset(seconds) if seconds % DAY == 0 => {
                shift(clock.zone.date_of(clock.now), seconds / DAY)
            }
            Self::Offset(seconds) => clock.zone.date_of(Instant(clock.now.0.saturating_add(seconds))),
            Self::Day(day) => day,
            Self::At(instant) => clock.zone.date_of(instant),
        }
    }

    fn instant(self, clock: Clock<'_>, end: bool) -> Instant {
        match self {
            Self::Offset(seconds) => Instant(clock.now.0.saturating_add(seconds)),
            Self::Day(day) => clock.zone.instant(day, Time(if end { 86_399 } else { 0 })),
            Self::At(instant) => instant,
        }
    }
}

impl Span {
    /// Returns true if the span ends before it begins.
    pub(super) fn is_backwards(&self, clock: Clock<'_>, of_days: bool) -> bool {
        if of_days {
            return self.from.day(clock) > self.to.day(clock);
        }
        self.from.instant(clock, false) > self.to.instant(clock, true)
    }

    /// Draws a date of the span.
    pub(super) fn date(&self, clock: Clock<'_>, draw: &mut Draw) -> Option<Date> {
        let (from, to) = (self.from.day(clock), self.to.day(clock));
        if from > to {
            return None;
        }
        let days = i64::from(to.0) - i64::from(from.0) + 1;
        let first = draw.between(0, days - 1);
        // It takes the next allowed date after a drawn one. Seven days cover all weekdays.
        (0..days.min(7))
            .map(|k| shift(from, (first + k) % days))
            .find(|day| self.counts(*day))
            .or_else(|| (0..days.min(7)).map(|k| shift(from, k)).find(|day| self.counts(*day)))
            .or_else(|| {
                let near = (1..=MAX_EXTRA_DAYS).flat_map(|days| {
                    let (back, on) = self.extra_days(clock, days);
                    [shift(from, -back), shift(to, on)]
                });
                near.into_iter().find(|day| self.counts(*day))
            })
    }

    /// Returns the days by which a span grows before its start and after its end, out of so many: away from the
    /// present, and only where the bound is relative to it.
    fn extra_days(&self, clock: Clock<'_>, days: i64) -> (i64, i64) {
        let (from, to) = (self.from.instant(clock, false), self.to.instant(clock, true));
        let grows = |bound: TimeLimit, is_away: bool| is_away && matches!(bound, TimeLimit::Offset(_));
        let back = grows(self.from, from < clock.now);
        let on = grows(self.to, to > clock.now);
        (if back { days } else { 0 }, if on { days } else { 0 })
    }

    /// Draws a timestamp of the span.
    pub(super) fn instant(&self, clock: Clock<'_>, draw: &mut Draw) -> Option<Instant> {
        let (from, to) = (self.from.instant(clock, false), self.to.instant(clock, true));
        if from > to {
            return None;
        }
        for _ in 0..24 {
            let time = self.time(draw);
            let instant = clock.zone.instant(self.date(clock, draw)?, time);
            if from <= instant && instant <= to {
                return Some(instant);
            }
        }
        // A short span may hold few valid timestamps, so this lists its grid. A world's clock varies, and what was
        // to happen within hours may fall on a weekend: the span grows by days, away from the present.
        (0..=MAX_EXTRA_DAYS).find_map(|days| {
            let (back, on) = self.extra_days(clock, days);
            let from = Instant(from.0.saturating_sub(back * DAY));
            let to = Instant(to.0.saturating_add(on * DAY));
            draw.pick(&self.list(clock.zone, from, to)).copied()
        })
    }

    /// Lists the timestamps of the grid from one to another.
    fn list(&self, zone: &Zone, from: Instant, to: Instant) -> Vec<Instant> {
        let slots: Vec<Time> = self.slots().collect();
        let (first, last) = (zone.date_of(from), zone.date_of(to));
        let mut found = Vec::new();
        for day in (first.0..=last.0).map(Date).filter(|day| self.counts(*day)).take(400) {
            let instants = slots.iter().map(|time| zone.instant(day, *time));
            found.extend(instants.filter(|instant| from <= *instant && *instant <= to));
        }
        found
    }

    /// Draws a time of day from the grid.
    pub(super) fn time(&self, draw: &mut Draw) -> Time {
        let (first, count) = self.grid();
        Time(first + draw.below(u64::from(count)) as u32 * self.step.max(1))
    }

    /// Returns about the number of different timestamps in the span.
    pub(super) fn capacity(&self, clock: Clock<'_>) -> u64 {
        let days = (i64::from(self.to.day(clock).0) - i64::from(self.from.day(clock).0) + 1).max(0) as u64;
        let share = if self.weekdays.is_empty() { 7 } else { self.weekdays.len() as u64 };
        (days * share).div_ceil(7).saturating_mul(u64::from(self.grid().1))
    }

    /// Returns about the number of different dates in the span.
    pub(super) fn days(&self, clock: Clock<'_>) -> u64 {
        self.capacity(clock) / u64::from(self.grid().1.max(1))
    }

    fn slots(&self) -> impl Iterator<Item = Time> {
        let ((first, count), step) = (self.grid(), self.step.max(1));
        (0..count).map(move |k| Time(first + k * step))
    }

    /// Returns the first time of the grid, and the number of times. The grid ends before the closing hour,
    /// and has at least the opening hour.
    fn grid(&self) -> (u32, u32) {
        let (from, to) = self.hours.map_or((0, 86_400), |(from, to)| (from.0, to.0));
        (from, to.saturating_sub(from).div_ceil(self.step.max(1)).max(1))
    }

    fn counts(&self, day: Date) -> bool {
        self.weekdays.is_empty() || self.weekdays.contains(&day.civil().weekday().to_monday_one_offset())
    }
}

/// Parses a duration of one unit with an optional sign: minutes `m`, hours `h`, days `d`, weeks `w`, years
/// `y`.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let split = text.len().checked_sub(1).filter(|split| text.is_char_boundary(*split))?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => DAY,
        "w" => 7 * DAY,
        "y" => 365 * DAY,
        _ => return None,
    };
    let number: i64 = number.strip_prefix('+').unwrap_or(number).parse().ok()?;
    // No world needs more than a thousand years, and the bound prevents overflow.
    number.checked_mul(unit).filter(|seconds| seconds.abs() <= 1_000 * 365 * DAY)
}

/// Returns true if a text is relative to the clock: it starts with a sign, `today` or `now`.
pub(super) fn is_relative(text: &str) -> bool {
    text.starts_with(['+', '-']) || text.starts_with("today") || text.starts_with("now")
}

/// Returns the value of a relative expression in a given record: `+1d` in a date, `+1d 09:30` in a date-time.
pub(super) fn relative(text: &str, clock: Clock<'_>, with_time: bool) -> Option<Value> {
    let (offset, time) = match text.split_once([' ', 'T']) {
        Some((offset, time)) => (offset, Some(Time::parse(time)?)),
        None => (text, None),
    };
    if !is_relative(offset) {
        return None;
    }
    let bound = TimeLimit::parse(offset, clock.zone)?;
    Some(match (with_time, time) {
        (false, _) => Value::Date(bound.day(clock)),
        (true, Some(time)) => Value::DateTime(clock.zone.instant(bound.day(clock), time)),
        (true, None) => Value::DateTime(bound.instant(clock, false)),
    })
}

fn shift(date: Date, days: i64) -> Date {
    Date((i64::from(date.0).saturating_add(days)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Streams;

    fn span(from: &str, to: &str, hours: Option<(&str, &str)>, step: &str) -> Span {
        let zone = Zone::named("Europe/Lisbon").unwrap();
        Span {
            from: TimeLimit::parse(from, &zone).unwrap(),
            to: TimeLimit::parse(to, &zone).unwrap(),
            weekdays: vec![1, 2],
            hours: hours.map(|(from, to)| (Time::parse(from).unwrap(), Time::parse(to).unwrap())),
            step: seconds(step).unwrap() as u32,
        }
    }

    #[test]
    fn moments_keep_span_hours_weekdays_and_grid() {
        let zone = Zone::named("Europe/Lisbon").unwrap();
        // The clock is on a Monday, and summer time begins on 29 March.
        let clock = Clock { now: zone.parse_instant("2026-03-02T09:00").unwrap(), zone: &zone };
        let span = span("+1d", "+40d", Some(("09:00", "17:00")), "30m");
        let streams = Streams::new(1, "r", "f", "");
        for n in 0..300 {
            let instant = span.instant(clock, &mut streams.draw(n, 0)).unwrap();
            let (day, time) = (zone.date_of(instant), zone.time_of(instant));
            assert!((9 * 3600..17 * 3600).contains(&time.0) && time.0 % 1800 == 0, "{time}");
            assert!(instant.0 >= clock.now.0 + DAY && instant.0 <= clock.now.0 + 40 * DAY);
            assert!(span.counts(day), "{day}");
        }
        assert_eq!(span.days(clock), 12);
    }

    #[test]
    fn a_span_without_a_moment_grows_by_days() {
        let zone = Zone::utc();
        let clock = Clock { now: zone.parse_instant("2026-03-02T09:00").unwrap(), zone: &zone };
        let mut draw = Streams::new(1, "r", "f", "").draw(0, 0);
        assert_eq!(span("+3d", "+1d", None, "1h").instant(clock, &mut draw), None);
        // The span is Wednesday to Friday, but only Monday and Tuesday are allowed: it grows to the next Monday.
        let next = span("+2d", "+4d", None, "1h").instant(clock, &mut draw).unwrap();
        assert_eq!(Some(zone.date_of(next)), Date::parse("2026-03-09"));
        // The span of the weekend before grows back to the last Tuesday.
        let past = span("-2d", "-1d", None, "1h").instant(clock, &mut draw).unwrap();
        assert_eq!(Some(zone.date_of(past)), Date::parse("2026-02-24"));
        // The only valid timestamp is tomorrow at nine.
        let tight = span("+23h", "+25h", Some(("09:00", "17:00")), "4h");
        assert_eq!(tight.instant(clock, &mut draw), zone.parse_instant("2026-03-03T09:00"));
    }

    #[test]
    fn relative_spellings_are_read() {
        let zone = Zone::utc();
        let clock = Clock { now: zone.parse_instant("2026-03-02T09:00").unwrap(), zone: &zone };
        let read = |text: &str, with_time| relative(text, clock, with_time).map(|value| value.to_text(&zone));
        assert_eq!(read("+1d", false).as_deref(), Some("2026-03-03"));
        assert_eq!(read("-2w", false).as_deref(), Some("2026-02-16"));
        assert_eq!(read("+1d 10:30", true).as_deref(), Some("2026-03-03T10:30:00Z"));
        assert_eq!(read("+90m", true).as_deref(), Some("2026-03-02T10:30:00Z"));
        assert_eq!(read("2026-03-02", false), None);
        assert_eq!((seconds("99999999999999999d"), seconds("é"), seconds("")), (None, None, None));
    }
}
