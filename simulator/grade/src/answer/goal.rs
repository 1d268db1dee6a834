//! Expected facts, made ready to be compared with mentions.

use diorama_seeds::task::Fact;
use diorama_seeds::value::{Date, Decimal, Time, Zone};

use diorama_answers::names::{Name, Names};
use diorama_answers::tokens::Text;
use diorama_answers::units::{Dimension, Unit};
use diorama_answers::{Clock, Mention, Money, Number, NumberRole, Stance, What};

/// One expected value.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    Number { value: f64, unit: Option<Unit>, tolerance: f64 },
    Money { amount: Decimal, currency: String },
    Count(u64),
    Date(Date),
    Time(Time),
    DateTime(Date, Time),
    Entity(Entity),
    Boolean(Question),
}

/// An expected name.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    /// Its spellings.
    pub(crate) names: Vec<Name>,
    /// What they mean; the value's own first.
    pub(crate) identities: Vec<u64>,
    /// The stem of a common word: of `carpentry`.
    pub(crate) common: Option<String>,
    /// Digits of a value that is a long number.
    pub(crate) digits: String,
    /// Position of its field's names among the key's.
    pub(crate) field: Option<usize>,
    /// It says that there is none.
    pub(crate) none: bool,
}

/// An expected yes or no.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) value: bool,
    /// Words, and whether they say yes.
    pub(crate) phrases: Vec<(Vec<PhraseWord>, bool)>,
    /// The phrases are words of the question, not given ones: they count only with a verb.
    pub(crate) derived: bool,
}

/// Why a fact cannot be expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FactError {
    /// A day, time or instant that is none.
    #[error("`{found}` is no {expected}; write it as the world's records do")]
    Malformed {
        /// What was there.
        found: String,
        /// What was wanted.
        expected: &'static str,
    },
    /// A list inside a list, or without items.
    #[error("{0}")]
    List(&'static str),
    /// A name without a letter or digit.
    #[error("`{0}` has no letter or digit to look for; expect a value that can be read in an answer")]
    Unreadable(String),
    /// A number that is not finite.
    #[error("the number or tolerance {0} cannot be compared; write finite numbers, tolerance at least 0")]
    Number(f64),
}

impl Goal {
    /// Makes a fact ready. `names` gives the position of a field's names.
    pub(crate) fn new(fact: &Fact, zone: &Zone, field: Option<(usize, &Names)>) -> Result<Self, FactError> {
        let malformed = |found: &str, expected| FactError::Malformed { found: found.to_owned(), expected };
        Ok(match fact {
            Fact::Number { value, unit, tolerance } => {
                if !value.is_finite() || !tolerance.is_finite() || *tolerance < 0.0 {
                    return Err(FactError::Number(if value.is_finite() { *tolerance } else { *value }));
                }
                Self::Number {
                    value: *value,
                    unit: unit.as_deref().and_then(Unit::named),
                    tolerance: *tolerance,
                }
            }
            Fact::Money { minor, scale, currency } => {
                if *scale > 9 {
                    return Err(malformed(&scale.to_string(), "number of decimal places from 0 to 9"));
                }
                Self::Money { amount: Decimal { minor: *minor, scale: *scale }, currency: currency.clone() }
            }
            Fact::Count { value } => Self::Count(*value),
            Fact::Date { value } => {
                Self::Date(Date::parse(value).ok_or_else(|| malformed(value, "date (YYYY-MM-DD)"))?)
            }
            Fact::Time { value } => {
                Self::Time(Time::parse(value).ok_or_else(|| malformed(value, "time (HH:MM)"))?)
            }
            Fact::DateTime { value } => {
                let instant =
                    zone.parse_instant(value).ok_or_else(|| malformed(value, "date-time (RFC 3339)"))?;
                Self::DateTime(zone.date_of(instant), zone.time_of(instant))
            }
            Fact::Entity { value, aliases, .. } => Self::Entity(Entity::new(value, aliases, field)?),
            Fact::Boolean { value, when_true, when_false } => {
                let phrases = |words: &[String], says: bool| {
                    words
                        .iter()
                        .map(move |words| (phrase(words), says))
                        .filter(|(words, _)| !words.is_empty())
                        .collect::<Vec<_>>()
                };
                let mut all = phrases(when_true, true);
                all.extend(phrases(when_false, false));
                // The longest first, so that `not available` wins over `available`.
                all.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
                Self::Boolean(Question { value: *value, derived: all.is_empty(), phrases: all })
            }
            Fact::Made { field, .. } => return Err(FactError::Unreadable(field.clone())),
            Fact::List { .. } => {
                return Err(FactError::List("a list inside a list cannot be expected; flatten it"));
            }
        })
    }

