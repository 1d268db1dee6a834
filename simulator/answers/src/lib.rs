//! The answer extractor, `extract/2`: text to typed mentions with places.
//!
//! Numbers, money, dates and times are found without knowing what is asked. Names, enum values and yes or no need
//! the fact and its rivals, so the grader looks for them on the same tokens (`names`). This
//! module must not know what is expected, and never fails on any text.

mod dates;
pub mod lexicon;
pub mod names;
mod numbers;
pub mod prose;
pub mod remembered;
pub mod stance;
mod times;
pub mod tokens;
pub mod units;

use diorama_seeds::value::{Date, Decimal, Instant, Time, Zone};

use self::tokens::Text;
use self::units::{Currency, Unit};

/// Version of the extractor; a change that alters any mention makes a new one.
pub const EXTRACTOR_VERSION: &str = "extract/2";

/// The clock an answer is read by: relative days, and zones of instants.
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
    /// What is mentioned.
    pub what: What,
    /// Whether the text asserts it.
    pub stance: Stance,
    /// First token, and the token after the last.
    pub tokens: (usize, usize),
}

/// What a mention says.
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
    /// Whether it is a number or an amount of money.
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
    /// What kind of number it is.
    pub role: NumberRole,
    /// Stems of the words that say what is counted: up to three words after it.
    pub noun: [u64; 3],
}

/// What a number is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRole {
    /// It measures or counts.
    Plain,
    /// It names something: `room 12`, `#7`, `the 3rd`.
    Identifier,
    /// Part of a number of things: `2 of them`.
    Subset,
    /// A word that is seldom meant as a number (`one`, `a day`).
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
    /// What it can mean; up to two readings.
    pub readings: [Option<DayReading>; 2],
    /// It follows from a number (`in 3 days`), which is mentioned too.
    pub derived: bool,
}

/// One reading of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayReading {
    /// A full date.
    Full(Date),
    /// Month and day.
    MonthDay(u8, u8),
    /// A day of a month near today.
    DayOfMonth(u8),
    /// A weekday near today, 1 (Monday) to 7.
    Weekday(u8, Nearness),
    /// It contradicts itself: a weekday that the date is not.
    Never,
}

/// Which of the weekdays near today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Not said: within a week either way.
    Any,
    /// `next`: 1 to 14 days ahead.
    Next,
    /// `last`: 1 to 14 days ago.
    Last,
}

/// A time of day as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocktime {
    /// What it means.
    pub time: Time,
    /// What it may mean too: `half past two` in the afternoon.
    pub other: Option<Time>,
    /// It ends a span of time.
    pub end: bool,
}

/// How a mention stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// The text says that it is so.
    Asserted,
    /// It says that it is not so.
    Negated,
    /// It sets it against what is so: `rather than`, `was .. now ..`, `compared with`.
    Contrasted,
    /// It sets something else that is so beside it: `compared with`, `than`, `down from`, `versus`.
    Compared,
    /// It asks.
    Questioned,
    /// It only imagines or offers it.
    Hypothetical,
    /// It says that it is not sure.
    Uncertain,
    /// It is an open bound or one end of a range: `more than`, `under`, `3 to 5`.
    Bound,
    /// It is the limit itself: `up to`, `at least`, `within`.
    Limit,
    /// It repeats what the user said.
    Echoed,
}

impl Day {
    /// Whether it can mean this date.
    #[must_use]
    pub fn means(&self, date: Date, today: Date) -> bool {
        self.readings.iter().flatten().any(|reading| reading.means(date, today))
    }

    /// Whether both can mean one date of the next year or the last two weeks.
    pub fn meets(&self, other: &Self, today: Date) -> bool {
        let mut near = (-14..=370).map(|ahead| Date(today.0 + ahead));
        near.any(|date| self.means(date, today) && other.means(date, today))
    }
}

impl Clocktime {
    /// Whether both can mean the one time that either gives first.
    pub fn meets(&self, other: &Self) -> bool {
        self.time == other.time || self.other == Some(other.time) || other.other == Some(self.time)
    }
}

impl DayReading {
    fn means(self, date: Date, today: Date) -> bool {
        let ahead = i64::from(date.0) - i64::from(today.0);
        match self {
            Self::Full(day) => day == date,
            Self::MonthDay(month, day) => {
                let civil = date.civil();
                civil.month() as u8 == month && civil.day() as u8 == day && ahead.abs() <= 370
            }
            Self::DayOfMonth(day) => date.civil().day() as u8 == day && ahead.abs() <= 35,
            Self::Weekday(weekday, near) => {
                dates::weekday_of(date) == weekday
                    && match near {
                        Nearness::Any => ahead.abs() <= 7,
                        Nearness::Next => (1..=14).contains(&ahead),
                        Nearness::Last => (1..=14).contains(&-ahead),
                    }
            }
            Self::Never => false,
        }
    }
}

/// Finds all mentions of numbers, money, dates and times.
#[must_use]
pub fn extract(text: &str, clock: &Clock) -> Vec<Mention> {
    read(&Text::read(text), clock, &[])
}

/// Finds mentions outside the given token ranges (sorted), which names take up.
pub fn read(text: &Text, clock: &Clock, taken: &[(usize, usize)]) -> Vec<Mention> {
    let mut found = Finder { text, clock, mentions: Vec::with_capacity(16) };
    let mut taken = taken.iter().copied().peekable();
    let mut at = 0;
    while at < text.tokens.len() {
        if let Some((_, end)) = taken.next_if(|(start, end)| *start <= at && at < *end) {
            at = end;
            continue;
        }
        while taken.next_if(|(_, end)| *end <= at).is_some() {}
        let before = at;
        at = found.at(at);
        // A recogniser that found nothing leaves the token to the next one.
        at = at.max(before + 1);
    }
    found.mentions
}

/// The recognisers share this: the text, the clock and what was found.
pub(crate) struct Finder<'a> {
    pub(crate) text: &'a Text,
    pub(crate) clock: &'a Clock,
    pub(crate) mentions: Vec<Mention>,
}

impl Finder<'_> {
    /// Tries the recognisers at a token; gives the token to go on with.
    fn at(&mut self, at: usize) -> usize {
        let token = &self.text.tokens[at];
        let numeric = match token.kind {
            tokens::Kind::Digits => true,
            tokens::Kind::Word => {
                let lex = token.lex();
                if !numbers::may_start(lex) && !dates::may_start(lex) && !times::may_start(lex) {
                    return at + 1;
                }
                true
            }
            tokens::Kind::Symbol(symbol) => numbers::symbol_may_start(symbol),
        };
        if !numeric || token.has(tokens::Marks::LINK) {
            return at + 1;
        }
        dates::recognise(self, at)
            .or_else(|| times::recognise(self, at))
            .or_else(|| numbers::recognise(self, at))
            .unwrap_or(at + 1)
    }

    /// Records a mention over tokens `start..end`.
    pub(crate) fn push(&mut self, start: usize, end: usize, what: What, stance: Option<Stance>) {
        let (Some(first), Some(last)) = (self.text.get(start), self.text.get(end.saturating_sub(1))) else {
            return;
        };
        let stance = stance.unwrap_or_else(|| stance::of(self.text, start, end));
        self.mentions.push(Mention {
            start: first.start as usize,
            end: last.end as usize,
            what,
            stance,
            tokens: (start, end),
        });
    }
}
