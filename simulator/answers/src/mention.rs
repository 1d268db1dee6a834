//! Mentions: typed values in a text (numbers, money, days, times), with their positions.

use diorama_seeds::value::{Date, Decimal, Instant, Time, Zone};

use crate::span::Span;
use crate::stance::Stance;
use crate::units::{Currency, Unit};

/// The clock by which a text is read. It resolves relative days and the offsets of timestamps.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The current day that the agent saw.
    pub today: Date,
    /// The world's time zone.
    pub zone: Zone,
}

impl Clock {
    /// Returns the clock at a timestamp.
    #[must_use]
    pub fn at(instant: Instant, zone: &Zone) -> Self {
        Self { today: zone.date_of(instant), zone: zone.clone() }
    }
}

/// A typed value in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The value.
    pub what: What,
    /// The stance of the text towards the value.
    pub stance: Stance,
}

impl Mention {
    /// Returns the position of the mention.
    #[must_use]
    pub const fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// The value of a mention.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A number.
    Number(Number),
    /// An amount of money.
    Money(Money),
    /// A day.
    Date(Day),
    /// A time of day.
    Time(Clocktime),
    /// An absence: `no dentists`, `nothing`.
    None,
}

impl What {
    /// Returns true for a number or an amount of money.
    #[must_use]
    pub const fn is_amount(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Money(_))
    }
}

/// A number as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// The second reading, if `1.234` or `1,234` may group digits or start decimals.
    pub other: Option<f64>,
    /// Number of decimals shown. Negative if a multiplier hides digits, as in `1.2k`.
    pub decimals: i8,
    /// Its unit.
    pub unit: Option<Unit>,
    /// The role of the number.
    pub role: NumberRole,
}

/// The role of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRole {
    /// A measure or a count.
    Plain,
    /// A limit: `at least 3`, `up to 500`.
    Limit,
    /// A part of a total: `2 of them`.
    Subset,
    /// An identifier: `room 12`, `#7`, `the 3rd`.
    Identifier,
    /// A word that rarely means a number: `one`.
    Weak,
}

/// An amount of money as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Money {
    /// The amount.
    pub amount: Decimal,
    /// The second reading of its digits.
    pub other: Option<Decimal>,
    /// The currency.
    pub currency: Currency,
}

/// A day as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// The possible days, the likelier one first. Both are none if a weekday and its date contradict each
    /// other.
    pub readings: [Option<Date>; 2],
    /// The part of it that the text gives.
    pub form: DayForm,
    /// True if the day follows from a number (`in 3 days`) that is a mention of its own.
    pub derived: bool,
}

/// The part of a day that a text gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayForm {
    /// The whole day, or its distance from today.
    Exact,
    /// Month and day. The reading is in the nearest year.
    MonthDay,
    /// A weekday. The reading is the next one, and today if today is that weekday.
    Weekday,
    /// A day of the month. The readings are the next and the last one.
    DayOfMonth,
}

impl Day {
    /// Returns true if the mention can mean this date. Without a year, any year fits. A bare weekday also
    /// means the last one, because people use it for the past and the future.
    #[must_use]
    pub fn means(&self, date: Date, today: Date) -> bool {
        let ahead = i64::from(date.0) - i64::from(today.0);
        let alike = |reading: &Date| {
            let (own, other) = (reading.civil(), date.civil());
            match self.form {
                DayForm::Exact => *reading == date,
                DayForm::MonthDay => (own.month(), own.day()) == (other.month(), other.day()),
                DayForm::Weekday => own.weekday() == other.weekday() && ahead.abs() <= 7,
                DayForm::DayOfMonth => own.day() == other.day() && ahead.abs() <= 35,
            }
        };
        self.readings.iter().flatten().any(alike)
    }

    /// Returns true if two mentions can mean the same day.
    #[must_use]
    pub fn meets(&self, other: &Self, today: Date) -> bool {
        let means =
            |one: &Self, two: &Self| two.readings.iter().flatten().any(|date| one.means(*date, today));
        means(self, other) || means(other, self)
    }
}

/// A time of day as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocktime {
    /// The time.
    pub time: Time,
    /// The second reading. Example: `half past two` in the afternoon.
    pub other: Option<Time>,
}

impl Clocktime {
    /// Returns true if two mentions share a time that is the first reading of one of them.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.time == other.time || self.other == Some(other.time) || other.other == Some(self.time)
    }
}