    /// Whether a mention states this, were it asserted.
    pub(crate) fn is_stated_by(&self, mention: &Mention, clock: &Clock) -> bool {
        match (self, &mention.what) {
            (Self::Number { value, unit, tolerance }, What::Number(number)) => {
                number_matches(*value, *unit, *tolerance, number)
            }
            (Self::Number { value, unit: None, tolerance }, What::Money(money)) => {
                (money.amount.as_f64() - value).abs() <= tolerance.max(1e-9)
            }
            (Self::Number { value, .. }, What::None) => *value == 0.0,
            // `2:14` for a running time.
            (Self::Number { value, unit: Some(unit), .. }, What::Time(said)) => {
                unit.dimension == Dimension::Duration
                    && (value * unit.factor - f64::from(said.time.0)).abs() < 1e-6
            }
            (Self::Money { amount, currency }, What::Money(money)) => money_matches(*amount, currency, money),
            (Self::Money { amount, .. }, What::None) => amount.minor == 0,
            (Self::Money { amount, .. }, What::Number(number)) => {
                let bare =
                    number.unit.is_none() && matches!(number.role, NumberRole::Plain) && number.decimals >= 0;
                bare && [Some(number.value), number.other]
                    .into_iter()
                    .flatten()
                    .any(|value| (amount.as_f64() - value).abs() < 1e-9)
            }
            (Self::Count(count), What::Number(number)) => {
                let whole = [(Some(number.value), number.decimals <= 0), (number.other, number.decimals > 0)];
                number.role != NumberRole::Identifier
                    && number.unit.is_none_or(|unit| unit.dimension == Dimension::Duration)
                    && whole.into_iter().any(|(value, whole)| whole && value == Some(*count as f64))
            }
            (Self::Count(count), What::None) => *count == 0,
            (Self::Date(date), What::Date(day)) => day.means(*date, clock.today),
            (Self::Time(time), What::Time(said)) => time_matches(*time, said),
            (Self::DateTime(_, time), What::Time(said)) => time_matches(*time, said),
            // Midnight need not be said.
            (Self::DateTime(date, Time(0)), What::Date(day)) => day.means(*date, clock.today),
            _ => false,
        }
    }

    /// What is below zero, without its sign.
    pub(crate) fn negated(&self) -> Option<Self> {
        match self {
            Self::Number { value, unit, tolerance } if *value < 0.0 => {
                Some(Self::Number { value: -value, unit: *unit, tolerance: *tolerance })
            }
            Self::Money { amount, currency } if amount.minor < 0 => Some(Self::Money {
                amount: Decimal { minor: -amount.minor, scale: amount.scale },
                currency: currency.clone(),
            }),
            _ => None,
        }
    }

    /// Whether a mention is part of this, so that it does not contradict anything.
    pub(crate) fn covers(&self, mention: &Mention, clock: &Clock) -> bool {
        self.is_stated_by(mention, clock)
            || match (self, &mention.what) {
                (Self::DateTime(date, _), What::Date(day)) => day.means(*date, clock.today),
                _ => false,
            }
    }

    /// Whether a stance can state this kind of value.
    pub(crate) fn accepts(&self, stance: Stance) -> bool {
        stance == Stance::Asserted || (stance == Stance::Limit && !matches!(self, Self::Count(_)))
    }

    /// Whether a mention is of the kind and unit of this one, so that another value contradicts it. Numbers
    /// without a unit are the caller's business.
    pub(crate) fn rivals(&self, mention: &Mention) -> bool {
        match (self, &mention.what) {
            (Self::Number { unit: Some(unit), .. }, What::Number(number)) => {
                number.unit.is_some_and(|other| other.dimension == unit.dimension)
                    && number.role != NumberRole::Weak
            }
            (Self::Money { .. }, What::Money(_)) => true,
            (Self::Date(_) | Self::DateTime(..), What::Date(day)) => !day.derived,
            (Self::Time(_) | Self::DateTime(..), What::Time(time)) => !time.end,
            _ => false,
        }
    }

