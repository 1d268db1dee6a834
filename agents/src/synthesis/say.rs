//! The realiser: how people and assistants say a value.
//!
//! Owns the words for values in requests; those in answers are [`crate::synthesis::render`]'s. What reads them back shares no
//! code with either: that is what makes grounding a check.

pub use diorama_seeds::english::enumerate;
use diorama_seeds::model::Parameter;
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::Derivation;
use diorama_seeds::value::{Date, Instant, Time, Value, Zone};

pub use crate::synthesis::render::{
    MONTHS, WEEKDAYS, money, plain_number, time_told, told, weekday, with_unit,
};
use indexmap::IndexMap;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A value in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The words.
    pub words: String,
    /// How the value follows from them.
    pub by: Derivation,
}

/// The moment and place in which something is said.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The clock.
    pub now: Instant,
    /// The zone.
    pub zone: &'a Zone,
}

const SMALL: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// A user's words for an argument. `None` where people have no words for it (objects).
#[must_use]
pub fn argument(
    value: &Value,
    parameter: &Parameter,
    moment: Moment<'_>,
    rng: &mut ChaCha8Rng,
) -> Option<Spoken> {
    value_words(value, &parameter.schema, &parameter.synonyms, moment, rng)
}

fn value_words(
    value: &Value,
    schema: &Schema,
    synonyms: &IndexMap<diorama_seeds::value::Str, Vec<diorama_seeds::value::Str>>,
    moment: Moment<'_>,
    rng: &mut ChaCha8Rng,
) -> Option<Spoken> {
    let verbatim = |words: String| Some(Spoken { words, by: Derivation::Verbatim });
    match value {
        Value::Absent | Value::Null | Value::Object(_) => None,
        Value::Bool(true) => Some(Spoken { words: "yes".into(), by: Derivation::BooleanPhrase }),
        Value::Bool(false) => Some(Spoken { words: "no".into(), by: Derivation::BooleanPhrase }),
        Value::Integer(number) => match usize::try_from(*number).ok().and_then(|small| SMALL.get(small)) {
            // One is left to digits: "one" stands for too many other things.
            Some(word) if *number > 1 && schema.unit.is_none() && rng.random_bool(0.4) => {
                Some(Spoken { words: (*word).to_owned(), by: Derivation::NumberWord })
            }
            _ => verbatim(with_unit(number.to_string(), schema)),
        },
        Value::Number(number) => verbatim(with_unit(plain_number(*number), schema)),
        Value::Decimal(decimal) => verbatim(match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => money(*decimal, code, rng.random_range(0..3)),
            _ => with_unit(decimal.to_string(), schema),
        }),
        Value::Date(date) => Some(date_phrase(*date, moment, rng)),
        Value::Time(time) => {
            Some(Spoken { words: format!("at {}", time_words(*time, rng)), by: Derivation::DatePhrase })
        }
        Value::DateTime(instant) => {
            let date = date_phrase(moment.zone.date_of(*instant), moment, rng);
            let time = time_words(moment.zone.time_of(*instant), rng);
            Some(Spoken { words: format!("{} at {time}", date.words), by: Derivation::DatePhrase })
        }
        Value::String(text) => match synonyms.get(text).filter(|words| !words.is_empty()) {
            Some(words) if rng.random_bool(0.6) => {
                let word = &words[rng.random_range(0..words.len())];
                Some(Spoken { words: word.to_string(), by: Derivation::Synonym })
            }
            _ if matches!(schema.kind, Type::Enum(_)) && text.contains('_') => {
                Some(Spoken { words: text.replace('_', " "), by: Derivation::Synonym })
            }
            _ => verbatim(text.to_string()),
        },
        Value::List(items) => {
            let Type::List(item) = &schema.kind else { return None };
            let mut words = Vec::new();
            for value in items.iter() {
                let spoken = value_words(value, item, synonyms, moment, rng)?;
                (spoken.by == Derivation::Verbatim).then(|| words.push(spoken.words))?;
            }
            (!words.is_empty()).then(|| Spoken { words: enumerate(&words), by: Derivation::Verbatim })
        }
    }
}

fn date_phrase(date: Date, moment: Moment<'_>, rng: &mut ChaCha8Rng) -> Spoken {
    let today = moment.zone.date_of(moment.now);
    let ahead = date.0 - today.0;
    let civil = date.civil();
    let same_year = civil.year() == today.civil().year();
    let month = MONTHS[(civil.month() as usize - 1) % 12];
    let day = civil.day();
    let mut ways = vec![format!("on {day} {month} {}", civil.year()), format!("on {date}")];
    if same_year && ahead > -120 {
        ways.extend([
            format!("on {day} {month}"),
            format!("on {month} {day}"),
            format!("on the {} of {month}", ordinal(day)),
        ]);
    }
    match ahead {
        0 => ways = vec!["today".into()],
        1 => ways.extend(["tomorrow".into(), "tomorrow".into()]),
        2..=6 => ways.extend([format!("on {}", weekday(date)), format!("this coming {}", weekday(date))]),
        _ => {}
    }
    Spoken { words: ways.swap_remove(rng.random_range(0..ways.len())), by: Derivation::DatePhrase }
}

fn time_words(time: Time, rng: &mut ChaCha8Rng) -> String {
    let (hour, minute) = (time.0 / 3600, time.0 / 60 % 60);
    let mut ways = vec![format!("{hour}:{minute:02}"), time_told(time, 1)];
    if !time.0.is_multiple_of(60) {
        return time.to_string();
    }
    if minute == 30 && (1..=12).contains(&hour) && (7..12).contains(&hour) {
        ways.push(format!("half past {}", SMALL.get(hour as usize).copied().unwrap_or("eleven")));
    }
    if hour == 12 && minute == 0 {
        ways.push("noon".into());
    }
    ways.swap_remove(rng.random_range(0..ways.len()))
}

fn ordinal(day: i8) -> String {
    let suffix = match (day % 10, day) {
        (1, d) if d != 11 => "st",
        (2, d) if d != 12 => "nd",
        (3, d) if d != 13 => "rd",
        _ => "th",
    };
    format!("{day}{suffix}")
}
