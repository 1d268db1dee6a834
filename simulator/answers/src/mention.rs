//! A typed value that a text mentions: a number, an amount of money, a day, a time, with its place.

use diorama_seeds::value::{Date, Decimal, Instant, Time, Zone};

use crate::span::Span;
use crate::stance::Stance;
use crate::units::{Currency, Unit};

/// The clock a text is read by: relative days, and zones of instants.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The day the agent was shown.
    pub today: Date,
    /// The world's zone.
    pub zone: Zone,
}

impl Clock {
    /// The clock at an instant.
    #[must_use]
    pub fn at(instant: Instant, zone: &Zone) -> Self {
        Self { today: zone.date_of(instant), zone: zone.clone() }
    }
}

/// One typed value that the text mentions.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The value.
    pub what: What,
    /// How the text stands to it.
    pub stance: Stance,
}

impl Mention {
    /// Its place.
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
    /// None of something: `no dentists`, `nothing`.
    None,
}

impl What {
    /// Returns true if it is a number or an amount of money.
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
    /// The other reading, where `1.234` or `1,234` may group digits or start decimals.
    pub other: Option<f64>,
    /// Shown decimals; negative where a multiplier hides digits (`1.2k`).
    pub decimals: i8,
    /// Its unit.
    pub unit: Option<Unit>,
    /// Its kind.
    pub role: NumberRole,
}

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRole {
    /// It measures or counts.
    Plain,
    /// It limits: `at least 3`, `up to 500`.
    Limit,
    /// It is part of a number of things: `2 of them`.
    Subset,
    /// It names something: `room 12`, `#7`, `the 3rd`.
    Identifier,
    /// It is a word that is seldom meant as a number: `one`.
    Weak,
}

/// An amount of money as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Money {
    /// The amount.
    pub amount: Decimal,
    /// The other reading of its digits.
    pub other: Option<Decimal>,
    /// The currency.
    pub currency: Currency,
}

/// A day as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// The days that it can be, the likelier first. None of a weekday that the date is not.
    pub readings: [Option<Date>; 2],
    /// The part of it that the text gives.
    pub form: DayForm,
    /// It follows from a number (`in 3 days`), which is mentioned too.
    pub derived: bool,
}

/// The part of a day that a text gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayForm {
    /// All of it, or its distance from today.
    Exact,
    /// Month and day: the nearest year is the reading.
    MonthDay,
    /// A bare weekday: the coming one is the reading, today too where it is one.
    Weekday,
    /// A day of the month: the coming one is the reading, and the last.
    DayOfMonth,
}

impl Day {
    /// Returns true if it can mean this date. Without a year it can mean any, a bare weekday also the last one, since people
    /// tell of what was as they tell of what will be.
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

    /// Returns true if two texts can mean the same day.
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
    /// The other time that it may mean: `half past two` in the afternoon.
    pub other: Option<Time>,
}

impl Clocktime {
    /// Returns true if two can mean the one time that either gives first.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.time == other.time || self.other == Some(other.time) || other.other == Some(self.time)
    }
}