    /// Whether a number without a unit could be the value of this.
    pub(crate) const fn takes_bare_numbers(&self) -> bool {
        matches!(self, Self::Number { .. } | Self::Count(_) | Self::Money { .. })
    }
}

impl Entity {
    fn new(value: &str, aliases: &[String], field: Option<(usize, &Names)>) -> Result<Self, FactError> {
        let mut names: Vec<Name> = Vec::with_capacity(2 + aliases.len());
        names.extend(Name::read(value));
        if names.is_empty() {
            return Err(FactError::Unreadable(value.to_owned()));
        }
        names.extend(aliases.iter().filter_map(|alias| Name::read(alias)));
        let mut identities: Vec<u64> = names.iter().map(|name| name.identity).collect();
        identities.dedup();
        // The last word alone, where no other record's name has it.
        if let Some((_, rivals)) = field
            && Name::is_proper(value)
            && let Some(last) = names[0].last_word()
            && last.words.first().is_some_and(|word| rivals.with_word(*word) <= 1)
        {
            names.push(last);
        }
        // `Silva, Ana`
        if Name::is_proper(value) {
            names.extend(names[0].reversed());
        }
        let digits = if names[0].is_digits() {
            value.chars().filter(char::is_ascii_digit).collect()
        } else {
            String::new()
        };
        let plain = value.chars().all(|c| c.is_ascii_lowercase()) && value.len() > 4;
        let common = plain.then(|| diorama_seeds::english::stem(value));
        let none = value.eq_ignore_ascii_case("none");
        Ok(Self { names, identities, common, digits, field: field.map(|(position, _)| position), none })
    }

    pub(crate) fn is(&self, identity: u64) -> bool {
        self.identities.contains(&identity)
    }
}

/// A word of a phrase: as it stands, and its stem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhraseWord {
    pub(crate) hash: u64,
    pub(crate) stem: u64,
}

fn phrase(words: &str) -> Vec<PhraseWord> {
    let text = Text::of_value(words);
    let words = text.tokens.iter().filter(|token| token.hash != 0);
    words.map(|token| PhraseWord { hash: token.hash, stem: token.stem }).collect()
}

/// Hashes of the words of a phrase.
pub(crate) fn hashes(words: &str) -> Vec<u64> {
    let text = Text::of_value(words);
    text.tokens.iter().filter(|token| token.hash != 0).map(|token| token.hash).collect()
}

fn time_matches(time: Time, said: &diorama_answers::Clocktime) -> bool {
    said.time == time || said.other == Some(time)
}

fn money_matches(amount: Decimal, currency: &str, money: &Money) -> bool {
    money.currency.means(currency) && (money.amount == amount || money.other == Some(amount))
}

fn number_matches(value: f64, unit: Option<Unit>, tolerance: f64, number: &Number) -> bool {
    let readings = [Some(number.value), number.other];
    // The expected value in the unit that the text uses.
    let shown_as = match (unit, number.unit) {
        (Some(expected), Some(shown)) => match expected.convert(value, shown) {
            Some(value) => value,
            None => return false,
        },
        (Some(_), None) if number.role == NumberRole::Identifier => return false,
        (None, Some(shown)) if shown.dimension == Dimension::Share && value.abs() <= 1.0 => value * 100.0,
        _ => value,
    };
    let tolerance = match (unit, number.unit) {
        (Some(expected), Some(shown)) => tolerance * (expected.factor / shown.factor).abs(),
        _ => tolerance,
    };
    readings.into_iter().flatten().any(|said| {
        if tolerance > 0.0 && (said - shown_as).abs() <= tolerance * (1.0 + 1e-9) {
            return true;
        }
        rounds_to(shown_as, said, number.decimals)
    })
}

/// Whether a value is the shown one after rounding to the shown decimals, halves away from zero, and within 5 %.
fn rounds_to(value: f64, shown: f64, decimals: i8) -> bool {
    let difference = (value - shown).abs();
    if difference <= 1e-9 * shown.abs().max(1.0) {
        return true;
    }
    // One shown digit hides too much of a small value.
    if difference > 0.05 * value.abs() {
        return false;
    }
    let unit = 10_f64.powi(i32::from(decimals));
    let scaled = value * unit;
    let nudged = (scaled + scaled.signum() * 1e-9 * scaled.abs().max(1.0)).round();
    (nudged / unit - shown).abs() <= 1e-9 * shown.abs().max(1.0)
}
