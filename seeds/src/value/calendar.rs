//! Owns dates, times of day, timestamps, and their time zone.
//!
//! Texts range from 0000-01-01 to 9999-12-31. Calculations may leave this range, so that a bound of a
//! comparison is never out of range. Stored and shown values stay within it
//! ([`Value::is_in_calendar`](super::Value::is_in_calendar)).

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

/// A date, as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

/// A time of day, as seconds since midnight, 0 to 86,399.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// A timestamp, as seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// The only time zone of a world.
#[derive(Clone, Debug)]
pub struct Zone {
    name: Arc<str>,
    rules: TimeZone,
}

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Days from 0000-03-01, the start of this calculation's years, to 1970-01-01.
const EPOCH: i32 = 719_468;
/// Days of 400 years.
const ERA: i32 = 146_097;

impl Date {
    /// 0000-01-01. Earlier dates have no text, and only serve as bounds of comparisons.
    pub const FIRST: Self = Self(-719_528);
    /// 9999-12-31. Later dates have no text, and only serve as bounds of comparisons.
    pub const LAST: Self = Self(2_932_896);

    /// Converts a civil date to days since 1970-01-01.
    pub fn from_civil(date: civil::Date) -> Self {
        let (year, month, day) = (i32::from(date.year()), i32::from(date.month()), i32::from(date.day()));
        // Years that begin in March have the leap day at their end.
        let year = year - i32::from(month <= 2);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        Self(year.div_euclid(400) * ERA + days - EPOCH)
    }

    /// Returns the civil date. A date outside the calendar is clamped to its first or last date.
    pub fn civil(self) -> civil::Date {
        let since = self.clamp(Self::FIRST, Self::LAST).0 + EPOCH;
        let days = since.rem_euclid(ERA);
        let of_era = (days - days / 1_460 + days / 36_524 - days / 146_096) / 365;
        let of_year = days - (365 * of_era + of_era / 4 - of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let (month, day) = ((from_march + 2) % 12 + 1, of_year - (153 * from_march + 2) / 5 + 1);
        let year = since.div_euclid(ERA) * 400 + of_era + i32::from(month <= 2);
        civil::Date::new(year as i16, month as i8, day as i8).unwrap_or_default()
    }

    /// Returns true if the date has a text.
    pub fn is_in_calendar(self) -> bool {
        (Self::FIRST..=Self::LAST).contains(&self)
    }

    /// Parses `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| digits(bytes.get(range)?);
        let date = civil::Date::new(number(0..4)? as i16, number(5..7)? as i8, number(8..10)? as i8).ok()?;
        Some(Self::from_civil(date))
    }
}

/// Writes `YYYY-MM-DD`.
impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let date = self.civil();
        write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
    }
}

impl Time {
    /// Parses `H:MM`, `HH:MM` or `HH:MM:SS`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let hour = parts.next().filter(|part| matches!(part.len(), 1 | 2))?;
        let rest: Vec<&str> = parts.collect();
        if !(1..=2).contains(&rest.len()) || rest.iter().any(|part| part.len() != 2) {
            return None;
        }
        let hour = digits(hour.as_bytes())?;
        let minute = digits(rest[0].as_bytes())?;
        let second = rest.get(1).map_or(Some(0), |part| digits(part.as_bytes()))?;
        (hour < 24 && minute < 60 && second < 60).then_some(Self(hour * 3600 + minute * 60 + second))
    }
}

/// Writes `HH:MM`, or `HH:MM:SS` if the seconds are not zero.
impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 3600, self.0 / 60 % 60)?;
        if !self.0.is_multiple_of(60) { write!(f, ":{:02}", self.0 % 60) } else { Ok(()) }
    }
}

impl Zone {
    /// Returns the zone with an IANA name, such as `Europe/Lisbon`, or `None` if the bundled database lacks
    /// it.
    pub fn named(name: &str) -> Option<Self> {
        let rules = jiff::tz::TimeZoneDatabase::bundled().get(name).ok()?;
        Some(Self { name: Arc::from(rules.iana_name().unwrap_or(name)), rules })
    }

    /// Returns the zone of coordinated universal time.
    pub fn utc() -> Self {
        Self { name: Arc::from("UTC"), rules: TimeZone::UTC }
    }

    /// Returns the IANA name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the local date of a timestamp.
    pub fn date_of(&self, instant: Instant) -> Date {
        self.local(instant).0
    }

    /// Returns the local time of day of a timestamp.
    pub fn time_of(&self, instant: Instant) -> Time {
        self.local(instant).1
    }

    /// Returns the timestamp of a local date and time. If the local hour occurs twice, it takes the earlier.
    /// If the hour is skipped, it takes the time after the gap.
    pub fn instant(&self, date: Date, time: Time) -> Instant {
        let clock = civil::time((time.0 / 3600) as i8, (time.0 / 60 % 60) as i8, (time.0 % 60) as i8, 0);
        let civil = date.civil().to_datetime(clock);
        let known = self.rules.to_ambiguous_timestamp(civil).compatible().ok();
        match known.filter(|_| date.is_in_calendar()) {
            Some(timestamp) => Instant(timestamp.as_second()),
            // At the ends of the calendar, the nearest known offset applies.
            None => {
                let local = i64::from(date.0) * DAY + i64::from(time.0);
                Instant(local - self.offset(Instant(local)))
            }
        }
    }

    /// Returns true if the local date of a timestamp has a text.
    pub fn has(&self, instant: Instant) -> bool {
        // Each offset is shorter than two days.
        let plainly = i64::from(Date::FIRST.0 + 2) * DAY..i64::from(Date::LAST.0 - 2) * DAY;
        plainly.contains(&instant.0) || self.date_of(instant).is_in_calendar()
    }

    /// Returns the local date and time of a timestamp, and their offset from UTC in seconds.
    fn local(&self, instant: Instant) -> (Date, Time, i64) {
        let offset = self.offset(instant);
        let local = instant.0.saturating_add(offset);
        let day = local.div_euclid(DAY).clamp(i32::MIN.into(), i32::MAX.into());
        (Date(day as i32), Time(local.rem_euclid(DAY) as u32), offset)
    }

    /// Returns the offset of local time from UTC in seconds. Outside the range of the rules, it is the offset
    /// at the nearest known timestamp.
    fn offset(&self, instant: Instant) -> i64 {
        let nearest = if instant.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
        let timestamp = Timestamp::from_second(instant.0).unwrap_or(nearest);
        self.rules.to_offset(timestamp).seconds().into()
    }

    /// Parses an RFC 3339 date-time with an offset, or as local time of this zone without one. A space may
    /// replace the `T`, and the seconds may be absent. Cuts off fractions of a second. If the offset
    /// moves it outside the zone's calendar, it becomes the first or last second.
    pub fn parse_instant(&self, text: &str) -> Option<Instant> {
        let date = Date::parse(text.get(..10)?)?;
        let rest = text.get(10..)?.strip_prefix(['T', 't', ' '])?;
        let split = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (mut clock, offset) = rest.split_at(split);
        if let Some((whole, fraction)) = clock.split_once('.') {
            if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            clock = whole;
        }
        let time = Time::parse(clock)?;
        let shift = match offset {
            "" => return Some(self.instant(date, time)),
            "Z" | "z" => 0,
            _ => {
                let sign = if offset.starts_with('-') { -1 } else { 1 };
                sign * i64::from(Time::parse(&offset[1..]).filter(|_| offset.len() == 6)?.0)
            }
        };
        let instant = Instant(i64::from(date.0) * DAY + i64::from(time.0) - shift);
        Some(match self.has(instant) {
            true => instant,
            false if instant.0 < 0 => self.instant(Date::FIRST, Time(0)),
            false => self.instant(Date::LAST, Time(DAY as u32 - 1)),
        })
    }

    /// Writes `YYYY-MM-DDTHH:MM:SS+HH:MM` (RFC 3339), with `Z` if the zone is UTC.
    pub fn write_instant(&self, instant: Instant, out: &mut String) {
        let (date, Time(time), offset) = self.local(instant);
        let _ = write!(out, "{date}T{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
        if &*self.name == "UTC" {
            out.push('Z');
            return;
        }
        let sign = if offset < 0 { '-' } else { '+' };
        let _ = write!(out, "{sign}{:02}:{:02}", offset.abs() / 3600, offset.abs() / 60 % 60);
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0_u32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
}
